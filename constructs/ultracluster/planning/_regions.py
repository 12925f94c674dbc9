"""Zones and the region of the stack that names them."""

from ultracluster.catalogue.ec2 import REGIONS, region_of_zone
from ultracluster.planning._texts import known
from ultracluster.rules import Message, error

OTHER_REGION = error(
    "other-region", "Keys, subnets, buckets, security groups and zones serve resources of their own region."
)


def zone_problems(argument: str, zone: str, region: str) -> list[Message]:
    """Return the problem of a zone of another region.

    Args:
        argument: Name of the argument.
        zone: Zone id, such as `use2-az1`, or zone name, such as `us-east-2a`. Other texts are not compared.
        region: Region of the stack. If it is a token, nothing is compared.
    """
    inside = region_of_zone(zone) or (zone[:-1] if zone[:-1] in REGIONS.values() else region)
    if not known(region) or inside == region:
        return []
    return [OTHER_REGION(f"{argument} must be a zone of {region}, the region of the stack, got {zone}")]
