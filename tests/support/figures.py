"""Figures of a start and of a synthesis that are exact: `python -m support.figures` in `tests` prints them as JSON.

A process of its own counts them from its start: modules that are loaded, calls of Node, and bytes of the templates.
"""

import importlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from support import ROOT

EXAMPLES = ("slurm-512-gpus", "eks-512-gpus")


def modules(*packages: str) -> int:
    """Number of loaded modules of some packages."""
    return sum(name.partition(".")[0] in packages for name in sys.modules)


def measure() -> dict[str, int]:
    """Import the packages from the smallest to the largest, then synthesise an example of each orchestrator."""
    figures = {}
    for package in ("catalogue", "planning", "clusterfile"):
        importlib.import_module(f"ultracluster.{package}")
        figures[f"modules of ultracluster.{package}"] = modules("ultracluster")
    importlib.import_module("ultracluster.stacks")
    figures["modules of ultracluster.stacks"] = modules("ultracluster", "aws_cdk")

    import aws_cdk as cdk

    from ultracluster import clusterfile
    from ultracluster.stacks import ClusterStacks

    calls = 0
    node: Any = importlib.import_module("jsii._kernel.providers.process")._NodeProcess
    send = node.send

    def counted(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        return send(*arguments)

    node.send = counted
    context = json.loads((ROOT / "cdk.json").read_text())["context"]
    for example in EXAMPLES:
        before = calls
        cluster = clusterfile.load(ROOT / "examples" / f"{example}.yaml")
        with tempfile.TemporaryDirectory() as out:
            app = cdk.App(context=context, outdir=out, analytics_reporting=False)
            ClusterStacks(app, cluster=cluster, account="123456789012")
            app.synth()
            templates = [path.read_bytes() for path in Path(out).glob("*.template.json")]
        figures[f"calls of Node for {example}"] = calls - before
        figures[f"template bytes of {example}"] = sum(map(len, templates))
    return figures


if __name__ == "__main__":
    print(json.dumps(measure()))
