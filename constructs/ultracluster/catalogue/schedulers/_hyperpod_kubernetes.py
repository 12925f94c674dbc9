"""SageMaker HyperPod with Kubernetes: versions, addresses, permissions of nodes and of the autoscaler, add-ons.

See: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html, and
sagemaker-hyperpod-prerequisites-iam.html beside it (read 2026-11-23)
"""

from __future__ import annotations

import re
from typing import Annotated

from ultracluster.catalogue.ec2 import Architecture, InstanceType
from ultracluster.catalogue.provenance import Source, Stated

_PREREQUISITES = Source(
    "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html", read_on="2026-11-23"
)
_ROLE = Source(
    "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html", read_on="2026-11-23"
)
_BOTOCORE = Source("botocore 1.44.5, ClusterKubernetesTaints", read_on="2026-11-24", as_of="2026-11-17")
_LOCAL_DISKS = Source(
    "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html, which refuses drivers "
    "of local disks; https://docs.aws.amazon.com/eks/latest/userguide/workloads-add-ons-available-eks.html names one",
    read_on="2026-11-24",
)
_OPERATOR = Source(
    "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-install.html", read_on="2026-11-24"
)
_SETUP = Source(
    "https://docs.aws.amazon.com/sagemaker/latest/dg/"
    "sagemaker-hyperpod-eks-operate-console-ui-governance-setup-task-governance.html, and "
    "sagemaker-hyperpod-eks-operate-console-ui-governance-cli.html",
    read_on="2026-11-24",
)
_PLACEMENT = Source(
    "https://docs.aws.amazon.com/sagemaker/latest/dg/"
    "sagemaker-hyperpod-eks-operate-console-ui-governance-tasks-scheduling.html",
    read_on="2026-11-24",
)
_QUOTA_REGIONS = Source(
    "https://docs.aws.amazon.com/cdk/api/v2/docs/aws-cdk-lib.aws_sagemaker.CfnComputeQuota.html (2.277.0)",
    read_on="2026-11-24",
)
_LABELS = Source(
    "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-node-labels.html",
    read_on="2026-11-23",
)
_CHARTS = Source(
    "https://github.com/aws/sagemaker-hyperpod-cli, helm_chart/readme.md (commit 011ca92)",
    read_on="2026-11-23",
    as_of="2026-06-22",
)
_AUTOSCALING = Source(
    "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-iam.html", read_on="2026-11-23"
)
_NODE_POOLS = Source(
    "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-nodepool.html",
    read_on="2026-11-28",
)
_TIERED = Source(
    "https://docs.aws.amazon.com/sagemaker/latest/dg/managed-tier-checkpointing-setup.html", read_on="2026-11-23"
)
_VOLUMES = Source(
    "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-ebs.html", read_on="2026-11-27"
)
_GOVERNANCE = Source(
    "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ComputeQuotaConfig.html, and API_PriorityClass.html",
    read_on="2026-11-23",
)

#: Versions of Kubernetes that HyperPod supports.
VERSIONS: Annotated[tuple[str, ...], Stated(_PREREQUISITES, columns="versions of Kubernetes")] = (
    "1.30",
    "1.31",
    "1.32",
    "1.33",
    "1.34",
    "1.35",
)
#: Taint of a node that deep health checks test; nodes with custom taints cannot be tested.
HEALTH_TAINT: Annotated[str, Stated(_LABELS, columns="key of a taint")] = "sagemaker.amazonaws.com/node-health-status"
#: Label and value of nodes that passed the checks:
#: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-node-labels.html and
#: sagemaker-hyperpod-eks-run-jobs-kubectl.html (read 2026-11-23)
SCHEDULABLE: Annotated[tuple[str, str], Stated(_LABELS, columns="key and value of a label")] = (
    HEALTH_TAINT,
    "Schedulable",
)
#: Directory of nodes on their second volume, or on their NVMe disks.
NODE_VOLUME: Annotated[str, Stated(_PREREQUISITES, columns="path")] = "/opt/sagemaker"
MOST_TAINTS: Annotated[int, Stated(_BOTOCORE, "taints of an instance group")] = 50
#: Charts that must be on the EKS cluster before it is one of HyperPod:
#: https://github.com/aws/sagemaker-hyperpod-cli, helm_chart/readme.md (commit 011ca92 of 2026-06-22; read 2026-11-23)
CHARTS: Annotated[tuple[str, ...], Stated(_CHARTS, columns="names of charts")] = (
    "deep-health-check",
    "health-monitoring-agent",
    "job-auto-restart",
    "hyperpod-patching",
    "training-operators",
)
#: Add-on whose driver takes the NVMe disks, which the image of HyperPod has in a volume of its own.
REFUSED_ADD_ONS: Annotated[tuple[str, ...], Stated(_LOCAL_DISKS, columns="names of add-ons")] = (
    "aws-ec2-local-instance-store-csi-driver",
)

