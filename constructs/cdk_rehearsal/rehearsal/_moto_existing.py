"""Existing resources that a template names by id: moto must have them before others can use them."""

import re
from typing import Any

from moto.ec2.models import ec2_backends

from cdk_rehearsal.registry import walk
from cdk_rehearsal.rehearsal._blueprint import Blueprint
from cdk_rehearsal.rehearsal._journal import StandIn

_ID = re.compile(r"(vpc|subnet|sg|rtb)-[0-9a-f]{8,17}")


def stand_in(blueprint: Blueprint) -> list[StandIn]:
    """Register with moto every VPC, subnet, group and route table that a blueprint names and moto lacks.

    Each id that the rehearsal makes is known to moto: an unknown id belongs to an existing resource of the user.
    """
    ec2: Any = ec2_backends[blueprint.environment.account][blueprint.environment.region]
    ids = {item for item in walk(blueprint.properties) if isinstance(item, str) and _ID.fullmatch(item)}
    vpc = next((id for id in sorted(ids) if id.startswith("vpc")), None)
    result = []
    for id in sorted(ids, key=lambda id: (not id.startswith("vpc"), id)):
        if not _known(ec2, id):
            _make(ec2, id, vpc)
            result.append(StandIn(kind="existing resource", name=id, value="taken to exist"))
    return result


def _known(ec2: Any, id: str) -> bool:
    match id.split("-")[0]:
        case "vpc":
            return id in ec2.vpcs
        case "subnet":
            return any(id in subnets for subnets in ec2.subnets.values())
        case "sg":
            return any(id in groups for groups in ec2.groups.values())
    return id in ec2.route_tables


def _make(ec2: Any, id: str, vpc: str | None) -> None:
    kind = id.split("-")[0]
    if kind == "vpc":
        resource = ec2.create_vpc("10.0.0.0/16")
        _rename(ec2.vpcs, resource, id)
        # moto makes a VPC's main route table and default group with it, and looks for them by its id.
        ec2.groups[id] = ec2.groups.pop(resource.id, {})
        for part in (*ec2.route_tables.values(), *ec2.groups[id].values(), *ec2.network_acls.values()):
            part.vpc_id = id if part.vpc_id == resource.id else part.vpc_id
        resource.id = id
        return
    home = vpc or ec2.create_vpc("10.0.0.0/16").id
    if kind == "subnet":
        taken = len(ec2.describe_subnets(filters={"vpc-id": home}))
        resource = ec2.create_subnet(home, f"10.0.{taken}.0/24", availability_zone=f"{ec2.region_name}a")
        _rename(ec2.subnets[resource.availability_zone], resource, id)
    elif kind == "sg":
        resource = ec2.create_security_group(id, "stand-in", vpc_id=home)
        _rename(ec2.groups[home], resource, id)
    else:
        resource = ec2.create_route_table(home)
        _rename(ec2.route_tables, resource, id)
    resource.id = id


def _rename(holder: dict[str, Any], resource: Any, id: str) -> None:
    holder[id] = holder.pop(resource.id)
