"""Generate the reference of stack outputs and SSM parameters from the stacks of all examples."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from docs_reference.markdown import page, table
from ultracluster import clusterfile

_ROOT = Path(__file__).parents[2]
_EXAMPLES = _ROOT / "examples"
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
    # From tests/support, which `make docs-reference` and pytest have on the path.
    from support.templates import of_type, templates

    outputs: dict[tuple[str, str], str] = {}
    parameters: dict[str, str] = {}
    seen: dict[tuple[str, str], list[str]] = {}
    clusters = [clusterfile.load(str(path)) for path in sorted(_EXAMPLES.glob("*.yaml"))]
    for cluster in clusters:
        for stack, template in templates(cluster).items():
            kind = stack.removeprefix(f"{cluster.name}-")
            for name, output in template.get("Outputs", {}).items():
                if description := output.get("Description"):
                    outputs.setdefault((kind, name), description.replace(cluster.name, "NAME"))
                    seen.setdefault((kind, name), []).append(cluster.orchestrator)
            for parameter in of_type(template, "AWS::SSM::Parameter"):
                properties = parameter["Properties"]
                name = re.sub("(?<=/users/).*", "LIST", str(properties["Name"]).replace(cluster.name, "NAME"))
                parameters.setdefault(name, properties.get("Description", "").replace(cluster.name, "NAME"))
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
    of_examples = {(name, description) for (_, name), description in outputs.items()}
    further = sorted({*_of_the_code()} - of_examples)
    return page(
        "Outputs and parameters",
        _ABOUT,
        f"## Outputs\n\n{table(('stack', 'output', 'value', *_ORCHESTRATORS.values()), rows)}",
        "Further outputs, of options that no example has:\n\n"
        + table(("output", "value"), [(f"`{name}`", description) for name, description in further]),
        "## SSM parameters\n\n"
        + table(("parameter", "value"), [(f"`{name}`", about) for name, about in sorted(parameters.items())]),
    )


def _of_the_code() -> Iterator[tuple[str, str]]:
    """Yield name and description of each output that the code writes literally, without a synthesis of its options."""
    for file in sorted((_ROOT / "constructs" / "ultracluster").rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "Output(" in text else ():
            match node:
                case ast.Call(ast.Name("Output"), [ast.Constant(str(name)), ast.Constant(str(description)), *_]):
                    yield name, description


def _where(count: int, total: int) -> str:
    return "" if count == 0 else "all" if count == total else "with options"
