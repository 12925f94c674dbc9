"""States that resources have now, and what they mean for an update, beyond what templates show."""

from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from ultracluster.cli._active_queues import not_active, updated_clusters
from ultracluster.cli._block_nodes import left_empty, sizes, updates_with_nodes
from ultracluster.cli._cdk_deploy import in_two_steps
from ultracluster.cli._deploy_check import properties_of, read_templates
from ultracluster.cli._ended_blocks import Left, early_moves, ended_updates, left_in_account, moves
from ultracluster.cli._instance_groups import group_counts, under_test, updated_hyperpod, with_other_nodes
from ultracluster.cli._moved_groups import with_moved_groups
from ultracluster.cli._moved_mounts import with_moved_mounts
from ultracluster.cli._remedies import with_remedies
from ultracluster.cli._taken_reservations import taken_reservations
from ultracluster.cli._version_settings import version_settings

if TYPE_CHECKING:
    from cdk_rehearsal.deploy import Comparison
    from cdk_rehearsal.guard import Report
    from ultracluster.clusterfile import ClusterFile

_T = TypeVar("_T")


def with_states(
    cluster: "ClusterFile",
    report: "Report",
    sides: "Comparison",
    now: datetime,
    client: Callable[[str, str], Any],
    *,
    allow: Collection[str] = (),
) -> "tuple[Report, list[str], list[tuple[str, str]]]":
    """Return the report with what services refuse, and node groups of EKS that need attention.

    These are a line for each that stays without nodes, and stack and logical id of those to deploy in two steps.

    Args:
        cluster: Cluster file.
        report: Report of the guard.
        sides: Templates that are deployed, and those that shall be.
        now: Time, with a time zone.
        client: Creates clients of a service in a Region.
        allow: Names of resources that may be lost.
    """
    deployed, assembled = read_templates(sides.deployed), read_templates(sides.assembled)
    report = with_remedies(with_moved_groups(report, cluster, deployed), cluster, deployed)
    moved = moves(cluster, deployed, assembled)
    reading = partial(left_in_account, moved, client, cluster.region)
    left = _read("Capacity Reservations", dict[str, Left](), reading)
    broken = [*report.broken, *ended_updates(cluster, report, deployed, now, left)]
    for name in updated_clusters(report, deployed):
        broken += _read("queues and node groups", list[str](), partial(not_active, name, client, cluster.region))
    unknown = dict[tuple[str, str], int]()
    nodes = _read("node groups of EKS", unknown, partial(sizes, deployed, client, cluster.region))
    broken += updates_with_nodes(report, deployed, nodes)
    broken += version_settings(report, deployed, assembled)
    broken += taken_reservations(report, cluster, deployed, assembled)
    empty = [str(properties_of(deployed, *place)["NodegroupName"]) for place, count in nodes.items() if not count]
    broken += early_moves(cluster, moved, now, left, empty=empty)
    counts = dict[tuple[str, str], dict[str, int]]()
    for place, name in updated_hyperpod(report, deployed).items():
        counts[place] = _read("instance groups of HyperPod", {}, partial(group_counts, name, client, cluster.region))
        tested = partial(under_test, name, properties_of(deployed, *place), client, cluster.region)
        broken += _read("nodes of HyperPod", list[str](), tested)
    report = with_other_nodes(report, counts, assembled, allow)
    report = with_moved_mounts(replace(report, broken=tuple(broken)), cluster, deployed, assembled)
    report, groups = in_two_steps(report, deployed, assembled)
    return report, [*left_empty(deployed, assembled, nodes)], groups


def _read(what: str, unknown: _T, read: Callable[[], _T]) -> _T:
    """Return what a check reads, or another value, with a warning, if the credentials may not read it."""
    from botocore.exceptions import ClientError
    from botocore.parsers import ResponseParserError

    try:
        return read()
    except (ClientError, ResponseParserError) as error:
        reason = error if isinstance(error, ClientError) else "what answered is not AWS"
        typer.echo(f"warning: the states of {what} were not read: {reason}", err=True)
        return unknown