#: Tag of a cluster without which EKS refuses its add-ons; AWS's policy for them requires it, too.
ADD_ON_TAG: Annotated[tuple[str, str], Stated(_OPERATOR, columns="key and value of a tag")] = ("SageMaker", "true")
#: Add-on that runs objects of the kind `HyperPodPyTorchJob`, that kind, and the namespace of its pods.
TRAINING_OPERATOR: Annotated[str, Stated(_OPERATOR, columns="name of an add-on")] = (
    "amazon-sagemaker-hyperpod-training-operator"
)
TRAINING_KIND: Annotated[str, Stated(_OPERATOR, columns="kind, version, and group of its objects")] = (
    "HyperPodPyTorchJob.v1.sagemaker.amazonaws.com"
)
NAMESPACE: Annotated[str, Stated(_OPERATOR, columns="namespace")] = "aws-hyperpod"
#: Add-on that has Kueue, and gives each team a namespace, a queue in it, and priority classes:
#: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-console-ui-governance-setup-task-
#: governance.html and sagemaker-hyperpod-eks-operate-console-ui-governance-cli.html (read 2026-11-24)
TASK_GOVERNANCE: Annotated[str, Stated(_SETUP, columns="name of an add-on")] = (
    "amazon-sagemaker-hyperpod-taskgovernance"
)
TEAM_NAMESPACE: Annotated[str, Stated(_SETUP, columns="namespace; {} is the team")] = "hyperpod-ns-{}"
TEAM_QUEUE: Annotated[str, Stated(_SETUP, columns="queue; {} is the namespace")] = "{}-localqueue"
TEAM_PRIORITY: Annotated[str, Stated(_SETUP, columns="priority class; {} is its name in the policy")] = "{}-priority"
#: Regions with its policies and quotas.
TASK_GOVERNANCE_REGIONS: Annotated[frozenset[str], Stated(_QUOTA_REGIONS, columns="Regions")] = frozenset(
    {
        *("us-east-1", "us-east-2", "us-west-1", "us-west-2", "ap-south-1", "ap-southeast-1", "ap-southeast-2"),
        *("ap-southeast-3", "ap-northeast-1", "eu-central-1", "eu-west-1", "eu-west-2", "eu-north-1", "eu-south-2"),
        "sa-east-1",
    }
)
#: Label of nodes with their UltraServer, by which task governance places pods.
ULTRASERVER_LABEL: Annotated[str, Stated(_PLACEMENT, columns="key of a label")] = "topology.k8s.aws/ultraserver-id"
#: Port on which the agent in the pods of a job listens for the operator.
AGENT_PORT: Annotated[int, Stated(_OPERATOR, "port")] = 8080

