"""Time of a synthesis beside an empty app's: `python benchmarks/synth.py [RUNS]`, or `make bench`.

Each run is a new process, as `cdk synth` starts one. The runs of all rows alternate, so that other load of the machine
falls on each. CPU time is that of Python and Node; the least of the runs is what other load disturbed least.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
RUNS = 5

EMPTY = "import aws_cdk as cdk; app = cdk.App(); cdk.Stack(app, 'Empty'); app.synth()"
CLUSTER = """
import sys
from ultracluster.stacks import ClusterStacks
from ultracluster import clusterfile
import aws_cdk as cdk
app = cdk.App()
ClusterStacks(app, cluster=clusterfile.loads(sys.stdin.read(), "benchmark.yaml"))
app.synth()
"""


class Case(NamedTuple):
    """A row: a program, its input, and whether CloudFormation's rules validate the templates."""

    name: str
    code: str
    text: str = ""
    validation: bool = False


def cluster_file(orchestrator: str, groups: int) -> str:
    """A cluster file with so many node groups of two p5.48xlarge (32 network cards each)."""
    nodes = "\n".join(f"  train-{i}: {{type: p5.48xlarge, count: 2, placement-group: none}}" for i in range(groups))
    return f"name: bench\nregion: us-east-2\nzone: use2-az1\norchestrator: {orchestrator}\nnodes:\n{nodes}\n"


def cases() -> Iterator[Case]:
    """Return the rows."""
    for validation in (False, True):
        suffix = ", validated" if validation else ""
        yield Case(f"empty app{suffix}", EMPTY, validation=validation)
        for example in ("slurm-512-gpus", "eks-512-gpus"):
            text = (ROOT / "examples" / f"{example}.yaml").read_text()
            yield Case(f"{example}{suffix}", CLUSTER, text, validation)
    for groups in (1, 10, 100):
        yield Case(f"{groups} groups of Slurm", CLUSTER, cluster_file("slurm", groups))


def run(case: Case) -> tuple[float, float]:
    """Run a case in a new process, and return its wall and CPU seconds."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "constructs"), str(ROOT)])}
    environment.pop("CDK_VALIDATION", None)
    if (node := Path(sys.executable).parent / "node").exists():
        environment.setdefault("JSII_NODE", str(node))
    with tempfile.TemporaryDirectory() as out:
        environment["CDK_OUTDIR"] = out
        if not case.validation:
            environment["CDK_VALIDATION"] = "false"
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        command = [sys.executable, "-c", case.code]
        subprocess.run(command, input=case.text, text=True, check=True, env=environment, cwd=ROOT, capture_output=True)
        wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the table."""
    rows = list(cases())
    measured: dict[str, list[tuple[float, float]]] = {case.name: [] for case in rows}
    for _ in range(int(sys.argv[1]) if sys.argv[1:] else RUNS):
        for case in rows:
            measured[case.name].append(run(case))
    print("| process | wall s, least | median | CPU s, least | median |\n|---|---|---|---|---|")
    for name, runs in measured.items():
        wall, cpu = zip(*runs, strict=True)
        figures = (min(wall), statistics.median(wall), min(cpu), statistics.median(cpu))
        print(f"| {name} | " + " | ".join(f"{figure:.2f}" for figure in figures) + " |")


if __name__ == "__main__":
    main()
