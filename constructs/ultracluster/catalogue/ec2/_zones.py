"""Zone ids: their regions and Local Zones.

An id means the same zone in every account, unlike a name such as us-east-2a.

See: https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-availability-zones.html (read 2026-11-20)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

from ultracluster.catalogue.provenance import Source, Stated

_ZONES = Source(
    "https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-availability-zones.html", read_on="2026-11-20"
)

_PREFIXES = """
afs1 af-south-1|ape1 ap-east-1|ape2 ap-east-2|apne1 ap-northeast-1|apne2 ap-northeast-2|apne3 ap-northeast-3
aps1 ap-south-1|aps2 ap-south-2|apse1 ap-southeast-1|apse2 ap-southeast-2|apse3 ap-southeast-3|apse4 ap-southeast-4
apse5 ap-southeast-5|apse6 ap-southeast-6|apse7 ap-southeast-7|cac1 ca-central-1|caw1 ca-west-1|euc1 eu-central-1
euc2 eu-central-2|eun1 eu-north-1|eus1 eu-south-1|eus2 eu-south-2|euw1 eu-west-1|euw2 eu-west-2|euw3 eu-west-3
ilc1 il-central-1|mec1 me-central-1|mes1 me-south-1|mxc1 mx-central-1|sae1 sa-east-1|use1 us-east-1|use2 us-east-2
usw1 us-west-1|usw2 us-west-2|usge1 us-gov-east-1|usgw1 us-gov-west-1|cnn1 cn-north-1|cnnw1 cn-northwest-1
"""

#: Prefix of zone ids -> region.
REGIONS: Annotated[Mapping[str, str], Stated(_ZONES, columns="prefix of zone ids: Region")] = MappingProxyType(
    dict(sorted(tuple(pair.split()) for pair in _PREFIXES.strip().replace("\n", "|").split("|")))  # type: ignore[misc]
)

#: An Availability Zone (use2-az1) or a Local Zone (use1-dfw2-az1).
ZONE_ID = re.compile(r"(?P<region>[a-z]{3,5}\d)(?P<local>-[a-z]{3}\d)?-az\d", re.ASCII)


def region_of_zone(zone: str) -> str | None:
    """Return the region of a zone id, or None if the text is not a known zone id."""
    match = ZONE_ID.fullmatch(zone)
    return REGIONS.get(match["region"]) if match else None


def is_local_zone(zone: str) -> bool:
    """Return True for a Local Zone, which has no NAT gateways and no managed controllers."""
    match = ZONE_ID.fullmatch(zone)
    return bool(match and match["local"])
