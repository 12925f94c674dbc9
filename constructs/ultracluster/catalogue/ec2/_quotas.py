"""Service quotas of EC2 and VPC: adjustable defaults and fixed limits. Those of others are with their facts."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from ultracluster.catalogue.provenance import Source, Stated

_VPC_LIMITS = Source("https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html", read_on="2026-11-20")
_VPC_LIMITS_REREAD = Source(
    "https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html", read_on="2026-11-23"
)
_NETWORK_ADDRESS_USAGE = Source(
    "https://docs.aws.amazon.com/vpc/latest/userguide/network-address-usage.html", read_on="2026-11-27"
)
_SUBNET_SIZING = Source("https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html", read_on="2026-11-20")
_EC2_CAPACITY_BLOCKS = Source(
    "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html", read_on="2026-11-20"
)
_CAPACITY_BLOCK_TIMES = Source(
    "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-extend.html "
    "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html",
    read_on="2026-11-27",
)
_PLACEMENT_STRATEGIES = Source(
    "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html", read_on="2026-11-21"
)
_EBS = Source("https://docs.aws.amazon.com/ebs/latest/userguide/ebs-resource-quotas.html", read_on="2026-11-27")
_ON_DEMAND = Source(
    "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-on-demand-instances.html "
    "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-spot-limits.html",
    read_on="2026-11-21",
)

# Default, per Region and account, adjustable (Service Quotas L-DF5E4CA3). Every interface counts, EFA-only ones too.
NETWORK_INTERFACES_PER_REGION: Annotated[int, Stated(_VPC_LIMITS, "interfaces")] = 5000
NETWORK_INTERFACES_QUOTA: Annotated[str, Stated(_VPC_LIMITS, columns="code in Service Quotas, service vpc")] = (
    "L-DF5E4CA3"
)
# Default of a VPC, and what AWS raises it to.
NETWORK_ADDRESS_USAGE: Annotated[int, Stated(_NETWORK_ADDRESS_USAGE, "units")] = 64_000
MOST_NETWORK_ADDRESS_USAGE: Annotated[int, Stated(_NETWORK_ADDRESS_USAGE, "units")] = 256_000

# Storage for General Purpose SSD (gp3) volumes, per Region and account, adjustable; volumes of reserved instances too.
GP3_QUOTA: Annotated[str, Stated(_EBS, columns="code in Service Quotas, service ebs")] = "L-7A658B76"
GP3_TIB: Annotated[int, Stated(_EBS, "TiB of a new account")] = 50

# Codes of the quotas VPCs per Region (service vpc) and EC2-VPC Elastic IPs (service ec2), 5 of each by default.
VPCS_QUOTA: Annotated[str, Stated(_VPC_LIMITS_REREAD, columns="code in Service Quotas, service vpc")] = "L-F678F1CE"
ELASTIC_IPS_QUOTA: Annotated[str, Stated(_VPC_LIMITS_REREAD, columns="code in Service Quotas, service ec2")] = (
    "L-0263D0A3"
)

# Fixed: the first four addresses of a subnet and the last.
RESERVED_ADDRESSES_PER_SUBNET: Annotated[int, Stated(_SUBNET_SIZING, "addresses")] = 5

# Fixed: instances in one Capacity Block.
INSTANCES_PER_CAPACITY_BLOCK: Annotated[int, Stated(_EC2_CAPACITY_BLOCKS, "instances")] = 64

# Fixed: instances in Capacity Blocks of all accounts of an organization together, on one day.
INSTANCES_IN_CAPACITY_BLOCKS: Annotated[int, Stated(_EC2_CAPACITY_BLOCKS, "instances")] = 256

# Fixed: days of one Capacity Block with all its extensions, and days between its purchase and its start.
DAYS_OF_CAPACITY_BLOCK: Annotated[int, Stated(_CAPACITY_BLOCK_TIMES, "days")] = 182
DAYS_TO_CAPACITY_BLOCK: Annotated[int, Stated(_CAPACITY_BLOCK_TIMES, "days")] = 56

# Fixed: instances of a spread placement group in one zone, and partitions of a partition placement group.
INSTANCES_PER_SPREAD_GROUP: Annotated[int, Stated(_PLACEMENT_STRATEGIES, "instances")] = 7
PARTITIONS_PER_GROUP: Annotated[int, Stated(_PLACEMENT_STRATEGIES, "partitions")] = 7


class VcpuQuota(NamedTuple):
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
_QUOTAS: Annotated[
    dict[str, tuple[str, ...]],
    Stated(_ON_DEMAND, columns="family: name, code of the on-demand quota, code of the Spot quota"),
] = {
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
