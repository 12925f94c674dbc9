"""Job files run here in bash; srun, which starts a command once a node, and what a node has are stand-ins."""

import os
import subprocess
from pathlib import Path

import pytest

from support import ROOT
from support.job_node import SAYS, Node
from ultracluster.boot import deep_check
from ultracluster.clusterfile import load, loads
from ultracluster.workloads import slurm_jobs, workload_files

RAY = """\
#!/usr/bin/env bash
echo "$SLURM_PROCID: ray $*" >>"$SAID/ray"
case $1 in
    status) exit 1 ;;
    list) for ((node = 0; node < SLURM_JOB_NUM_NODES; node++)); do echo '"node_id": 1,'; done ;;
esac
"""
NCCL = """\
#!/usr/bin/env bash
[ "$SLURM_PROCID" = 0 ] || exit 0
echo "train-1:7:7 [0] NCCL INFO NET/OFI Selected provider is $PROVIDER, fabric is efa-direct (found 32 nics)"
for ((rank = 0; rank < SLURM_JOB_NUM_NODES * 8; rank++)); do
    echo "#  Rank $rank Group  0 Pid $rank on ip-10-1-1-$((rank / 8)) device $((rank % 8)) [0000:53:00] NVIDIA H100"
done
echo "#       size      count   type  redop  root     time   algbw   busbw #wrong     time   algbw   busbw #wrong"
echo "  2147483648  536870912  float    sum    -1   8970.1  239.41  448.89      0   8965.3  239.53  449.12      0"
echo " 17179869184 4294967296  float    sum    -1  65550.1  262.09    $BUS      0  65432.0  262.56  492.30      0"
"""


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


def test_pre_training_starts_torchrun_once_a_node_with_eight_processes_in_the_pinned_image(node: Node) -> None:
    node.provide("torchrun")
    done = node.run("slurm-512-gpus:train/pretrain", "train.py", "--lr", "1e-4", nodes=64)
    assert done.returncode == 0, done.stderr
    assert len(node.calls("torchrun")) == 64
    output = node.calls("srun")
    assert node.calls("enroot") == ["docker://public.ecr.aws#deep-learning-containers/pytorch:2.13.0-cu133-amzn2023"]
    (image,) = (word.removeprefix("--container-image=") for word in output if word.startswith("--container-image="))
    name = "public.ecr.aws%deep-learning-containers+pytorch=2.13.0-cu133-amzn2023"
    assert Path(image) == next((node.directory / "fsx").rglob(f"{name}-{os.uname().machine}.sqsh"))
    assert [word for word in output if "mounts" in word] == ["--container-mounts=/fsx:/fsx,/scratch:/scratch"]
    assert {"--ntasks-per-node=1", "--kill-on-bad-exit=1"} <= set(output)
    head = subprocess.run(["hostname"], capture_output=True, text=True).stdout.strip()
    rest = output[output.index("torchrun") :]
    assert rest == [
        "torchrun",
        "--nnodes=64",
        "--nproc-per-node=8",
        "--max-restarts=3",
        "--rdzv-backend=c10d",
        "--rdzv-id=7.0",
        f"--rdzv-endpoint={head}:29500",
        "--rdzv-conf=read_timeout=600,join_timeout=1200",
        "train.py",
        "--lr",
        "1e-4",
    ]


@pytest.mark.parametrize(("report", "starts"), [("yes", True), ("no", False)])
def test_torchrun_starts_the_program_that_reports_where_the_nodes_have_it(
    node: Node, report: str, starts: bool
) -> None:
    node.provide("torchrun")
    text = next(
        item.text
        for item in slurm_jobs(load(str(ROOT / "examples" / "slurm-512-gpus.yaml")))
        if item.path == "train/pretrain.sbatch"
    )
    helper = node.directory / "fsx/jobs/current/python"
    helper.mkdir(parents=True)
    (helper / "ultracluster_run.py").touch()
    text = text.replace("helper=/fsx/", f"helper={node.directory}/fsx/")
    (helper / "ultracluster_train.py").touch()
    for arguments in (["train.py", "-x"], ["--standalone", "train.py"], ["ultracluster_train.py", "-x"]):
        assert node.run_text(text, *arguments, nodes=1, IMAGE="", REPORT=report).returncode == 0
    first, second, third = node.calls("torchrun")
    assert third.endswith(f"{helper}/ultracluster_train.py -x")
    assert first.endswith(f" {helper}/ultracluster_run.py train.py -x" if starts else "=1200 train.py -x")
    assert second.endswith("=1200 --standalone train.py")


