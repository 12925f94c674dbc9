"""Generate the list of examples from their first comments."""

import re
from itertools import takewhile
from pathlib import Path

from docs_reference.markdown import page, table
from ultracluster import clusterfile
from ultracluster.parallelcluster import parallelcluster_configuration

_EXAMPLES = Path(__file__).parents[2] / "examples"
_MOVING = """Each example with only `orchestrator` changed: it works, or `ultracluster check` names these keys, each
with what to write instead, or with the reason why it has no equivalent. The last column has the keys that
`ultracluster render FILE --parallelcluster` lists as not carried over, or changed. ParallelCluster runs Slurm: the
command refuses a file whose keys `slurm` refuses, with the same lines."""
_ABOUT = """Cluster files of the repository, each with what it shows. `ultracluster check FILE` describes one;
`ultracluster rehearse FILE` deploys it to a local cloud."""


def examples_page() -> str:
    """Page with a table for each orchestrator."""
    sections = []
    for title, prefix in (("Slurm", "slurm"), ("Kubernetes", "eks"), ("SageMaker HyperPod", "hyperpod")):
        rows = [(_link(path), _about(path)) for path in sorted(_EXAMPLES.glob(f"{prefix}-*.yaml"))]
        sections.append(f"## {title}\n\n{table(('example', 'shows'), rows)}")
    return page("Examples", _ABOUT, *sections, _moving())


def _moving() -> str:
    """Section with the keys that each example has no equivalent for, under each other orchestrator."""
    names = clusterfile.orchestrators()
    rows = [
        (_link(path), *(_moved(path, name) for name in names), _exported(path))
        for path in sorted(_EXAMPLES.glob("*.yaml"))
    ]
    head = ("example", *map("`{}`".format, names), "ParallelCluster")
    return f"## Move to another orchestrator\n\n{_MOVING}\n\n{table(head, rows)}"


def _moved_text(path: Path, orchestrator: str) -> str:
    text = path.read_text(encoding="utf-8")
    return re.sub(r"^orchestrator: \S+", f"orchestrator: {orchestrator}", text, flags=re.M)


def _exported(path: Path) -> str:
    """Return the keys that the configuration of ParallelCluster does not carry over."""
    try:
        cluster = clusterfile.loads(_moved_text(path, "slurm"), str(path))
    except clusterfile.ClusterFileError:
        return "refused, as `slurm`"
    # A bucket, as the guide has it: with an existing data bucket, it is required.
    configuration = parallelcluster_configuration(cluster, bucket="example-tools")
    keys = dict.fromkeys(".".join(map(str, note.path)) for note in configuration.notes)
    return "<br>".join(f"`{key}`" for key in keys) or "works"


def _moved(path: Path, orchestrator: str) -> str:
    try:
        clusterfile.loads(_moved_text(path, orchestrator), str(path))
    except clusterfile.ClusterFileError as error:
        return "<br>".join(dict.fromkeys(f"`{problem.field}`" for problem in error.problems))
    return "works"


def _link(path: Path) -> str:
    return f"[{path.name}](../../examples/{path.name})"


def _about(path: Path) -> str:
    comment = takewhile(lambda line: line.startswith("#"), path.read_text(encoding="utf-8").splitlines())
    return " ".join(line.lstrip("# ") for line in comment)
