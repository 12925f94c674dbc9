"""Role of the Karpenter that HyperPod runs."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from ultracluster.catalogue.schedulers import hyperpod_kubernetes as facts
from ultracluster.planning import checked
from ultracluster.rules import Refusal
from ultracluster.security import acknowledge_wildcards, check_same_region


class HyperPodAutoscalerRole(iam.Role):
    """Role with which HyperPod's Karpenter adds and deletes nodes of the clusters of the account and Region.

    It is an `iam.Role`: hand it to every `grants`.

    Args:
        volume_key: KMS key of the volumes of the nodes. Default: the service's own.

    Raises:
        Refusal: If the key is of another Region.

    See: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-iam.html (read 2026-11-23)
    """

    @checked
    def __init__(self, scope: Construct, id: str, *, volume_key: kms.IKey | None = None) -> None:
        super().__init__(scope, id, assumed_by=iam.ServicePrincipal(facts.AUTOSCALER_PRINCIPAL))
        if problems := check_same_region(self, {"volume_key": volume_key}):
            raise Refusal(self, problems)
        clusters = cdk.Stack.of(self).format_arn(service="sagemaker", resource="cluster", resource_name="*")
        self.add_to_principal_policy(
            iam.PolicyStatement(sid="Nodes", actions=list(facts.AUTOSCALER_ACTIONS), resources=[clusters])
        )
        acknowledge_wildcards(self, [clusters], "the id of the cluster exists after the role, which the cluster names")
        if volume_key is not None:
            via = f"sagemaker.{cdk.Stack.of(self).region}.amazonaws.com"
            self.add_to_principal_policy(
                iam.PolicyStatement(
                    sid="Volumes",
                    actions=list(facts.AUTOSCALER_KEY_ACTIONS),
                    resources=[volume_key.key_arn],
                    conditions={
                        "StringEquals": {"kms:ViaService": via},
                        "Bool": {"kms:GrantIsForAWSResource": "true"},
                        "ForAllValues:StringEquals": {"kms:GrantOperations": list(facts.AUTOSCALER_KEY_GRANTS)},
                    },
                )
            )
