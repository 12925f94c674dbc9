"""The command `ultracluster`.

Exit codes: 0 good, 1 a problem in the input, a refusal or a full disk, 2 wrong usage, 3 a call of AWS fails.
"""

import atexit
import errno
import gc
import os
import signal
import sys
from collections.abc import Iterable
from importlib import import_module
from types import FrameType
from typing import Annotated, Any

import typer

from ultracluster import __version__
from ultracluster.cli._failures import Commands
from ultracluster.cli._output import record_json

#: Module of each command, its function or program, and its help in the list of commands. Default: that of the function.
_COMMANDS = {
    "init": ("_init", "init", "Write a CDK app with a cluster file, tests and CI."),
    "types": ("_catalogue", "types", "Show the catalogue of instance types, or all facts on one type."),
    "layout": ("_catalogue", "layout", None),
    "facts": ("_facts", "facts", "List the facts with source and age, or print the catalogue as JSON."),
    "check": ("_files", "check", "Validate a cluster file and describe the cluster."),
    "rules": ("_rules", "rules", "Print the rules of cluster file and constructs, with their ids."),
    "schema": ("_files", "schema", None),
    "plan": ("_plan", "plan", "Plan training, RL and inference: GPUs, time, memory, storage, failures."),
    "guard": ("_guard", "guard", "Refuse an update that would lose data."),
    "diff": ("_deploy", "diff", "Compare a cluster file with what is deployed."),
    "deploy": ("_deploy", "deploy", "Deploy a cluster file, unless that loses data, nodes or jobs."),
    "rehearse": ("_rehearse", "rehearse", "Deploy, update and destroy on a local stand-in for AWS."),
    "apply": ("_apply", "apply", "Install what runs on a Kubernetes cluster, and check that its nodes are ready."),
    "kubeconfig": ("_kubeconfig", "kubeconfig", "Write a kubeconfig, and open the tunnel to a private API server."),
    "images": ("_images", "images", "List charts and images of a Kubernetes cluster."),
    "mirror": ("_mirror", "mirror", "Copy charts and images of a Kubernetes cluster to its registry."),
    "image": ("_image", "app", None),
    "render": ("_render", "render", None),
    "workloads": ("_workloads", "workloads", "List the workloads that render --workload renders."),
    "diagram": ("_diagram", "diagram", "Draw the stacks of a cluster file as SVG."),
}


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"ultracluster {__version__}")
        raise typer.Exit


def options(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
) -> None:
    """Accept the options that belong to no sub-command."""
    record_json()


def _program(commands: Iterable[str]) -> typer.Typer:
    """Return the program with some commands, whose modules are imported."""
    program = typer.Typer(
        name="ultracluster",
        cls=Commands,
        help="GPU clusters on AWS from a short cluster file.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    program.callback()(options)
    for command in commands:
        module, name, text = _COMMANDS[command]
        part = getattr(import_module(f"{__name__}.{module}"), name)
        if isinstance(part, typer.Typer):
            program.add_typer(part, name=command)
        else:
            program.command(command, short_help=text)(part)
    return program


def __getattr__(name: str) -> Any:
    """Return `app`, the program with all commands; `main` imports only the one that runs."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, _program(_COMMANDS))


def _end(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def main() -> None:
    """Run the command; the entry point of the distribution."""
    # What ends a job of CI or a terminal deletes temporary directories and ends processes, as Ctrl-C does.
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end)
    # Modules are most of the objects, and stay: collecting as often as Python does, and all of them at the end, took a
    # quarter of the CPU time of `check` (2026-11-27).
    gc.set_threshold(200_000, 20, 20)
    atexit.register(gc.freeze)
    first = sys.argv[1] if len(sys.argv) > 1 else ""
    try:
        _program([first] if first in _COMMANDS else _COMMANDS)()
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        # Python writes what is left of the output when it exits, and would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        remedy = "free the disk of the output, or of temporary files, and run the command again"
        typer.echo(f"error: {error.strerror}; {remedy}", err=True)
        raise SystemExit(1) from None
