"""Inference add-on of SageMaker HyperPod."""

import json
from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster.catalogue.schedulers import hyperpod_add_ons as facts
from ultracluster.eks import EksAddOn, IEksCluster
from ultracluster.observability import IPrometheusWorkspace
from ultracluster.planning import arn_problem, checked, known
from ultracluster.rules import Refusal
from ultracluster.security import acknowledge_wildcards, add_managed_policy
from ultracluster.storage import private_bucket

_AUDIENCE = "sts.amazonaws.com"
_POLICY_REASON = "The documentation of the add-on names this policy, and AWS maintains it with the add-on"
_BALANCER_REASON = (
    "load balancers, their parts and security groups exist after the role; conditions limit changes to those with the "
    "tag of the controller, where IAM has such a condition"
)


class HyperPodInferenceAddOn(Construct):
    """Operator of HyperPod that deploys models behind load balancers, with KEDA and a load balancer controller.

    Its pods take their roles by an OpenID Connect provider of the EKS cluster: the add-on has no Pod Identity.
    Certificates of its endpoints are in a bucket of its own. It needs the add-ons of
    `catalogue.schedulers.hyperpod_add_ons.INFERENCE_REQUIRES`, and tags of the subnets of its load balancers.

    Args:
        cluster: EKS cluster of the add-on.
        issuer_url: URL of its OpenID Connect issuer.
        hyperpod_cluster_arn: ARN of the HyperPod cluster.
        provider_arn: ARN of the OpenID Connect provider of the account for this issuer, of which IAM has one at most.
            Default: a new one.
        workspace: Prometheus workspace by whose metrics models are scaled. Default: by metrics of CloudWatch only.
        role: Role of the operator, which its service account and SageMaker may assume, and which may pass itself to
            SageMaker. Default: a new one.
        version: Version. Default: the default of EKS when the add-on is created.

    Raises:
        Refusal: If an ARN or the URL is not valid. All reasons at once.

    See: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-model-deployment-setup.html (read
    2026-11-25)
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: eks.ICluster | IEksCluster,
        issuer_url: str,
        hyperpod_cluster_arn: str,
        provider_arn: str | None = None,
        workspace: IPrometheusWorkspace | None = None,
        role: iam.IRole | None = None,
        version: str | None = None,
    ) -> None:
        super().__init__(scope, id)
        form = "arn:aws:sagemaker:REGION:ACCOUNT:cluster/ID"
        problems = [*arn_problem("hyperpod_cluster_arn", hyperpod_cluster_arn, form)]
        if provider_arn is not None and known(provider_arn) and ":oidc-provider/" not in provider_arn:
            form = "arn:aws:iam::ACCOUNT:oidc-provider/ISSUER"
            problems.append(f"provider_arn must be an ARN such as {form}, got {provider_arn[:120]!r}")
        if known(issuer_url) and not issuer_url.startswith("https://"):
            problems.append(f"issuer_url must begin with https://, got {issuer_url[:120]!r}")
        if problems:
            raise Refusal(self, problems)
        parent = Construct(self, "Access")
        if provider_arn is None:
            provider = iam.CfnOIDCProvider(parent, "Provider", url=issuer_url, client_id_list=[_AUDIENCE])
            provider_arn = provider.attr_arn
        identity = _Identity(provider_arn, cdk.Fn.select(1, cdk.Fn.split("//", issuer_url)))
        #: Bucket of the certificates of endpoints.
        # Without a name: one of a retained bucket could not be created again. The role names it.
        reason = "its writer is the operator, and CloudTrail has its changes"
        # The operator may write before its add-on fails, and S3 deletes no bucket with objects.
        kept = cdk.RemovalPolicy.RETAIN
        self.bucket: s3.IBucket = private_bucket(parent, "Certificates", reason=reason, removal_policy=kept)
        if role is None:
            role = identity.role(parent, "Operator", facts.OPERATOR_SUBJECT, for_sagemaker=True)
            add_managed_policy(role, facts.INFERENCE_POLICY, _POLICY_REASON)
            objects = self.bucket.arn_for_objects("*")
            role.add_to_policy(iam.PolicyStatement(actions=list(facts.CERTIFICATE_ACTIONS), resources=[objects]))
            # Its policy allows this for roles whose name begins with SageMakerHyperPodInference.
            role.add_to_policy(
                iam.PolicyStatement(
                    actions=["iam:PassRole"],
                    resources=[role.role_arn],
                    conditions={"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}},
                )
            )
            acknowledge_wildcards(role, [objects], "the operator names the certificate of each endpoint")
        gated = identity.role(parent, "GatedModels", facts.GATED_MODELS_SUBJECT, for_sagemaker=True)
        add_managed_policy(gated, facts.GATED_MODELS_POLICY, _POLICY_REASON)
        keda = identity.role(parent, "Keda", facts.KEDA_SUBJECT)
        keda.add_to_policy(iam.PolicyStatement(actions=list(facts.KEDA_ACTIONS), resources=["*"]))
        acknowledge_wildcards(keda, ["*"], "actions on metrics of CloudWatch have no resource-level permission")
        if workspace is not None:
            workspace.grants.query(keda)
        balancers = identity.role(parent, "LoadBalancers", facts.LOAD_BALANCER_SUBJECT)
        _allow_load_balancers(balancers)
        #: The add-on.
        self.add_on = EksAddOn(
            self,
            "AddOn",
            cluster=cluster,
            name=facts.INFERENCE,
            version=version,
            configuration={
                "alb": {"enabled": True, "serviceAccount": {"create": True, "roleArn": balancers.role_arn}},
                "executionRoleArn": role.role_arn,
                "hyperpodClusterArn": hyperpod_cluster_arn,
                "jumpstartGatedModelDownloadRoleArn": gated.role_arn,
                "keda": {"auth": {"aws": {"irsa": {"enabled": True, "roleArn": keda.role_arn}}}, "enabled": True},
                "tlsCertificateS3Bucket": self.bucket.bucket_name,
            },
        )
        # Its pods start with their permissions.
        policies = (each.node.try_find_child("DefaultPolicy") for each in (role, keda, balancers))
        self.add_on.node.add_dependency(*filter(None, policies))


class _Identity:
    """OpenID Connect provider of an EKS cluster."""

    def __init__(self, provider_arn: str, issuer: str) -> None:
        self._values = {"Provider": provider_arn, "Issuer": issuer}

    def role(self, scope: Construct, id: str, subject: str, *, for_sagemaker: bool = False) -> iam.Role:
        """Create a role without permissions that pods of a service account take."""
        statements: list[Mapping[str, Any]] = [
            {
                "Effect": "Allow",
                "Principal": {"Federated": "${Provider}"},
                "Action": "sts:AssumeRoleWithWebIdentity",
                "Condition": {
                    "StringEquals": {"${Issuer}:aud": _AUDIENCE},
                    "StringLike": {"${Issuer}:sub": f"system:serviceaccount:{subject}"},
                },
            }
        ]
        sagemaker = iam.ServicePrincipal("sagemaker.amazonaws.com")
        if for_sagemaker:
            principal = {"Service": sagemaker.service}
            statements.append({"Effect": "Allow", "Principal": principal, "Action": "sts:AssumeRole"})
        text = json.dumps({"Version": "2012-10-17", "Statement": statements})
        role = iam.Role(scope, id, assumed_by=sagemaker)
        resource = role.node.default_child
        assert isinstance(resource, iam.CfnRole)
        # As text: the issuer, which the service chooses, is a part of keys, and CloudFormation resolves values only.
        resource.assume_role_policy_document = cdk.Fn.sub(text, self._values)
        return role


def _allow_load_balancers(role: iam.Role) -> None:
    stack = cdk.Stack.of(role)
    wildcards = {"*"}
    for permission in facts.LOAD_BALANCER:
        service, *_ = permission.actions
        here = f"{service}:{stack.region}:{stack.account}"
        resources = [f"arn:{stack.partition}:{here}:{kind}" for kind in permission.resources] or ["*"]
        wildcards |= {*resources}
        role.add_to_policy(
            iam.PolicyStatement(
                actions=permission.names,
                resources=resources,
                conditions=json.loads(json.dumps(permission.conditions)) or None,
            )
        )
    acknowledge_wildcards(role, sorted(wildcards), _BALANCER_REASON)
