"""Gangs under the task governance of HyperPod, whose Kueue manages JobSets and no TrainJobs."""

from collections.abc import Mapping

import pytest
import yaml  # type: ignore[import-untyped]  # no stubs

from support import ROOT
from ultracluster.clusterfile import load
from ultracluster.workloads import JobFile, job_files, workload_files


@pytest.fixture(scope="module")
def files() -> Mapping[str, JobFile]:
    return {file.path: file for file in job_files(load(str(ROOT / "examples" / "hyperpod-governed.yaml")))}


@pytest.mark.parametrize("name", ["job-set", "torchtitan", "megatron", "maxtext", "finetune", "rl"])
def test_each_gang_is_a_job_set_in_the_queue_of_its_team(files: Mapping[str, JobFile], name: str) -> None:
    (job,) = (item for item in yaml.safe_load_all(files[f"train/{name}.yaml"].text) if item["kind"] == "JobSet")
    assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"].endswith("-localqueue")
    assert not [path for path, file in files.items() if "kind: TrainJob\n" in file.text]


def test_pods_request_no_resource_that_queues_of_the_service_do_not_cover(files: Mapping[str, JobFile]) -> None:
    """Kueue admits none of them otherwise: "resource hugepages-2Mi unavailable in ClusterQueue"."""
    assert not [path for path, file in files.items() if "hugepages-2Mi: " in file.text]
    assert any("hugepages-2Mi: " in file.text for file in job_files(load(str(ROOT / "examples" / "eks-512-gpus.yaml"))))


@pytest.mark.parametrize("name", ["torchtitan", "megatron", "finetune"])
def test_torchrun_gets_the_nodes_from_its_command(files: Mapping[str, JobFile], name: str) -> None:
    (job,) = (item for item in yaml.safe_load_all(files[f"train/{name}.yaml"].text) if item["kind"] == "JobSet")
    pods = job["spec"]["replicatedJobs"][0]["template"]["spec"]
    command = pods["template"]["spec"]["containers"][0]["command"]
    torchrun = command[command.index("torchrun") :]
    assert f"--nnodes={pods['completions']}" in torchrun
    assert {"--node-rank=$(JOB_COMPLETION_INDEX)", "--master-port=29500"} <= set(torchrun)
    assert [word for word in torchrun if word.startswith("--master-addr=")] == [
        f"--master-addr={job['metadata']['name']}-node-0-0.{job['metadata']['name']}"
    ]


@pytest.mark.parametrize("example", ["eks-512-gpus", "hyperpod-governed"])
def test_pods_have_the_time_of_a_checkpoint_of_the_plan_before_they_end(example: str) -> None:
    cluster = load(str(ROOT / "examples" / f"{example}.yaml"))
    settings = {"recipe": "llama3_70b", "parameters": "70B"}
    (file,) = workload_files(cluster, "torchtitan", group="train", settings=settings)
    (job,) = (item for item in yaml.safe_load_all(file.text) if item["kind"] in ("JobSet", "TrainJob"))
    spec = job["spec"]
    if job["kind"] == "TrainJob":
        spec = spec["runtimePatches"][0]["trainingRuntimeSpec"]["template"]["spec"]
    pod = spec["replicatedJobs"][0]["template"]["spec"]["template"]
    assert pod["spec"]["terminationGracePeriodSeconds"] >= 300
