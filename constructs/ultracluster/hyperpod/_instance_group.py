"""Instance groups of a HyperPod cluster, as records."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sagemaker as l1

from ultracluster.boot import Taint
from ultracluster.catalogue.ec2 import known_type
from ultracluster.catalogue.schedulers import hyperpod, hyperpod_kubernetes
from ultracluster.planning import check_fields
from ultracluster.planning.capacity import Capacity, OnDemand, Spot, purchase
from ultracluster.rules import Refusal, error

GROUP = error("hyperpod-group", "HyperPod limits the name of an instance group, its instances and its volumes.")
#: Form of the EC2 name of a type.
TYPE_NAME = re.compile(r"[a-z0-9-]+\.[a-z0-9-]+", re.ASCII)
#: Role of the nodes of a group in Slurm.
NodeType = Literal["Controller", "Login", "Compute"]
# Values of cfn-lint's rule E3644, which come from price lists, lack these (1.58, 2026-11); the API has them.
_NOT_IN_PRICE_LISTS = ("p5e.48xlarge", "p6e-gb200.36xlarge")


@dataclass(frozen=True, kw_only=True, slots=True)
class HyperPodMount:
    """A file system that HyperPod mounts on the nodes of a group.

    Args:
        dns_name: DNS name of the file system.
        path: Mount point.
        mount_name: Mount name of a file system of FSx for Lustre. Default: it is one of FSx for OpenZFS.
    """

    dns_name: str
    path: str
    mount_name: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class HyperPodInstanceGroup:
    """Equal nodes of a HyperPod cluster.

    Args:
        name: Name, 1 to 63 letters, digits and hyphens.
        instance_type: EC2 name of the type, without `ml.`, such as `p5en.48xlarge`.
        count: Number of nodes.
        capacity: `OnDemand`, `Spot` or a `TrainingPlan`. Default: on demand, by the quota of the account.
        node_type: Role of the nodes in Slurm. Default: none, for Kubernetes or a `provisioning_parameters.json`.
        partition: Partition of compute nodes. Each node is also in the partition `dev`, which is Slurm's default.
        script: Lifecycle script, by its path in the scripts of the cluster. It runs after the configuration by the
            image, or with `on_create` instead of it.
        on_create: The script owns the whole set-up of a node, Slurm's start included. Default: no.
        deep_health_checks: Check GPUs, and between two nodes or more with EFA also NCCL, before a node takes its first
            job. Default: no.
        volume_gib: Size of the second volume, at `/opt/sagemaker`; the service sizes the root volume. Default: none.
        mounts: File systems that the service mounts; at most one of each kind.
        subnet: Subnet of the nodes. Default: that of the cluster.
        labels: Labels of Kubernetes nodes. Default: those of the service.
        taints: Taints of Kubernetes nodes, which deep health checks exclude. Default: none.
        minimum: Nodes without which a new group fails after three hours. Default: none; the service retries.
        role: Execution role of the nodes. Default: that of the cluster.

    Raises:
        Refusal: If HyperPod does not take a value. All reasons at once.

    See: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceGroupSpecification.html (read
    2026-11-23)
    """

    name: str
    instance_type: str
    count: int
    capacity: Capacity = field(default_factory=OnDemand)
    node_type: NodeType | None = None
    partition: str | None = None
    script: str | None = None
    on_create: bool = False
    deep_health_checks: bool = False
    volume_gib: int | None = None
    mounts: Sequence[HyperPodMount] = ()
    subnet: ec2.ISubnet | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: Sequence[Taint] = ()
    minimum: int | None = None
    role: iam.IRole | None = None

    def __post_init__(self) -> None:
        """Validate all values."""
        check_fields(self)
        if problems := self._problems():
            raise Refusal("", problems)

    def _problems(self) -> list[str]:
        problems: list[str] = [GROUP(f"name: {text}") for text in hyperpod.check_name(self.name)]
        if not TYPE_NAME.fullmatch(self.instance_type):
            problems.append(f"instance_type must be an EC2 name such as p5en.48xlarge, got {self.instance_type[:60]!r}")
        if not 0 <= self.count <= hyperpod.MOST_INSTANCES:
            problems.append(GROUP(f"count must be 0 to {hyperpod.MOST_INSTANCES}, got {self.count}"))
        try:
            purchase(self.capacity, "hyperpod")
        except ValueError as problem:
            problems.append(GROUP(f"capacity: {problem}"))
        if self.node_type == "Compute" and self.partition is None:
            problems.append(GROUP("compute nodes need a partition"))
        if self.node_type != "Compute" and self.partition is not None:
            problems.append(GROUP("a partition has compute nodes only: node_type must be 'Compute'"))
        if self.partition is not None:
            problems += [GROUP(f"partition: {text}") for text in hyperpod.check_name(self.partition)]
        if self.on_create and self.script is None:
            problems.append(GROUP("on_create needs a script"))
        if self.volume_gib is not None and not 1 <= self.volume_gib <= hyperpod.LARGEST_VOLUME_GIB:
            most = hyperpod.LARGEST_VOLUME_GIB
            problems.append(GROUP(f"volume_gib must be 1 to {most:,}, got {self.volume_gib}"))
        lustre = sum(mount.mount_name is not None for mount in self.mounts)
        if max(lustre, len(self.mounts) - lustre) > 1:
            problems.append(GROUP("HyperPod mounts one file system of Lustre and one of OpenZFS in a group"))
        if self.minimum is not None and not 0 <= self.minimum <= self.count:
            problems.append(GROUP(f"minimum must be 0 to count, {self.count}, got {self.minimum}"))
        if self.deep_health_checks and self.taints:
            problems.append(GROUP("nodes with taints cannot have deep health checks: leave one of both out"))
        if len(self.taints) > hyperpod_kubernetes.MOST_TAINTS:
            problems.append(GROUP(f"taints must be at most {hyperpod_kubernetes.MOST_TAINTS}, got {len(self.taints)}"))
        return problems

    @property
    def for_kubernetes(self) -> bool:
        """True if only nodes of Kubernetes have such a group."""
        return bool(self.labels or self.taints) or isinstance(self.capacity, Spot)

    def render(
        self, *, role: iam.IRole, source_s3_uri: str | None, security_groups: Sequence[str], key: kms.IKey | None
    ) -> l1.CfnCluster.ClusterInstanceGroupProperty:
        """Return the property of the cluster.

        Args:
            role: Execution role, unless the group has one.
            source_s3_uri: Location of the lifecycle scripts of the cluster.
            security_groups: Ids of the security groups, for a subnet other than that of the cluster.
            key: Key of the volumes.
        """
        cluster = l1.CfnCluster
        setting: Mapping[str, Any] = dict(filter(None, [purchase(self.capacity, "hyperpod").setting]))
        requirements = setting.get("CapacityRequirements")
        lifecycle = None
        if self.script is not None and source_s3_uri is not None:
            stage = "on_create" if self.on_create else "on_init_complete"
            lifecycle = cluster.ClusterLifeCycleConfigProperty(source_s3_uri=source_s3_uri, **{stage: self.script})
        override = None
        if self.subnet is not None:
            override = cluster.VpcConfigProperty(
                security_group_ids=list(security_groups), subnets=[self.subnet.subnet_id]
            )
        slurm = None
        if self.node_type is not None:
            slurm = cluster.ClusterSlurmConfigProperty(
                node_type=self.node_type, partition_names=None if self.partition is None else [self.partition]
            )
        return cluster.ClusterInstanceGroupProperty(
            instance_group_name=self.name,
            instance_type=f"ml.{self.instance_type}",
            instance_count=self.count,
            execution_role=(self.role or role).role_arn,
            life_cycle_config=lifecycle,
            training_plan_arn=setting.get("TrainingPlanArn"),
            capacity_requirements=_requirements(requirements),
            on_start_deep_health_checks=deep_checks(self.instance_type, self.count)
            if self.deep_health_checks
            else None,
            instance_storage_configs=self._storage(key) or None,
            override_vpc_config=override,
            slurm_config=slurm,
            min_instance_count=self.minimum,
            kubernetes_config=self._kubernetes_config(),
        )

    def _kubernetes_config(self) -> l1.CfnCluster.ClusterKubernetesConfigProperty | None:
        if not self.labels and not self.taints:
            return None
        cluster = l1.CfnCluster
        taints = [cluster.ClusterKubernetesTaintProperty(key=taint.key, effect=taint.effect) for taint in self.taints]
        return cluster.ClusterKubernetesConfigProperty(
            labels=dict(sorted(self.labels.items())) or None, taints=taints or None
        )

    def _storage(self, key: kms.IKey | None) -> list[l1.CfnCluster.ClusterInstanceStorageConfigProperty]:
        cluster = l1.CfnCluster
        volume = cluster.ClusterEbsVolumeConfigProperty
        volumes = []
        arn = None if key is None else key.key_arn
        if arn is not None:
            # The service sizes the root volume, and takes its key only.
            volumes.append(volume(root_volume=True, volume_kms_key_id=arn))
        if self.volume_gib is not None:
            volumes.append(volume(volume_size_in_gb=self.volume_gib, volume_kms_key_id=arn))
        result = [cluster.ClusterInstanceStorageConfigProperty(ebs_volume_config=each) for each in volumes]
        for mount in self.mounts:
            if mount.mount_name is None:
                openzfs = cluster.ClusterFsxOpenZfsConfigProperty(dns_name=mount.dns_name, mount_path=mount.path)
                result.append(cluster.ClusterInstanceStorageConfigProperty(fsx_open_zfs_config=openzfs))
            else:
                lustre = cluster.ClusterFsxLustreConfigProperty(
                    dns_name=mount.dns_name, mount_name=mount.mount_name, mount_path=mount.path
                )
                result.append(cluster.ClusterInstanceStorageConfigProperty(fsx_lustre_config=lustre))
        return result


def deep_checks(instance_type: str, count: int) -> list[str]:
    """Return the deep health checks of a group: that of NCCL is for several nodes, which communicate over EFA.

    See: https://docs.aws.amazon.com/sagemaker/latest/dg/
    sagemaker-hyperpod-resiliency-slurm-deep-health-checks.html (read 2026-11-27)
    """
    record = known_type(instance_type)
    # A type of the cluster file is not in the catalogue.
    between = count > 1 and (record is None or record.supports_efa)
    return [check for check in hyperpod.DEEP_HEALTH_CHECKS if between or check != hyperpod.CHECK_BETWEEN_NODES]


def hidden_from_price_lists(instance_type: str) -> bool:
    """Return True if a type is not in the price lists that cfn-lint reads."""
    return instance_type in _NOT_IN_PRICE_LISTS or bool(hyperpod.check_type(instance_type))


def _requirements(value: Mapping[str, Any] | None) -> l1.CfnCluster.ClusterCapacityRequirementsProperty | None:
    if value is None:
        return None
    return l1.CfnCluster.ClusterCapacityRequirementsProperty(on_demand=value.get("OnDemand"), spot=value.get("Spot"))
