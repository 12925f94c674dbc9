"""Platform of a cluster: a value that needs neither a cluster file nor the CDK."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ultracluster.boot import Volume
from ultracluster.kubernetes._nodes import EfaWay, PlatformNodes
from ultracluster.kubernetes._release import HelmRelease
from ultracluster.kubernetes._teams import Team

#: The namespace of the checks of the nodes: who may submit there may cordon nodes.
HEALTH = "node-health"
# https://github.com/awslabs/mountpoint-s3-csi-driver (2.7, read 2026-11-21)
_MOUNTPOINT = "s3.csi.aws.com"

Scheduler = Literal["kueue", "volcano", "kai", "task-governance"]
GpuWay = Literal["device-plugin", "gpu-operator", "dra-driver"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Platform:
    """Platform of an EKS cluster: everything that is installed on it.

    Args:
        cluster: Name of the EKS cluster.
        region: AWS region, from which AWS's images are pulled.
        kubernetes: Version of Kubernetes, such as `1.35`.
        nodes: The node groups.
        teams: Teams that share the nodes. By default, one team, `research`.
        scheduler: Kueue, or Volcano or KAI Scheduler, which also place the pods, or task governance of HyperPod, an
            EKS add-on that has Kueue.
        efa: Allocation of EFA devices to pods, unless a group has its own.
        gpu: Allocation of GPUs to pods.
        volumes: Existing file systems by path in pods; every team has a claim for each.
        scratch: Path of the local NVMe disks on the nodes, a hostPath for pods, or None.
        versions: Chart versions by release name that replace the pinned ones.
        karpenter: Karpenter's settings for elastic groups, or None.
        dynamic_volumes: Settings of storage classes, or None for a cluster that has classes of its own.
        images: Images that GPU nodes pull when they join. By default, none.
        registry: Registry that has copies of all charts and images, such as
            `123456789012.dkr.ecr.us-east-2.amazonaws.com/ultracluster`. By default, those of their projects.
        required: Releases that the service of the nodes requires before it creates them.
        late: Reason why nodes join after the platform was applied, or empty.
        training_operator: The cluster has the training operator of HyperPod, an EKS add-on.
        software: Oldest versions of software instead of those of the type, by name of the part.
        service_karpenter: HyperPod runs Karpenter for elastic groups, with definitions of its own.
        internet: Whether nodes reach the internet.
        metrics: The collectors of metrics run on the nodes, with a dcgm-exporter of their own.
        ready_seconds: Time that Kueue gives the pods of a job to become ready, at their start and after a restart.
    """

    cluster: str
    region: str
    kubernetes: str
    nodes: tuple[PlatformNodes, ...]
    teams: tuple[Team, ...] = (Team(name="research"),)
    scheduler: Scheduler = "kueue"
    efa: EfaWay = "device-plugin"
    gpu: GpuWay = "device-plugin"
    volumes: Mapping[str, Volume] = field(default_factory=dict)
    scratch: str | None = "/scratch"
    versions: Mapping[str, str] = field(default_factory=dict)
    karpenter: "KarpenterNodes | None" = None
    dynamic_volumes: "DynamicVolumes | None" = None
    images: tuple[str, ...] = ()
    registry: str | None = None
    required: tuple[HelmRelease, ...] = ()
    late: str = ""
    training_operator: bool = False
    service_karpenter: bool = False
    software: Mapping[str, str] = field(default_factory=dict)
    internet: bool = True
    metrics: bool = False
    ready_seconds: int = 1_200

    @property
    def shared(self) -> str | None:
        """Path of the first file system that pods write, or None. Mountpoint for Amazon S3 renames no file."""
        return next((path for path, volume in self.volumes.items() if volume.driver != _MOUNTPOINT), None)

    @property
    def tenants(self) -> tuple[Team, ...]:
        """Teams, and the node checks, which own no quota and use idle nodes."""
        return (*self.teams, Team(name=HEALTH, nodes={}))

    @property
    def kueue(self) -> bool:
        """True if Kueue admits jobs, that of the platform or that of task governance."""
        return self.scheduler in ("kueue", "task-governance")

    @property
    def fair_sharing(self) -> bool:
        """True if a team has a weight, so that borrowers get idle nodes by weights."""
        return any(team.weight is not None for team in self.teams)

    @property
    def scheduler_name(self) -> str | None:
        """Name by which pods choose Volcano or KAI Scheduler, or None with Kueue, which does not place pods."""
        return {"volcano": "volcano", "kai": "kai-scheduler"}.get(self.scheduler)

    @property
    def minor(self) -> int:
        """Minor version, such as 35 of 1.35."""
        return int(self.kubernetes.split(".")[1])

    @property
    def gpu_groups(self) -> tuple[PlatformNodes, ...]:
        """Groups whose nodes have GPUs."""
        return tuple(group for group in self.nodes if group.instance_type.gpus)

    @property
    def tiered_checkpoints(self) -> bool:
        """True if HyperPod's managed tiered checkpoints use memory of the nodes."""
        return any(group.checkpoint_percent for group in self.nodes)

    def efa_way(self, group: PlatformNodes) -> EfaWay | None:
        """Return the allocation of a group's EFA devices, or None without EFA."""
        return (group.efa or self.efa) if group.instance_type.supports_efa else None


@dataclass(frozen=True, kw_only=True, slots=True)
class KarpenterNodes:
    """Names in an EC2NodeClass; strings may be CDK tokens.

    Args:
        role: Name of the nodes' IAM role.
        subnets: Ids of subnets, in the zone of the nodes.
        security_groups: Ids of security groups, including those for EFA and of the cluster.
        image: An alias with a version, such as `al2023@v20261101`, or an `ami-` id. `latest` is rejected.
        queue: Name of the SQS queue of interruptions. Default: none.
    """

    role: str
    subnets: tuple[str, ...]
    security_groups: tuple[str, ...]
    image: str
    queue: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class DynamicVolumes:
    """Settings of storage classes; `gp3` of Amazon EBS needs none. Strings may be CDK tokens.

    Args:
        lustre_subnet: Id of the subnet of scratch file systems. Default: no class for them.
        lustre_security_group: Id of their security group.
    """

    lustre_subnet: str | None = None
    lustre_security_group: str | None = None
