"""Offerings of GPU instance types, by zone id."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

from ultracluster.catalogue.provenance import Source, Stated

_EC2_CAPACITY_BLOCKS = Source(
    "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html "
    "https://docs.aws.amazon.com/local-zones/latest/ug/available-local-zones.html (moto 5.2.5)",
    read_on="2026-11-21",
    as_of="2026-10-27",
    verify="make facts",
)
_EC2_CAPACITY_BLOCKS_2 = Source(
    "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html", read_on="2026-11-23"
)

#: Day on which the copy of DescribeInstanceTypeOfferings was read.
READ_ON = "2026-11-20"

# EC2 DescribeInstanceTypeOfferings, location type availability-zone-id, as moto 5.2.5 carries it. p6e-gb200 is sold in
# the Local Zone us-east-1-dfw-2a only: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
# (read 2026-11-21), which names Local Zones in Atlanta and Phoenix too. Their ids:
# https://docs.aws.amazon.com/local-zones/latest/ug/available-local-zones.html (read 2026-11-21).
_OFFERED = {
    "p4d.24xlarge": "apne1-az1 apne1-az4 apne2-az2 apne2-az4 aps1-az1 aps1-az2 aps1-az3 apse2-az1 apse2-az2 cac1-az1 "
    "cac1-az2 euc1-az1 euc1-az2 euc1-az3 eun1-az3 euw1-az2 euw2-az2 euw2-az3 sae1-az1 sae1-az3 use1-az1 use1-az2 "
    "use1-az4 use1-az6 use2-az1 use2-az2 use2-az3 usw2-az1 usw2-az2 usw2-az3 usw2-az4",
    "p4de.24xlarge": "apne1-az1 apne1-az4 apse1-az2 apse1-az3 euc1-az1 euc1-az2 ilc1-az1 ilc1-az2 ilc1-az3 use1-az4 "
    "use1-az6 usw2-az1 usw2-az2 usw2-az3",
    "p5.4xlarge": "apne1-az1 aps1-az1 aps1-az2 aps1-az3 apse2-az3 apse3-az1 eun1-az1 eun1-az2 eun1-az3 euw2-az1 "
    "euw2-az2 euw2-az3 sae1-az3 use1-az1 use1-az2 use1-az3 use1-az4 use1-az5 use1-az6 use2-az1 use2-az2 use2-az3 "
    "usw2-az1 usw2-az2 usw2-az3 usw2-az4",
    "p5.48xlarge": "apne1-az1 apne1-az4 apne2-az1 aps1-az1 aps1-az2 aps1-az3 apse2-az1 apse2-az2 apse2-az3 apse3-az1 "
    "cac1-az4 eun1-az1 eun1-az2 eun1-az3 euw2-az1 euw2-az2 euw2-az3 sae1-az3 use1-az1 use1-az2 use1-az3 use1-az4 "
    "use1-az5 use1-az6 use2-az1 use2-az2 use2-az3 usw1-az1 usw1-az3 usw2-az1 usw2-az2 usw2-az3 usw2-az4 use1-atl2-az1",
    "p5e.48xlarge": "apse2-az3 apse3-az1 apse3-az3 eun1-az1 euw2-az2 sae1-az2 sae1-az3 use2-az1 use2-az2 use2-az3 "
    "usw2-az3 usw2-phx2-az1",
    "p5en.48xlarge": "apne1-az4 apne2-az1 aps1-az1 aps1-az3 apse3-az2 apse3-az3 eun1-az1 eun1-az3 eus2-az1 eus2-az2 "
    "mec1-az1 mec1-az3 use1-az2 use1-az6 use2-az1 use2-az2 use2-az3 usw1-az3 usw2-az2 usw2-az3 usw2-az4 use1-atl2-az1",
    "p6-b200.48xlarge": "aps1-az2 aps2-az2 eun1-az2 euw3-az1 use1-az6 use2-az1 use2-az2 use2-az3 usw2-az1 usw2-az2 "
    "usw2-az4",
    "p6-b300.48xlarge": "apne2-az3 aps2-az1 aps2-az3 apse3-az1 apse3-az2 apse3-az3 sae1-az2 sae1-az3 use1-az2 use1-az6 "
    "usw2-az1 usw2-az2 use1-atl2-az1",
    "p6e-gb200.36xlarge": "use1-dfw2-az1",
}

#: Instance type -> ids of the zones that offer it. Types without GPU are not here: most zones offer them.
OFFERED: Annotated[
    Mapping[str, tuple[str, ...]], Stated(_EC2_CAPACITY_BLOCKS, columns="instance type: ids of zones")
] = MappingProxyType({name: tuple(zones.split()) for name, zones in _OFFERED.items()})

# Regions, and zones of Local Zones, in which AWS sells Capacity Blocks, GovCloud included. us-east-1-atl-2a,
# us-west-2-phx-2a and us-east-1-dfw-2a by their ids.
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html (read 2026-11-23)
_CAPACITY_BLOCKS = {
    "p4d.24xlarge": "us-east-1 us-east-2 us-west-2",
    "p4de.24xlarge": "us-east-1 us-west-2",
    "p5.48xlarge": "us-east-1 us-east-2 us-west-1 us-west-2 eu-north-1 eu-west-2 ap-northeast-1 ap-south-1 "
    "ap-southeast-2 ap-southeast-3 sa-east-1 use1-atl2-az1",
    "p5.4xlarge": "us-east-1 us-east-2 us-west-2 eu-west-2 ap-northeast-1 ap-south-1 ap-southeast-2 sa-east-1",
    "p5e.48xlarge": "us-east-1 us-east-2 us-west-1 us-west-2 eu-north-1 eu-west-2 ap-northeast-1 ap-south-1 "
    "ap-southeast-2 ap-southeast-3 sa-east-1 usw2-phx2-az1",
    "p5en.48xlarge": "us-east-1 us-east-2 us-west-1 us-west-2 eu-north-1 eu-west-2 eu-south-2 ap-northeast-1 "
    "ap-northeast-2 ap-south-1 ap-southeast-2 ap-southeast-3 use1-atl2-az1",
    "p6-b200.48xlarge": "us-east-1 us-east-2 us-west-2 eu-north-1 eu-west-3 ap-south-1 ap-south-2 us-gov-east-1 "
    "us-gov-west-1",
    "p6-b300.48xlarge": "us-east-1 us-west-2 ap-northeast-2 ap-south-2 ap-southeast-3 us-gov-east-1 use1-atl2-az1",
    "p6e-gb200.36xlarge": "use1-dfw2-az1",
}

# DescribeInstanceTypeOfferings, location type region, as cfn-lint 1.58.0 and moto 5.2.5 carry it; both agree where both
# have the Region, and moto has none of China.
_REGION_OFFERINGS = Source(
    "https://docs.aws.amazon.com/ec2/latest/instancetypes/ec2-instance-regions.html (cfn-lint 1.58.0, moto 5.2.5)",
    read_on="2026-11-27",
    verify="aws ec2 describe-instance-type-offerings --region REGION --filters Name=instance-type,Values=m7i.2xlarge",
)
#: Regions without the family m7i, which is the default of system nodes; those have m6i.
WITHOUT_M7I: Annotated[frozenset[str], Stated(_REGION_OFFERINGS, columns="Regions")] = frozenset(
    {"ca-west-1", "cn-north-1", "cn-northwest-1", "me-south-1"}
)

#: Instance type -> Regions, and ids of Local Zones, in which it is sold as a Capacity Block.
CAPACITY_BLOCKS: Annotated[
    Mapping[str, tuple[str, ...]],
    Stated(_EC2_CAPACITY_BLOCKS_2, columns="instance type: Regions, and ids of Local Zones"),
] = MappingProxyType({name: tuple(places.split()) for name, places in _CAPACITY_BLOCKS.items()})


def default_type(name: str, region: str) -> str:
    """Return the default type of nodes in a Region: that of the family before it, if the Region lacks m7i."""
    return name.replace("m7i.", "m6i.") if region in WITHOUT_M7I else name


def offered_in(instance_type: str, region_prefix: str) -> tuple[str, ...]:
    """Return the zones of a region that offer a type, by the prefix of the region's zone ids (`use2`)."""
    return tuple(zone for zone in OFFERED.get(instance_type, ()) if zone.split("-")[0] == region_prefix)
