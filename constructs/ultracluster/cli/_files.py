"""The commands `check` and `schema`: the cluster file, without CDK."""

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ultracluster.cli._against import edit_report
from ultracluster.cli._live import print_findings, print_findings_json, print_policy
from ultracluster.cli._output import FileArgument, JsonOption, console, fail, load, misuse, print_json, table
from ultracluster.cli._rule_files import promtool_problems
from ultracluster.cli._verdict import jobs_sentence, print_report

if TYPE_CHECKING:
    from rich.table import Table

    from ultracluster.clusterfile import ClusterFile, Description, NodeGroup


_Against = Annotated[
    Path | None,
    typer.Option(
        "--against",
        metavar="DEPLOYED",
        help="The cluster file that is deployed, or its cdk.out: name the nodes that the edit replaces.",
    ),
]


def check(
    file: FileArgument,
    against: _Against = None,
    live: Annotated[bool, typer.Option("--live", help="Ask the AWS account too: read-only calls.")] = False,
    policy: Annotated[bool, typer.Option("--policy", help="Print the IAM policy that --live needs.")] = False,
    json_: JsonOption = False,
) -> None:
    """Validate a cluster file without synthesis: print all problems at once, or describe the cluster.

    With --live, check the account of the credentials too: quotas, zones, instance types, reservations, images, and what
    the file names.
    """
    from ultracluster import clusterfile

    if policy and not live:
        misuse("--policy prints what --live needs: pass both")
    if live and against is not None:
        misuse("--live and --against are two checks: run one after the other")
    cluster = load(file, json_=json_)
    if policy:
        print_policy(cluster)
        return
    if problems := promtool_problems(cluster):
        fail("\n".join(problems))
    if live and json_:
        print_findings_json(file, cluster)
        return
    warnings = clusterfile.warnings(cluster)
    facts = clusterfile.facts_as_of(cluster)
    report = None if against is None else edit_report(Path(file), against, cluster.region)
    if json_:
        summary = {"file": file, "ok": True, **_summary(cluster)}
        summary["facts"] = {topic: day.isoformat() for topic, day in facts.items()}
        summary["warnings"] = [
            {"id": warning.id, "message": warning.message, "accepted": warning.accepted} for warning in warnings
        ]
        if report is not None:
            summary["edit"] = report.to_dict()
        print_json(summary)
        raise typer.Exit(0 if report is None or report.ok else 1)
    console().print(_table(cluster))
    for sentence in _sentences(cluster):
        typer.echo(sentence)
    for warning in warnings:
        if warning.accepted is None:
            typer.echo(f"warning: {warning.message} [{warning.id}]")
        else:
            typer.echo(f"accepted: {warning.message} [{warning.rule}: {warning.accepted}]")
    age = (date.today() - min(facts.values())).days
    words = ", ".join(f"{topic} {day}" for topic, day in facts.items())
    typer.echo(f"facts: the oldest were read {age} days ago ({words})")
    typer.echo(f"{file} is good.")
    if live:
        print_findings(cluster)
    if report is None:
        return
    typer.echo(f"\nThe edit of {against}:")
    print_report(report)
    typer.echo(jobs_sentence(report))
    if not report.ok:
        lost = ", ".join(finding.name for finding in report.refused)
        refused = [f"ultracluster deploy refuses this edit, which loses {lost}"] if lost else []
        fail("\n".join([*report.broken, *refused]))


def schema() -> None:
    """Print the JSON schema of the cluster file, for editors."""
    from ultracluster import clusterfile

    print_json(clusterfile.schema())


def _table(cluster: "ClusterFile") -> "Table":
    rows = table(
        f"{cluster.name}: {cluster.orchestrator} in {cluster.region}, {cluster.zone}",
        collapse_padding=True,
        show_footer=len(cluster.node_groups) > 1,
    )
    groups = cluster.node_groups
    rows.add_column("node group", footer="together")
    rows.add_column("type", no_wrap=True)
    rows.add_column("nodes", justify="right", footer=f"{sum(g.count for g in groups):,}")
    rows.add_column("GPUs", justify="right", footer=f"{sum(g.gpus for g in groups):,}")
    rows.add_column("bought", overflow="fold")
    rows.add_column("layout")
    rows.add_column("interfaces", justify="right", footer=f"{sum(_interfaces(g) for g in groups):,}")
    rows.add_column("addresses", justify="right", footer=f"{sum(g.addresses for g in groups):,}")
    for group in groups:
        rows.add_row(
            group.name,
            group.ultraserver.name if group.ultraserver else group.instance_type.name,
            f"{group.count:,}",
            f"{group.gpus:,}" if group.gpus else "-",
            _bought(group),
            group.layout,
            f"{_interfaces(group):,}",
            f"{group.addresses:,}",
        )
    return rows


