"""EKS add-ons of SageMaker HyperPod for metrics and inference, and its image for checkpointless training.

See: https://docs.aws.amazon.com/sagemaker/latest/dg/hyperpod-observability-addon-setup.html and
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-model-deployment-setup.html (read 2026-11-25)
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, NamedTuple

from ultracluster.catalogue.provenance import Source, Stated

_MODULES = (
    "https://github.com/awslabs/awsome-distributed-ai, 1.architectures/7.sagemaker-hyperpod-eks/terraform-modules/"
    "hyperpod-eks-tf/modules/"
)
_METRICS = Source(
    "https://docs.aws.amazon.com/sagemaker/latest/dg/hyperpod-observability-addon-setup.html "
    f"{_MODULES}observability (commit 95b939c)",
    read_on="2026-11-25",
    as_of="2026-07-23",
)
_SETUP = Source(
    "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-model-deployment-setup.html "
    f"{_MODULES}hyperpod_inference_operator (commit 95b939c)",
    read_on="2026-11-25",
    as_of="2026-07-23",
)

_CHECKPOINTLESS = Source(
    "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-checkpointless-release-notes.html",
    read_on="2026-11-25",
    as_of="2025-12-03",
)
_RECIPES = Source(
    "https://github.com/aws/sagemaker-hyperpod-recipes, docs/RECIPES.md (commit 2631995)",
    read_on="2026-11-25",
    as_of="2026-06-23",
)

#: Add-on that writes metrics of jobs, queues and models to Prometheus, and the service account of its collector.
OBSERVABILITY: Annotated[str, Stated(_METRICS, columns="name of an add-on")] = "amazon-sagemaker-hyperpod-observability"
OBSERVABILITY_ACCOUNT: Annotated[str, Stated(_METRICS, columns="service account")] = (
    "hyperpod-observability-operator-otel-collector"
)
#: Kinds of its metrics that the collectors of this library have: a second exporter of GPUs takes the profiling counters
#: of the first.
NODE_METRICS: Annotated[tuple[str, ...], Stated(_METRICS, columns="kinds of metrics of nodes")] = (
    "acceleratedComputeMetrics",
    "networkMetrics",
    "nodeMetrics",
)
#: Kinds of its metrics of what runs on the nodes.
JOB_METRICS: Annotated[tuple[str, ...], Stated(_METRICS, columns="kinds of metrics of jobs and models")] = (
    "customMetrics",
    "inferenceMetrics",
    "scalingMetrics",
    "taskGovernanceMetrics",
    "trainingMetrics",
)
SCRAPE_SECONDS: Annotated[int, Stated(_METRICS, "s")] = 30
#: Its pods need a node of 4xlarge or larger.
OBSERVABILITY_VCPUS: Annotated[int, Stated(_METRICS, "vCPUs of the smallest node")] = 16

#: Add-on that deploys models behind load balancers, with KEDA and the AWS Load Balancer Controller in it.
INFERENCE: Annotated[str, Stated(_SETUP, columns="name of an add-on")] = "amazon-sagemaker-hyperpod-inference"
#: Add-ons without which it fails.
INFERENCE_REQUIRES: Annotated[tuple[str, ...], Stated(_SETUP, columns="names of add-ons")] = (
    "cert-manager",
    "aws-mountpoint-s3-csi-driver",
    "aws-fsx-csi-driver",
    "metrics-server",
)
INFERENCE_POLICY: Annotated[str, Stated(_SETUP, columns="managed policy of its operator")] = (
    "AmazonSageMakerHyperPodInferenceAccess"
)
GATED_MODELS_POLICY: Annotated[str, Stated(_SETUP, columns="managed policy of pods with gated models")] = (
    "AmazonSageMakerHyperPodGatedModelAccess"
)
#: Subjects of its pods, NAMESPACE:SERVICE_ACCOUNT: they take their roles by the OpenID Connect provider of the cluster.
OPERATOR_SUBJECT: Annotated[str, Stated(_SETUP, columns="subject")] = (
    "hyperpod-inference-system:hyperpod-inference-controller-manager"
)
KEDA_SUBJECT: Annotated[str, Stated(_SETUP, columns="subject")] = "hyperpod-inference-system:keda-operator"
LOAD_BALANCER_SUBJECT: Annotated[str, Stated(_SETUP, columns="subject")] = (
    "hyperpod-inference-system:aws-load-balancer-controller"
)
GATED_MODELS_SUBJECT: Annotated[str, Stated(_SETUP, columns="pattern of a subject")] = (
    "*:hyperpod-inference-service-account*"
)
#: What its operator does with certificates in a bucket whose name does not begin with `hyperpod-tls-`.
CERTIFICATE_ACTIONS: Annotated[tuple[str, ...], Stated(_SETUP, columns="actions of IAM")] = (
    "s3:DeleteObject",
    "s3:GetObject",
    "s3:PutObject",
    "s3:PutObjectTagging",
)
KEDA_ACTIONS: Annotated[tuple[str, ...], Stated(_SETUP, columns="actions of IAM")] = (
    "cloudwatch:GetMetricData",
    "cloudwatch:GetMetricStatistics",
    "cloudwatch:ListMetrics",
)
#: Image of checkpointless training, with PyTorch 2.6, NCCL 2.27.5, EFA 1.43.0 and NeMo, and the account by Region.
CHECKPOINTLESS_IMAGE: Annotated[str, Stated(_CHECKPOINTLESS, columns="image; {} are account and Region")] = (
    "{}.dkr.ecr.{}.amazonaws.com/hyperpod-checkpointless-training:v1.0.0"
)
CHECKPOINTLESS_ACCOUNTS: Annotated[
    Mapping[str, str], Stated(_CHECKPOINTLESS, columns="Region: account of the registry")
] = MappingProxyType(
    {
        "ap-northeast-1": "356859066553",
        "ap-south-1": "423350936952",
        "ap-southeast-1": "885852567298",
        "ap-southeast-2": "304708117039",
        "eu-central-1": "391061375763",
        "eu-north-1": "963403601044",
        "eu-west-1": "942446708630",
        "eu-west-2": "016839105697",
        "sa-east-1": "311136344257",
        "us-east-1": "327873000638",
        "us-east-2": "556809692997",
        "us-west-1": "827510180725",
        "us-west-2": "920498770698",
    }
)
CHECKPOINTLESS_TYPES: Annotated[tuple[str, ...], Stated(_RECIPES, columns="instance types of AWS's recipes")] = (
    "p5.48xlarge",
    "p5e.48xlarge",
)


class Permission(NamedTuple):
    """A statement of a policy.

    Args:
        actions: Names of actions, by the prefix of their service.
        resources: Kinds of resources, as in an ARN behind Region and account. Empty: all.
        conditions: Conditions.
    """

    actions: Mapping[str, str]
    resources: tuple[str, ...] = ()
    conditions: Mapping[str, Mapping[str, str | tuple[str, ...]]] = {}

    @property
    def names(self) -> list[str]:
        """Full names of the actions."""
        return [f"{service}:{name}" for service, names in self.actions.items() for name in names.split()]


_TAG = "elbv2.k8s.aws/cluster"
_REQUESTED, _OWNED = f"aws:RequestTag/{_TAG}", f"aws:ResourceTag/{_TAG}"
_NEW: Mapping[str, str] = {_REQUESTED: "false"}
_OWN: Mapping[str, str] = {_OWNED: "false"}
_TAGGED_LATER: Mapping[str, str] = {_REQUESTED: "true", _OWNED: "false"}
_BALANCERS = ("targetgroup/*/*", "loadbalancer/net/*/*", "loadbalancer/app/*/*")
#: What the AWS Load Balancer Controller of the add-on does.
LOAD_BALANCER: Annotated[tuple[Permission, ...], Stated(_SETUP, columns="statements of a policy")] = (
    Permission(
        actions={"iam": "CreateServiceLinkedRole"},
        conditions={"StringEquals": {"iam:AWSServiceName": "elasticloadbalancing.amazonaws.com"}},
    ),
    Permission(
        actions={
            "ec2": "DescribeAccountAttributes DescribeAddresses DescribeAvailabilityZones DescribeInternetGateways "
            "DescribeVpcs DescribeVpcPeeringConnections DescribeSubnets DescribeSecurityGroups DescribeInstances "
            "DescribeNetworkInterfaces DescribeTags DescribeRouteTables GetSecurityGroupsForVpc "
            "GetCoipPoolUsage DescribeCoipPools DescribeIpamPools",
            "elasticloadbalancing": "DescribeLoadBalancers DescribeLoadBalancerAttributes DescribeListeners "
            "DescribeListenerCertificates DescribeSSLPolicies DescribeRules DescribeTargetGroups "
            "DescribeTargetGroupAttributes DescribeTargetHealth DescribeTags DescribeTrustStores "
            "DescribeListenerAttributes DescribeCapacityReservation",
        }
    ),
    Permission(
        actions={
            "cognito-idp": "DescribeUserPoolClient",
            "acm": "ListCertificates DescribeCertificate",
            "iam": "ListServerCertificates GetServerCertificate",
            "waf-regional": "GetWebACL GetWebACLForResource AssociateWebACL DisassociateWebACL",
            "wafv2": "GetWebACL GetWebACLForResource AssociateWebACL DisassociateWebACL",
            "shield": "GetSubscriptionState DescribeProtection CreateProtection DeleteProtection",
        }
    ),
    Permission(actions={"ec2": "CreateSecurityGroup AuthorizeSecurityGroupIngress RevokeSecurityGroupIngress"}),
    Permission(
        actions={"ec2": "CreateTags"},
        resources=("security-group/*",),
        conditions={"StringEquals": {"ec2:CreateAction": "CreateSecurityGroup"}, "Null": _NEW},
    ),
    Permission(
        actions={"ec2": "CreateTags DeleteTags"}, resources=("security-group/*",), conditions={"Null": _TAGGED_LATER}
    ),
    Permission(actions={"ec2": "DeleteSecurityGroup"}, conditions={"Null": _OWN}),
    Permission(
        actions={"elasticloadbalancing": "CreateLoadBalancer CreateTargetGroup"},
        conditions={"Null": _NEW},
    ),
    Permission(
        actions={
            "elasticloadbalancing": "CreateListener DeleteListener CreateRule DeleteRule ModifyListener ModifyRule "
            "AddListenerCertificates RemoveListenerCertificates SetRulePriorities SetWebACL"
        }
    ),
    Permission(
        actions={"elasticloadbalancing": "AddTags RemoveTags"},
        resources=_BALANCERS,
        conditions={"Null": _TAGGED_LATER},
    ),
    Permission(
        actions={"elasticloadbalancing": "AddTags RemoveTags"},
        resources=(
            *("listener/net/*/*/*", "listener/app/*/*/*"),
            *("listener-rule/net/*/*/*", "listener-rule/app/*/*/*"),
        ),
    ),
    Permission(
        actions={"elasticloadbalancing": "AddTags"},
        resources=_BALANCERS,
        conditions={
            "StringEquals": {"elasticloadbalancing:CreateAction": ("CreateTargetGroup", "CreateLoadBalancer")},
            "Null": _NEW,
        },
    ),
    Permission(
        actions={
            "elasticloadbalancing": "ModifyLoadBalancerAttributes SetIpAddressType SetSecurityGroups SetSubnets "
            "DeleteLoadBalancer ModifyTargetGroup ModifyTargetGroupAttributes DeleteTargetGroup "
            "ModifyListenerAttributes ModifyCapacityReservation ModifyIpPools"
        },
        conditions={"Null": _OWN},
    ),
    Permission(actions={"elasticloadbalancing": "RegisterTargets DeregisterTargets"}, resources=("targetgroup/*/*",)),
)
