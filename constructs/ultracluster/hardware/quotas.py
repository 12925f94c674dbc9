"""Limits of the services: default quotas, which an account can have raised, and fixed ones."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

# Default, per Region and account, adjustable (Service Quotas L-DF5E4CA3). Every interface counts, EFA-only ones too.
# https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html (read 2026-11-20)
NETWORK_INTERFACES_PER_REGION = 5000

# Fixed: the first four addresses of a subnet and the last.
# https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html (read 2026-11-20)
RESERVED_ADDRESSES_PER_SUBNET = 5

# Fixed: instances in one Capacity Block.
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html (read 2026-11-20)
INSTANCES_PER_CAPACITY_BLOCK = 64

# Fixed: instances in Capacity Blocks of all accounts of an organization together, on one day. Same page.
INSTANCES_IN_CAPACITY_BLOCKS = 256

# Fixed: instances of a spread placement group in one zone, and partitions of a partition placement group.
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html (read 2026-11-21)
INSTANCES_PER_SPREAD_GROUP = 7
PARTITIONS_PER_GROUP = 7

# Default, login nodes' group included; a support case raises it. Queues have the same.
# https://docs.aws.amazon.com/pcs/latest/userguide/service-endpoints-quotas.html (read 2026-11-21)
PCS_NODE_GROUPS_PER_CLUSTER = 10

# Default, all PERSISTENT_2 file systems of a Region and account together, adjustable.
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/limits.html (read 2026-11-20)
LUSTRE_CAPACITY_GIB = 100_800

# Fixed: EFA connections of one file system, each EFA interface of each client being one.
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/configure-efa-clients.html (read 2026-11-20)
LUSTRE_EFA_CONNECTIONS = 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class VcpuQuota:
    """A quota on vCPUs, per Region and account, of the running instances of some families.

    Args:
        code: Of Service Quotas.
        name: As Service Quotas shows it.
        default: vCPUs of a new account; EC2 raises it with use, and on request.
    """

    code: str
    name: str
    default: int


# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-on-demand-instances.html and using-spot-limits.html
# (read 2026-11-21). Capacity Blocks count against neither.
_STANDARD = "Standard (A, C, D, H, I, M, R, T, Z)"
_VCPU_QUOTAS: Mapping[tuple[str, str], VcpuQuota] = MappingProxyType(
    {
        ("on-demand", "P"): VcpuQuota(code="L-417A185B", name="Running On-Demand P instances", default=0),
        ("on-demand", "G"): VcpuQuota(code="L-DB2E81BA", name="Running On-Demand G and VT instances", default=0),
        ("on-demand", "Trn"): VcpuQuota(code="L-2C3B7624", name="Running On-Demand Trn instances", default=0),
        ("on-demand", ""): VcpuQuota(code="L-1216C47A", name=f"Running On-Demand {_STANDARD} instances", default=5),
        ("spot", "P"): VcpuQuota(code="L-7212CCBC", name="All P Spot Instance Requests", default=0),
        ("spot", "G"): VcpuQuota(code="L-3819A6DF", name="All G and VT Spot Instance Requests", default=0),
        ("spot", "Trn"): VcpuQuota(code="L-6B0D517C", name="All Trn Spot Instance Requests", default=0),
        ("spot", ""): VcpuQuota(code="L-34B43A08", name=f"All {_STANDARD} Spot Instance Requests", default=5),
    }
)


def vcpu_quota(instance_type: str, market: Literal["on-demand", "spot"]) -> VcpuQuota:
    """The quota that the vCPUs of an instance type count against.

    Args:
        instance_type: Name of the type; its family's first letters tell.
        market: `on-demand`, which Capacity Reservations count as too, or `spot`.
    """
    family = next((kind for prefix, kind in _FAMILIES.items() if instance_type.startswith(prefix)), "")
    return _VCPU_QUOTAS[market, family]


_FAMILIES = MappingProxyType({"p": "P", "g": "G", "trn": "Trn"})
