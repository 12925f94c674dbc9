"""The commands `check` and `schema`: the cluster file, without CDK."""

import json
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ultracluster.cli._data_bucket import bucket_facts, bucket_sentences
from ultracluster.cli._home import home_facts, home_sentences
from ultracluster.cli._links import link_facts, link_sentences
from ultracluster.cli._lustre import lustre_facts, lustre_sentences
from ultracluster.cli._monitoring import observability_facts, observability_sentences
from ultracluster.cli._output import console, fail

if TYPE_CHECKING:
    from rich.table import Table

    from ultracluster.clusterfile import ClusterFile, NodeGroup


def check(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A cluster file.")],
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Validate a cluster file without synthesis: print all problems at once, or describe the cluster."""
    from ultracluster import clusterfile, kubernetes

    try:
        cluster = clusterfile.load(file, further=kubernetes.file_problems)
    except clusterfile.ClusterFileError as error:
        if json_:
            problems = [
                {"line": p.line, "column": p.column, "field": p.field, "message": p.message, "rule": p.rule}
                for p in error.problems
            ]
            typer.echo(json.dumps({"file": file, "ok": False, "problems": problems}, indent=2))
            raise typer.Exit(1) from None
        number = len(error.problems)
        fail(f"{number} problem{'s' if number > 1 else ''} in the cluster file\n{error}")
    warnings = clusterfile.warnings(cluster)
    if json_:
        summary = {"file": file, "ok": True, **_summary(cluster)}
        summary["facts"] = {topic: day.isoformat() for topic, day in clusterfile.facts_as_of(cluster).items()}
        summary["warnings"] = [
            {"id": warning.id, "message": warning.message, "accepted": warning.accepted} for warning in warnings
        ]
        typer.echo(json.dumps(summary, indent=2))
        return
    out = console()
    out.print(_table(cluster))
    for sentence in _sentences(cluster):
        out.print(sentence, markup=False, soft_wrap=True)
    for warning in warnings:
        if warning.accepted is None:
            out.print(f"warning: {warning.message} [{warning.id}]", markup=False, soft_wrap=True)
        else:
            out.print(f"accepted: {warning.message} [{warning.rule}: {warning.accepted}]", markup=False, soft_wrap=True)
    facts = clusterfile.facts_as_of(cluster)
    age = (date.today() - min(facts.values())).days
    words = ", ".join(f"{topic} {day}" for topic, day in facts.items())
    out.print(f"facts: the oldest were read {age} days ago ({words})", markup=False, soft_wrap=True)
    out.print(f"{file} is good.", markup=False, soft_wrap=True)


def schema() -> None:
    """Print the JSON schema of the cluster file, for editors."""
    from ultracluster import clusterfile

    typer.echo(json.dumps(clusterfile.schema(), indent=2))


def _table(cluster: "ClusterFile") -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(
        title=f"{cluster.name}: {cluster.orchestrator} in {cluster.region}, {cluster.zone}",
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
        show_footer=len(cluster.node_groups) > 1,
    )
    groups = cluster.node_groups
    table.add_column("node group", footer="together")
    table.add_column("type", no_wrap=True)
    table.add_column("nodes", justify="right", footer=f"{sum(g.count for g in groups):,}")
    table.add_column("GPUs", justify="right", footer=f"{sum(g.gpus for g in groups):,}")
    table.add_column("bought", overflow="fold")
    table.add_column("layout")
    table.add_column("interfaces", justify="right", footer=f"{sum(_interfaces(g) for g in groups):,}")
    table.add_column("addresses", justify="right", footer=f"{sum(g.addresses for g in groups):,}")
    for group in groups:
        table.add_row(
            group.name,
            group.ultraserver.name if group.ultraserver else group.instance_type.name,
            f"{group.count:,}",
            f"{group.gpus:,}" if group.gpus else "-",
            _bought(group),
            group.layout,
            f"{_interfaces(group):,}",
            f"{group.addresses:,}",
        )
    return table


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
    sentences = _kubernetes(cluster) if cluster.orchestrator == "kubernetes" else _slurm(cluster)
    sentences += [sentence for group in cluster.node_groups for sentence in _about(group, cluster)]
    sentences.append(f"vCPUs: {_vcpus(cluster)}")
    capacity = _subnet_capacity(cluster)
    of = "" if capacity is None else f" of {capacity:,}"
    beside = "pods, system nodes" if cluster.orchestrator == "kubernetes" else "login"
    where = cluster.network.existing.subnet if cluster.network.existing else str(cluster.subnets.training)
    sentences.append(
        f"addresses: {cluster.addresses:,}{of} in the training subnet {where}, {beside}, storage and "
        "room to grow included"
    )
    return [
        *sentences,
        *lustre_sentences(cluster),
        *link_sentences(cluster),
        *bucket_sentences(cluster),
        *home_sentences(cluster),
        *observability_sentences(cluster),
    ]


def _slurm(cluster: "ClusterFile") -> list[str]:
    from ultracluster.catalogue.schedulers import pcs

    login = cluster.slurm.login
    managed = f"{cluster.instances:,} of {pcs.SIZES[cluster.controller_size]:,} instances"
    controller = f"a {cluster.controller_size} controller with {managed}, plane size can't change"
    return [f"login: {login.count} {login.type}; Slurm {cluster.slurm.version}, {controller}"]


def _kubernetes(cluster: "ClusterFile") -> list[str]:
    from ultracluster.catalogue.schedulers import eks

    section = cluster.kubernetes
    until = eks.VERSIONS[section.version].standard_until
    plane = (
        f"the cluster {section.existing.name}"
        if section.existing
        else f"control plane of the tier {section.scaling_tier}"
    )
    system = "" if section.existing else f"system nodes: {section.system.count} {section.system.type}; "
    return [f"{system}Kubernetes {section.version}, in standard support until {until}; {plane}"]


def _about(group: "NodeGroup", cluster: "ClusterFile") -> list[str]:
    """Describe what a row of the table has no room for."""
    from ultracluster.planning.capacity import segment
    from ultracluster.planning.workload import SOURCE, days_between_interruptions

    details = [f"{group.spare} of its {group.count} nodes are spare"] if group.spare else []
    if group.minimum < group.count and cluster.orchestrator != "kubernetes":
        details.append(f"{group.minimum} to {group.count} nodes, as jobs come")
    placed = group.placed
    if placed is not None:
        details.append(
            f"a {placed} placement group" if isinstance(placed, str) else f"the placement group {placed.name}"
        )
    if group.zone != cluster.zone:
        details.append(f"in {group.zone}")
    if group.ultraserver:
        cut = f"; larger jobs in segments: --segment={segment(group.count)}"
        pieces = "" if cluster.orchestrator == "kubernetes" else cut
        details.append(f"one NVLink domain of {group.nvlink_domain} GPUs, {group.count} nodes a block{pieces}")
    if group.features and cluster.orchestrator != "kubernetes":
        details.append(f"features {','.join(group.features)}")
    ends = getattr(group.capacity, "terminates_at", None)
    if ends is not None:
        drained = ends - cluster.notifications.drain.timedelta
        terminated = "to be terminated by you before" if group.ultraserver else "terminated from"
        if cluster.orchestrator == "kubernetes":
            details.append(f"scaled to zero in time; {terminated} {ends:%Y-%m-%d %H:%M} UTC")
        else:
            details.append(f"drained from {drained:%Y-%m-%d %H:%M}, {terminated} {ends:%Y-%m-%d %H:%M} UTC")
    sentences = [f"{group.name}: {'; '.join(details)}"] if details else []
    days = days_between_interruptions(group.gpus) if group.gpus else None
    if days is not None and days < _WORTH_A_WORD and not group.spare:
        sentences.append(
            f"{group.name}: a job on all of its {group.gpus:,} GPUs is interrupted about every {days:.0f} days at the "
            f"rate of {SOURCE}, and there is no spare node"
        )
    return sentences


# A job that fails less often than this waits for a repair rarely enough.
_WORTH_A_WORD = 10


def _vcpus(cluster: "ClusterFile") -> str:
    from ultracluster.planning.capacity import OnDemand, vcpu_needs

    rows = [(group.instance_type, group.capacity, group.count) for group in cluster.node_groups]
    rows.append((cluster.service_type, OnDemand(), cluster.service_count))
    needs = vcpu_needs(rows)
    return "; ".join(f"{need.vcpus:,} of {need.quota.name} ({need.quota.code})" for need in needs)


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
        "lustre": lustre_facts(cluster),
        "data_bucket": bucket_facts(cluster),
        "links": link_facts(cluster),
        "home": home_facts(cluster),
        "observability": observability_facts(cluster),
    }
