"""The command `ultracluster`. Exit codes: 0 good, 1 a problem in the input, 2 wrong usage."""

import gc
from typing import Annotated

import typer

from ultracluster import __version__
from ultracluster.cli import _apply as apply
from ultracluster.cli import _catalogue as catalogue
from ultracluster.cli import _deploy as deploy
from ultracluster.cli import _diagram as diagram
from ultracluster.cli import _facts as facts
from ultracluster.cli import _files as files
from ultracluster.cli import _guard as guard
from ultracluster.cli import _image as image
from ultracluster.cli import _images as images
from ultracluster.cli import _init as init
from ultracluster.cli import _mirror as mirror
from ultracluster.cli import _plan as plan
from ultracluster.cli import _rehearse as rehearse
from ultracluster.cli import _render as render
from ultracluster.cli import _rules as rules
from ultracluster.cli import _workloads as workloads

app = typer.Typer(
    name="ultracluster",
    help="GPU clusters on AWS from a ten-line cluster file.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("init", short_help="Write a CDK app with a cluster file, tests and CI.")(init.init)
app.command("types", short_help="Show the catalogue of instance types, or all facts on one type.")(catalogue.types)
app.command("layout")(catalogue.layout)
app.command("facts", short_help="List the facts with source and age, or print the catalogue as JSON.")(facts.facts)
app.command("check", short_help="Validate a cluster file and describe the cluster.")(files.check)
app.command("rules", short_help="Print the rules of cluster file and constructs, with their ids.")(rules.rules)
app.command("schema")(files.schema)
app.command("plan", short_help="Plan training, RL and inference: GPUs, time, memory, storage, failures.")(plan.plan)
app.command("guard", short_help="Refuse an update that would lose data.")(guard.guard)
app.command("diff", short_help="Compare a cluster file with what is deployed.")(deploy.diff)
app.command("deploy", short_help="Deploy a cluster file, unless that loses data, nodes or jobs.")(deploy.deploy)
app.command("rehearse", short_help="Deploy, update and destroy on a local stand-in for AWS.")(rehearse.rehearse)
app.command("apply", short_help="Install what runs on a Kubernetes cluster, and check that its nodes are ready.")(
    apply.apply
)
app.command("images", short_help="List charts and images of a Kubernetes cluster.")(images.images)
app.command("mirror", short_help="Copy charts and images of a Kubernetes cluster to its registry.")(mirror.mirror)
app.add_typer(image.app, name="image")
app.command("render")(render.render)
app.command("workloads", short_help="List the workloads that render --workload renders.")(workloads.workloads)
app.command("diagram", short_help="Draw the stacks of a cluster file as SVG.")(diagram.diagram)


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"ultracluster {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
) -> None:
    """Accept the options that belong to no sub-command."""


def main() -> None:
    """Run the command; the entry point of the distribution."""
    # Modules are most of the objects, and stay: collecting as often as Python does took an eighth of the CPU time of
    # `check` (2026-11-23).
    gc.set_threshold(50_000, 20, 20)
    app()
