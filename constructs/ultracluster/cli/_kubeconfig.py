"""`ultracluster kubeconfig`: a kubeconfig with the administrators' role, and the tunnel to a private API server."""

import json
from pathlib import Path
from typing import Annotated

import typer

from ultracluster.cli._apply import RoleOption, ThroughOption, target_of
from ultracluster.cli._output import FileArgument, fail, load, misuse


def kubeconfig(
    file: FileArgument,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The kubeconfig to write.")] = Path("kubeconfig"),
    role: RoleOption = None,
    through: ThroughOption = None,
    port: Annotated[
        int, typer.Option(min=1024, max=65535, metavar="PORT", help="Port of the tunnel on this machine.")
    ] = 8443,
) -> None:
    """Write a kubeconfig for kubectl, helm and other tools.

    If the API server is private, the command opens a tunnel and keeps it open: run it in a terminal of its own.
    """
    from ultracluster import platform

    cluster = load(file)
    if not cluster.traits.has_platform:
        fail(
            f"{file} has orchestrator: {cluster.orchestrator}; kubeconfig is for orchestrator: kubernetes and "
            "hyperpod-kubernetes"
        )
    if not out.parent.is_dir():
        misuse(f"--out: there is no directory {out.parent}")
    target = target_of(cluster, role, through, port=port)
    if out.exists() and not _is_for(out, target.cluster):
        other = f"{out} is no kubeconfig of this command for {target.cluster}"
        misuse(f"--out: {other}, and stays as it is; name another")
    with platform.connected(target, out) as connection:
        typer.echo(f"export KUBECONFIG={out.resolve()}")
        if connection.tunnel is None:
            return
        typer.echo(f"the tunnel is open on port {port} until you press Ctrl-C", err=True)
        try:
            connection.tunnel.wait()
        except KeyboardInterrupt:
            return
    fail("the tunnel has ended, as an idle session does after 20 minutes by default; run the command again")


def _is_for(file: Path, name: str) -> bool:
    """Report whether the command wrote a file for a cluster: it replaces no other."""
    try:
        return bool(json.loads(file.read_text(encoding="utf-8"))["current-context"] == name)
    except (OSError, ValueError, KeyError, TypeError):
        return False
