"""Resources of a node for pods.

Estimates are lower bounds: a quota must never exceed what nodes have.
"""

from dataclasses import dataclass

from ultracluster.catalogue.ec2 import interfaces
from ultracluster.catalogue.schedulers import huge_pages
from ultracluster.kubernetes._nodes import EfaWay, PlatformNodes

# nodeadm reserves for kubelet and containerd: 6 % of the first core, 1 % of the second, 0.5 % of the next two, 0.25 %
# of the rest; 255 MiB and 11 MiB a pod; and evicts pods below 100 MiB.
# https://github.com/awslabs/amazon-eks-ami, nodeadm/internal/kubelet/config.go (commit 81fec2e, read 2026-11-21)
_FIRST_CORES_MILLIS = 60 + 10 + 2 * 5
_FURTHER_CORE_MILLIS = 2.5
_RESERVED_MIB = 255
_RESERVED_MIB_PER_POD = 11
_EVICTION_MIB = 100
# With prefix delegation, 110 pods below 30 vCPUs and 250 from there on.
# https://docs.aws.amazon.com/eks/latest/userguide/cni-increase-ip-addresses-procedure.html (read 2026-11-21)
_MAX_PODS_SMALL = 110
_MAX_PODS_LARGE = 250
_LARGE_VCPUS = 30
# What hypervisor and kernel keep of the memory that EC2 sells: Karpenter's default for a type that it has not seen.
# https://karpenter.sh/docs/reference/settings (VM_MEMORY_OVERHEAD_PERCENT, 1.14, read 2026-11-21)
_KEPT_OF_MEMORY = 0.075
# Requests of a pod in AWS's samples. https://github.com/awslabs/awsome-distributed-ai (commit 95b939c, read 2026-11-20)
_POD_HUGE_PAGES_MIB = 5_120
_PAGE_MIB = 2
# For the daemon sets of a node: CNI, kube-proxy, device plugins, CSI drivers, exporters. Ours, with room.
_DAEMONS_CORES = 1
_DAEMONS_MIB = 2_048

GPU = "nvidia.com/gpu"
EFA = "vpc.amazonaws.com/efa"
HUGE_PAGES = "hugepages-2Mi"
#: Resource name with which Kueue counts DRANET's EFA devices; its settings map it to the device class.
EFA_CLAIMED = "efa.networking.k8s.aws/device"
#: The same for GPUs of NVIDIA's DRA driver.
GPU_CLAIMED = "gpu.nvidia.com/device"
#: The same for channels of ComputeDomains, of which a pod has one.
CHANNEL_CLAIMED = "resource.nvidia.com/channel"


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeResources:
    """Resources of a node for pods.

    Args:
        cores: Whole CPU cores.
        memory_mib: Memory in MiB.
        gpus: GPUs.
        efa: EFA devices.
        huge_pages_mib: Pages of 2 MiB, in MiB together; not part of the memory.
    """

    cores: int
    memory_mib: int
    gpus: int
    efa: int
    huge_pages_mib: int

    @property
    def pod_huge_pages_mib(self) -> int:
        """Huge pages that a pod with the whole node requests."""
        return min(_POD_HUGE_PAGES_MIB, self.huge_pages_mib)


def node_resources(group: PlatformNodes) -> NodeResources:
    """Return the resources of a node of a group."""
    record = group.instance_type
    pages = huge_pages(record) * _PAGE_MIB
    millis = record.vcpus * 1000 - _FIRST_CORES_MILLIS - max(0, record.vcpus - 4) * _FURTHER_CORE_MILLIS
    pods = _MAX_PODS_LARGE if record.vcpus > _LARGE_VCPUS else _MAX_PODS_SMALL
    share = _KEPT_OF_MEMORY + group.checkpoint_percent / 100
    kept = record.memory_gib * 1024 * share + _RESERVED_MIB + _RESERVED_MIB_PER_POD * pods + _EVICTION_MIB
    return NodeResources(
        cores=max(0, int(millis // 1000) - _DAEMONS_CORES),
        memory_mib=max(0, int(record.memory_gib * 1024 - kept) - pages - _DAEMONS_MIB),
        gpus=record.gpus,
        efa=sum(row.kind != "interface" for row in interfaces(record, group.layout)),
        # Karpenter launches no node for a pod that requests pages: it counts them only where an overlay adds them. EFA
        # takes ordinary memory then. https://karpenter.sh/docs/concepts/nodeoverlays (1.14, read 2026-11-21)
        huge_pages_mib=0 if group.elastic else pages,
    )


def quota(
    resources: NodeResources, nodes: int, *, efa: EfaWay | None, gpus_claimed: bool, channels: bool = False
) -> dict[str, str]:
    """Return the resources of a number of nodes by resource name; missing ones are zero."""
    amounts = {
        "cpu": str(resources.cores * nodes),
        "memory": f"{resources.memory_mib * nodes}Mi",
        HUGE_PAGES: f"{resources.huge_pages_mib * nodes}Mi",
        GPU_CLAIMED if gpus_claimed else GPU: str(resources.gpus * nodes),
        EFA_CLAIMED if efa == "dranet" else EFA: str(resources.efa * nodes),
    }
    return {**amounts, CHANNEL_CLAIMED: str(nodes)} if channels else amounts
