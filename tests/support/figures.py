"""Figures of a start and of a synthesis that are exact: `python -m support.figures` in `tests` prints them as JSON.

A process of its own counts them from its start: modules that are loaded, calls of Node, and bytes of the templates.
"""

import importlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from support import ROOT, one_process_kernel

EXAMPLES = ("slurm-512-gpus", "eks-512-gpus")
# Node groups beyond the first.
GROUPS = 5


def modules(*packages: str) -> int:
    """Number of loaded modules of some packages."""
    return sum(name.partition(".")[0] in packages for name in sys.modules)


def groups(clusterfile: Any, orchestrator: str, number: int) -> Any:
    """Return a cluster with this many node groups."""
    group = {"type": "p5.48xlarge", "count": 1, "capacity": "on-demand"}
    nodes = {f"train-{index}": group for index in range(number)}
    place = {"region": "us-east-2", "zone": "use2-az1", "orchestrator": orchestrator}
    return clusterfile.build(name="bench", nodes=nodes, **place)


def measure() -> dict[str, int]:
    """Import the packages from the smallest to the largest, then synthesize an example of each orchestrator."""
    one_process_kernel.install()  # the same calls in less time
    figures = {}
    for package in ("catalogue", "planning", "clusterfile"):
        importlib.import_module(f"ultracluster.{package}")
        figures[f"modules of ultracluster.{package}"] = modules("ultracluster")
    from ultracluster import clusterfile
    from ultracluster.stacks import ClusterStacks

    figures["modules of ultracluster.stacks"] = modules("ultracluster", "aws_cdk")

    import aws_cdk as cdk

    calls = 0
    node: Any = importlib.import_module("jsii._kernel.providers.process")._NodeProcess
    send = node.send

    def counted(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        return send(*arguments)

    node.send = counted
    context = json.loads((ROOT / "cdk.json").read_text())["context"]

    def synthesis(cluster: Any) -> tuple[int, int]:
        """Return the calls of Node, and the bytes of all templates."""
        before = calls
        with tempfile.TemporaryDirectory() as out:
            app = cdk.App(context=context, outdir=out, analytics_reporting=False)
            ClusterStacks(app, cluster=cluster, account="123456789012")
            app.synth()
            templates = [path.read_bytes() for path in Path(out).glob("*.template.json")]
        return calls - before, sum(map(len, templates))

    for example in EXAMPLES:
        cluster = clusterfile.load(ROOT / "examples" / f"{example}.yaml")
        figures[f"calls of Node for {example}"], figures[f"template bytes of {example}"] = synthesis(cluster)
    for orchestrator in ("slurm", "kubernetes"):
        few, more = (synthesis(groups(clusterfile, orchestrator, number))[0] for number in (1, 1 + GROUPS))
        figures[f"calls of Node for a further group of {orchestrator}"] = (more - few) // GROUPS
    return figures


if __name__ == "__main__":
    print(json.dumps(measure()))
