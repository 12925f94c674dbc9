"""`ultracluster apply`: install what stands on a Kubernetes cluster, and check that its nodes are ready for jobs."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ultracluster.cli._output import FileArgument, fail, load, misuse
from ultracluster.cli._outputs import StackOption, deployed_outputs

if TYPE_CHECKING:
    from ultracluster import platform
    from ultracluster.clusterfile import ClusterFile


class Hold(StrEnum):
    """Treatment of the jobs of held queues."""

    drain = "drain"
    wait = "wait"


RoleOption = Annotated[
    str | None,
    typer.Option(metavar="ARN", help="Role to assume. Default: an administrator of the file, unless you are one."),
]
ThroughOption = Annotated[
    str | None,
    typer.Option(metavar="INSTANCE", help="Instance of the tunnel to a private endpoint. Default: a system node."),
]


def apply(
    file: FileArgument,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the difference, and change nothing.")] = False,
    outputs: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File of cdk deploy --outputs-file. Default: read from CloudFormation."),
    ] = None,
    stack: StackOption = None,
    kubeconfig: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Kubeconfig. Default: one for the EKS cluster of the file.")
    ] = None,
    role: RoleOption = None,
    through: ThroughOption = None,
    bundle: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Directory with charts, manifests or executables to use instead of pulling."),
    ] = None,
    adopt: Annotated[
        list[str] | None, typer.Option(metavar="RELEASE", help="Replace what the cluster has of this release.")
    ] = None,
    skip: Annotated[
        list[str] | None, typer.Option(metavar="RELEASE", help="Do not install this release: the cluster has its own.")
    ] = None,
    force_conflicts: Annotated[
        bool, typer.Option("--force-conflicts", help="Take over fields that somebody else changed.")
    ] = False,
    hold: Annotated[
        Hold | None,
        typer.Option(help="Only hold the queues, before nodes are updated: drain the jobs, or wait for their end."),
    ] = None,
    gate: Annotated[
        bool, typer.Option("--gate", help="Only check that nodes, devices, queues and volumes are ready.")
    ] = False,
    timeout: Annotated[
        int, typer.Option(min=1, metavar="MINUTES", help="Time for controllers, releases that leave, and the nodes.")
    ] = 30,
) -> None:
    """Install controllers, devices, queues and volumes of a Kubernetes cluster, and check that jobs can start.

    Run it after `cdk deploy`, and after each edit of the file; it may run any number of times. What is no longer in the
    file is removed. An edit that would disturb running work is refused before anything is changed.
    """
    from ultracluster import platform
    from ultracluster.kubernetes import parameter_values
    from ultracluster.workloads import kubernetes_bundle

    cluster = load(file)
    if not cluster.traits.has_platform:
        fail(
            f"{file} has orchestrator: {cluster.orchestrator}; apply is for orchestrator: kubernetes and "
            "hyperpod-kubernetes"
        )
    if dry_run + gate + (hold is not None) > 1:
        misuse("use one of --dry-run, --hold and --gate")
    if cluster.kubernetes.argo_cd is not None and not gate and hold is None:
        fail(f"{file} has platform: argo-cd, which sets back what apply changes; write the files for its repository: "
             f"ultracluster render {file} --kubernetes --out DIR; after Argo CD has synced them, "
             f"ultracluster apply {file} --gate checks the nodes")  # fmt: skip
    for path in (kubeconfig, bundle):
        if path is not None and not path.exists():
            misuse(f"{path} does not exist")
    settings = platform.Options(
        adopt=adopt or (), skip=skip or (), force=force_conflicts, seconds=timeout * 60, report=typer.echo
    )
    try:
        # Before a tunnel is opened.
        platform.find_tools(Path(), bundle)
        data: dict[str, Any] = kubernetes_bundle(cluster)
        # Stacks are read only for what the objects name.
        deployed = deployed_outputs(cluster, outputs, stack) if outputs or data["parameters"] else {}
        parsed = platform.Bundle.parse(data, parameter_values(deployed), directory=bundle)
        parsed.selected(skip=settings.skip, adopt=settings.adopt)
        with (
            _cluster(cluster, kubeconfig, role, through) as path,
            platform.signed_in(platform.find_tools(path, bundle), parsed) as tools,
        ):
            if hold is not None:
                platform.hold_queues(tools, parsed, hold.value, settings)
                return
            if dry_run:
                typer.echo(platform.plan(tools, parsed, settings) or "nothing changes")
                return
            passed = (platform.wait_for_gate if gate else platform.apply)(tools, parsed, settings)
    except (platform.ToolError, ValueError) as error:
        fail(str(error))
    if not passed:
        raise typer.Exit(1)


@contextmanager
def _cluster(cluster: "ClusterFile", kubeconfig: Path | None, role: str | None, through: str | None) -> Iterator[Path]:
    """Return the given kubeconfig, or one for the EKS cluster while a tunnel to it is open."""
    from ultracluster import platform

    if kubeconfig is not None:
        yield kubeconfig
        return
    target = target_of(cluster, role, through)
    with (
        tempfile.TemporaryDirectory() as directory,
        platform.connected(target, Path(directory) / "kubeconfig") as connection,
    ):
        yield connection.kubeconfig


def target_of(
    cluster: "ClusterFile", role: str | None, through: str | None, *, port: int | None = None
) -> "platform.Target":
    """Return the EKS cluster of a file, with the role of an administrator."""
    from ultracluster import platform

    section = cluster.kubernetes
    members = [arn for team in section.teams.values() for arn in team.members]
    return platform.Target(
        cluster=section.existing.name if section.existing else cluster.name,
        region=cluster.region,
        role=role or platform.caller_role(cluster.region, section.admins, members),
        through=through,
        port=port,
    )
