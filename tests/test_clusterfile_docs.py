"""The page about the cluster file keeps step with the code."""

import re
from pathlib import Path

import pytest
from clusterfile_data import problems

from conftest import ROOT
from ultracluster.clusterfile import schema
from ultracluster.clusterfile.advice import file as advice
from ultracluster.clusterfile.quantities import Duration, Size, Throughput
from ultracluster.clusterfile.readers.notices import WARNINGS
from ultracluster.hardware import pcs

PAGE = (ROOT / "docs" / "cluster-file.md").read_text()
TABLES = "\n".join(line for line in PAGE.splitlines() if line.startswith("|"))


def test_every_key_is_in_a_table() -> None:
    made = schema()
    keys = {key for section in [made, *made["$defs"].values()] for key in section["properties"]}
    assert {key for key in keys if not re.search(rf"`([a-z-]+\.)*{key}[`.]", TABLES)} == set()


def test_every_warning_is_in_a_table_and_no_other() -> None:
    source = "".join(path.read_text() for path in Path(advice.__file__).parent.glob("*.py"))
    made = set(re.findall(r'yield \(?\s*"([a-z-]+)"', source))
    assert len(made) >= 6
    assert set(re.findall(r"`ultracluster:([a-z-]+)`", TABLES)) == made
    assert {f"ultracluster:{id}" for id in made} == set(WARNINGS)


def test_every_unit_and_version_is_there() -> None:
    for kind in (Throughput, Size, Duration):
        assert ", ".join(kind.units) in TABLES
    assert ", ".join(pcs.SLURM_VERSIONS) in TABLES


def test_the_errors_shown_are_the_errors_made() -> None:
    shown = re.findall(r"^my\.yaml(:.*)$", PAGE, re.MULTILINE)
    text = "name: llama\nregion: us-east-2\nzone: use1-az4\norchestrator: slurm\nnodes:\n"
    text += "  train: {type: p5en.48xlrage, count: 64}\nstorage: {lustre: {throughput: 40}}\n"
    assert [line.removeprefix("c.yaml") for line in problems(text)] == shown


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "examples").glob("*.yaml")))
def test_every_example_is_linked_or_shown(name: str) -> None:
    assert f"../examples/{name}" in PAGE or (ROOT / "examples" / name).read_text().partition("\n")[2] in PAGE
