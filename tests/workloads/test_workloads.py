"""One workload on one group: its files, its settings, and refusals with their arithmetic."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # no stubs

from support import ROOT
from ultracluster import workloads
from ultracluster.clusterfile import ClusterFile, load, loads
from ultracluster.rules import Refusal

NO_EFA = """
name: plain
region: us-east-2
zone: use2-az1
orchestrator: {orchestrator}
nodes:
  gpu: {{type: g5.2xlarge, count: 4}}
"""
SCALED = ("eks-512-gpus", "slurm-512-gpus")


def example(name: str) -> ClusterFile:
    return load(str(ROOT / "examples" / f"{name}.yaml"))


def files(cluster: str | ClusterFile, name: str, *, group: str | None = None, **settings: str) -> dict[str, str]:
    cluster = example(cluster) if isinstance(cluster, str) else cluster
    created = workloads.workload_files(cluster, name, group=group, settings=settings)
    return {file.path: file.text for file in created}


def manifest(text: str) -> Any:
    return next(iter(yaml.safe_load_all(text)))["spec"]


@pytest.mark.parametrize("name", [*SCALED, "slurm-home", "eks-minimal"])
def test_the_job_files_of_a_cluster_are_those_of_its_workloads(name: str) -> None:
    cluster = example(name)
    family = "kubernetes" if name.startswith("eks") else "slurm"
    single = {
        path: text
        for row in workloads.WORKLOADS.values()
        if row.name not in ("elastic", "checkpointless") and any(form.family == family for form in row.forms)
        for path, text in files(cluster, row.name).items()
    }
    assert single == {job.path: job.text for job in workloads.job_files(cluster)}
    listed = {form.file for row in workloads.WORKLOADS.values() for form in row.forms if form.family == family}
    # The operator that runs them is an add-on of HyperPod.
    listed -= {"hyperpod-pytorch-job.yaml", "elastic.yaml", "checkpointless.yaml"}
    assert {Path(path).name for path in single} == listed


def test_a_test_of_more_nodes_than_the_group_has_is_refused_and_not_left_out() -> None:
    with pytest.raises(Refusal, match=r"2 nodes x 8 GPUs = 16 GPUs, and train has 1 node x 8 = 8 without spare ones"):
        files(loads((ROOT / "examples/eks-minimal.yaml").read_text().replace("count: 2", "count: 1"), "x"), "nccl")


def test_nodes_and_gpus_change_the_size_on_slurm() -> None:
    for settings in ({"nodes": "4"}, {"gpus": "32"}):
        (text,) = files("slurm-512-gpus", "pretrain", **settings).values()
        assert "#SBATCH --nodes=4\n" in text
        assert text.startswith("#!/usr/bin/env bash\n# Pre-training on 32 ")


def test_nodes_and_gpus_change_the_size_on_kubernetes() -> None:
    train, gang = files("eks-512-gpus", "pretrain", gpus="32").values()
    assert manifest(train)["trainer"]["numNodes"] == 4
    assert manifest(gang)["replicatedJobs"][0]["template"]["spec"]["parallelism"] == 4
    (check,) = files("eks-512-gpus", "health", nodes="3").values()
    assert manifest(check)["completions"] == 3
    nccl, exchange = files("eks-512-gpus", "nccl", nodes="16").values()
    for test in (nccl, exchange):
        assert manifest(test)["mpiReplicaSpecs"]["Worker"]["replicas"] == 16
        launcher = manifest(test)["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"][0]
        assert {"name": "FLOOR", "value": ""} in launcher["env"], "no figure is published for 16 nodes"
    assert {"name": "OPERATION", "value": "alltoall"} in launcher["env"]
    assert "with no floor, for none is published" in nccl


def test_inference_on_kubernetes_takes_size_replicas_model_and_tensor_parallelism() -> None:
    (text,) = files(
        "eks-512-gpus", "inference", nodes="2", replicas="3", model="/fsx/m", tensor_parallel="4", image="r.io/v:1"
    ).values()
    spec = manifest(text)
    leader = spec["leaderWorkerTemplate"]["leaderTemplate"]["spec"]["containers"][0]
    assert (spec["replicas"], spec["leaderWorkerTemplate"]["size"], leader["image"]) == (3, 2, "r.io/v:1")
    assert {"/fsx/m", "--tensor-parallel-size=4", "--pipeline-parallel-size=4"} <= set(leader["command"])


def test_a_program_and_data_take_the_place_of_those_of_the_job_files() -> None:
    given = {"program": "/fsx/train.py", "data": "/fsx/tokens"}
    (text,) = files("slurm-512-gpus", "pretrain", data="/fsx/tokens").values()
    assert "[ $# -gt 0 ] || set -- ultracluster_train.py --data /fsx/tokens\n" in text
    train, gang = files("eks-512-gpus", "pretrain", **given).values()
    assert manifest(train)["trainer"]["command"][-3:] == ["/fsx/train.py", "--data", "/fsx/tokens"]
    job = manifest(gang)["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"][0]
    assert job["command"][-3:] == manifest(train)["trainer"]["command"][-3:]
    (tune,) = files("eks-512-gpus", "finetune", program="/fsx/train.py").values()
    assert (manifest(tune)["trainer"]["numNodes"], manifest(tune)["trainer"]["command"][-1]) == (1, "/fsx/train.py")


@pytest.mark.parametrize("name", ["inference", "sglang"])
def test_a_server_has_the_same_options_on_slurm_and_kubernetes(name: str) -> None:
    (script,) = files("slurm-512-gpus", name).values()
    (text,) = files("eks-512-gpus", name, nodes="2").values()
    template = manifest(text)["leaderWorkerTemplate"]
    words = [*template["leaderTemplate"]["spec"]["containers"][0]["command"]]
    words += template["workerTemplate"]["spec"]["containers"][0]["command"]
    # The port of vLLM is an argument on Slurm.
    known = {word.partition("=")[0] for word in words if word.startswith("--")} - {"--port"}
    assert known
    assert all(re.search(rf"{option}\b", script) for option in known)
    assert template["size"] == 2


def test_an_image_takes_the_place_of_the_pinned_one() -> None:
    (text,) = files("slurm-private", "pretrain", image="123.dkr.ecr.us-east-2.amazonaws.com#t:1").values()
    assert 'IMAGE="${IMAGE-123.dkr.ecr.us-east-2.amazonaws.com#t:1}"\n' in text
    assert "must be set" not in text
    for name in ("pretrain", "maxtext", "rl"):
        for gang in files("eks-gb200", name, image="r.io/t:1").values():
            assert "r.io/t:1" in gang


@pytest.mark.parametrize(
    ("model", "arguments", "result"),
    [("/fsx/m", [], "/fsx/m"), ("/fsx/m", ["own"], "own"), ("meta/m-8B", [], "meta/m-8B")],
)
def test_the_model_of_a_file_is_the_one_without_an_argument(model: str, arguments: list[str], result: str) -> None:
    (text,) = files("slurm-512-gpus", "inference", model=model).values()
    assert subprocess.run(["shellcheck", "-s", "bash", "-"], input=text, text=True).returncode == 0
    (line,) = (line for line in text.splitlines() if line.startswith("[ $# -gt 0 ] || set --"))
    done = subprocess.run(["bash", "-c", f"{line}\necho $1", "x", *arguments], capture_output=True, text=True)
    assert done.stdout == f"{result}\n"


@pytest.mark.parametrize(
    ("cluster", "name", "settings", "message"),
    [
        *(
            (cluster, "pretrain", {"gpus": "1000"},
             r"125 nodes x 8 GPUs = 1,000 GPUs, and train has 64 nodes x 8 = 512 without spare ones \[job-nodes\]")
            for cluster in SCALED
        ),
        ("slurm-512-gpus", "pretrain", {"gpus": "12"}, r"gpus=12 is 1.5 nodes of 8 GPUs.* use 8 or 16 \[job-nodes\]"),
        ("slurm-512-gpus", "pretrain", {"gpus": "3"}, r"gpus=3 is 0.375 nodes of 8 GPUs, .*: use 8 \[job-nodes\]"),
        ("slurm-512-gpus", "pretrain", {"nodes": "65"}, r"65 nodes x 8 GPUs = 520 GPUs, .* 64 nodes x 8 = 512"),
        ("eks-512-gpus", "inference", {"nodes": "9", "replicas": "8"}, r"8 replicas x 9 nodes x 8 GPUs = 576 GPUs"),
        *(
            (cluster, "inference", {"tensor_parallel": "3"},
             r"=3 does not divide the 8 GPUs of an NVLink domain \(1 x 8 of p5en.48xlarge\): use one of 1, 2, 4, 8 \[")
            for cluster in SCALED
        ),
        ("slurm-512-gpus", "inference", {"tensor_parallel": "16"}, r"=16 does not divide the 8 GPUs of an NVLink"),
        ("slurm-512-gpus", "pretrain", {"nodes": "2", "gpus": "16"}, r"set nodes or gpus, not both, got 2 and 16"),
        ("slurm-512-gpus", "pretrain", {"nodes": "0"}, r"nodes, the number of nodes, must be a whole .* got '0'"),
        ("slurm-512-gpus", "pretrain", {"nodes": "\u0664"}, r"must be a whole number"),
        ("slurm-512-gpus", "pretrain", {"gpus": "many"}, r"gpus, .*, must be a whole number of at least 1, got 'many'"),
        ("slurm-512-gpus", "pretrain", {"image": ""}, r"image, .*, has letters, digits and ./:@#\+=_-, .*, got ''"),
        ("slurm-512-gpus", "inference", {"model": "a b"}, r"model, .*, has letters, digits .*, got 'a b'"),
        ("slurm-512-gpus", "inference", {"model": "a$(id)"}, r"model, .*, has letters, digits .*, got 'a"),
        ("slurm-512-gpus", "pretrain", {"node": "2"},
         r"a setting of pretrain for slurm must be one of nodes, gpus, image, program, .*, got 'node' \[workload\]"),
        ("slurm-512-gpus", "inference", {"replicas": "2"}, r"one of nodes, gpus, image, tensor_parallel, model,"),
        ("slurm-512-gpus", "import", {"nodes": "2"}, r"a setting of import for slurm does not exist, got 'nodes'"),
        ("slurm-512-gpus", "train", {}, r"must be one of pretrain, torchtitan, megatron, .*, got 'train' \[workload\]"),
        ("slurm-512-gpus", "elastic", {}, r"elastic has no form for Slurm; pretrain, "),
        ("eks-512-gpus", "import", {}, r"import has no form for Kubernetes; pretrain, torchtitan, megatron, maxtext, "),
        *(
            (cluster, "pretrain", {"data": "/nowhere/tokens"},
             r"data=/nowhere/tokens is on none of the file systems that nodes of train mount: /fsx.* \[job-path\]")
            for cluster in SCALED
        ),
        ("eks-512-gpus", "pretrain", {"data": "tokens"}, r"data=tokens must begin with / \[job-path\]"),
        ("eks-512-gpus", "inference", {"model": "/fsxmodel"}, r"model=/fsxmodel is on none of the file systems"),
        *(
            (cluster, "megatron", {"tensor_parallel": "8", "pipeline_parallel": "3", "nodes": "8"},
             r"tensor_parallel=8 x pipeline_parallel=3 = 24 GPUs, and 8 nodes x 8 GPUs = 64 is not a multiple of it: "
             r"use a multiple of 3 nodes \[job-parallel\]")
            for cluster in SCALED
        ),
        ("eks-512-gpus", "maxtext", {"expert_parallel": "48", "pipeline_parallel": "2", "nodes": "4"},
         r"expert_parallel=48 does not divide the 16 GPUs of a stage \(4 nodes x 8 GPUs / 2\) \[job-parallel\]"),
        ("slurm-512-gpus", "megatron", {"tensor_parallel": "16"}, r"=16 does not divide the 8 GPUs of an NVLink"),
        ("slurm-512-gpus", "megatron", {"data": "/nowhere/d"}, r"data=/nowhere/d is on none of the file systems"),
        *(
            (cluster, "dynamo", {"prefill": "4", "nodes": "4"},
             r"prefill=4 of 4 nodes leaves none that computes tokens: use at least 5 nodes \[job-parallel\]")
            for cluster in SCALED
        ),
        ("eks-512-gpus", "dynamo", {"nodes": "1"}, r"prefill=1 of 1 node leaves none that computes .*: use at least 2"),
        ("slurm-512-gpus", "rl", {"rollout": "2"}, r"rollout=2 of 2 nodes leaves none that trains: use at least 3 n"),
        ("slurm-minimal", "dynamo", {}, r"dynamo needs a file system that all nodes share: storage.lustre or"),
        ("eks-gb200", "maxtext", {}, r"has x86_64, and nodes of train have arm64: name one with image= \[job-image"),
        ("slurm-minimal", "import", {}, r"import needs a file system that all nodes share: storage.lustre or"),
        ("slurm-mixed", "pretrain", {}, r"name a queue of train, tune, serve, pool: --group \[workload\]"),
    ],
)  # fmt: skip
def test_rejects_what_the_group_cannot_run(cluster: str, name: str, settings: dict[str, str], message: str) -> None:
    with pytest.raises(Refusal, match=message):
        files(cluster, name, **settings)


def test_rejects_a_group_that_does_not_exist_or_does_not_fit_and_a_cluster_without_gpus() -> None:
    with pytest.raises(Refusal, match=r"a queue with GPUs must be one of train, got 'tune'"):
        files("slurm-512-gpus", "pretrain", group="tune")
    with pytest.raises(
        Refusal,
        match=r"tensor_parallel=4 of the default recipe of megatron does not divide the 1 GPUs of .* use one of 1",
    ):
        files("slurm-mixed", "megatron", group="serve")
    assert files("slurm-mixed", "megatron", group="serve", tensor_parallel="1")
    assert files("slurm-mixed", "megatron", group="serve", recipe="another"), "its degrees are not known"
    written = {file.path for file in workloads.slurm_jobs(example("slurm-mixed"))}
    assert "train/megatron.sbatch" in written
    assert "serve/megatron.sbatch" not in written
    with pytest.raises(Refusal, match=r"a group with GPUs must be one of .*, got 'tune'"):
        files("eks-512-gpus", "pretrain", group="tune")
    text = (ROOT / "examples" / "slurm-minimal.yaml").read_text().replace("p5.48xlarge", "m7i.8xlarge")
    with pytest.raises(Refusal, match=r"the cluster file has no nodes with GPUs"):
        files(loads(text, "x"), "pretrain")


def test_a_segment_of_ultraservers_is_one_nvlink_domain() -> None:
    def of(name: str, **settings: str) -> str:
        (text,) = files("slurm-ultraserver", name, group="train", **settings).values()
        return text

    assert "tensor_parallel=64\n" in of("inference", nodes="16", tensor_parallel="64")
    assert "#SBATCH --segment=16\n" in of("pretrain", gpus="128")
    with pytest.raises(
        Refusal, match=r"1 node x 4 GPUs = 4 is not a multiple of tensor_parallel=64: use at least 16 n"
    ):
        of("inference", tensor_parallel="64")
    with pytest.raises(Refusal, match=r"=128 does not divide the 64 GPUs of an NVLink domain \(16 x 4 of p6e-gb200"):
        of("inference", nodes="32", tensor_parallel="128")
    with pytest.raises(Refusal, match=r"20 nodes are 1.25 segments of 16 nodes, each in one NVLink .*: use 16 or 32"):
        of("pretrain", nodes="20")


@pytest.mark.parametrize("orchestrator", ["slurm", "kubernetes"])
def test_rejects_several_nodes_without_efa_and_allows_one(orchestrator: str) -> None:
    cluster = loads(NO_EFA.format(orchestrator=orchestrator), "x")
    message = r"on 4 nodes needs EFA on each, and g5.2xlarge in gpu has 0 devices: set nodes=1, or .* \[job-efa\]"
    with pytest.raises(Refusal, match=rf"pretrain {message}"):
        files(cluster, "pretrain")
    assert files(cluster, "pretrain", nodes="1")
    assert files(cluster, "health"), "its nodes exchange nothing"


def test_all_problems_of_the_size_are_in_one_message() -> None:
    with pytest.raises(Refusal) as caught:
        files("slurm-512-gpus", "inference", nodes="65", tensor_parallel="5")
    assert [message.rule.id for message in caught.value.messages] == ["job-nodes", "job-tensor-parallel"]


@pytest.mark.parametrize("row", workloads.WORKLOADS.values(), ids=lambda row: row.name)
def test_every_workload_is_described(row: workloads.Workload) -> None:
    assert row.name == next(name for name, other in workloads.WORKLOADS.items() if other is row)
    assert row.summary
    assert row.needs
    assert row.forms
    for form in row.forms:
        assert set(row.settings(form)) <= set(workloads.SETTINGS)


def test_pods_without_internet_access_have_images_that_were_built_before() -> None:
    for name in ("torchtitan", "finetune", "verl"):
        (text,) = files("eks-private", "rl" if name == "verl" else name).values()
        assert f"# Its image is built once: ultracluster image build-container FILE {name} --push.\n" in text
        image = f"123456789012.dkr.ecr.us-east-2.amazonaws.com/ultracluster/{name}:{workloads.container_tag(name)}"
        assert image in text
        assert "pip install" not in text
        (text,) = files("eks-512-gpus", "rl" if name == "verl" else name).values()
        assert "pip install" in text
        assert "build-container" not in text
    for cluster in ("eks-private", "slurm-private"):
        with pytest.raises(
            Refusal, match=r"model=Qwen/Qwen3-8B is the name of a download, .*: name a directory \[job-p"
        ):
            files(cluster, "inference", model="Qwen/Qwen3-8B")
        assert files(cluster, "inference", model="/fsx/m")
        note = "HF_HOME=DIRECTORY hf download MODEL --exclude '*.safetensors', and copy DIRECTORY.\n"
        assert note in "".join(files(cluster, "megatron").values())
        assert "HF_HUB_OFFLINE" in "".join(files(cluster, "rl").values())
    assert "hf download MODEL --exclude '*.safetensors', and" not in "".join(
        files("slurm-512-gpus", "megatron").values()
    )


def test_checkpoints_are_on_a_file_system_that_pods_write_or_the_file_warns() -> None:
    note = "# Without storage.lustre or storage.home, checkpoints end with their pod, and a restart begins again.\n"
    for cluster, directory in (("eks-gb200", "/workspace"), ("eks-512-gpus", "/fsx")):
        job = files(cluster, "pretrain")["train/job-set.yaml"]
        assert f"value: {directory}/runs/$(POD_NAMESPACE)/$(JOB_NAME)\n" in job
        assert (note in job) == (directory == "/workspace")
    (server,) = files("eks-gb200", "inference").values()
    assert note not in server
