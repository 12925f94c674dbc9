"""Subnets of an Amazon EKS cluster: an update keeps its VPC and its zones."""

from typing import Any

from cdk_rehearsal.guard._world import World
from cdk_rehearsal.registry import Token, leaves, values

_PATH = ["ResourcesVpcConfig", "SubnetIds"]
_SUBNET = "AWS::EC2::Subnet"
_ZONES = ("AvailabilityZone", "AvailabilityZoneId")


def subnet_problem(type_name: str, old: World, new: World, before: Any, after: Any) -> str:
    """Return why Amazon EKS refuses other subnets, or an empty string.

    See: https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html (read 2026-11-22)
    """
    if type_name != "AWS::EKS::Cluster" or list(values(before, _PATH)) == list(values(after, _PATH)):
        return ""
    first, second = _subnets(old, before), _subnets(new, after)
    if not first or not second:
        return ""
    if any(isinstance(vpc, Token) and vpc.moved for vpc, _ in second) or _vpcs(first) != _vpcs(second):
        return "the subnets are in another VPC; Amazon EKS keeps the VPC of a cluster"
    if {repr(zone) for _, zone in first} != {repr(zone) for _, zone in second}:
        return "the subnets are in other zones; Amazon EKS keeps the set of zones of a cluster"
    return ""


def _subnets(side: World, properties: Any) -> list[tuple[Any, Any]]:
    """VPC and zone of each subnet of a side; empty if the templates do not have all of them."""
    result = []
    for listed in values(properties, _PATH):
        for token in leaves(listed):
            stack, logical_id = token.resource or ("", "")
            resource = side.templates[stack].resources.get(logical_id) if token.resource else None
            if resource is None or resource["Type"] != _SUBNET:
                return []
            subnet = side.value((stack, logical_id), "Properties") or {}
            result.append((subnet.get("VpcId"), next((subnet[name] for name in _ZONES if name in subnet), None)))
    return result


def _vpcs(subnets: list[tuple[Any, Any]]) -> set[str]:
    return {repr(vpc) for vpc, _ in subnets}
