"""SageMaker HyperPod: instance types, names, limits, and what it requires of roles and buckets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

from ultracluster.catalogue.ec2 import InstanceType
from ultracluster.catalogue.provenance import Source, Stated

_BOTOCORE = Source("botocore 1.44.5", read_on="2026-11-23", as_of="2026-11-17")
_REGISTRY = Source("cfn-lint 1.58.0", read_on="2026-11-23", as_of="2026-10-20", verify="make facts")
_CREATE_CLUSTER = Source(
    "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateCluster.html "
    "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceGroupSpecification.html",
    read_on="2026-11-23",
)
_DEEP_CHECKS = Source(
    "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-resiliency-slurm-deep-health-checks.html",
    read_on="2026-11-27",
)
_SCALING = Source(
    "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-scaling-slurm.html", read_on="2026-11-23"
)
_PREREQUISITES = Source(
    "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html", read_on="2026-11-27"
)
_SERVICE_QUOTAS = Source("Service Quotas, service sagemaker", read_on="2026-11-27")
_REFERENCE = Source("https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html", read_on="2026-11-23")
_AUTO_RESUME = Source(
    "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-resiliency-slurm-auto-resume.html "
    "https://github.com/awslabs/awsome-distributed-ai",
    read_on="2026-11-23",
    as_of="2026-07-23",
)
_LIFE_CYCLE = Source(
    "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterLifeCycleConfig.html", read_on="2026-11-23"
)
_MIGRATION = Source(
    "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-slurm-api-config-migration.html",
    read_on="2026-11-23",
)
_ROLES = Source(
    "https://docs.aws.amazon.com/sagemaker/latest/dg/"
    "security-iam-awsmanpol-AmazonSageMakerClusterInstanceRolePolicy.html "
    "https://github.com/awslabs/awsome-distributed-ai",
    read_on="2026-11-23",
    as_of="2026-07-23",
)

# Values of `ClusterInstanceType` in the service model of SageMaker that botocore 1.44.5 carries (read 2026-11-23):
# families, and the sizes that each of them has.
_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "p4d p4de": "24xlarge",
        "p5": "4xlarge 48xlarge",
        "p5e p5en p6-b200 p6-b300": "48xlarge",
        "p6e-gb200": "36xlarge",
        "trn1 trn1n": "32xlarge",
        "trn2": "3xlarge 48xlarge",
        "g4dn": "xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge",
        "g5": "xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge 24xlarge 48xlarge",
        "g6 g6e": "xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge 24xlarge 48xlarge",
        "g7 g7e": "2xlarge 4xlarge 8xlarge 12xlarge 24xlarge 48xlarge",
        "gr6": "4xlarge 8xlarge",
        "t3": "medium large xlarge 2xlarge",
        "c5": "large xlarge 2xlarge 4xlarge 9xlarge 12xlarge 18xlarge 24xlarge",
        "c5n": "large 2xlarge 4xlarge 9xlarge 18xlarge",
        "m5": "large xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge 24xlarge",
        "i3en": "large xlarge 2xlarge 3xlarge 6xlarge 12xlarge 24xlarge",
        "c6i m6i r6i": "large xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge 24xlarge 32xlarge",
        "m7i r7i": "large xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge 24xlarge 48xlarge",
        "c6a m6a": "large xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge 24xlarge 32xlarge 48xlarge",
        "c6g c7g m6g m7g": "medium large xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge",
        "c8g m8g": "medium large xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge 24xlarge 48xlarge",
        "r5d c8a m8a": "16xlarge",
    }
)
#: EC2 names of the instance types that HyperPod has; its own names begin with `ml.`.
INSTANCE_TYPES: Annotated[frozenset[str], Stated(_BOTOCORE, columns="instance types, without `ml.`")] = frozenset(
    f"{family}.{size}" for families, sizes in _TYPES.items() for family in families.split() for size in sizes.split()
)

#: Regions with HyperPod: those in which CloudFormation has AWS::SageMaker::Cluster, as cfn-lint 1.58.0 carries its
#: registry. Only regions of `catalogue.ec2.REGIONS` are listed. me-south-1 has no source: that copy lacks the region.
#: It stays, so that nothing valid is refused; `check --live` asks the region.
REGIONS: Annotated[frozenset[str], Stated(_REGISTRY, columns="Regions")] = frozenset(
    {
        *("ap-northeast-1", "ap-northeast-2", "ap-south-1", "ap-south-2", "ap-southeast-1", "ap-southeast-2"),
        *("ap-southeast-3", "ap-southeast-4", "ca-central-1", "eu-central-1", "eu-north-1", "eu-south-2", "eu-west-1"),
        *("eu-west-2", "me-south-1", "sa-east-1", "us-east-1", "us-east-2", "us-west-1", "us-west-2"),
    }
)

NAME: Annotated[re.Pattern[str], Stated(_CREATE_CLUSTER, columns="regular expression")] = re.compile(
    r"[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}", re.ASCII
)
MOST_GROUPS: Annotated[int, Stated(_CREATE_CLUSTER, "instance groups")] = 100
MOST_INSTANCES: Annotated[int, Stated(_CREATE_CLUSTER, "instances")] = 6758
LARGEST_VOLUME_GIB: Annotated[int, Stated(_CREATE_CLUSTER, "GiB")] = 16_384
#: Deep health checks at the start of a node: of its GPUs, and of EFA and NCCL between nodes.
DEEP_HEALTH_CHECKS: Annotated[tuple[str, ...], Stated(_CREATE_CLUSTER, columns="names of checks")] = (
    "InstanceStress",
    "InstanceConnectivity",
)
#: That between nodes, on types whose GPUs communicate across nodes.
CHECK_BETWEEN_NODES: Annotated[str, Stated(_DEEP_CHECKS, columns="name of a check")] = "InstanceConnectivity"
#: What keeps the partitions of slurm.conf. Continuous provisioning is always `Merge`, and refuses the property.
SLURM_STRATEGIES: Annotated[tuple[str, ...], Stated(_SCALING, columns="strategies")] = ("Managed", "Merge", "Overwrite")
#: The partition of all nodes, which is the default one.
ALL_NODES_PARTITION: Annotated[str, Stated(_REFERENCE, columns="name of a partition")] = "dev"
#: Options of srun with which a job whose node is replaced runs on; sbatch refuses them:
#: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-resiliency-slurm-auto-resume.html, and
#: https://github.com/awslabs/awsome-distributed-ai, 1.architectures/5.sagemaker-hyperpod/tools/devops-agent/docs/
#: hyperpod-mental-model.md (commit 95b939c of 2026-07-23; read 2026-11-23)
RESUME_OPTIONS: Annotated[tuple[str, ...], Stated(_AUTO_RESUME, columns="options of srun")] = ("--auto-resume=1",)
#: The beginning of the name of a bucket with lifecycle scripts.
BUCKET_PREFIX: Annotated[str, Stated(_LIFE_CYCLE, columns="beginning of a name")] = "sagemaker-"
#: The file that the API replaces, and that must not be beside lifecycle scripts then.
PROVISIONING_PARAMETERS: Annotated[str, Stated(_MIGRATION, columns="name of a file")] = "provisioning_parameters.json"
#: Default of the account-wide and of each type's quota is not published: AWS names them "ml.TYPE for cluster usage".
QUOTA: Annotated[str, Stated(_MIGRATION, columns="name in Service Quotas; {} is the type")] = "{} for cluster usage"
SPOT_QUOTA: Annotated[str, Stated(_SERVICE_QUOTAS, columns="name in Service Quotas; {} is the type")] = (
    "{} for cluster spot instance usage"
)
#: Instances of one cluster, and of all clusters of an account; all purchase options count.
INSTANCE_QUOTAS: Annotated[tuple[str, ...], Stated(_PREREQUISITES, columns="names in Service Quotas")] = (
    "Maximum number instances allowed per SageMaker HyperPod cluster",
    "Total number of instances allowed across SageMaker HyperPod clusters",
)
VOLUME_QUOTA: Annotated[str, Stated(_PREREQUISITES, columns="name in Service Quotas")] = (
    "Maximum size of EBS volume in GB for a SageMaker HyperPod cluster instance"
)

# What nodes do: https://docs.aws.amazon.com/sagemaker/latest/dg/
# security-iam-awsmanpol-AmazonSageMakerClusterInstanceRolePolicy.html. The network interfaces in a VPC, and whether a
# file system has EFA: https://github.com/awslabs/awsome-distributed-ai,
# 1.architectures/5.sagemaker-hyperpod/1.AmazonSageMakerClustersExecutionRolePolicy.json (commit 95b939c of 2026-07-23;
# all read 2026-11-23)
LOG_ACTIONS: Annotated[tuple[str, ...], Stated(_ROLES, columns="IAM actions")] = (
    "logs:CreateLogGroup",
    "logs:CreateLogStream",
    "logs:DescribeLogStreams",
    "logs:PutLogEvents",
)
LOG_GROUPS: Annotated[str, Stated(_ROLES, columns="pattern of log groups")] = "/aws/sagemaker/Clusters/*"
METRICS_NAMESPACE: Annotated[str, Stated(_ROLES, columns="namespace of CloudWatch")] = "/aws/sagemaker/Clusters"
SESSION_ACTIONS: Annotated[tuple[str, ...], Stated(_ROLES, columns="IAM actions")] = (
    "ssmmessages:CreateControlChannel",
    "ssmmessages:CreateDataChannel",
    "ssmmessages:OpenControlChannel",
    "ssmmessages:OpenDataChannel",
)
NETWORK_ACTIONS: Annotated[tuple[str, ...], Stated(_ROLES, columns="IAM actions")] = (
    "ec2:CreateNetworkInterface",
    "ec2:CreateNetworkInterfacePermission",
    "ec2:DeleteNetworkInterface",
    "ec2:DeleteNetworkInterfacePermission",
    "ec2:DescribeDhcpOptions",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeSubnets",
    "ec2:DescribeVpcs",
    "ec2:DetachNetworkInterface",
)
FILE_SYSTEM_ACTIONS: Annotated[tuple[str, ...], Stated(_ROLES, columns="IAM actions")] = ("fsx:DescribeFileSystems",)


def check_name(name: str) -> list[str]:
    """Return the errors of the name of a cluster, an instance group or a partition; empty if it is valid."""
    if NAME.fullmatch(name) and len(name) <= 63:
        return []
    return [
        f"the name has 1 to 63 letters, digits and hyphens, and begins and ends with a letter or digit, got {name!r}"
    ]


def scripts_bucket_name(cluster: str, account: str, region: str) -> str:
    """Return the name of the bucket of lifecycle scripts that a cluster gets by default."""
    return f"{BUCKET_PREFIX}{cluster}-{account}-{region}"


def check_type(name: str) -> list[str]:
    """Return the errors of an instance type, by its EC2 name; empty if HyperPod has it."""
    if name in INSTANCE_TYPES:
        return []
    family = name.partition(".")[0]
    near = sorted(other for other in INSTANCE_TYPES if other.partition(".")[0] == family)
    have = f"of the family it has {', '.join(near)}" if near else "it has none of the family"
    return [f"HyperPod has no ml.{name}: {have}"]


def addresses(record: InstanceType) -> int:
    """Return the IPv4 addresses of a node under Slurm: one for each network card.

    See: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html: 32 of a P5 (read
    2026-11-23)
    """
    return len(record.cards)