@pytest.mark.parametrize(
    ("owner", "mode", "directory"),
    [("0", "755", "containers"), ("2002", "755", "ana/containers"), ("0", "775", "ana/containers")],
)
def test_an_image_that_root_imported_is_taken_and_one_that_others_may_replace_is_not(
    node: Node, owner: str, mode: str, directory: str
) -> None:
    node.provide("torchrun")
    node.provide("id", "#!/bin/sh\necho 2001\n")
    fake = f'[ "$2" = %a ] && echo {mode} || echo {owner}'
    node.provide("stat", f'#!/bin/sh\ncase $3 in */fsx/containers*) {fake} ;; *) exec /usr/bin/stat "$@" ;; esac\n')
    name = f"registry.io%image=1-{os.uname().machine}.sqsh"
    (node.directory / "fsx/containers").mkdir(parents=True)
    (node.directory / "fsx/containers" / name).touch()
    done = node.run("slurm-512-gpus:train/pretrain", "train.py", IMAGE="registry.io#image:1")
    assert done.returncode == 0, done.stderr
    assert f"--container-image={node.directory}/fsx/{directory}/{name}" in node.calls("srun")


def test_without_an_image_the_software_of_the_nodes_runs(node: Node) -> None:
    node.provide("torchrun")
    assert node.run("slurm-512-gpus:train/pretrain", "train.py", IMAGE="").returncode == 0
    assert not [word for word in node.calls("srun") if word.startswith("--container")]


def test_a_container_starts_in_the_directory_of_the_job_where_it_sees_it(node: Node) -> None:
    node.provide("torchrun")
    text = next(
        item.text
        for item in slurm_jobs(load(str(ROOT / "examples" / "slurm-512-gpus.yaml")))
        if item.path == "train/pretrain.sbatch"
    )
    text = text.replace('mounts="/fsx /scratch"', f'mounts="/fsx {node.directory}"')
    assert node.run_text(text, "train.py", nodes=1).returncode == 0
    assert f"--container-workdir={node.directory}" in node.calls("srun")


@pytest.mark.parametrize("kind", ["pretrain", "rl", "inference", "sglang", "dynamo"])
def test_rejects_a_job_without_a_program(node: Node, kind: str) -> None:
    done = node.run(f"slurm-512-gpus:train/{kind}", IMAGE="")
    assert done.returncode == 2
    assert done.stderr.startswith("job: ")
    assert "sbatch" in done.stderr
    assert not (node.said / "srun").exists()


@pytest.mark.parametrize("job", ["slurm-private:train/rl", "slurm-ultraserver:train/maxtext"])
def test_where_no_image_is_pinned_one_must_be_named(node: Node, job: str) -> None:
    done = node.run(job, "x")
    assert done.returncode != 0
    assert "IMAGE: must be set; see the top of this file" in done.stderr


@pytest.mark.parametrize(
    "kind", ["pretrain", "megatron", "maxtext", "rl", "inference", "sglang", "dynamo", "nccl", "health"]
)
def test_the_payload_takes_the_place_of_the_work(node: Node, kind: str) -> None:
    node.provide("work")
    node.run(f"slurm-512-gpus:train/{kind}", PAYLOAD="work $SLURM_PROCID")
    assert len(node.calls("work")) == 2
    assert not [word for word in node.calls("srun") if word.startswith("--container")]


def test_a_failure_of_the_training_is_the_exit_code_of_the_job(node: Node) -> None:
    node.provide("torchrun")
    assert node.run("slurm-512-gpus:train/pretrain", "train.py", FAILS="3").returncode == 3


def test_reports_a_directory_that_cannot_be_created_before_the_job_starts(node: Node) -> None:
    (node.directory / "file").touch()
    done = node.run("slurm-512-gpus:train/pretrain", "train.py", RUN=f"{node.directory}/file/run")
    assert done.returncode == 2
    assert "have your administrator make your directory there, or set RUN" in done.stderr


def test_without_a_shared_file_system_a_program_of_the_job_files_is_refused_with_what_to_do(node: Node) -> None:
    node.provide("torchrun")
    done = node.run("slurm-minimal:gpu/pretrain", "ultracluster_train.py", IMAGE="")
    assert (done.returncode, (node.said / "torchrun").exists()) == (2, False)
    assert "no node has ultracluster_train.py" in done.stderr
    assert "add storage.lustre or storage.home" in done.stderr
    assert node.run("slurm-minimal:gpu/pretrain", "train.py", IMAGE="").returncode == 0


