"""Warnings about capacity whose start, end or price is not what the file suggests."""

import re
from collections.abc import Iterable, Iterator
from datetime import timedelta

from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._node_group import NodeGroup
from ultracluster.clusterfile.rules._rule import Rule, listed, warning
from ultracluster.planning.capacity import Block, ReservationGroup, TargetedReservation

_NO_END = warning("block-without-end", "Nothing drains the nodes of a Capacity Block whose end is not known.")
_LONG_DRAIN = warning("drain-length", "No job starts during more than a quarter of a Capacity Block.")
_GROUP_PRICE = warning(
    "reservation-group-on-demand", "Nodes beyond the reservations of a resource group run at the on-demand price."
)
_FUTURE_DATED = warning("future-dated-type", "EC2 sells no future-dated reservation of the type.")
# "C, M, R, I, T, and G instance families only": InstanceType of
# https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateCapacityReservation.html (read 2026-11-27)
_FUTURE_DATED_TYPES = r"([cmritg]|gr|i[ms])\d"


def warn_times(cluster: ClusterFile) -> Iterator[tuple[Rule, str]]:
    """Yield the warnings."""
    groups = cluster.node_groups if cluster.traits.own_instances else ()
    endless = [group for group in groups if isinstance(group.capacity, Block) and group.capacity.ends is None]
    if endless:
        ids = [group.capacity.reservation_id for group in endless if isinstance(group.capacity, Block)]
        yield (
            _NO_END,
            f"{_sections(endless)}: without `ends`, no notice is sent, no schedule drains the nodes, and their jobs "
            "end with the Capacity Block; write its EndDate: aws ec2 describe-capacity-reservations "
            f"--capacity-reservation-ids {' '.join(ids[:8])}",
        )
    drain = cluster.notifications.drain
    long = [group for group in groups if cluster.traits.powers_nodes_off and _is_long(group, drain.timedelta)]
    if long:
        yield (
            _LONG_DRAIN,
            f"{_sections(long)}: no job starts in the last {drain} of the Capacity Block, more than a quarter of it; "
            "write a shorter notifications.drain",
        )
    beyond = [group for group in groups if isinstance(group.capacity, ReservationGroup)]
    if beyond:
        yield (
            _GROUP_PRICE,
            f"{_sections(beyond)}: nodes beyond the reservations of the group, or launched after one has ended, have "
            "the on-demand price; keep count within the reservations, or give each a section of its id, capacity: "
            "cr-..., which launches no node beyond it; an edit of capacity replaces running nodes",
        )
    later = [
        group
        for group in groups
        if isinstance(group.capacity, TargetedReservation)
        and group.capacity.starts is not None
        and not re.match(_FUTURE_DATED_TYPES, group.instance_type.name, re.ASCII)
    ]
    if later:
        types = listed(group.instance_type.name for group in later)
        yield (
            _FUTURE_DATED,
            f"{_sections(later)}: EC2 sells future-dated reservations of the families C, M, R, I, T and G only, and "
            f"not of {types}; if it is a Capacity Block, write kind: capacity-block: as an ODCR it launches no nodes",
        )


def _is_long(group: NodeGroup, drain: timedelta) -> bool:
    block = group.capacity
    if not isinstance(block, Block) or block.starts is None or block.ends is None:
        return False
    return 4 * drain > block.ends - block.starts


def _sections(groups: Iterable[NodeGroup]) -> str:
    return listed(group.section for group in groups)
