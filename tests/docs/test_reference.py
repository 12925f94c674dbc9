"""The generated pages of the reference are current and complete."""

import json
import re

import pytest

import docs_reference
from support import ROOT
from ultracluster import clusterfile

DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def generated() -> dict[str, str]:
    return docs_reference.pages()


def test_committed_pages_are_current(generated: dict[str, str]) -> None:
    stale = [path for path, text in generated.items() if (DOCS / path).read_text() != text]
    assert stale == [], "run `make docs-reference`"


def test_no_generated_page_is_left_over(generated: dict[str, str]) -> None:
    committed = {
        str(page.relative_to(DOCS)) for folder in ("reference", "runbooks") for page in (DOCS / folder).glob("*.md")
    }
    assert committed - set(generated) == {"reference/index.md"}


def test_the_cluster_file_page_has_every_key(generated: dict[str, str]) -> None:
    schema = clusterfile.schema()
    keys = {key for section in [schema, *schema["$defs"].values()] for key in section["properties"]}
    page = generated["reference/cluster-file.md"]
    assert {key for key in keys if not re.search(rf"^\| \[?`{key}`", page, re.MULTILINE)} == set()
    assert len(re.findall(r"\*\*required\*\* without `extends`", page)) == len(schema["else"]["required"])
    headings = re.findall(r"^## `(.*)`$", page, re.MULTILINE)
    anchors = {heading.replace(".", "").lower() for heading in headings}
    assert set(re.findall(r"\]\(#([^)]+)\)", page)) == anchors


def test_the_python_pages_have_every_public_name() -> None:
    faces = json.loads((ROOT / "tests" / "house" / "public-api.json").read_text())
    pages = docs_reference.package_pages()
    missing = [
        f"{package}.{name}"
        for package, names in faces["public"].items()
        for name in names
        if not re.search(rf"^(## {name}$|\| `{name}` \|)", pages[f"reference/python/{package}.md"], re.MULTILINE)
    ]
    assert missing == []
