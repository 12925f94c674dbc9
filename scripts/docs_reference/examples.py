"""Generate the list of examples from their first comments."""

from itertools import takewhile
from pathlib import Path

from docs_reference.markdown import page, table

_EXAMPLES = Path(__file__).parents[2] / "examples"
_ABOUT = """Cluster files of the repository, each with what it shows. `ultracluster check FILE` describes one;
`ultracluster rehearse FILE` deploys it to a local cloud."""


def examples_page() -> str:
    """Page with a table for each orchestrator."""
    sections = []
    for title, prefix in (("Slurm", "slurm"), ("Kubernetes", "eks")):
        rows = [(_link(path), _about(path)) for path in sorted(_EXAMPLES.glob(f"{prefix}-*.yaml"))]
        sections.append(f"## {title}\n\n{table(('example', 'shows'), rows)}")
    return page("Examples", _ABOUT, *sections)


def _link(path: Path) -> str:
    return f"[{path.name}](../../examples/{path.name})"


def _about(path: Path) -> str:
    comment = takewhile(lambda line: line.startswith("#"), path.read_text(encoding="utf-8").splitlines())
    return " ".join(line.lstrip("# ") for line in comment)
