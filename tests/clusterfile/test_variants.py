"""Clusters that differ in three lines: `extends`, `variant`, and clusters that are built in Python."""

from inspect import signature
from pathlib import Path

import pytest

from support.clusterfile_data import GOOD, RESERVATION
from ultracluster.clusterfile import ClusterFile, ClusterFileError, NodeGroupSection, build, load, loads, variant

THREE_LINES = "extends: base.yaml\nname: llama-dev\nnodes: {train: {count: 2}}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "base.yaml").write_text(GOOD)
    return tmp_path


def written(folder: Path, text: str) -> Path:
    file = folder / "dev.yaml"
    file.write_text(text)
    return file


def message(file: Path) -> str:
    with pytest.raises(ClusterFileError) as caught:
        load(file)
    return str(caught.value).replace(f"{file.parent}/", "")


def test_a_file_replaces_keys_of_its_base(folder: Path) -> None:
    cluster = load(written(folder, THREE_LINES))
    assert (cluster.name, cluster.nodes["train"].count) == ("llama-dev", 2)
    assert cluster.storage == loads(GOOD, "c.yaml").storage


def test_an_error_names_the_file_that_has_it(folder: Path) -> None:
    file = written(folder, THREE_LINES.replace("count: 2", "count: x"))
    assert message(file) == "dev.yaml:3:24 nodes.train.count: must be a whole number, got 'x' [invalid-value]"
    (folder / "base.yaml").write_text(GOOD.replace("40 GB/s", "40"))
    assert message(written(folder, THREE_LINES)).startswith("base.yaml:7:32 storage.lustre.throughput: ")


def test_rejects_a_missing_base_and_a_base_that_extends_another(folder: Path) -> None:
    assert "there is no file base2.yaml; name the base" in message(
        written(folder, THREE_LINES.replace("base.yaml", "base2.yaml"))
    )
    (folder / "base.yaml").write_text(GOOD + "extends: other.yaml\n")
    assert "a base cannot extend another file" in message(written(folder, THREE_LINES))


def test_rejects_a_text_that_extends_a_file() -> None:
    with pytest.raises(ClusterFileError, match="only a file on disk can extend another one"):
        loads(THREE_LINES, "c.yaml")


def test_a_cluster_that_is_built_is_the_one_of_the_file() -> None:
    built = build(
        name="llama",
        region="us-east-2",
        zone="use2-az1",
        orchestrator="slurm",
        nodes={"train": {"type": "p5en.48xlarge", "count": 64, "capacity": RESERVATION}},
        storage={"lustre": {"throughput": "40 GB/s"}},
    )
    assert built == loads(GOOD, "c.yaml")


def test_every_key_of_the_file_is_an_argument() -> None:
    assert set(signature(build).parameters) == set(ClusterFile.model_fields) - {"extends"}


def test_a_section_is_built_with_typed_arguments() -> None:
    cluster = build(
        name="llama",
        region="us-east-2",
        zone="use2-az1",
        orchestrator="slurm",
        nodes={"train": NodeGroupSection(type="p5en.48xlarge", count=8, spare=1)},
    )
    assert cluster.node_groups[0].count == 9


def test_a_variant_replaces_keys_and_is_checked() -> None:
    prod = loads(GOOD, "c.yaml")
    dev = variant(prod, {"name": "llama-dev", "nodes": {"train": {"count": 2}}})
    assert (dev.name, dev.nodes["train"].count, dev.storage) == ("llama-dev", 2, prod.storage)
    assert prod.nodes["train"].count == 64
    with pytest.raises(ClusterFileError, match=r"nodes.train.type: unknown instance type 'p9.large'"):
        variant(prod, {"nodes": {"train": {"type": "p9.large"}}})
