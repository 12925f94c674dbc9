"""Synthesis time of a cluster beside an empty app's, for 1, 10 and 100 node groups: `python benchmarks/synth.py`.

Each figure is a fresh process, as `cdk synth` starts one; the median of the runs is printed. Validation is off,
because it takes the same time for every template.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 5
ROOT = Path(__file__).parent.parent

EMPTY = "import aws_cdk as cdk; app = cdk.App(); cdk.Stack(app, 'Empty'); app.synth()"
CLUSTER = """
import sys
import aws_cdk as cdk
from ultracluster.stacks import ClusterStacks
from ultracluster import clusterfile
app = cdk.App()
cluster = clusterfile.loads(sys.stdin.read(), "benchmark.yaml")
ClusterStacks(app, cluster=cluster)
app.synth()
"""


def cluster_file(groups: int) -> str:
    """A cluster file with so many node groups of two p5.48xlarge (32 network cards each)."""
    nodes = "\n".join(f"  train-{i}: {{type: p5.48xlarge, count: 2, placement-group: none}}" for i in range(groups))
    return f"name: bench\nregion: us-east-2\nzone: use2-az1\norchestrator: slurm\nnodes:\n{nodes}\n"


def seconds(code: str, text: str = "") -> float:
    """Median seconds of a fresh process that runs the code."""
    times = []
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory() as out:
            environment = os.environ | {"CDK_VALIDATION": "false", "CDK_OUTDIR": out, "PYTHONPATH": str(ROOT)}
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], input=text, text=True, check=True, env=environment, cwd=ROOT)
            times.append(time.perf_counter() - begin)
    return statistics.median(times)


def main() -> None:
    """Print the table."""
    empty = seconds(EMPTY)
    print(f"{'':>16}  seconds  of which ours")
    print(f"{'empty app':>16}  {empty:7.2f}")
    for groups in (1, 10, 100):
        took = seconds(CLUSTER, cluster_file(groups))
        print(f"{groups:>4} node groups  {took:7.2f}  {took - empty:13.2f}")


if __name__ == "__main__":
    main()
