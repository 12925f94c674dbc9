"""Programs that the benchmark runs, each in a new process."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent

# Counts the calls of Node from the first to the last, and the bytes of all templates; names the modules.
_COUNTED = """
import json, os, sys, pathlib
import jsii._kernel.providers.process as process
calls = 0
send = process._NodeProcess.send
def counted(*arguments):
    global calls
    calls += 1
    return send(*arguments)
process._NodeProcess.send = counted
{program}
files = pathlib.Path(os.environ["CDK_OUTDIR"]).glob("*.template.json")
modules = [name for name in sys.modules if name.partition(".")[0] in ("aws_cdk", "pydantic", "ultracluster")]
print(json.dumps([calls, sum(file.stat().st_size for file in files), modules]))
"""
_EMPTY = "import aws_cdk as cdk; app = cdk.App(); cdk.Stack(app, 'Empty'); app.synth()"
# What a small app of the CDK's own L2 constructs has.
_ORDINARY = """
import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch, aws_ec2 as ec2, aws_iam as iam, aws_kms as kms, aws_s3 as s3
from aws_cdk import aws_sns as sns
app = cdk.App()
stack = cdk.Stack(app, "Ordinary", env=cdk.Environment(account="123456789012", region="us-east-2"))
vpc = ec2.Vpc(stack, "Vpc", availability_zones=["us-east-2a", "us-east-2b"])
vpc.add_flow_log("FlowLog")
key = kms.Key(stack, "Key")
bucket = s3.Bucket(stack, "Bucket", encryption_key=key)
role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
bucket.grant_read(role)
ec2.LaunchTemplate(stack, "Template", role=role, instance_type=ec2.InstanceType("m7i.large"))
sns.Topic(stack, "Topic")
metric = cloudwatch.Metric(namespace="AWS/S3", metric_name="NumberOfObjects")
cloudwatch.Alarm(stack, "Alarm", metric=metric, threshold=1, evaluation_periods=1)
app.synth()
"""
# The templates of a cluster, resource by resource, without a construct of anybody: the least that the CDK takes.
_RAW = """
import aws_cdk as cdk
app = cdk.App()
for name, template in json.loads(sys.stdin.read()).items():
    stack = cdk.Stack(app, name)
    for id, resource in template["Resources"].items():
        cdk.CfnResource(stack, id, type=resource["Type"], properties=resource.get("Properties"))
app.synth()
"""
# An empty app that imports what a cluster imports.
_IMPORTS = f"""
import importlib
for name in sys.stdin.read().split():
    importlib.import_module(name)
{_EMPTY}
"""
_CLUSTER = """
from ultracluster.stacks import ClusterStacks
from ultracluster import clusterfile
import aws_cdk as cdk
app = cdk.App()
ClusterStacks(app, cluster=clusterfile.loads(sys.stdin.read(), sys.argv[1]))
app.synth()
"""


class Case(NamedTuple):
    """A row: a program, its input, and whether CloudFormation's rules validate the templates."""

    name: str
    program: str
    text: str = ""
    validation: bool = False
    file: str = "benchmark.yaml"
    python: str = ""
    options: tuple[str, ...] = ()

    @property
    def command(self) -> list[str]:
        """Return its command line: this Python with the program, or another Python with a file."""
        if self.python:
            return [self.python, self.program, *self.options]
        return [sys.executable, "-c", self.code, self.file]

    @property
    def code(self) -> str:
        """The program, which prints its calls of Node and its bytes of templates."""
        return _COUNTED.format(program=self.program)


def cluster_file(orchestrator: str, groups: int) -> str:
    """Return a cluster file with so many node groups, each of one p5.48xlarge with its 32 network cards."""
    # An address for each network interface: 400 nodes of 32 cards do not fit into the default range on EKS.
    nodes = "\n".join(f"  train-{i}: {{type: p5.48xlarge, count: 1, capacity: on-demand}}" for i in range(groups))
    place = "name: bench\nregion: us-east-2\nzone: use2-az1\n"
    # A queue of Kueue has 64 flavors at most.
    kai = "kubernetes: {scheduler: kai}\n" if orchestrator == "kubernetes" and groups > 64 else ""
    return f"{place}orchestrator: {orchestrator}\n{kai}nodes:\n{nodes}\n"


def floors() -> Iterator[Case]:
    """Return what a cluster is compared with."""
    yield Case("empty app", _EMPTY)
    yield Case("ordinary app of L2 constructs", _ORDINARY)


def raw(name: str, templates: str) -> Case:
    """Return the same resources as a cluster, without constructs."""
    return Case(f"{name}, as CfnResource only", _RAW, templates)


def imports(name: str, modules: list[str]) -> Iterator[Case]:
    """Return an empty app with the modules of the CDK that a cluster has, and one with those of the library too."""
    of_cdk = [module for module in modules if module.startswith("aws_cdk.")]
    yield Case(f"empty app with the CDK's modules of {name}", _IMPORTS, "\n".join(of_cdk))
    yield Case(f"empty app with all modules of {name}", _IMPORTS, "\n".join(modules))


def example(path: Path, *, validation: bool = False) -> Case:
    """Return the synthesis of an example."""
    name = f"{path.stem}{', validated' if validation else ''}"
    return Case(name, _CLUSTER, path.read_text(), validation, str(path))


def parallelcluster(python: str) -> Iterator[Case]:
    """Return ParallelCluster, and what stands in for AWS there, whose time is not that of ParallelCluster."""
    program = str(ROOT / "benchmarks" / "parallelcluster.py")
    yield Case("ParallelCluster, with its harness", program, python=python)
    yield Case("the harness of ParallelCluster alone", program, python=python, options=("--harness",))


def growth(groups: int, orchestrator: str) -> Case:
    """Return the synthesis of a cluster with many node groups."""
    return Case(f"{groups} node groups, {orchestrator}", _CLUSTER, cluster_file(orchestrator, groups))
