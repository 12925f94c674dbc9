"""Settings of a HyperPod cluster whose nodes join an EKS cluster, as records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sagemaker as l1

from ultracluster.catalogue.schedulers import hyperpod, hyperpod_kubernetes
from ultracluster.hyperpod._instance_group import GROUP, TYPE_NAME, deep_checks
from ultracluster.planning import arn_problem, check_fields
from ultracluster.planning.capacity import Capacity, OnDemand, purchase
from ultracluster.rules import Refusal

_CLUSTER = "arn:aws:eks:REGION:ACCOUNT:cluster/NAME"


@dataclass(frozen=True, kw_only=True, slots=True)
class HyperPodRestrictedGroup:
    """Nodes in an environment of the service, in which AWS's recipes customize its models; nobody logs in there.

    Args:
        name: Name, 1 to 63 letters, digits and hyphens.
        instance_type: EC2 name of the type, without `ml.`.
        count: Number of nodes.
        capacity: `OnDemand` or a `TrainingPlan`. Default: on demand, by the quota of the account.
        lustre_gib: Size of the file system of FSx for Lustre that the service creates. Default: none.
        lustre_mb_per_s_tib: Its throughput for each TiB, in MB/s. Default: none.
        deep_health_checks: Check GPUs, and between two nodes or more with EFA also NCCL, before a node takes its first
            job. Default: no.
        subnet: Subnet of the nodes. Default: that of the cluster.

    Raises:
        Refusal: If HyperPod does not take a value. All reasons at once.

    See: https://docs.aws.amazon.com/sagemaker/latest/APIReference/
    API_ClusterRestrictedInstanceGroupSpecification.html (read 2026-11-23)
    """

    name: str
    instance_type: str
    count: int
    capacity: Capacity = field(default_factory=OnDemand)
    lustre_gib: int | None = None
    lustre_mb_per_s_tib: int | None = None
    deep_health_checks: bool = False
    subnet: ec2.ISubnet | None = None

    def __post_init__(self) -> None:
        """Validate all values."""
        check_fields(self)
        problems: list[str] = [GROUP(f"name: {text}") for text in hyperpod.check_name(self.name)]
        if not TYPE_NAME.fullmatch(self.instance_type):
            problems.append(f"instance_type must be an EC2 name such as p5en.48xlarge, got {self.instance_type[:60]!r}")
        if not 0 <= self.count <= hyperpod.MOST_INSTANCES:
            problems.append(GROUP(f"count must be 0 to {hyperpod.MOST_INSTANCES}, got {self.count}"))
        try:
            setting = purchase(self.capacity, "hyperpod").setting
        except ValueError as problem:
            problems.append(GROUP(f"capacity: {problem}"))
        else:
            if setting is not None and setting[0] == "CapacityRequirements" and not isinstance(self.capacity, OnDemand):
                problems.append(GROUP("capacity must be OnDemand or a TrainingPlan: the group supports no other"))
        if (self.lustre_gib is None) != (self.lustre_mb_per_s_tib is None):
            problems.append(GROUP("lustre_gib and lustre_mb_per_s_tib must be given together"))
        if problems:
            raise Refusal("", problems)

    def render(
        self, *, role: iam.IRole, security_groups: Sequence[str]
    ) -> l1.CfnCluster.ClusterRestrictedInstanceGroupProperty:
        """Return the property of the cluster.

        Args:
            role: Execution role.
            security_groups: Ids of the security groups, for a subnet other than that of the cluster.
        """
        cluster = l1.CfnCluster
        setting: Mapping[str, Any] = dict(filter(None, [purchase(self.capacity, "hyperpod").setting]))
        lustre = None
        if self.lustre_gib is not None and self.lustre_mb_per_s_tib is not None:
            lustre = cluster.FSxLustreConfigProperty(
                size_in_gib=self.lustre_gib, per_unit_storage_throughput=self.lustre_mb_per_s_tib
            )
        override = None
        if self.subnet is not None:
            override = cluster.VpcConfigProperty(
                security_group_ids=list(security_groups), subnets=[self.subnet.subnet_id]
            )
        return cluster.ClusterRestrictedInstanceGroupProperty(
            instance_group_name=self.name,
            instance_type=f"ml.{self.instance_type}",
            instance_count=self.count,
            execution_role=role.role_arn,
            environment_config=cluster.EnvironmentConfigProperty(f_sx_lustre_config=lustre),
            training_plan_arn=setting.get("TrainingPlanArn"),
            on_start_deep_health_checks=deep_checks(self.instance_type, self.count)
            if self.deep_health_checks
            else None,
            override_vpc_config=override,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class HyperPodKubernetes:
    """An EKS cluster that the nodes join, and what HyperPod runs for it.

    The service refuses an EKS cluster without the charts of HyperPod, with another authentication mode than `API` and
    `API_AND_CONFIG_MAP`, or with a version that it does not support.

    Args:
        cluster_arn: ARN of the EKS cluster.
        autoscaling: Let HyperPod run Karpenter, which scales the groups with `count=0`. Default: no.
        checkpoint_memory_percent: Percentage of the memory of each node for checkpoints, 20 to 100. Default: none.
        restricted_groups: Restricted instance groups. Default: none.

    Raises:
        Refusal: If HyperPod does not take a value. All reasons at once.

    See: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html (read 2026-11-23)
    """

    cluster_arn: str
    autoscaling: bool = False
    checkpoint_memory_percent: int | None = None
    restricted_groups: Sequence[HyperPodRestrictedGroup] = ()

    def __post_init__(self) -> None:
        """Validate all values."""
        check_fields(self)
        problems = [*arn_problem("kubernetes.cluster_arn", self.cluster_arn, _CLUSTER)]
        allowed, percent = hyperpod_kubernetes.CHECKPOINT_MEMORY, self.checkpoint_memory_percent
        if percent is not None and percent not in allowed:
            problems.append(GROUP(f"checkpoint_memory_percent must be {allowed[0]} to {allowed[-1]}, got {percent}"))
        if problems:
            raise Refusal("", problems)

    @property
    def tiered_storage(self) -> l1.CfnCluster.TieredStorageConfigProperty | None:
        """Property of the cluster for checkpoints in memory."""
        if self.checkpoint_memory_percent is None:
            return None
        return l1.CfnCluster.TieredStorageConfigProperty(
            mode="Enable", instance_memory_allocation_percentage=self.checkpoint_memory_percent
        )
