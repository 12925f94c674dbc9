"""The generated pages of the reference are current and complete."""

import re

import docs_reference
from support import ROOT
from support.generations import ON_CPUS
from ultracluster import clusterfile
from ultracluster.workloads import WORKLOADS

DOCS = ROOT / "docs"


def test_tests_that_the_table_of_workloads_names_are_there() -> None:
    for workload, (_, test) in ON_CPUS.items():
        file, _, name = test.partition("::")
        assert workload in WORKLOADS
        assert f"\ndef {name}(" in (ROOT / file).read_text(), test


def test_committed_pages_are_current_and_none_is_left_over() -> None:
    generated = docs_reference.pages()
    stale = [path for path, text in generated.items() if (DOCS / path).read_text() != text]
    assert stale == [], "run `make docs-reference`"
    committed = {
        str(page.relative_to(DOCS)) for folder in ("reference", "runbooks") for page in (DOCS / folder).glob("*.md")
    }
    assert committed - set(generated) == {"reference/index.md"}


def test_the_cluster_file_page_has_every_key() -> None:
    schema = clusterfile.schema()
    keys = {key for section in [schema, *schema["$defs"].values()] for key in section["properties"]}
    page = (DOCS / "reference" / "cluster-file.md").read_text()
    assert {key for key in keys if not re.search(rf"^\| \[?`{key}`", page, re.MULTILINE)} == set()
    assert len(re.findall(r"\*\*required\*\* without `extends`", page)) == len(schema["else"]["required"])
    headings = re.findall(r"^## `(.*)`$", page, re.MULTILINE)
    anchors = {heading.replace(".", "").lower() for heading in headings}
    assert set(re.findall(r"\]\(#([^)]+)\)", page)) == anchors