@pytest.mark.parametrize("place", ["pretrain", "pretrain/7"])
def test_a_new_job_does_not_continue_the_run_of_another_one(node: Node, place: str) -> None:
    node.provide("torchrun")
    text = next(
        item.text
        for item in slurm_jobs(load(str(ROOT / "examples" / "slurm-512-gpus.yaml")))
        if item.path == "train/pretrain.sbatch"
    ).replace("/fsx/$USER/", f"{node.directory}/")
    run = node.directory / place
    run.mkdir(parents=True)
    (run / "ultracluster-job.json").touch()
    done = node.run_text(text, "train.py", nodes=1, IMAGE="", RUN="")
    assert done.returncode == 2
    assert f"{run} has the run of another job: RUN={run} continues it" in done.stderr
    assert not (node.said / "torchrun").exists()
    for given in ({"RUN": str(run)}, {"RUN": "", "SLURM_RESTART_COUNT": "1"}):
        assert node.run_text(text, "train.py", nodes=1, IMAGE="", **given).returncode == 0


def test_verl_runs_on_the_first_node_once_all_have_joined_and_stops_ray(node: Node) -> None:
    node.provide("ray", RAY)
    node.provide("python3")
    done = node.run("slurm-512-gpus:train/rl", "data.train_files=x", nodes=2, IMAGE="")
    assert done.returncode == 0, done.stderr
    (trainer,) = node.calls("python3")
    assert trainer.startswith("0: python3 -m verl.trainer.main_ppo ")
    assert " trainer.nnodes=2 trainer.n_gpus_per_node=8 " in trainer
    assert trainer.endswith(" data.train_files=x")
    ray = node.calls("ray")
    assert ray[0].startswith("0: ray start --num-gpus=8 --num-cpus=192")
    assert "0: ray stop" in ray
    joins, *asks, stops = (line for line in ray if line.startswith("1: "))
    assert joins.startswith("1: ray start --num-gpus=8 --num-cpus=192")
    assert "--address=" in joins
    assert [line.partition(" --address")[0] for line in asks] == ["1: ray status"] * 2, "a busy head may miss one"
    assert stops == "1: ray stop"


def test_a_failure_of_verl_is_the_exit_code_of_the_job(node: Node) -> None:
    node.provide("ray", RAY)
    node.provide("python3")
    assert node.run("slurm-512-gpus:train/rl", "x", nodes=1, IMAGE="", FAILS="5").returncode == 5


def test_vllm_is_tensor_parallel_in_a_node_and_pipeline_parallel_between_nodes(node: Node) -> None:
    node.provide("vllm")
    assert node.run("slurm-512-gpus:train/inference", "/fsx/model", "--port=9", nodes=1).returncode == 0
    assert node.calls("vllm") == ["0: vllm serve /fsx/model --port=8000 --tensor-parallel-size=8 --port=9"]
    node.run("slurm-512-gpus:train/inference", "/fsx/model", nodes=2)
    first, second = node.calls("vllm")[1:]
    assert "--pipeline-parallel-size=2 --nnodes=2 --node-rank=0 --master-addr=" in first
    assert "--headless" not in first
    assert "--node-rank=1" in second
    assert second.endswith(" --headless")


def test_sglang_is_tensor_parallel_in_a_node_and_pipeline_parallel_between_nodes(node: Node) -> None:
    node.provide("python3")
    assert node.run("slurm-512-gpus:train/sglang", "/fsx/model", "--context-length=9", nodes=1).returncode == 0
    common = "python3 -m sglang.launch_server --model-path /fsx/model --tp-size=8 --host=0.0.0.0 --port=30000"
    assert node.calls("python3") == [f"0: {common} --enable-metrics --context-length=9"]
    done = node.run("slurm-512-gpus:train/sglang", "/fsx/model", nodes=2, MASTER_PORT="7")
    first, second = node.calls("python3")[1:]
    assert f"{common} --enable-metrics --pp-size=2 --nnodes=2 --node-rank=0 --dist-init-addr=" in first
    assert " --node-rank=1 --dist-init-addr=" in second
    assert second.endswith(":7")
    assert ":30000/v1 once the model is loaded" in done.stdout


