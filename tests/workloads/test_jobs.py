"""The numbers of a job file are those of the cluster file."""

import os
import re
import shlex
import subprocess
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import EXAMPLES, ROOT
from ultracluster.catalogue.ec2 import INSTANCE_TYPES, NCCL_FIGURES
from ultracluster.catalogue.ec2._nccl_floors import NcclFigure
from ultracluster.clusterfile import ClusterFile, load, loads
from ultracluster.planning.capacity import segment
from ultracluster.workloads import IMAGES, ContainerImage, JobFile, slurm_jobs
from ultracluster.workloads._queue_shape import queue_shapes

KINDS = (
    *("pretrain", "torchtitan", "megatron", "maxtext", "finetune", "rl"),
    *("inference", "sglang", "dynamo", "nccl", "health", "import"),
)
# https://github.com/aws/aws-ofi-nccl/blob/master/doc/efa-env-var.md (read 2026-11-21)
OLD_STACK = (
    "FI_PROVIDER",
    "FI_EFA_USE_DEVICE_RDMA",
    "RDMAV_FORK_SAFE",
    "NCCL_PROTO",
    "NCCL_BUFFSIZE",
    "NCCL_SOCKET_IFNAME",
)
cluster_of = cache(load)
RENDERED = [(example, job) for example in EXAMPLES for job in slurm_jobs(cluster_of(str(example)))]


def options(job: JobFile) -> dict[str, str]:
    """The sbatch options of a job file."""
    words = [shlex.split(line.removeprefix("#SBATCH ")) for line in job.text.splitlines() if line.startswith("#SBATCH")]
    return {name: value for [word] in words for name, _, value in [word.partition("=")]}


def job_of(cluster: ClusterFile, path: str) -> JobFile:
    return next(job for job in slurm_jobs(cluster) if job.path == f"{path}.sbatch")


def example(name: str) -> ClusterFile:
    return cluster_of(str(ROOT / "examples" / f"{name}.yaml"))


@pytest.mark.parametrize(("example", "job"), RENDERED, ids=lambda value: getattr(value, "stem", None) or value.path)
def test_every_job_file_is_valid_bash_with_slurm_options(example: Path, job: JobFile) -> None:
    cluster = cluster_of(str(example))
    queue = next(item for item in queue_shapes(cluster) if job.path.startswith(f"{item.name}/"))
    output = options(job)
    assert output["--partition"] == queue.name
    assert int(output["--gpus-per-node"]) == queue.instance_type.gpus
    assert 1 <= int(output["--nodes"]) <= queue.nodes
    assert "--exclusive" in output
    assert output["--propagate"] == "NONE", "the limits of the shell that submits the job are too low for EFA"
    assert "--cpus-per-task" not in output, "the job would depend on whether Slurm counts cores or threads"
    assert f"; {queue.efa_devices} EFA devices each." in job.text
    first_command = job.text.index("\nset -euo pipefail")
    assert "#SBATCH" not in job.text[first_command:], "Slurm reads no option after the first command"
    # Images of NGC have no EFA plugin that is built for AWS.
    tuned = re.sub(r"(?ms)^tune_for_aws\(\) \{$.*?^\}$", "", job.text)
    tuned = tuned.replace("export FI_PROVIDER=${FI_PROVIDER:-efa} NCCL_NET_PLUGIN=ofi", "")
    if job.path.endswith("/dynamo.sbatch"):
        # NIXL, not NCCL: what NVIDIA's test over EFA sets.
        tuned = tuned.replace("export FI_PROVIDER=efa FI_EFA_USE_DEVICE_RDMA=1 FI_EFA_ENABLE_SHM_TRANSFER=0", "")
    for name in OLD_STACK:
        assert name not in tuned, "the modern stack needs none of these"
    assert is_bash(job.text)


BASH: dict[str, bool] = {}


def is_bash(text: str) -> bool:
    """Return whether bash parses a job file; files that differ in comments and numbers alone are parsed once."""
    code = re.sub(r"\d+", "0", re.sub(r"(?m)^#.*\n", "", text))
    if code not in BASH:
        BASH[code] = subprocess.run(["bash", "-n"], input=text, text=True).returncode == 0
    return BASH[code]


