"""Resources of the user's own that a template names by id: moto must know them before anything can stand on them."""

import re
from collections.abc import Iterator
from typing import Any

from moto.ec2.models import ec2_backends

from ultracluster.rehearsal.journal import StandIn
from ultracluster.rehearsal.state import Blueprint

_ID = re.compile(r"(vpc|subnet|sg|rtb)-[0-9a-f]{8,17}")


def stand_in(blueprint: Blueprint) -> list[StandIn]:
    """Let moto know every VPC, subnet, group and route table that a blueprint names and the local cloud did not make.

    All that the rehearsal makes has an id that moto knows: one that it does not know is the user's own.
    """
    ec2: Any = ec2_backends[blueprint.environment.account][blueprint.environment.region]
    found = sorted(set(_ids(blueprint.properties)), key=lambda one: not one.startswith("vpc"))
    vpc = next((one for one in found if one.startswith("vpc")), None)
    made = []
    for one in found:
        if not _known(ec2, one):
            _make(ec2, one, vpc)
            made.append(StandIn(kind="existing resource", name=one, value="taken to exist"))
    return made


def _ids(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for value in node.values():
            yield from _ids(value)
    elif isinstance(node, list):
        for item in node:
            yield from _ids(item)
    elif isinstance(node, str) and _ID.fullmatch(node):
        yield node


def _known(ec2: Any, one: str) -> bool:
    match one.split("-")[0]:
        case "vpc":
            return one in ec2.vpcs
        case "subnet":
            return any(one in subnets for subnets in ec2.subnets.values())
        case "sg":
            return any(one in groups for groups in ec2.groups.values())
    return one in ec2.route_tables


def _make(ec2: Any, one: str, vpc: str | None) -> None:
    kind = one.split("-")[0]
    if kind == "vpc":
        made = ec2.create_vpc("10.0.0.0/16")
        _rename(ec2.vpcs, made, one)
        # moto makes a VPC's main route table and default group with it, and looks for them by its id.
        ec2.groups[one] = ec2.groups.pop(made.id, {})
        for part in (*ec2.route_tables.values(), *ec2.groups[one].values(), *ec2.network_acls.values()):
            part.vpc_id = one if part.vpc_id == made.id else part.vpc_id
        made.id = one
        return
    home = vpc or ec2.create_vpc("10.0.0.0/16").id
    if kind == "subnet":
        taken = len(ec2.describe_subnets(filters={"vpc-id": home}))
        made = ec2.create_subnet(home, f"10.0.{taken}.0/24", availability_zone=f"{ec2.region_name}a")
        _rename(ec2.subnets[made.availability_zone], made, one)
    elif kind == "sg":
        made = ec2.create_security_group(one, "stand-in", vpc_id=home)
        _rename(ec2.groups[home], made, one)
    else:
        made = ec2.create_route_table(home)
        _rename(ec2.route_tables, made, one)
    made.id = one


def _rename(holder: dict[str, Any], made: Any, one: str) -> None:
    holder[one] = holder.pop(made.id)
