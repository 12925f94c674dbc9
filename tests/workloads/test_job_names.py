"""Names of jobs on Kubernetes, which name the directory of their checkpoints, and the token of Hugging Face."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # no stubs

from support import ROOT
from support.clusterfile_data import read
from ultracluster.clusterfile import ClusterFile, load
from ultracluster.rules import Refusal
from ultracluster.workloads import job_files, workload_files


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


def of_teams(scheduler: str) -> ClusterFile:
    text = (ROOT / "examples" / "eks-512-gpus.yaml").read_text()
    teams = "{pretrain: {nodes: {train: 40}}, chat: {nodes: {train: 4}, borrow: false}, guest: {}}"
    text = text[: text.index("  teams:")] + text[text.index("nodes:\n  train") :]
    return read("  bin-packing: true\n", f"  scheduler: {scheduler}\n  teams: {teams}\n", text)


@pytest.mark.parametrize("scheduler", ["kueue", "kai", "volcano"])
def test_jobs_are_those_of_the_team_that_the_command_names(scheduler: str) -> None:
    cluster = of_teams(scheduler)
    for team in (None, "chat", "guest"):
        files = {file.path: file.text for file in job_files(cluster, team=team)}
        (*_, job) = (item for item in yaml.safe_load_all(files["train/job-set.yaml"]) if item["kind"] == "JobSet")
        metadata = job["metadata"]
        assert metadata["namespace"] == (team or "pretrain")
        queue = {**metadata.get("labels", {}), **metadata.get("annotations", {})}
        if scheduler == "kueue":
            assert queue["kueue.x-k8s.io/queue-name"] == "default"
        else:
            assert [value for key, value in queue.items() if "queue" in key] == [team or "pretrain"]
        # A team that borrows none has its nodes alone: a larger gang would wait for ever.
        nodes = {"chat": 4}.get(team or "", 64)
        assert job["spec"]["replicatedJobs"][0]["template"]["spec"]["parallelism"] == nodes
    with pytest.raises(Refusal, match="team must be one of pretrain, chat, guest, got 'vision'"):
        job_files(cluster, team="vision")
    with pytest.raises(Refusal, match="40 GPUs, and train has 4 nodes"):
        workload_files(cluster, "pretrain", settings={"nodes": "5"}, team="chat")


def test_a_team_without_nodes_has_no_jobs_and_slurm_has_no_teams() -> None:
    text = (ROOT / "examples" / "hyperpod-governed.yaml").read_text()
    cluster = read("vision: {nodes: {train: 8}}", "vision: {nodes: {}, borrow: false}", text)
    with pytest.raises(Refusal, match="team vision has no nodes with GPUs, and borrow: false"):
        job_files(cluster, team="vision")
    (job, *_) = (file.text for file in job_files(cluster, team="language") if file.path == "train/job-set.yaml")
    assert "namespace: hyperpod-ns-language\n" in job
    slurm = load(str(ROOT / "examples" / "slurm-512-gpus.yaml"))
    for render in (job_files, partial(workload_files, workload="pretrain")):
        with pytest.raises(Refusal, match="sbatch --account=NAME"):
            render(slurm, team="chat")


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
