"""Clusters that differ in three lines: `extends`, `variant`, and clusters that are built in Python."""

from inspect import signature
from pathlib import Path

import pytest
import typed_keys

from support.clusterfile_data import GOOD, RESERVATION
from ultracluster.clusterfile import ClusterFile, ClusterFileError, build, keys, load, loads, variant

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


def test_sections_of_their_own_have_types() -> None:
    train: keys.NodeGroup = {"type": "p5en.48xlarge", "count": 8, "spare": 1}
    storage: keys.Storage = {"lustre": {"throughput": "40 GB/s"}, "data-bucket": False}
    cluster = build(
        name="llama",
        region="us-east-2",
        zone="use2-az1",
        orchestrator="slurm",
        nodes={"train": train},
        storage=storage,
    )
    assert (cluster.node_groups[0].count, cluster.storage.data_bucket) == (9, False)


def test_type_checkers_refuse_what_the_file_refuses() -> None:
    """mypy reports each `type: ignore` that it does not need."""
    with pytest.raises(ClusterFileError) as caught:
        build(
            name="llama",
            region="us-east-2",
            zone="use2-az1",
            orchestrator="slurmd",  # type: ignore[arg-type]
            nodes={
                "train": {"type": "p5en.48xlarge", "cuont": 2, "count": 2},  # type: ignore[typeddict-unknown-key]
                "other": {"type": "p5en.48xlarge"},  # type: ignore[typeddict-item]
            },
            storage={
                "lustre": {"troughput": "40 GB/s"},  # type: ignore[typeddict-unknown-key]
                "data-bucket": "no",  # type: ignore[typeddict-item]
            },
        )
    assert {problem.field for problem in caught.value.problems} == {
        "nodes.other.count",
        "nodes.train.cuont",
        "orchestrator",
        "storage.data-bucket",
        "storage.lustre.troughput",
    }


def test_types_of_keys_follow_the_schema() -> None:
    committed = {path.name: path.read_text() for path in typed_keys.FOLDER.glob("*.py")}
    assert committed == typed_keys.files(), "run `make docs-reference`"


def test_a_variant_replaces_keys_and_is_checked() -> None:
    prod = loads(GOOD, "c.yaml")
    dev = variant(prod, {"name": "llama-dev", "nodes": {"train": {"count": 2}}})
    assert (dev.name, dev.nodes["train"].count, dev.storage) == ("llama-dev", 2, prod.storage)
    assert prod.nodes["train"].count == 64
    with pytest.raises(ClusterFileError, match=r"nodes.train.type: unknown instance type 'p9.large'"):
        variant(prod, {"nodes": {"train": {"type": "p9.large"}}})
