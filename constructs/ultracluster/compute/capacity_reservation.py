"""A reservation of ours."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Literal

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster.hardware import InstanceType, zones
from ultracluster.hardware import instance_type as look_up
from ultracluster.planning import OnDemand, OpenReservation, TargetedReservation, check_sold

# https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateCapacityReservation.html (read 2026-11-20)
_MOST_INSTANCES = 1000


class CapacityReservation(Construct):
    """An On-Demand Capacity Reservation (ODCR): instances that are paid for from its creation on, used or not.

    It counts against the account's vCPU quota at once. When EC2 has not that many, the deployment fails. Deleting it
    from the stack gives the capacity back to EC2, which may not have it again. A change of anything but instances,
    match and end, tags included, makes a new one: EC2 must have the capacity twice for a while.

    Args:
        instance_type: A name of the catalogue, or a record.
        zone: Zone id of the instances, such as `use2-az1`, or the name of one, such as a subnet's.
        instances: How many, 1 to 1,000.
        placement_group: `cluster` makes one to reserve in; a cluster placement group of yours is taken. Nodes that use
            the reservation start in it. Default: none.
        match: `targeted` lets in instances that name the reservation; `open` lets in all that match. Default: targeted.
        ends: When it ends, with a time zone; instances in it run on, and are paid for on demand. Default: when deleted.
        platform: Operating system that EC2 bills. Default: Linux/UNIX.
        tags: Tags of the reservation.

    Raises:
        ValueError: When the type is not sold on demand, or the number of instances is none that EC2 reserves.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html (read 2026-11-21)
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        instance_type: InstanceType | str,
        zone: str,
        instances: int,
        placement_group: ec2.IPlacementGroup | Literal["cluster"] | None = None,
        match: Literal["targeted", "open"] = "targeted",
        ends: datetime | None = None,
        platform: str = "Linux/UNIX",
        tags: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(scope, id)
        self.instance_type = look_up(instance_type) if isinstance(instance_type, str) else instance_type
        problems = check_sold(self.instance_type, OnDemand())
        if not 1 <= instances <= _MOST_INSTANCES:
            problems.append(f"instances must be 1 to {_MOST_INSTANCES:,}, got {instances:,}")
        if ends is not None and ends.tzinfo is None:
            problems.append(f"ends must have a time zone, got {ends.isoformat()}")
        if placement_group is not None and "cluster" not in self.instance_type.placement_strategies:
            problems.append(f"{self.instance_type.name} can't be in a cluster placement group; leave it out")
        if problems:
            raise ValueError("\n".join(f"{self.node.path}: {problem}" for problem in problems))
        #: The placement group that is reserved in. None: none.
        self.placement_group: ec2.IPlacementGroup | None = (
            ec2.PlacementGroup(self, "PlacementGroup", strategy=ec2.PlacementGroupStrategy.CLUSTER)
            if placement_group == "cluster"
            else placement_group
        )
        self.resource = ec2.CfnCapacityReservation(
            self,
            "Resource",
            instance_type=self.instance_type.name,
            availability_zone_id=zone if zones.ZONE_ID.fullmatch(zone) else None,
            availability_zone=None if zones.ZONE_ID.fullmatch(zone) else zone,
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
        own = None if self.placement_group is None else self.placement_group.placement_group_name
        #: How nodes buy from it: hand this to a `NodeGroupTemplate`.
        self.capacity: TargetedReservation | OpenReservation = (
            OpenReservation(placement_group=own)
            if match == "open"
            else TargetedReservation(reservation_id=self.reservation_id, instances=instances, placement_group=own)
        )


def _arn(scope: Construct, group: ec2.IPlacementGroup) -> str:
    """CloudFormation gives a placement group's name only (registry schema, read 2026-11-21)."""
    return cdk.Stack.of(scope).format_arn(
        service="ec2", resource="placement-group", resource_name=group.placement_group_name
    )
