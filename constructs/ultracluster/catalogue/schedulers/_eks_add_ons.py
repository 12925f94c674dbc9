"""EKS add-ons.

See: https://docs.aws.amazon.com/eks/latest/userguide/workloads-add-ons-available-eks.html and community-addons.html
(read 2026-11-21). Those of the AWS Marketplace are not on the pages; their names have the vendor before an underscore.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, NamedTuple

from ultracluster.catalogue.provenance import Source, Stated
from ultracluster.catalogue.schedulers import _hyperpod_add_ons as hyperpod_add_ons
from ultracluster.catalogue.schedulers import _hyperpod_kubernetes as hyperpod_kubernetes

_AVAILABLE = Source(
    "https://docs.aws.amazon.com/eks/latest/userguide/workloads-add-ons-available-eks.html "
    "https://docs.aws.amazon.com/eks/latest/userguide/community-addons.html",
    read_on="2026-11-21",
)
_AVAILABLE_2 = Source(
    "https://docs.aws.amazon.com/eks/latest/userguide/workloads-add-ons-available-eks.html "
    "https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEBSCSIDriverPolicyV2.html",
    read_on="2026-11-22",
)
_COMMUNITY_ADDONS = Source(
    "https://docs.aws.amazon.com/eks/latest/userguide/community-addons.html "
    "https://docs.aws.amazon.com/sagemaker/latest/dg/operator-install.html",
    read_on="2026-11-21",
)

_OPERATOR = Source(
    "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-install.html", read_on="2026-11-24"
)

ADD_ONS: Annotated[tuple[str, ...], Stated(_AVAILABLE, columns="names of add-ons")] = (
    "adot",
    "amazon-cloudwatch-observability",
    "amazon-sagemaker-spaces",
    "aws-ebs-csi-driver",
    "aws-ec2-local-instance-store-csi-driver",
    "aws-efs-csi-driver",
    "aws-fsx-csi-driver",
    "aws-guardduty-agent",
    "aws-mountpoint-s3-csi-driver",
    "aws-network-flow-monitoring-agent",
    "aws-privateca-connector-for-kubernetes",
    "aws-secrets-store-csi-driver-provider",
    "cert-manager",
    "coredns",
    "eks-node-monitoring-agent",
    "eks-pod-identity-agent",
    "external-dns",
    "fluent-bit",
    "kube-proxy",
    "kube-state-metrics",
    "metrics-server",
    "prometheus-node-exporter",
    "snapshot-controller",
    "sriov-network-metrics-exporter",
    "vpc-cni",
)


#: Add-on that sends logs of pods and nodes to CloudWatch.
LOGS = "amazon-cloudwatch-observability"
_LOGS_CHART = Source(
    "https://github.com/aws-observability/helm-charts, charts/amazon-cloudwatch-observability (6.4.0, commit 71a298f)",
    read_on="2026-11-25",
    as_of="2026-08-07",
    verify="open https://github.com/aws-observability/helm-charts",
)
#: Its values without all that is billed as metrics, and without a second dcgm-exporter, which would take the profiling
#: counters of the GPUs.
LOGS_ONLY: Annotated[Mapping[str, Mapping[str, bool]], Stated(_LOGS_CHART, columns="value of the chart: setting")] = (
    MappingProxyType(
        {
            name: {"enabled": False}
            for name in ("containerInsights", "applicationSignals", "dcgmExporter", "neuronMonitor")
        }
    )
)


class AddOnAccess(NamedTuple):
    """Permissions of the pods of an add-on.

    Args:
        service_account: Service account of its pods, in the namespace of the add-on.
        policies: AWS managed policies by name. Empty: permissions that a managed policy would give too broadly.
        namespace: Namespace of the service account, for an add-on that takes no association of its own.
        reason: Why these policies.
    """

    service_account: str
    policies: tuple[str, ...] = ()
    namespace: str | None = None
    reason: str = "The documentation of the add-on names this policy, and AWS maintains it with the add-on"


#: Service account and permissions by add-on. Others have no permissions.
#: https://docs.aws.amazon.com/eks/latest/userguide/workloads-add-ons-available-eks.html and, for EBS,
#: https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEBSCSIDriverPolicyV2.html, which is limited to
#: volumes with the tag of the driver (read 2026-11-22)
ACCESS: Annotated[
    Mapping[str, AddOnAccess], Stated(_AVAILABLE_2, columns="add-on: service account, managed policies, reason")
] = MappingProxyType(
    {
        "amazon-cloudwatch-observability": AddOnAccess(
            service_account="cloudwatch-agent", policies=("AWSXrayWriteOnlyAccess", "CloudWatchAgentServerPolicy")
        ),
        # Its version v1.2.1-eksbuild.1 refuses associations of its own: https://github.com/awslabs/awsome-distributed-ai,
        # 1.architectures/7.sagemaker-hyperpod-eks/terraform-modules/hyperpod-eks-tf/modules/hyperpod_training_operator/
        # main.tf (commit 95b939c of 2026-07-23, read 2026-11-24)
        hyperpod_kubernetes.TRAINING_OPERATOR: AddOnAccess(
            service_account="hp-training-operator-controller-manager",
            policies=("AmazonSageMakerHyperPodTrainingOperatorAccess",),
            namespace=hyperpod_kubernetes.NAMESPACE,
        ),
        "aws-ebs-csi-driver": AddOnAccess(
            service_account="ebs-csi-controller-sa", policies=("AmazonEBSCSIDriverPolicyV2",)
        ),
        "aws-efs-csi-driver": AddOnAccess(
            service_account="efs-csi-controller-sa", policies=("service-role/AmazonEFSCSIDriverPolicy",)
        ),
        # AmazonFSxFullAccess would let the driver delete every file system of the account.
        "aws-fsx-csi-driver": AddOnAccess(service_account="fsx-csi-controller-sa"),
        # The buckets that it mounts.
        "aws-mountpoint-s3-csi-driver": AddOnAccess(service_account="s3-csi-driver-sa"),
        "aws-network-flow-monitoring-agent": AddOnAccess(
            service_account="aws-network-flow-monitor-agent-service-account",
            policies=("CloudWatchNetworkFlowMonitorAgentPublishPolicy",),
        ),
        "aws-privateca-connector-for-kubernetes": AddOnAccess(
            service_account="aws-privateca-issuer", policies=("AWSPrivateCAConnectorForKubernetesPolicy",)
        ),
        "vpc-cni": AddOnAccess(service_account="aws-node", policies=("AmazonEKS_CNI_Policy",)),
    }
)
#: Add-ons that need a role of the user's choice, each with what its permissions depend on.
#: https://docs.aws.amazon.com/eks/latest/userguide/community-addons.html (read 2026-11-21) and
#: https://docs.aws.amazon.com/sagemaker/latest/dg/operator-install.html (read 2026-11-22)
OWN_ROLE: Annotated[Mapping[str, str], Stated(_COMMUNITY_ADDONS, columns="add-on: what its permissions depend on")] = (
    MappingProxyType(
        {
            "amazon-sagemaker-spaces": "the domains and spaces that it manages",
            "external-dns": "the hosted zones that it writes to",
        }
    )
)
#: Of SageMaker HyperPod's clusters alone. Their pods run on its nodes.
HYPERPOD = "amazon-sagemaker-hyperpod-"
#: Add-ons that another one requires.
REQUIRED: Annotated[Mapping[str, tuple[str, ...]], Stated(_OPERATOR, columns="add-on: add-ons that it requires")] = (
    MappingProxyType(
        {
            hyperpod_kubernetes.TRAINING_OPERATOR: ("cert-manager",),
            hyperpod_add_ons.INFERENCE: hyperpod_add_ons.INFERENCE_REQUIRES,
        }
    )
)


def is_known(name: str) -> bool:
    """Return True for an add-on of AWS's pages, or with a Marketplace name."""
    return name in ADD_ONS or name.startswith(HYPERPOD) or "_" in name
