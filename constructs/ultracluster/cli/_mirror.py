"""`ultracluster mirror`: charts and images of a Kubernetes cluster, copied to a registry of the account."""

from typing import TYPE_CHECKING, Annotated

import typer

from ultracluster.cli._ecr import create_repository
from ultracluster.cli._images import artifacts, with_tags
from ultracluster.cli._output import FileArgument, JsonOption, fail, load, misuse, print_json, print_table, table
from ultracluster.cli._pull_through import create_rules, upstream

if TYPE_CHECKING:
    from ultracluster.cli._copies import Copier
    from ultracluster.workloads import Artifact

_SCHEMES = ("http://", "https://", "oci://", "docker://")


def mirror(
    file: FileArgument,
    to: Annotated[
        str | None, typer.Option("--to", metavar="REGISTRY", help="Registry of the copies. Default: that of the file.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what the registry lacks, and copy nothing.")
    ] = False,
    pull_through: Annotated[
        bool,
        typer.Option("--pull-through", help="ECR copies images itself, by pull-through cache rules, where it can."),
    ] = False,
    json_: JsonOption = False,
) -> None:
    """Copy the charts and images of a Kubernetes cluster to its registry, from a machine with internet access.

    A second run continues: it copies what the registry lacks. Repositories in Amazon ECR are created, with immutable
    tags; those of --pull-through have tags that follow the public registry.
    """
    from ultracluster.cli._copies import copier
    from ultracluster.kubernetes import registry_of

    if to is not None and to.startswith(_SCHEMES):
        misuse(f"--to is a registry without a scheme, such as 123456789012.dkr.ecr.us-east-2.amazonaws.com/x; got {to}")
    cluster = load(file)
    rows = artifacts(cluster, file, to)
    registry = to or registry_of(cluster)
    if registry is None:
        fail(f"{file} names no registry, so nothing is copied: write kubernetes: {{registry: ...}}, or use --to")
    failed: list[str] = []
    hosts = {row.source.partition("/")[0] for row in rows if row.kind == "image" and row.target} | {
        registry.partition("/")[0]
    }
    with copier(hosts) as tools:
        rows = [row for row in with_tags(tools, rows, cluster, failed, registry) if row.target]
        rules = create_rules(rows, registry) if pull_through and not dry_run else []
        states = [
            _pulled(tools, row, dry_run, failed)
            if pull_through and upstream(row)
            else _mirrored(tools, row, dry_run, failed)
            for row in rows
        ]
    if json_:
        result = [
            {"source": row.source, "target": row.target, "state": state}
            for row, state in zip(rows, states, strict=True)
        ]
        print_json({"file": file, "registry": registry, "rules": rules, "images": result, "failed": failed})
    else:
        _print(rows, states, registry)
    for line in failed:
        typer.echo(f"error: {line}", err=True)
    if failed:
        typer.echo(f"error: {len(failed)} of {len(rows)} are missing in {registry}; run the command again", err=True)
    raise typer.Exit(1 if failed else 0)


def _mirrored(tools: "Copier", row: "Artifact", dry_run: bool, failed: list[str]) -> str:
    """Copy a chart or an image unless it is there; return what was done."""
    from ultracluster.cli._copies import CopyError

    assert row.target is not None
    try:
        if tools.has(row.target):
            return "there"
        if dry_run:
            return "missing"
        typer.echo(f"copying {row.source}", err=True)
        create_repository(row.target)
        tools.copy(row)
    except (CopyError, OSError) as error:
        failed.append(f"{row.source}: {error}")
        return "failed"
    return "copied"


def _pulled(tools: "Copier", row: "Artifact", dry_run: bool, failed: list[str]) -> str:
    """Pull an image through its rule, so that nodes without internet access are never the first."""
    from ultracluster.cli._copies import CopyError

    assert row.target is not None
    if dry_run:
        return "by rule"
    typer.echo(f"pulling {row.target}", err=True)
    try:
        tools.pull(row.target)
    except CopyError as error:
        failed.append(f"{row.source}: {error}")
        return "failed"
    return "by rule"


def _print(rows: list["Artifact"], states: list[str], registry: str) -> None:
    shown = table(f"Copies in {registry}", "kind", "source", "state")
    for row, state in zip(rows, states, strict=True):
        shown.add_row(row.kind, row.source.partition("@")[0], state)
    print_table(shown, wraps=False)
