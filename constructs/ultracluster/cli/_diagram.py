"""`ultracluster diagram`: draw the stacks of a cluster file, and what is in them, as SVG."""

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ultracluster.cli._output import FileArgument, fail, load, misuse

if TYPE_CHECKING:
    from ultracluster.clusterfile import ClusterFile


def diagram_svg(cluster: "ClusterFile") -> str:
    """SVG of the stacks that `cdk deploy` creates, from their synthesized templates."""
    from ultracluster.cli._diagram_resources import stack_box
    from ultracluster.cli._diagram_svg import draw
    from ultracluster.cli._project_files import cluster_app
    from ultracluster.clusterfile import orchestrator_texts

    with tempfile.TemporaryDirectory() as outdir:
        stacks = cluster_app(cluster, outdir, account=cluster.account).synth().stacks
        templates: dict[str, Any] = {stack.stack_name: stack.template for stack in stacks}
    boxes = [stack_box(cluster.name, name, template, json.dumps(template)) for name, template in templates.items()]
    # Stacks that others refer to are below them; of equals, the one with GPUs is on top.
    depth: dict[str, int] = {}
    for box in boxes:
        depth[box.title] = 1 + max((depth.get(used, 0) for used in box.uses), default=0)
    boxes.sort(key=lambda box: (depth[box.title], bool(box.nodes)), reverse=True)
    total = sum(len(template.get("Resources", {})) for template in templates.values())
    about = f"{orchestrator_texts(cluster).title} in {cluster.zone}"
    return draw(cluster.name, f"{about}. {len(templates)} stacks, {total} resources.", boxes)


def diagram(
    file: FileArgument,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.svg", help="Write the SVG to this file. Default: print it.")
    ] = None,
) -> None:
    """Draw the stacks of a cluster file, and the resources in them, as SVG."""
    if out is not None and out.suffix != ".svg":
        misuse(f"--out: name a file that ends in .svg, got {out}")
    cluster = load(file)
    try:
        svg = diagram_svg(cluster)
    except ValueError as error:
        fail(str(error))
    if out is None:
        typer.echo(svg, nl=False)
        return
    try:
        out.write_text(svg, encoding="utf-8")
    except OSError as error:
        fail(f"cannot write {out}: {error.strerror}")
    typer.echo(f"{out}: {len(svg):,} bytes")
