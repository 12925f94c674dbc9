"""Zones of subnets: moto's model of a subnet knows them by name only, and takes any."""

from typing import Any

from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend

from ultracluster.hardware.zones import is_local_zone, region_of_zone
from ultracluster.rehearsal.errors import ResourceError
from ultracluster.rehearsal.journal import StandIn

_SUBNET = "AWS::EC2::Subnet"


def name_zone(type_name: str, properties: dict[str, Any], region: str) -> StandIn | None:
    """Give a subnet that names its zone by id the zone's name too.

    Returns:
        What stands in for a Local Zone, which moto does not have: another zone of the region.

    Raises:
        ResourceError: when the zone is not one of the region.
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
    if not is_local_zone(zone) or region_of_zone(zone) != region:
        raise ResourceError(
            f"Value ({zone}) for parameter availabilityZoneId is invalid. {region} has the zones: {', '.join(zones)}."
        )
    return StandIn(kind="Local Zone", name=zone, value="a zone of the region")


def zone_attribute(model: Any, type_name: str, name: str) -> str | None:
    """The zone that a subnet was made in, by name or id. None: it is no such attribute."""
    if type_name != _SUBNET or name not in ("AvailabilityZone", "AvailabilityZoneId"):
        return None
    return str(model.availability_zone if name == "AvailabilityZone" else model._availability_zone.zone_id)
