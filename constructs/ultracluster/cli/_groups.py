"""Node groups in the output of `check`: a table, and a line for what it has no room for."""

from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from ultracluster.cli._output import table

if TYPE_CHECKING:
    from rich.table import Table

    from ultracluster.clusterfile import ClusterFile, NodeGroup

# A job that fails less often than this waits for a repair rarely enough.
_WORTH_A_WORD = 10
# Equal groups are one row from this number on: two or three are read as quickly.
_MANY = 4
# Names of groups in a line.
_NAMED = 8
_T = TypeVar("_T")


def group_table(cluster: "ClusterFile") -> "Table":
    """Return the table of the node groups; equal groups are one row."""
    rows = table(
        f"{cluster.name}: {cluster.orchestrator} in {cluster.region}, {cluster.zone}",
        collapse_padding=True,
        show_edge=False,
        show_footer=len(cluster.node_groups) > 1,
    )
    groups = cluster.node_groups
    rows.add_column("node\ngroup", footer="all", overflow="fold")
    rows.add_column("type", no_wrap=True)
    rows.add_column("nodes", justify="right", no_wrap=True, footer=f"{sum(g.count for g in groups):,}")
    rows.add_column("GPUs", justify="right", no_wrap=True, footer=f"{sum(g.gpus for g in groups):,}")
    rows.add_column("purchase\noption", no_wrap=True)
    rows.add_column("layout", no_wrap=True)
    # With eight columns, each character counts on a terminal of 80.
    rows.add_column("inter-\nfaces", justify="right", no_wrap=True, footer=f"{sum(interfaces(g) for g in groups):,}")
    rows.add_column("addr-\nesses", justify="right", no_wrap=True, footer=f"{sum(g.addresses for g in groups):,}")
    for (type_, bought, layout, nodes), alike in _alike([(group, _cells(group)) for group in groups]):
        gpus = sum(group.gpus for group in alike)
        rows.add_row(
            _names(alike, groups),
            type_,
            f"{len(alike)} x {nodes:,}" if len(alike) > 1 else f"{nodes:,}",
            f"{gpus:,}" if gpus else "-",
            bought,
            layout,
            f"{sum(interfaces(group) for group in alike):,}",
            f"{sum(group.addresses for group in alike):,}",
        )
    return rows


def group_sentences(cluster: "ClusterFile", details: Callable[["NodeGroup", "ClusterFile"], list[str]]) -> list[str]:
    """Return the lines on the node groups; equal ones are one line."""
    groups = cluster.node_groups
    rows = [(group, line) for group in groups for line in _about(group, cluster, details(group, cluster))]
    return [f"{_names(alike, groups)}: {line}" for line, alike in _alike(rows)]


def _alike(rows: Sequence[tuple["NodeGroup", _T]]) -> list[tuple[_T, list["NodeGroup"]]]:
    """Return values, each with one of its groups, or with all if they are many, in the order of the first."""
    groups: dict[_T, list[NodeGroup]] = {}
    for group, value in rows:
        groups.setdefault(value, []).append(group)
    return [
        (value, groups[value] if len(groups[value]) >= _MANY else [group])
        for group, value in rows
        if len(groups[value]) < _MANY or group is groups[value][0]
    ]


def _names(alike: Sequence["NodeGroup"], groups: Sequence["NodeGroup"]) -> str:
    """Return the names of some of the groups: of those that follow each other, the first and the last."""
    at = {group.name: index for index, group in enumerate(groups)}
    runs: list[list[NodeGroup]] = []
    for group in alike:
        if runs and at[runs[-1][-1].name] == at[group.name] - 1:
            runs[-1].append(group)
        else:
            runs.append([group])
    ends = (
        f"{run[0].name}{', ' if len(run) == 2 else ' to '}{run[-1].name}" if run[1:] else run[0].name for run in runs
    )
    rest = sum(map(len, runs[_NAMED:]))
    return ", ".join(islice(ends, _NAMED)) + (f" and {rest} more" if rest else "")


def _cells(group: "NodeGroup") -> tuple[str, str, str, int]:
    """Return type, purchase option, layout and nodes of a group."""
    type_ = group.ultraserver.name if group.ultraserver else group.instance_type.name
    return type_, _option(group)[0], group.layout, group.count


def _option(group: "NodeGroup") -> tuple[str, str]:
    """Return the purchase option of a group, short enough for a table, and the id of a reservation or "".

    The id is a sentence below the table: in a column of a terminal of 80 characters it would fold.
    """
    from ultracluster.clusterfile import write_capacity

    written = write_capacity(group.capacity)
    if isinstance(written, str):
        return written, ""
    key, value = next(iter(written.items()))
    kind = written.get("kind", "odcr")
    return key if kind == "odcr" else kind, value.rpartition("/")[2]


def interfaces(group: "NodeGroup") -> int:
    """Return the network interfaces of a group."""
    return group.count * len(group.interfaces)


def _about(group: "NodeGroup", cluster: "ClusterFile", of_orchestrator: list[str]) -> list[str]:
    """Describe what a row of the table has no room for, without the name of the group."""
    from ultracluster.catalogue.training import FAILURES_PER_1000_NODE_DAYS as RATE
    from ultracluster.planning.workload import days_between_interruptions

    kind, id = _option(group)
    details = [f"{kind} {id}"] if id else []
    details += [f"{group.spare} of its {group.count} nodes are spare"] if group.spare else []
    placed = group.placed
    if placed is not None:
        details.append(
            f"a {placed} placement group" if isinstance(placed, str) else f"the placement group {placed.name}"
        )
    if group.zone != cluster.zone:
        details.append(f"in {group.zone}")
    if group.ultraserver:
        details.append(f"one NVLink domain of {group.nvlink_domain} GPUs, {group.count} nodes a block")
    details += of_orchestrator
    sentences = ["; ".join(details)] if details else []
    days = days_between_interruptions(group.count, RATE.low) if group.gpus else None
    if days is not None and days < _WORTH_A_WORD and not group.spare:
        soonest = days_between_interruptions(group.count, RATE.high)
        sentences.append(
            f"a job on all of its {group.gpus:,} GPUs is interrupted about every {soonest:.1f} to "
            f"{days:.1f} days at the published rates of {RATE.low} to {RATE.high} failures per 1,000 node-days, and "
            "there is no spare node"
        )
    return sentences
