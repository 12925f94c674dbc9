"""Zones, and the region and account of the stack that names them."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from ultracluster.catalogue.ec2 import REGIONS, region_of_zone
from ultracluster.planning._once import Facts, once
from ultracluster.planning._scopes import is_stack, remember, stack_or_none
from ultracluster.planning._texts import known
from ultracluster.rules import Message, error

OTHER_REGION = error(
    "other-region", "Keys, subnets, buckets, security groups and zones serve resources of their own Region."
)
OTHER_ACCOUNT = error("other-account", "S3 Files and the access logs of S3 use buckets of their own account.")


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
    return [OTHER_REGION(f"{argument} must be a zone of {region}, the Region of the stack, got {zone}")]


# Attributes by which a VPC, subnet, security group, key, file system or cluster is known; all serve one region.
_REGIONAL = (
    *("vpc_id", "subnet_id", "security_group_id", "key_id", "file_system_id", "training_subnet"),
    *("cluster_id", "cluster_security_group_id", "compute_node_group_id", "launch_template_id"),
)


# Of constructs that are created here: Node takes two or three calls to tell it.
_created_in: Facts[str] = Facts()


def region_errors(scope: Any, values: Mapping[str, object], *, created: object = None) -> list[Message]:
    """Return a sentence for each resource of one region that is in another region than the stack of a scope.

    Args:
        scope: Scope of the construct that takes them.
        values: Its arguments, by name. Lists, mappings and fields of dataclasses are searched too.
        created: The construct, if it is created and not imported.
    """
    if created is not None:
        remember(created, scope, str(values["id"]))
    resources = [(name, each) for argument, value in values.items() for name, each in _regional(argument, value)]
    if not resources:
        return []
    stack = stack_or_none(scope)
    if stack is None or not known(region := _region_of_stack(stack)):
        return []
    if created is not None:
        _created_in.set(created, region)
    return [
        OTHER_REGION(f"{name} must be in {region}, the Region of the stack, got a resource in {there}")
        for name, resource in resources
        if known(there := region_of(resource)) and there != region
    ]


@once
def _region_of_stack(stack: Any) -> str:
    return str(stack.region)


@once
def region_of(resource: Any) -> str:
    """Return the region of a stack or resource; may be a token."""
    if is_stack(resource):
        return _region_of_stack(resource)
    return _created_in.get(resource) or str(resource.env.region)


@once
def account_of(resource: Any) -> str:
    """Return the account of a stack or resource; may be a token."""
    return str(resource.account if is_stack(resource) else resource.env.account)


@once
def security_group_id(group: Any) -> str:
    """Return the id of a security group."""
    return str(group.security_group_id)


def security_groups(value: Any) -> list[Any]:
    """Return the security groups of a value with `connections`; none if it has none."""
    try:
        return list(value.connections.security_groups)
    except (AttributeError, RuntimeError):  # Node raises for a function of Lambda without a VPC.
        return []


@cache
def _attributes(owner: object) -> frozenset[str]:
    return frozenset(dir(owner))


def _regional(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the resources of one region in a value, by their names."""
    if isinstance(value, list | tuple):
        parts = {f"{name}[{index}]": each for index, each in enumerate(value)}
    elif isinstance(value, Mapping):
        parts = {f"{name}[{key!r}]": each for key, each in value.items()}
    elif is_dataclass(value):
        parts = {f"{name}.{field.name}": getattr(value, field.name) for field in fields(value)}
    else:
        # By name alone: to read an attribute of a construct is a call of Node.
        owner: object = type(value)
        known_by = _attributes(owner).union(getattr(value, "__dict__", ()))
        if {"env", "node"} <= known_by and not known_by.isdisjoint(_REGIONAL):
            yield name, value
        return
    for part, each in parts.items():
        yield from _regional(part, each)
