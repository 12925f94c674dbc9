"""A cluster as its Kubernetes objects see it: a value that needs neither a cluster file nor the CDK."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ultracluster.kubernetes.nodes import EfaWay, PlatformNodes
from ultracluster.kubernetes.teams import Team
from ultracluster.planning import Volume

#: The namespace of the checks of the nodes: who may submit there may cordon nodes.
HEALTH = "node-health"

Scheduler = Literal["kueue", "volcano", "kai"]
GpuWay = Literal["device-plugin", "gpu-operator", "dra-driver"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Platform:
    """What stands on a cluster.

    Args:
        cluster: Name of the EKS cluster.
        region: AWS region, where AWS's own images are pulled from.
        kubernetes: Version of Kubernetes, such as `1.35`.
        nodes: The node groups.
        teams: Who shares them. Default: one team, `research`, that has all.
        scheduler: What admits gangs: Kueue, or Volcano or KAI Scheduler, which also place the pods.
        efa: What hands EFA devices to pods where a group does not say.
        gpu: What hands GPUs to pods.
        volumes: File systems that are there, by the path where pods see them; every team gets a claim for each.
        scratch: Path of the local NVMe disks on the nodes, which pods see as a hostPath. None: there is none.
        versions: Versions of charts, by name of the release, that replace the pinned ones.
        karpenter: What Karpenter needs for elastic groups. None: no group is elastic.
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

    @property
    def tenants(self) -> tuple[Team, ...]:
        """The teams, and the checks of the nodes, which own nothing and use what is idle."""
        return (*self.teams, Team(name=HEALTH, nodes={}))

    @property
    def minor(self) -> int:
        """The 35 of 1.35."""
        return int(self.kubernetes.split(".")[1])

    @property
    def gpu_groups(self) -> tuple[PlatformNodes, ...]:
        """Groups whose nodes have GPUs."""
        return tuple(group for group in self.nodes if group.instance_type.gpus)

    def efa_way(self, group: PlatformNodes) -> EfaWay | None:
        """What hands a group's EFA devices to pods. None: it has none."""
        return (group.efa or self.efa) if group.instance_type.supports_efa else None

    def group(self, name: str) -> PlatformNodes:
        """Look a group up.

        Raises:
            ValueError: When there is none of that name.
        """
        found = next((group for group in self.nodes if group.name == name), None)
        if found is None:
            raise ValueError(f"there is no node group {name!r}; there are {', '.join(g.name for g in self.nodes)}")
        return found


@dataclass(frozen=True, kw_only=True, slots=True)
class KarpenterNodes:
    """What an EC2NodeClass names; strings may be tokens of the CDK.

    Args:
        role: Name of the nodes' IAM role.
        subnets: Ids of subnets, in the zone of the nodes.
        security_groups: Ids of security groups; the EFA one and the cluster's own among them.
        image: An alias with a version, such as `al2023@v20261101`, or an `ami-` id. `latest` is refused.
        queue: Name of the SQS queue of interruptions. Default: none.
    """

    role: str
    subnets: tuple[str, ...]
    security_groups: tuple[str, ...]
    image: str
    queue: str | None = None