# What a node does beside what `HyperPodRole` allows under Slurm: addresses of pods, images, and roles of pods.
POD_NETWORK_ACTIONS: Annotated[tuple[str, ...], Stated(_ROLE, columns="actions of IAM")] = (
    "ec2:AssignPrivateIpAddresses",
    "ec2:AttachNetworkInterface",
    "ec2:DescribeInstanceTypes",
    "ec2:DescribeInstances",
    "ec2:DescribeTags",
    "ec2:ModifyNetworkInterfaceAttribute",
    "ec2:UnassignPrivateIpAddresses",
)
IMAGE_ACTIONS: Annotated[tuple[str, ...], Stated(_ROLE, columns="actions of IAM")] = (
    "ecr:BatchCheckLayerAvailability",
    "ecr:BatchGetImage",
    "ecr:GetAuthorizationToken",
    "ecr:GetDownloadUrlForLayer",
)
POD_IDENTITY_ACTION: Annotated[str, Stated(_ROLE, columns="action of IAM")] = "eks-auth:AssumeRoleForPodIdentity"
#: What the EBS driver does beside its managed policy: HyperPod attaches volumes to its nodes, not EC2.
VOLUME_ACTIONS: Annotated[tuple[str, ...], Stated(_VOLUMES, columns="actions of IAM")] = (
    "sagemaker:AttachClusterNodeVolume",
    "sagemaker:DetachClusterNodeVolume",
)

# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-iam.html (read 2026-11-23)
AUTOSCALER_PRINCIPAL: Annotated[str, Stated(_AUTOSCALING, columns="service principal")] = (
    "hyperpod.sagemaker.amazonaws.com"
)
#: Architecture of the nodes that the Karpenter of the service launches: it does not support Arm.
AUTOSCALER_ARCHITECTURE: Annotated[Architecture, Stated(_NODE_POOLS, columns="architecture")] = "x86_64"
AUTOSCALER_ACTIONS: Annotated[tuple[str, ...], Stated(_AUTOSCALING, columns="actions of IAM")] = (
    "sagemaker:BatchAddClusterNodes",
    "sagemaker:BatchDeleteClusterNodes",
)
AUTOSCALER_KEY_ACTIONS: Annotated[tuple[str, ...], Stated(_AUTOSCALING, columns="actions of IAM")] = (
    "kms:CreateGrant",
    "kms:DescribeKey",
)
AUTOSCALER_KEY_GRANTS: Annotated[tuple[str, ...], Stated(_AUTOSCALING, columns="operations of a grant")] = (
    *("CreateGrant", "Decrypt", "DescribeKey", "GenerateDataKeyWithoutPlaintext", "ReEncryptFrom", "ReEncryptTo"),
    "RetireGrant",
)
#: Percentages of the memory of nodes that checkpoints may take:
#: https://docs.aws.amazon.com/sagemaker/latest/dg/managed-tier-checkpointing-setup.html (read 2026-11-23)
CHECKPOINT_MEMORY: Annotated[range, Stated(_TIERED, "% of the memory of a node")] = range(20, 101)

# https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_PriorityClass.html, API_ComputeQuotaConfig.html and
# API_ComputeQuotaTarget.html; service model of SageMaker in botocore 1.44.5 (read 2026-11-23)
MOST_PRIORITY_CLASSES: Annotated[int, Stated(_GOVERNANCE, "priority classes")] = 10
WEIGHTS: Annotated[range, Stated(_GOVERNANCE, "weight")] = range(0, 101)
BORROW_LIMITS: Annotated[range, Stated(_GOVERNANCE, "%")] = range(0, 10_001)
PRIORITY_CLASS = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9]){0,39}", re.ASCII)
TEAM = re.compile(r"[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?", re.ASCII)


def quota_name(cluster: str, team: str) -> str:
    """Return the name of the quota of a team; it is one of HyperPod."""
    return f"{cluster}-{team}"


def check_version(version: str) -> list[str]:
    """Return the errors of a version of Kubernetes; empty if HyperPod supports it."""
    if version in VERSIONS:
        return []
    return [f"HyperPod supports Kubernetes {VERSIONS[0]} to {VERSIONS[-1]} (read 2026-11-23), got {version}"]


def kubernetes_addresses(record: InstanceType) -> int:
    """Return the IPv4 addresses of a node: those of its first interface, and one for each further network card.

    See: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html: 81 of a P5, 50 of the
    first card and one of each of 31 others (read 2026-11-23)
    """
    return record.ipv4_per_interface + len(record.cards) - 1
