"""On-Demand Capacity Reservations."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Literal, Protocol

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from constructs import Construct, IConstruct

from ultracluster.catalogue.ec2 import ZONE_ID, InstanceType
from ultracluster.compute._arguments import PURCHASE, UNKNOWN_TYPE, Errors, read_instance_type
from ultracluster.compute._placement_group import new_placement_group
from ultracluster.planning import checked, id_problem, zone_problems
from ultracluster.planning.capacity import PLACEMENT, OnDemand, OpenReservation, TargetedReservation, check_sold
from ultracluster.rules import error

# https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateCapacityReservation.html (read 2026-11-20)
_MOST_INSTANCES = 1000
_INSTANCES = error("capacity-reservation-instances", "EC2 reserves 1 to 1,000 instances at once.")


class ICapacityReservation(IConstruct, Protocol):
    """On-Demand Capacity Reservation, created by `CapacityReservation` or existing."""

    @property
    def reservation_id(self) -> str:
        """Id of the reservation, `cr-...`."""

    @property
    def placement_group(self) -> ec2.IPlacementGroup | None:
        """Placement group of the reserved capacity, or None."""

    @property
    def capacity(self) -> TargetedReservation | OpenReservation:
        """Purchase option of nodes that use the reservation, for `NodeGroupTemplate(capacity=...)`."""


class _Base(cdk.Resource):
    reservation_id: str
    placement_group: ec2.IPlacementGroup | None
    capacity: TargetedReservation | OpenReservation


class CapacityReservation(_Base):
    """An On-Demand Capacity Reservation (ODCR): instances that are billed from its creation on, used or not.

    It counts against the account's vCPU quota at once. If EC2 lacks the capacity, the deployment fails. Deleting the
    reservation returns the capacity to EC2, which may not have it again. A change of anything but instances, match and
    end, tags included, replaces it: EC2 must have the capacity twice for a while.

    Args:
        instance_type: A name, an `ec2.InstanceType` or a record of the catalogue.
        zone: Zone id of the instances, such as `use2-az1`, or a zone name, such as a subnet's.
        instances: Number of instances, 1 to 1,000.
        placement_group: `cluster` creates a cluster placement group for the capacity; an existing one is used. Nodes
            that use the reservation start in it. Default: none.
        match: `targeted` admits instances that name the reservation; `open` admits all that match. Default: targeted.
        ends: End, with a time zone; instances in it run on, and are billed on demand. Default: when it is deleted.
        platform: Operating system that EC2 bills. Default: Linux/UNIX.
        tags: Tags of the reservation. `cdk.Tags.of` does not reach it: a new tag would replace it.

    Raises:
        ValueError: If an argument has a wrong type, the zone is of another region, the type is not sold on demand, or
            EC2 does not reserve that number of instances.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html (read 2026-11-21)
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        instance_type: InstanceType | ec2.InstanceType | str,
        zone: str,
        instances: int,
        placement_group: ec2.IPlacementGroup | Literal["cluster"] | None = None,
        match: Literal["targeted", "open"] = "targeted",
        ends: datetime | None = None,
        platform: str = "Linux/UNIX",
        tags: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(scope, id)
        errors = Errors()
        record = errors.take(lambda: read_instance_type(instance_type), None, UNKNOWN_TYPE)
        errors.check(self)
        assert record is not None
        errors.messages += map(PURCHASE, check_sold(record, OnDemand()))
        errors.messages += zone_problems("zone", zone, cdk.Stack.of(self).region)
        if not cdk.Token.is_unresolved(instances) and not 1 <= instances <= _MOST_INSTANCES:
            errors.messages.append(_INSTANCES(f"instances must be 1 to {_MOST_INSTANCES:,}, got {instances:,}"))
        errors.messages += _match_problem(match)
        if ends is not None and ends.tzinfo is None:
            errors.messages.append(f"ends must have a time zone, got {ends.isoformat()}")
        if placement_group is not None and "cluster" not in record.placement_strategies:
            message = f"{record.name} cannot be in a cluster placement group; leave placement_group out"
            errors.messages.append(PLACEMENT(message))
        if isinstance(placement_group, str) and placement_group != "cluster":
            errors.messages.append(
                f"placement_group must be cluster or an ec2.IPlacementGroup, got {placement_group!r}"
            )
        errors.check(self)
        self.instance_type = record
        self.placement_group = (
            new_placement_group(self, ec2.PlacementGroupStrategy.CLUSTER)
            if isinstance(placement_group, str)
            else placement_group
        )
        zone_id = bool(ZONE_ID.fullmatch(zone))
        self.resource = ec2.CfnCapacityReservation(
            self,
            "Resource",
            instance_type=record.name,
            availability_zone_id=zone if zone_id else None,
            availability_zone=None if zone_id else zone,
            instance_count=instances,
            instance_match_criteria=match,
            instance_platform=platform,
            placement_group_arn=None if self.placement_group is None else _arn(self, self.placement_group),
            end_date_type="unlimited" if ends is None else "limited",
            end_date=None if ends is None else f"{ends.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
            tag_specifications=[
                ec2.CfnCapacityReservation.TagSpecificationProperty(
                    resource_type="capacity-reservation",
                    tags=[cdk.CfnTag(key=key, value=value) for key, value in sorted(tags.items())],
                )
            ]
            if tags
            else None,
        )
        self.reservation_id = self.resource.attr_id
        held = None if cdk.Token.is_unresolved(instances) else instances
        self.capacity = _capacity(self.reservation_id, self.placement_group, match, held)

    @staticmethod
    @checked
    def from_capacity_reservation_attributes(
        scope: Construct,
        id: str,
        *,
        reservation_id: str,
        instances: int | None = None,
        placement_group: ec2.IPlacementGroup | None = None,
        match: Literal["targeted", "open"] = "targeted",
    ) -> ICapacityReservation:
        """Import an existing reservation.

        Args:
            scope: Scope of the import.
            id: Id of the import.
            reservation_id: `cr-` and 17 hexadecimal digits, or a token.
            instances: Number of instances. Default: not known, so not checked.
            placement_group: Placement group of the reserved capacity. Default: none.
            match: `targeted` or `open`, as it was created. Default: targeted.

        Raises:
            ValueError: If the id is not a valid id of a reservation.
        """
        imported = _Base(scope, id)
        errors = Errors()
        # An open reservation is matched, not named, so its id is checked here.
        errors.messages += [*id_problem("reservation_id", reservation_id, "cr-"), *_match_problem(match)]
        if not errors.messages:
            errors.take(lambda: _capacity(reservation_id, placement_group, match, instances), None)
        errors.check(imported)
        imported.reservation_id, imported.placement_group = reservation_id, placement_group
        imported.capacity = _capacity(reservation_id, placement_group, match, instances)
        return imported


def _match_problem(match: str) -> list[str]:
    return [] if match in ("targeted", "open") else [f"match must be targeted or open, got {match!r}"]


def _capacity(
    reservation_id: str, placement_group: ec2.IPlacementGroup | None, match: str, instances: int | None
) -> TargetedReservation | OpenReservation:
    group = None if placement_group is None else placement_group.placement_group_name
    if match == "open":
        return OpenReservation(placement_group=group)
    return TargetedReservation(reservation_id=reservation_id, instances=instances, placement_group=group)


def _arn(scope: Construct, group: ec2.IPlacementGroup) -> str:
    """Format the ARN: CloudFormation returns the name of a placement group only (registry schema, read 2026-11-21)."""
    return cdk.Stack.of(scope).format_arn(
        service="ec2", resource="placement-group", resource_name=group.placement_group_name
    )
