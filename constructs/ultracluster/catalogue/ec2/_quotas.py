"""Service quotas: adjustable defaults and fixed limits."""

from dataclasses import dataclass
from typing import Literal

# Default, per Region and account, adjustable (Service Quotas L-DF5E4CA3). Every interface counts, EFA-only ones too.
# https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html (read 2026-11-20)
NETWORK_INTERFACES_PER_REGION = 5000
NETWORK_INTERFACES_QUOTA = "L-DF5E4CA3"

# Codes of the quotas VPCs per Region (service vpc) and EC2-VPC Elastic IPs (service ec2), 5 of each by default:
# https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html (read 2026-11-23)
VPCS_QUOTA = "L-F678F1CE"
ELASTIC_IPS_QUOTA = "L-0263D0A3"

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

# Fixed: EFA connections of one file system, each EFA interface of each client being one.
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/configure-efa-clients.html (read 2026-11-20)
LUSTRE_EFA_CONNECTIONS = 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class VcpuQuota:
    """A quota on vCPUs, per Region and account, of the running instances of some families.

    Args:
        code: Code in Service Quotas.
        name: Name in Service Quotas.
        default: vCPUs of a new account; EC2 raises it with use, and on request.
    """

    code: str
    name: str
    default: int


# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-on-demand-instances.html and using-spot-limits.html
# (read 2026-11-21). Capacity Blocks count against neither.
#
# Family -> instances in the names of the quotas, code of the on-demand and of the Spot quota. HPC and High Memory
# instances are not sold on the Spot market. vCPUs of a new account: 5 of standard instances, 0 of others.
_STANDARD = ("Standard (A, C, D, H, I, M, R, T, Z)", "L-1216C47A", "L-34B43A08")
_QUOTAS = {
    "P": ("P", "L-417A185B", "L-7212CCBC"),
    "G": ("G and VT", "L-DB2E81BA", "L-3819A6DF"),
    "Trn": ("Trn", "L-2C3B7624", "L-6B0D517C"),
    "Inf": ("Inf", "L-1945791B", "L-B5D1601B"),
    "DL": ("DL", "L-6E869C2A", "L-85EED4F7"),
    "HPC": ("HPC", "L-F7808C92", ""),
    "F": ("F", "L-74FC7D96", "L-88CF9481"),
    "X": ("X", "L-7295265B", "L-E3A00192"),
    "High Memory": ("High Memory", "L-43DA4232", ""),
}
# Longer prefixes of type names first.
_FAMILIES = {
    "hpc": "HPC",
    "inf": "Inf",
    "trn": "Trn",
    "dl": "DL",
    "vt": "G",
    "u-": "High Memory",
    "u7": "High Memory",
    "p": "P",
    "g": "G",
    "x": "X",
    "f": "F",
}


def vcpu_quota(instance_type: str, market: Literal["on-demand", "spot"]) -> VcpuQuota:
    """Return the quota for the vCPUs of an instance type.

    Args:
        instance_type: Name of the type; the first letters of its family decide.
        market: `on-demand`, which Capacity Reservations count as too, or `spot`.
    """
    family = next((kind for prefix, kind in _FAMILIES.items() if instance_type.startswith(prefix)), "")
    label, on_demand, spot = _QUOTAS.get(family, _STANDARD)
    if market == "spot" and not spot:
        label, on_demand, spot = _STANDARD
    default = 5 if label == _STANDARD[0] else 0
    if market == "spot":
        return VcpuQuota(code=spot, name=f"All {label} Spot Instance Requests", default=default)
    return VcpuQuota(code=on_demand, name=f"Running On-Demand {label} instances", default=default)