def _bought(group: "NodeGroup") -> str:
    """Purchase option of a group, short enough for a table."""
    from ultracluster.clusterfile import write_capacity

    written = write_capacity(group.capacity)
    if isinstance(written, str):
        return written
    if "reservation" in written:
        kind = written.get("kind", "odcr")
        return written["reservation"] if kind == "odcr" else f"{kind} {written['reservation']}"
    return next(f"{key} {value.rpartition('/')[2]}" for key, value in written.items())


def _interfaces(group: "NodeGroup") -> int:
    return group.count * len(group.interfaces)


def _sentences(cluster: "ClusterFile") -> list[str]:
    from ultracluster.clusterfile import orchestrator_texts

    of = orchestrator_texts(cluster)
    sentences = [of.control_plane(cluster)]
    sentences += [
        sentence
        for group in cluster.node_groups
        for sentence in _about(group, cluster, of.group_details(group, cluster))
    ]
    sentences.append(f"vCPUs: {_vcpus(cluster)}")
    capacity = _subnet_capacity(cluster)
    room = "" if capacity is None else f" of {capacity:,}"
    where = cluster.network.existing.subnet if cluster.network.existing else str(cluster.subnets.training)
    sentences.append(
        f"addresses: {cluster.addresses:,}{room} in the training subnet {where}, {of.other_addresses}, storage and "
        "room to grow included"
    )
    return [
        *sentences,
        *(line for description in _descriptions(cluster) for line in description.lines),
    ]


def _descriptions(cluster: "ClusterFile") -> "list[Description]":
    from ultracluster import clusterfile, monitoring

    return [*clusterfile.describe(cluster), monitoring.describe(cluster)]


def _about(group: "NodeGroup", cluster: "ClusterFile", of_orchestrator: list[str]) -> list[str]:
    """Describe what a row of the table has no room for."""
    from ultracluster.catalogue.training import FAILURES_PER_1000_NODE_DAYS as RATE
    from ultracluster.planning.workload import days_between_interruptions

    details = [f"{group.spare} of its {group.count} nodes are spare"] if group.spare else []
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
    sentences = [f"{group.name}: {'; '.join(details)}"] if details else []
    days = days_between_interruptions(group.count, RATE.low) if group.gpus else None
    if days is not None and days < _WORTH_A_WORD and not group.spare:
        soonest = days_between_interruptions(group.count, RATE.high)
        sentences.append(
            f"{group.name}: a job on all of its {group.gpus:,} GPUs is interrupted about every {soonest:.1f} to "
            f"{days:.1f} days at the published rates of {RATE.low} to {RATE.high} failures per 1,000 node-days, and "
            "there is no spare node"
        )
    return sentences


# A job that fails less often than this waits for a repair rarely enough.
_WORTH_A_WORD = 10


def _vcpus(cluster: "ClusterFile") -> str:
    from ultracluster.planning.capacity import OnDemand, vcpu_needs

    rows = [(group.instance_type, group.capacity, group.count) for group in cluster.node_groups]
    rows.append((cluster.service_type, OnDemand(), cluster.service_count))
    return "; ".join(f"{vcpus:,} of {quota.name} ({quota.code})" for quota, vcpus in vcpu_needs(rows).items())


def _subnet_capacity(cluster: "ClusterFile") -> int | None:
    from ultracluster.planning.network import subnet_capacity

    existing = cluster.network.existing
    if existing is None:
        return cluster.subnets.capacity
    return subnet_capacity(existing.cidr) if existing.cidr else None


def _summary(cluster: "ClusterFile") -> dict[str, Any]:
    from ultracluster.clusterfile import write_capacity, write_placement

    return {
        "name": cluster.name,
        "region": cluster.region,
        "zone": cluster.zone,
        "orchestrator": cluster.orchestrator,
        "nodes": {
            group.name: {
                "type": group.instance_type.name,
                "section": group.section,
                "count": group.count,
                "min": group.minimum,
                "spare": group.spare,
                "zone": group.zone,
                "ultraserver": group.ultraserver and group.ultraserver.name,
                "nvlink_domain": group.nvlink_domain,
                "placement_group": write_placement(group.placed),
                "features": group.features,
                "gpus": group.gpus,
                "capacity": write_capacity(group.capacity),
                "layout": group.layout,
                "interfaces": _interfaces(group),
                "addresses": group.addresses,
            }
            for group in cluster.node_groups
        },
        "addresses": {"needed": cluster.addresses, "capacity": _subnet_capacity(cluster)},
        **{description.name: description.facts for description in _descriptions(cluster)},
    }
