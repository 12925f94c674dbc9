"""Names of jobs on Kubernetes, which name the directory of their checkpoints, and the token of Hugging Face."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # no stubs

from support import ROOT
from ultracluster.clusterfile import ClusterFile, load
from ultracluster.rules import Refusal
from ultracluster.workloads import workload_files


@pytest.fixture(scope="module")
def cluster() -> ClusterFile:
    return load(str(ROOT / "examples" / "eks-512-gpus.yaml"))


def objects(cluster: ClusterFile, workload: str, **settings: str) -> list[Any]:
    files = workload_files(cluster, workload, settings=settings)
    return [item for file in files for item in yaml.safe_load_all(file.text)]


def name_of(cluster: ClusterFile, workload: str, **settings: str) -> str:
    return str(objects(cluster, workload, **settings)[0]["metadata"]["name"])


@pytest.mark.parametrize(
    ("workload", "recipe", "name"),
    [
        ("torchtitan", "llama3_70b", "torchtitan-llama3-70b-train"),
        ("maxtext", "llama3.1-8b", "maxtext-llama3-1-8b-train"),
        ("megatron", "llama31_70b_pretrain_config", "megatron-llama31-70b-pretrain-config-train"),
    ],
)
def test_a_job_of_another_recipe_has_another_name_and_so_other_checkpoints(
    cluster: ClusterFile, workload: str, recipe: str, name: str
) -> None:
    assert name_of(cluster, workload) == f"{workload}-train"
    assert name_of(cluster, workload, recipe=recipe) == name


@pytest.mark.parametrize("workload", ["pretrain", "torchtitan", "megatron", "maxtext", "finetune", "rl", "inference"])
def test_a_name_is_that_of_each_object_of_a_job(cluster: ClusterFile, workload: str) -> None:
    created = objects(cluster, workload, name="second")
    names = {item["metadata"]["name"] for item in created}
    assert names <= {"second", "second-api", "job-second", "calls-second", "callers-second"}
    if workload in ("maxtext", "rl"):
        assert "'second-node-0-0.second'" in str(created), "the address of the first pod"


@pytest.mark.parametrize(
    ("name", "says"), [("9lives", "name begins with a letter"), ("x" * 46, "name"), ("Upper", "name")]
)
def test_a_name_that_pods_cannot_have_is_refused(cluster: ClusterFile, name: str, says: str) -> None:
    with pytest.raises(Refusal, match=says):
        objects(cluster, "pretrain", name=name)


def environments(value: Any) -> Iterator[list[Any]]:
    if isinstance(value, dict):
        if "image" in value and "env" in value:
            yield value["env"]
        for inner in value.values():
            yield from environments(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from environments(inner)


@pytest.mark.parametrize("workload", ["rl", "inference", "sglang"])
def test_what_downloads_models_gets_the_token_of_its_team_if_there_is_one(cluster: ClusterFile, workload: str) -> None:
    containers = list(environments(objects(cluster, workload)))
    assert containers
    for environment in containers:
        (token,) = (row["valueFrom"]["secretKeyRef"] for row in environment if row["name"] == "HF_TOKEN")
        assert token == {"key": "token", "name": "hugging-face", "optional": True}
