"""`ultracluster check` and `ultracluster schema`: the cluster file, without CDK."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ultracluster.cli.output import console, fail

if TYPE_CHECKING:
    from rich.table import Table

    from ultracluster.clusterfile import ClusterFile, NodeGroup


def check(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A cluster file.")],
    json_: Annotated[bool, typer.Option("--json", help="The same as JSON.")] = False,
) -> None:
    """Check a cluster file without synthesising: all problems at once, or what it describes."""
    from ultracluster import clusterfile

    try:
        cluster = clusterfile.load(file)
    except clusterfile.ClusterFileError as error:
        if json_:
            problems = [
                {"line": p.line, "column": p.column, "field": p.field, "message": p.message} for p in error.problems
            ]
            typer.echo(json.dumps({"file": file, "ok": False, "problems": problems}, indent=2))
            raise typer.Exit(1) from None
        number = len(error.problems)
        fail(f"{number} problem{'s' if number > 1 else ''} in the cluster file\n{error}")
    warnings = clusterfile.warnings(cluster)
    if json_:
        summary = {"file": file, "ok": True, **_summary(cluster)}
        summary["warnings"] = [{"id": warning.id, "message": warning.message} for warning in warnings]
        typer.echo(json.dumps(summary, indent=2))
        return
    out = console()
    out.print(_table(cluster))
    for sentence in _sentences(cluster):
        out.print(sentence, markup=False, soft_wrap=True)
    for warning in warnings:
        out.print(f"warning: {warning.message} [{warning.id}]", markup=False, soft_wrap=True)
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
    table.add_column("bought")
    table.add_column("layout")
    table.add_column("interfaces", justify="right", footer=f"{sum(_interfaces(g) for g in groups):,}")
    table.add_column("addresses", justify="right", footer=f"{sum(g.addresses for g in groups):,}")
    for group in groups:
        table.add_row(
            group.name,
            group.instance_type.name,
            f"{group.count:,}",
            f"{group.gpus:,}" if group.gpus else "-",
            group.capacity.word,
            group.layout,
            f"{_interfaces(group):,}",
            f"{group.addresses:,}",
        )
    return table


def _interfaces(group: "NodeGroup") -> int:
    return group.count * len(group.interfaces)


def _sentences(cluster: "ClusterFile") -> list[str]:
    login = cluster.slurm.login
    sentences = [f"login: {login.count} {login.type}; Slurm {cluster.slurm.version}"]
    capacity = _subnet_capacity(cluster)
    of = "" if capacity is None else f" of {capacity:,}"
    where = cluster.network.existing.subnet if cluster.network.existing else str(cluster.subnets.training)
    sentences.append(
        f"addresses: {cluster.addresses:,}{of} in the training subnet {where}, login, storage and room to grow included"
    )
    size = cluster.lustre_size
    if size is None:
        sentences.append("Lustre: none")
    else:
        sentences.append(
            f"Lustre: {size.throughput_mb_per_s:,} MB/s from {size.capacity_gib:,} GiB at {size.mb_per_s_per_tib} "
            f"MB/s/TiB {'with' if size.efa else 'without'} EFA"
        )
        sentences += [f"  - {reason}" for reason in size.reasons]
    return sentences


def _subnet_capacity(cluster: "ClusterFile") -> int | None:
    from ultracluster.planning import subnet_capacity

    existing = cluster.network.existing
    if existing is None:
        return cluster.subnets.capacity
    return subnet_capacity(existing.cidr) if existing.cidr else None


def _summary(cluster: "ClusterFile") -> dict[str, Any]:
    size = cluster.lustre_size
    return {
        "name": cluster.name,
        "region": cluster.region,
        "zone": cluster.zone,
        "orchestrator": cluster.orchestrator,
        "nodes": {
            group.name: {
                "type": group.instance_type.name,
                "count": group.count,
                "gpus": group.gpus,
                "capacity": group.capacity.word,
                "layout": group.layout,
                "interfaces": _interfaces(group),
                "addresses": group.addresses,
            }
            for group in cluster.node_groups
        },
        "addresses": {"needed": cluster.addresses, "capacity": _subnet_capacity(cluster)},
        "lustre": None
        if size is None
        else {
            "capacity_gib": size.capacity_gib,
            "mb_per_s_per_tib": size.mb_per_s_per_tib,
            "efa": size.efa,
            "throughput_mb_per_s": size.throughput_mb_per_s,
            "reasons": list(size.reasons),
        },
    }
