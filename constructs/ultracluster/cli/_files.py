"""The commands `check` and `schema`: the cluster file, without CDK."""

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ultracluster.cli._against import edit_report
from ultracluster.cli._groups import group_sentences, group_table, interfaces
from ultracluster.cli._live import print_findings, print_findings_json, print_policy
from ultracluster.cli._output import FileArgument, JsonOption, console, fail, load, misuse, print_json
from ultracluster.cli._rule_files import promtool_missing, promtool_problems
from ultracluster.cli._verdict import jobs_sentence, print_report

if TYPE_CHECKING:
    from ultracluster.clusterfile import ClusterFile, Description


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
    cluster = load(file)
    if policy:
        print_policy(cluster)
        return
    if problems := promtool_problems(cluster):
        fail("\n".join(problems))
    if live and json_:
        print_findings_json(file, cluster)
        return
    warnings = clusterfile.warnings(cluster, date.today())
    facts = clusterfile.facts_as_of(cluster)
    report = None if against is None else edit_report(Path(file), against, cluster)
    if json_:
        summary = {"file": file, "ok": True, **_summary(cluster)}
        summary["facts"] = {topic: day.isoformat() for topic, day in facts.items()}
        summary["warnings"] = [
            {"id": warning.id, "message": warning.message, "accepted": warning.accepted} for warning in warnings
        ]
        if promtool_missing(cluster):
            summary["promtool"] = False
        if report is not None:
            summary["edit"] = report.to_dict()
        print_json(summary)
        raise typer.Exit(0 if report is None or report.ok else 1)
    console(wraps=False).print(group_table(cluster))
    typer.echo()
    for sentence in _sentences(cluster):
        typer.echo(sentence)
    for warning in warnings:
        if warning.accepted is None:
            typer.echo(f"warning: {warning.message} [{warning.id}]")
        else:
            typer.echo(f"accepted: {warning.message} [{warning.rule}: {warning.accepted}]")
    if promtool_missing(cluster):
        typer.echo("note: promtool is not on the path, so only the braces of templates in rule files were read")
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


def _sentences(cluster: "ClusterFile") -> list[str]:
    from ultracluster.clusterfile import orchestrator_texts

    of = orchestrator_texts(cluster)
    sentences = [of.control_plane(cluster), *group_sentences(cluster, of.group_details)]
    if quotas := of.quotas(cluster):
        sentences.append(quotas)
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
                "interfaces": interfaces(group),
                "addresses": group.addresses,
            }
            for group in cluster.node_groups
        },
        "addresses": {"needed": cluster.addresses, "capacity": _subnet_capacity(cluster)},
        **{description.name: description.facts for description in _descriptions(cluster)},
    }
