"""The node groups of a cluster, as its Kubernetes objects need to know them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ultracluster.hardware import InstanceType, Layout, UltraServer
from ultracluster.kubernetes.names import check_label
from ultracluster.planning import GPU_TAINT, Capacity, OnDemand, Taint

EfaWay = Literal["device-plugin", "dranet"]
Os = Literal["al2023", "bottlerocket"]


@dataclass(frozen=True, kw_only=True, slots=True)
class PlatformNodes:
    """A group of equal nodes.

    Args:
        name: Name of the group.
        instance_type: Its type.
        count: How many nodes, spare ones included.
        spare: How many of them stand by; quotas leave them out.
        selector: Labels that every node of the group has, and no other. Default: EKS's own label of a managed group,
            or Karpenter's of a pool.
        taints: Taints of the nodes. Default: that of `GPU_TAINT` on a type with GPUs, none elsewhere.
        efa: What hands its EFA devices to pods. Default: the platform's way.
        os: What runs on it.
        capacity: How it is bought. Default: on demand.
        layout: Which network interfaces a node gets; of use for elastic groups only, which Karpenter launches.
        elastic: Whether Karpenter launches and ends its nodes.
        image: Its image, an `ami-` id, where it is elastic. Default: that of `KarpenterNodes`.
        ultraserver: The UltraServer that its nodes make up. None: none.

    Raises:
        ValueError: With all that is wrong.
    """

    name: str
    instance_type: InstanceType
    count: int
    spare: int = 0
    selector: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] | None = None
    efa: EfaWay | None = None
    os: Os = "al2023"
    capacity: Capacity = field(default_factory=OnDemand)
    layout: Layout = "one-ip"
    elastic: bool = False
    image: str | None = None
    ultraserver: UltraServer | None = None

    def __post_init__(self) -> None:
        """Check it."""
        problems = check_label("name", self.name)
        if self.count < 1:
            problems.append(f"count is at least 1, got {self.count}")
        if not 0 <= self.spare < max(1, self.count):
            problems.append(f"spare is at least 0 and less than count, got {self.spare} of {self.count}")
        if problems:
            raise ValueError(f"node group {self.name[:70]}: {'; '.join(problems)}")

    @property
    def labels(self) -> dict[str, str]:
        """What picks its nodes, and no others."""
        label = "karpenter.sh/nodepool" if self.elastic else "eks.amazonaws.com/nodegroup"
        return dict(self.selector) or {label: self.name}

    @property
    def node_taints(self) -> tuple[Taint, ...]:
        """The taints that its nodes have."""
        if self.taints is not None:
            return self.taints
        return (GPU_TAINT,) if self.instance_type.gpus else ()

    @property
    def tolerations(self) -> list[dict[str, Any]]:
        """What a pod must tolerate to run there."""
        return [{"effect": taint.effect, "key": taint.key, "operator": "Exists"} for taint in self.node_taints]

    @property
    def working(self) -> int:
        """Nodes that quotas count: all but the spare ones."""
        return self.count - self.spare