def test_vllm_keeps_to_the_tensor_parallelism_of_the_file(node: Node) -> None:
    node.provide("vllm")
    cluster = load(str(ROOT / "examples" / "slurm-512-gpus.yaml"))
    (file,) = workload_files(cluster, "inference", settings={"tensor_parallel": "4", "nodes": "2", "model": "meta/m"})
    assert node.run_text(file.text, nodes=2).returncode == 0
    first, second = node.calls("vllm")
    assert "serve meta/m --port=8000 --tensor-parallel-size=4 --pipeline-parallel-size=4 --nnodes=2 " in first
    assert second.endswith(" --headless")
    text = file.text.replace("tensor_parallel=4", "tensor_parallel=16")
    done = node.run_text(text, nodes=3)
    assert (done.returncode, done.stderr) == (2, "job: 3 nodes x 8 GPUs = 24 is not a multiple of tensor_parallel=16\n")


P5 = """
name: floors
region: us-west-2
zone: usw2-az2
orchestrator: slurm
nodes: {train: {type: p5.48xlarge, count: 4}}
"""


@pytest.mark.parametrize(
    ("nodes", "bus", "provider", "code", "says"),
    [
        (2, "491.51", "efa", 0, "    17179869184 bytes    491.51 GB/s  at least 389.6"),
        (2, "301.00", "efa", 1, "FAILED: 17179869184 bytes: 301.00 GB/s, and 389.6 is the floor for 2 x p5.48xlarge"),
        (4, "301.00", "efa", 0, "ok, but no floor is known for 4 x p5.48xlarge and these sizes"),
        (2, "491.51", "tcp", 1, "FAILED: the log of NCCL does not show EFA"),
    ],
)
def test_the_nccl_test_is_judged_by_what_judges_the_deep_check(
    node: Node, nodes: int, bus: str, provider: str, code: int, says: str
) -> None:
    node.install(deep_check("p5.48xlarge"))
    node.provide("all_reduce_perf", NCCL)
    text = next(item.text for item in slurm_jobs(loads(P5, "x.yaml")) if item.path == "train/nccl.sbatch")
    path = str(node.directory / "bin")
    done = node.run_text(text, nodes=nodes, NCCL_TESTS=path, BUS=bus, PROVIDER=provider, IMAGE="")
    assert (done.returncode, says in done.stdout.splitlines()) == (code, True), done.stdout + done.stderr


def test_the_nccl_test_of_all_to_all_has_no_floor_and_must_use_efa(node: Node) -> None:
    node.install(deep_check("p5.48xlarge"))
    node.provide("alltoall_perf", NCCL)
    text = next(item.text for item in slurm_jobs(loads(P5, "x.yaml")) if item.path == "train/nccl.sbatch")
    given = {"NCCL_TESTS": str(node.directory / "bin"), "IMAGE": "", "OPERATION": "alltoall", "BUS": "45.00"}
    done = node.run_text(text, nodes=2, PROVIDER="efa", **given)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok, but no floor is known for 2 x p5.48xlarge.alltoall and these sizes" in done.stdout
    done = node.run_text(text, nodes=2, PROVIDER="tcp", **given)
    assert (done.returncode, "FAILED: the log of NCCL does not show EFA" in done.stdout) == (1, True)


def test_a_test_that_ends_early_is_no_good_bandwidth(node: Node) -> None:
    node.provide("all_reduce_perf")
    done = node.run("slurm-512-gpus:train/nccl", NCCL_TESTS=str(node.directory / "bin"), IMAGE="", FAILS="9")
    assert done.returncode == 2
    assert "the test itself failed with exit code 9" in done.stderr


def test_the_health_job_has_dcgm_look_at_every_node_and_names_the_bad_ones(node: Node) -> None:
    node.install(deep_check("p5en.48xlarge"))
    node.provide("dcgmi", SAYS)
    done = node.run("slurm-512-gpus:train/health", LEVEL="3")
    assert (done.returncode, node.calls("dcgmi")) == (0, ["0: dcgmi diag -r 3", "1: dcgmi diag -r 3"]), done.stderr
    fails = 'echo "| Memory | Fail - GPU 3 |"; exit 226'
    node.provide("dcgmi", f'#!/bin/sh\n[ "$SLURMD_NODENAME" = train-1 ] || {{ {fails}; }}\n')
    done = node.run("slurm-512-gpus:train/health")
    assert done.returncode == 1
    assert "train-1: dcgmi diag -r 2 found nothing" in done.stdout
    assert "FAILED: train-2: dcgmi diag -r 2 ended with 226:\n    train-2: | Memory | Fail - GPU 3 |" in done.stdout