def kinds_of_lines(text: str) -> set[str]:
    """Lines of a job file without what shellcheck does not read: comments, numbers, paths and names of images."""
    text = re.sub(r"^#(?! shellcheck).*\n|^export \w+=[\w./-]+\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"docker://[^}]+|(?<=[\"' =-])/[\w./-]+(?: /[\w./-]+)*", "PATH", text)
    return set(re.sub(r"[\w.-]*\d[\w.-]*", "NUMBER", text).splitlines())


def test_shellcheck_passes_every_kind_of_line_of_the_job_files(tmp_path: Path) -> None:
    unchecked = {job: kinds_of_lines(job.text) for _, job in RENDERED}
    files: dict[Path, str] = {}
    while any(unchecked.values()):
        # First those with most kinds that no other one before them has.
        job = max(unchecked, key=lambda job: len(unchecked[job]))
        lines = unchecked[job]
        unchecked = {other: more - lines for other, more in unchecked.items()}
        files[tmp_path / f"{len(files)}-{Path(job.path).name}"] = job.text
    assert {file.stem.partition("-")[2] for file in files} == {*KINDS}
    for file, text in files.items():
        file.write_text(text)
    done = subprocess.run(["shellcheck", *map(str, files)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_each_queue_with_gpus_gets_every_kind_and_others_get_none() -> None:
    paths = [job.path for job in slurm_jobs(example("slurm-mixed"))]
    every = [f"{queue}/{kind}.sbatch" for queue in ("train", "tune", "serve", "pool") for kind in KINDS]
    # Nodes of this queue have one GPU each, and Megatron's default recipe has tensor parallelism of 4.
    assert paths == [path for path in every if path != "serve/megatron.sbatch"]


def test_the_main_job_is_512_gpus_on_64_nodes_and_goes_on_after_a_failure() -> None:
    output = options(job_of(example("slurm-512-gpus"), "train/pretrain"))
    assert int(output["--nodes"]) * int(output["--gpus-per-node"]) == 512
    assert output == {
        "--job-name": "pretrain",
        "--partition": "train",
        "--nodes": "64",
        "--gpus-per-node": "8",
        "--ntasks-per-node": "1",
        "--exclusive": "",
        "--mem": "0",
        "--propagate": "NONE",
        "--wait-all-nodes": "1",
        "--requeue": "",
        "--open-mode": "append",
        "--signal": "B:USR1@300",
        "--output": "%x-%j.out",
    }


def test_queues_of_the_file_get_jobs_under_their_names_with_all_their_nodes() -> None:
    shapes = {item.name: item.nodes for item in queue_shapes(example("slurm-fine-tuning"))}
    assert shapes == {"urgent": 16, "tune": 4, "cheap": 12}
    assert options(job_of(example("slurm-fine-tuning"), "urgent/pretrain"))["--partition"] == "urgent"


def test_a_job_in_a_queue_of_several_kinds_keeps_to_the_largest_for_efa_crosses_no_zones() -> None:
    text = """
name: mixed
region: us-east-2
zone: use2-az1
orchestrator: slurm
nodes:
  old: {type: p5.48xlarge, count: 7}
  big: {type: p5en.48xlarge, count: 6}
  spot: {type: p5en.48xlarge, count: 2, capacity: spot}
  far: {type: p5en.48xlarge, count: 7, zone: use2-az3}
  cpus: {type: m7i.8xlarge, count: 90}
slurm: {queues: {all: {nodes: [old, big, spot, far, cpus]}}}
"""
    jobs = slurm_jobs(loads(text, "x.yaml"))
    # There is no shared file system: to import to, for images with a layer, and for the programs of the job files.
    without = ("import", "dynamo", "torchtitan", "finetune", "rl")
    assert [job.path for job in jobs] == [f"all/{kind}.sbatch" for kind in KINDS if kind not in without]
    output = options(jobs[0])
    assert (output["--nodes"], output["--exclude"]) == ("8", "old-[1-7],far-[1-7],cpus-[1-90]")


def test_spare_nodes_stand_by() -> None:
    (train, *_) = queue_shapes(example("slurm-mixed"))
    assert train.nodes == 30


def test_a_queue_over_several_capacity_blocks_gives_one_job_all_of_them() -> None:
    assert options(job_of(example("slurm-capacity-block"), "train/pretrain"))["--nodes"] == "32"


def test_a_job_on_ultraservers_is_cut_into_segments_of_64_gpus_and_leaves_two_nodes_of_each_free() -> None:
    cluster = example("slurm-ultraserver")
    output = options(job_of(cluster, "train/pretrain"))
    assert (output["--nodes"], output["--segment"], output["--gpus-per-node"]) == ("32", "16", "4")
    assert sum(group.count for group in cluster.node_groups if group.section == "train") == 32 + 4
    assert options(job_of(cluster, "tune/pretrain"))["--segment"] == "8"
    assert "--segment" not in options(job_of(cluster, "train/inference")), "one node is in one domain anyway"
    assert "--segment" not in options(job_of(example("slurm-512-gpus"), "train/pretrain"))


@given(st.integers(1, 10_000))
def test_a_segment_is_a_power_of_two_that_fits_and_is_more_than_half_of_the_domain(domain: int) -> None:
    together = segment(domain)
    assert together.bit_count() == 1
    assert domain / 2 < together <= domain


@pytest.mark.parametrize("figure", [item for item in NCCL_FIGURES if item.instance_type in INSTANCE_TYPES], ids=str)
def test_the_nccl_test_runs_on_as_many_nodes_as_a_floor_is_published_for(figure: NcclFigure) -> None:
    text = f"""
name: floors
region: us-west-2
zone: usw2-az2
orchestrator: slurm
nodes: {{train: {{type: {figure.instance_type}, count: 4}}}}
"""
    assert options(job_of(loads(text, "x.yaml"), "train/nccl"))["--nodes"] == str(figure.nodes)


def test_paths_lie_below_the_mounts_of_the_cluster_file() -> None:
    assert (
        'RUN="${RUN:-/shared/$USER/pretrain/$SLURM_JOB_ID}"' in job_of(example("slurm-own-vpc"), "train/pretrain").text
    )
    assert 'mounts="/shared /home /scratch"' in job_of(example("slurm-own-vpc"), "train/pretrain").text
    assert 'RUN="${RUN:-/home/$USER/pretrain/$SLURM_JOB_ID}"' in job_of(example("slurm-home"), "gpu/pretrain").text


@pytest.mark.parametrize(
    ("nodes", "environment", "code"),
    [("2", {}, 1), ("2", {"RUN": "/mnt/run"}, 0), ("1", {}, 0), ("2", {"PAYLOAD": "true"}, 0)],
)
def test_a_job_on_several_nodes_keeps_its_checkpoints_on_the_disks_of_none(
    nodes: str, environment: dict[str, str], code: int
) -> None:
    alone = job_of(example("slurm-minimal"), "gpu/pretrain").text
    lines = alone.splitlines()
    last = lines.index('RUN="${RUN:-/scratch/$USER/pretrain/$SLURM_JOB_ID}"')
    script = "\n".join(["set -euo pipefail", *lines[last - 2 : last + 1]])
    of_job = {"USER": "ana", "SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": nodes, **environment}
    done = subprocess.run(["bash", "-c", script], env=of_job, capture_output=True, text=True)
    assert done.returncode == code
    assert ("RUN: must be set: the cluster file has no storage.lustre" in done.stderr) == bool(code)


@pytest.mark.parametrize("image", IMAGES.values(), ids=list(IMAGES))
def test_images_are_pinned_with_their_source(image: ContainerImage) -> None:
    assert re.fullmatch(r"docker://([a-z0-9.]+#)?[a-z0-9/-]+:[a-z0-9.-]*\d[a-z0-9.-]*", image.enroot)
    assert image.address.partition("/")[0] in ("public.ecr.aws", "nvcr.io", "docker.io", "registry.k8s.io")
    assert "latest" not in image.tag
    assert re.search(r"commit [0-9a-f]{7}|release-artifacts \(read 20", image.source)


def test_an_image_for_another_cpu_is_never_the_default() -> None:
    for job in slurm_jobs(example("slurm-ultraserver")):
        assert "public.ecr.aws#deep-learning-containers" not in job.text
    for kind, image in (("pretrain", "megatron"), ("inference", "vllm-arm64"), ("sglang", "sglang-arm64")):
        assert IMAGES[image].enroot in job_of(example("slurm-ultraserver"), f"train/{kind}").text
        assert "arm64" in IMAGES[image].architectures
    assert "no image is pinned for arm64" in job_of(example("slurm-ultraserver"), "train/maxtext").text
    assert IMAGES["nccl-tests"].enroot in job_of(example("slurm-ultraserver"), "train/nccl").text


def test_job_files_of_a_private_cluster_name_no_public_registry() -> None:
    jobs = slurm_jobs(example("slurm-private"))
    assert {job.path.rpartition("/")[2].removesuffix(".sbatch") for job in jobs} >= set(KINDS)
    for job in jobs:
        assert "docker://public" not in job.text
        assert not re.search(r"IMAGE-docker://", job.text)
    pretrain = job_of(example("slurm-private"), "train/pretrain").text
    assert "# IMAGE    must be set: nodes reach no public registry." in pretrain


def test_an_import_without_a_pinned_image_asks_for_one(tmp_path: Path) -> None:
    file = tmp_path / "import.sbatch"
    file.write_text(job_of(example("slurm-private"), "train/import").text)
    environment = {"PATH": os.environ["PATH"], "USER": "ana"}
    done = subprocess.run(["bash", file], env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (2, "import: name an image: none is pinned for this queue\n")
