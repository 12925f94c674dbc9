"""Check that a security group of the nodes allows EFA, as far as it is known at synthesis."""

from collections.abc import Mapping

from aws_cdk import aws_ec2 as ec2

from ultracluster.network._efa_security_group import EfaSecurityGroup
from ultracluster.planning import once
from ultracluster.rules import Message, error, warning

_RULES = error("efa-rules", "EFA traffic passes only between members of a group that allows all traffic by its id.")
_UNKNOWN = warning("efa-rules-unknown", "The rules of an imported security group are not known.")
_ALL_TRAFFIC = "-1"


def check_efa_rules(groups: Mapping[str, ec2.ISecurityGroup]) -> list[Message]:
    """Find out whether one of the security groups of nodes allows EFA between them.

    Args:
        groups: Security groups of the nodes, by the name of the argument that they come from.

    Returns:
        An error if all groups are known and none allows EFA, a warning if the rules of one are not known.
    """
    allowed = {argument: _allows_efa(group) for argument, group in groups.items()}
    if not groups or any(allowed.values()):
        return []
    if unknown := [argument for argument, allows in allowed.items() if allows is None]:
        return [
            _UNKNOWN(
                f"the rules of {', '.join(unknown)} are not known: EFA requires that an imported security group allows "
                "all traffic from and to itself, by its own id, as network.EfaSecurityGroup does"
            )
        ]
    return [
        _RULES(
            f"{', '.join(allowed)} must allow all traffic from and to itself, or jobs hang in NCCL's start-up: pass a "
            "network.EfaSecurityGroup, or call network.allow_all_between(scope, id, group, group) before"
        )
    ]


def _allows_efa(group: ec2.ISecurityGroup) -> bool | None:
    """Return True if a group has the rules of EFA, and None for an imported group."""
    if isinstance(group, EfaSecurityGroup):
        return True
    if not _created(group):
        return None
    id, directions = group.security_group_id, set()
    for rule in group.node.root.node.find_all():
        if isinstance(rule, ec2.CfnSecurityGroupIngress):
            peer = rule.source_security_group_id
        elif isinstance(rule, ec2.CfnSecurityGroupEgress):
            peer = rule.destination_security_group_id
        else:
            continue
        if rule.ip_protocol == _ALL_TRAFFIC and rule.group_id == peer == id:
            directions.add(type(rule))
    return len(directions) == 2


@once
def _created(group: ec2.ISecurityGroup) -> bool:
    return isinstance(group.node.default_child, ec2.CfnSecurityGroup)
