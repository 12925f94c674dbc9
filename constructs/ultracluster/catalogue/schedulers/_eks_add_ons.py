"""EKS add-ons.

See: https://docs.aws.amazon.com/eks/latest/userguide/workloads-add-ons-available-eks.html and community-addons.html
(read 2026-11-21). Those of the AWS Marketplace are not on the pages; their names have the vendor before an underscore.
"""

ADD_ONS = (
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
#: Of SageMaker HyperPod's clusters alone.
HYPERPOD = "amazon-sagemaker-hyperpod-"


def is_known(name: str) -> bool:
    """Return True for an add-on of AWS's pages, or with a Marketplace name."""
    return name in ADD_ONS or name.startswith(HYPERPOD) or "_" in name
