"""Execution roles of HyperPod nodes."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from ultracluster.catalogue.schedulers import hyperpod, hyperpod_kubernetes
from ultracluster.planning import checked
from ultracluster.rules import Refusal
from ultracluster.security import acknowledge_wildcards, check_same_region

_REASON = (
    "actions on network interfaces, sessions, images and file systems have no resource-level permission, or act on "
    "resources that exist after the node only; log groups of HyperPod have the id of the cluster in their names"
)
#: Service that takes the role.
PRINCIPAL = "sagemaker.amazonaws.com"


class HyperPodRole(iam.Role):
    """Execution role of the nodes of a HyperPod cluster in a VPC: logs, metrics, Session Manager, network interfaces.

    It has the actions of AWS's managed policy for the role, and those that AWS's own template adds for a VPC. Access to
    the bucket of the lifecycle scripts is granted for that bucket alone, where the managed policy has every bucket
    whose name begins with `sagemaker-`. It is an `iam.Role`: hand it to every `grants`.

    Args:
        eks_cluster_arn: ARN of the EKS cluster that the nodes join: they give pods addresses and roles, and pull images
            from Amazon ECR. Default: Slurm.
        volume_key: KMS key of the volumes of the nodes, for which the service creates grants with this role. The policy
            of an imported key must allow the same. Default: the service's own.

    Raises:
        Refusal: If the key is of another Region.

    See: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html (read 2026-11-23) and
    https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-cmk.html (read 2026-11-26)
    """

    @checked
    def __init__(
        self, scope: Construct, id: str, *, eks_cluster_arn: str | None = None, volume_key: kms.IKey | None = None
    ) -> None:
        super().__init__(scope, id, assumed_by=iam.ServicePrincipal(PRINCIPAL))
        if problems := check_same_region(self, {"volume_key": volume_key}):
            raise Refusal(self, problems)
        stack = cdk.Stack.of(self)
        logs = stack.format_arn(
            service="logs",
            resource="log-group",
            resource_name=hyperpod.LOG_GROUPS,
            arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
        )
        interfaces = stack.format_arn(service="ec2", resource="network-interface", resource_name="*")
        namespace = {"StringEquals": {"cloudwatch:namespace": hyperpod.METRICS_NAMESPACE}}
        account_wide = [*hyperpod.SESSION_ACTIONS, *hyperpod.NETWORK_ACTIONS, *hyperpod.FILE_SYSTEM_ACTIONS]
        if eks_cluster_arn is not None:
            account_wide += [*hyperpod_kubernetes.POD_NETWORK_ACTIONS, *hyperpod_kubernetes.IMAGE_ACTIONS]
            self.add_to_principal_policy(
                iam.PolicyStatement(
                    sid="PodIdentity",
                    actions=[hyperpod_kubernetes.POD_IDENTITY_ACTION],
                    resources=[eks_cluster_arn],
                )
            )
        for statement in (
            iam.PolicyStatement(sid="Logs", actions=list(hyperpod.LOG_ACTIONS), resources=[logs]),
            iam.PolicyStatement(
                sid="Metrics", actions=["cloudwatch:PutMetricData"], resources=["*"], conditions=namespace
            ),
            iam.PolicyStatement(
                sid="AccountWide",
                actions=sorted(account_wide),
                resources=["*"],
            ),
            iam.PolicyStatement(sid="Tags", actions=["ec2:CreateTags"], resources=[interfaces]),
        ):
            self.add_to_principal_policy(statement)
        acknowledge_wildcards(self, ["*", logs, interfaces], _REASON)
        if volume_key is not None:
            self._allow_volumes(volume_key)

    def _allow_volumes(self, key: kms.IKey) -> None:
        via = {"kms:ViaService": f"sagemaker.{cdk.Stack.of(self).region}.amazonaws.com"}
        for action, more in (
            ("kms:CreateGrant", {"Bool": {"kms:GrantIsForAWSResource": "true"}}),
            ("kms:DescribeKey", {}),
        ):
            self.add_to_principal_policy(
                iam.PolicyStatement(actions=[action], resources=[key.key_arn], conditions={"StringEquals": via, **more})
            )


def controller_role(scope: Construct, nodes: iam.Role) -> iam.Role:
    """Create an execution role for Slurm's controller, with the permissions of that of the other nodes.

    An instance group keeps its role, and users of a node have the permissions of its role: only a role that the
    controller had from the beginning can read the secret of an accounting database that is named later.

    See: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-operate-slurm-cli-command.html (read
    2026-11-27)
    """
    role = iam.Role(scope, "ControllerRole", assumed_by=iam.ServicePrincipal(PRINCIPAL))
    policy = nodes.node.try_find_child("DefaultPolicy")
    # `Role.customize_roles` creates no policy.
    if isinstance(policy, iam.Policy):
        policy.attach_to_role(role)
    return role
