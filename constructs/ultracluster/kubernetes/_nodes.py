"""Node groups of a cluster, as its Kubernetes objects use them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from ultracluster.boot import GPU_TAINT, Taint, check_label
from ultracluster.catalogue.ec2 import InstanceType, Layout, UltraServer
from ultracluster.catalogue.schedulers import NodeOs
from ultracluster.planning.capacity import Capacity, OnDemand
from ultracluster.rules import Refusal

#: Device of the large volume: Bottlerocket itself is on another one.
# https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html and https://bottlerocket.dev (read 2026-11-21)
ROOT_DEVICES: Mapping[NodeOs, str] = MappingProxyType({"al2023": "/dev/xvda", "bottlerocket": "/dev/xvdb"})
EfaWay = Literal["device-plugin", "dranet"]


#: Label of nodes with the name of their group. Kueue compares the selector of a pod with a flavor by the keys of
#: that flavor alone, so all groups have one key:
#: https://github.com/kubernetes-sigs/kueue, pkg/scheduler/flavorassigner/flavorassigner.go (0.19.2, read 2026-11-26).
GROUP_LABEL = "ultracluster.dev/group"


def device_labels(record: InstanceType) -> dict[str, str]:
    """Return the labels that charts select nodes with devices by.

    Node feature discovery and NVIDIA's operator set the first, and AWS's samples and Terraform modules both.
    https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/ and
    https://github.com/terraform-aws-modules/terraform-aws-eks, docs (read 2026-11-22)
    """
    labels = {"nvidia.com/gpu.present": record.gpus > 0, "vpc.amazonaws.com/efa.present": record.supports_efa}
    return {name: "true" for name, present in labels.items() if present}


@dataclass(frozen=True, kw_only=True, slots=True)
class PlatformNodes:
    """A group of identical nodes.

    Args:
        name: Name of the group.
        instance_type: Instance type.
        count: Number of nodes, including spare ones.
        spare: Number of spare nodes, which quotas exclude.
        selector: Labels that select exactly its nodes. By default, `GROUP_LABEL`.
        taints: Taints of the nodes. By default, `GPU_TAINT` on a type with GPUs.
        efa: Allocation of EFA devices to pods. By default, the platform's.
        os: Operating system.
        capacity: Purchase option. By default, On-Demand.
        layout: Network interface layout; used for elastic groups only, which Karpenter launches.
        elastic: Karpenter launches and terminates its nodes.
        image: AMI id of an elastic group. By default, that of `KarpenterNodes`.
        further_labels: Further labels of the nodes of an elastic group. By default, none.
        tags: Tags of the instances and volumes of an elastic group. By default, a name.
        root_volume_gib: Root volume of the nodes of an elastic group in GiB. By default, 500.
        pods: Maximum number of pods on a node of an elastic group. By default, that of Karpenter.
        placement_group: Name of an existing placement group of an elastic group. By default, none.
        ultraserver: UltraServer type of its nodes, or None.
        type_label: Label of its nodes with their instance type. By default, the name of the type.
        healthy: Labels of nodes that passed the checks of their service, which jobs select.
        checkpoint_percent: Percentage of the memory that HyperPod's managed tiered checkpoints use. By default, 0.

    Raises:
        ValueError: If an argument is not valid, with all errors.
    """

    name: str
    instance_type: InstanceType
    count: int
    spare: int = 0
    selector: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] | None = None
    efa: EfaWay | None = None
    os: NodeOs = "al2023"
    capacity: Capacity = field(default_factory=OnDemand)
    layout: Layout = "one-ip"
    elastic: bool = False
    image: str | None = None
    further_labels: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    # Room for container images where no local disk takes them. Ours.
    root_volume_gib: int = 500
    pods: int | None = None
    placement_group: str | None = None
    ultraserver: UltraServer | None = None
    type_label: str | None = None
    healthy: Mapping[str, str] = field(default_factory=dict)
    checkpoint_percent: int = 0

    def __post_init__(self) -> None:
        """Validate the group."""
        problems: list[str] = [*check_label("name", self.name)]
        if self.count < 1:
            problems.append(f"count is at least 1, got {self.count}")
        if not 0 <= self.spare < max(1, self.count):
            problems.append(f"spare is at least 0 and less than count, got {self.spare} of {self.count}")
        if problems:
            raise Refusal(f"node group {self.name[:70]}", problems)

    @property
    def labels(self) -> dict[str, str]:
        """Labels that select exactly its nodes."""
        return dict(self.selector) or {GROUP_LABEL: self.name}

    @property
    def label_of_type(self) -> str:
        """Value of the label `node.kubernetes.io/instance-type` of its nodes."""
        return self.type_label or self.instance_type.name

    @property
    def node_taints(self) -> tuple[Taint, ...]:
        """Taints of its nodes."""
        if self.taints is not None:
            return self.taints
        return (GPU_TAINT,) if self.instance_type.gpus else ()

    @property
    def tolerations(self) -> list[dict[str, Any]]:
        """Tolerations of its pods."""
        return [{"effect": taint.effect, "key": taint.key, "operator": "Exists"} for taint in self.node_taints]

    @property
    def working(self) -> int:
        """Number of nodes without the spare ones."""
        return self.count - self.spare
