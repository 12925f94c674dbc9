"""Generate the reference of stack outputs and SSM parameters from the stacks of all examples."""

import re
from collections.abc import Iterator
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_ssm as ssm

from docs_reference.markdown import page, table
from ultracluster import clusterfile
from ultracluster.clusterfile import ClusterFile
from ultracluster.stacks import ClusterStacks

_EXAMPLES = Path(__file__).parents[2] / "examples"
_ABOUT = """Outputs and SSM parameters of the stacks, from the stacks of every [example](examples.md). They are a
contract: the changelog names each one that is renamed or removed. `NAME` is the name of the cluster.
Outputs without a description, such as `ExportsOutput...`, connect the stacks to each other and are not part
of it. *all* means that every example has it; otherwise it comes with the options that need it.
`UltraCluster` has them in one stack: its `outputs` maps the same names to them."""
_ORCHESTRATORS = {
    "slurm": "Slurm",
    "kubernetes": "Kubernetes",
    "hyperpod-slurm": "HyperPod with Slurm",
    "hyperpod-kubernetes": "HyperPod with Kubernetes",
}


def outputs_page() -> str:
    """Page with the outputs of each stack, and all parameters."""
    outputs: dict[tuple[str, str], str] = {}
    parameters: dict[str, str] = {}
    seen: dict[tuple[str, str], list[str]] = {}
    clusters = [clusterfile.load(str(path)) for path in sorted(_EXAMPLES.glob("*.yaml"))]
    for cluster in clusters:
        for stack in _stacks(cluster):
            kind = stack.node.id.removeprefix(f"{cluster.name}-")
            for resource in stack.node.find_all():
                if isinstance(resource, cdk.CfnOutput) and resource.description:
                    key = (kind, resource.node.id)
                    outputs.setdefault(key, resource.description.replace(cluster.name, "NAME"))
                    seen.setdefault(key, []).append(cluster.orchestrator)
                elif isinstance(resource, ssm.CfnParameter):
                    name = str(stack.resolve(resource.name)).replace(cluster.name, "NAME")
                    name = re.sub("(?<=/users/).*", "USER", name)
                    parameters.setdefault(name, (resource.description or "").replace(cluster.name, "NAME"))
    totals = {kind: sum(cluster.orchestrator == kind for cluster in clusters) for kind in _ORCHESTRATORS}
    rows = [
        (
            f"`NAME-{kind}`",
            f"`{name}`",
            outputs[kind, name],
            *(_where(seen[kind, name].count(o), totals[o]) for o in totals),
        )
        for kind, name in sorted(outputs)
    ]
    return page(
        "Outputs and parameters",
        _ABOUT,
        f"## Outputs\n\n{table(('stack', 'output', 'value', *_ORCHESTRATORS.values()), rows)}",
        "## SSM parameters\n\n"
        + table(("parameter", "value"), [(f"`{name}`", about) for name, about in sorted(parameters.items())]),
    )


def _where(count: int, total: int) -> str:
    return "" if count == 0 else "all" if count == total else "with options"


def _stacks(cluster: ClusterFile) -> Iterator[cdk.Stack]:
    app = cdk.App(analytics_reporting=False)
    ClusterStacks(app, cluster=cluster, account=cluster.account or "123456789012")
    for child in app.node.children:
        if isinstance(child, cdk.Stack):
            yield child
