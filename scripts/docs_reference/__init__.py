"""Generate the reference pages of the documentation from the code: `make docs-reference`."""

from collections.abc import Callable
from pathlib import Path

from docs_reference.alerts import alerts_page, dashboards_page, runbook_pages
from docs_reference.capacity import capacity_page
from docs_reference.cluster_file import cluster_file_page
from docs_reference.command import command_page
from docs_reference.compliance import compliance_page
from docs_reference.contracts import contracts_page
from docs_reference.examples import examples_page
from docs_reference.facts import facts_page
from docs_reference.images import images_page
from docs_reference.kubernetes import kubernetes_page
from docs_reference.lustre import lustre_page
from docs_reference.metrics import metrics_page
from docs_reference.outputs import outputs_page
from docs_reference.permissions import permissions_page
from docs_reference.predictions import predictions_page
from docs_reference.programs import programs_page
from docs_reference.python_api import index_page, package_pages
from docs_reference.rules import rules_page
from docs_reference.stories import stories_page
from docs_reference.workloads import workloads_page
from ultracluster import clusterfile
from ultracluster.cli._diagram import diagram_svg

__all__ = ["PAGES", "index_page", "package_pages", "pages", "write"]

_EXAMPLES = Path(__file__).parents[2] / "examples"

#: Page below docs/reference and the function that generates it.
PAGES: dict[str, Callable[[], str]] = {
    "reference/cluster-file.md": cluster_file_page,
    "reference/rules.md": rules_page,
    "reference/command.md": command_page,
    "reference/examples.md": examples_page,
    "reference/metrics.md": metrics_page,
    "reference/alerts.md": alerts_page,
    "reference/dashboards.md": dashboards_page,
    "reference/stories.md": stories_page,
    "reference/outputs.md": outputs_page,
    "reference/capacity.md": capacity_page,
    "reference/images.md": images_page,
    "reference/facts.md": facts_page,
    "reference/lustre.md": lustre_page,
    "reference/kubernetes.md": kubernetes_page,
    "reference/workloads.md": workloads_page,
    "reference/predictions.md": predictions_page,
    "reference/compliance.md": compliance_page,
    "reference/python.md": index_page,
    "reference/contracts.md": contracts_page,
    "reference/permissions.md": permissions_page,
    "reference/programs.md": programs_page,
}


def pages() -> dict[str, str]:
    """Committed pages by their path below docs."""
    return {**{path: generate() for path, generate in PAGES.items()}, **runbook_pages(), **_pictures()}


def _pictures() -> dict[str, str]:
    """Diagrams of the two main examples, as `ultracluster diagram` draws them."""
    return {
        f"images/{name}.svg": diagram_svg(clusterfile.load(str(_EXAMPLES / f"{example}.yaml")))
        for name, example in (("cluster", "slurm-512-gpus"), ("kubernetes", "eks-512-gpus"))
    }


def write(docs: Path) -> None:
    """Write the committed pages, and delete runbooks of alerts that no longer exist."""
    # Before anything is deleted: a page that fails must not cost the others.
    texts = pages()
    for runbook in (docs / "runbooks").glob("*.md"):
        runbook.unlink()
    for path, text in texts.items():
        file = docs / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
