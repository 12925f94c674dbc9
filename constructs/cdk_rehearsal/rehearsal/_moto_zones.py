"""Zones of subnets: moto's model of a subnet has zone names only, and accepts any name."""

import re
from typing import Any

from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend

from cdk_rehearsal.rehearsal._errors import ResourceError
from cdk_rehearsal.rehearsal._journal import StandIn

_SUBNET = "AWS::EC2::Subnet"


def name_zone(type_name: str, properties: dict[str, Any], region: str) -> StandIn | None:
    """Set the zone name of a subnet that has a zone id, and refuse a zone that is not in the region.

    A Local Zone, which moto does not have, gets a stand-in: another zone of the region.
    """
    if type_name != _SUBNET:
        return None
    zones = {zone.zone_id: zone.name for zone in RegionsAndZonesBackend.zones.get(region, [])}
    zone, name = properties.get("AvailabilityZoneId"), properties.get("AvailabilityZone")
    if name is not None and name not in zones.values():
        raise ResourceError(
            f"Value ({name}) for parameter availabilityZone is invalid. Subnets can currently only be created in the "
            f"following availability zones: {', '.join(zones.values())}."
        )
    if zone is None or zone in zones:
        properties["AvailabilityZone"] = name if zone is None else zones[zone]
        return None
    if not any(re.fullmatch(rf"{zone_id.partition('-')[0]}-[a-z]{{3}}\d-az\d", zone) for zone_id in zones):
        raise ResourceError(
            f"Value ({zone}) for parameter availabilityZoneId is invalid. {region} has the zones: {', '.join(zones)}."
        )
    return StandIn(kind="Local Zone", name=zone, value="a zone of the Region")


def zone_attribute(model: Any, type_name: str, name: str) -> str | None:
    """Return the zone name or zone id of a subnet, or None for another attribute."""
    if type_name != _SUBNET or name not in ("AvailabilityZone", "AvailabilityZoneId"):
        return None
    return str(model.availability_zone if name == "AvailabilityZone" else model._availability_zone.zone_id)
