"""Jobs of a model of a known size: memory, layout and checkpoints, and plans as settings."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # no stubs

from support import ROOT
from ultracluster import workloads
from ultracluster.clusterfile import ClusterFile, load, loads
from ultracluster.planning.lustre import CHECKPOINTS_KEPT
from ultracluster.planning.workload import Assumptions, Model, checkpoint_seconds, plan_inference, plan_training
from ultracluster.rules import Refusal

CLUSTERS = {name: load(str(ROOT / "examples" / f"{name}.yaml")) for name in ("slurm-512-gpus", "eks-512-gpus")}
SLURM, EKS = CLUSTERS


def files(cluster: str | ClusterFile, name: str, **settings: str) -> list[str]:
    cluster = CLUSTERS[cluster] if isinstance(cluster, str) else cluster
    return [file.text for file in workloads.workload_files(cluster, name, settings=settings)]


def trainer(text: str) -> Any:
    return next(iter(yaml.safe_load_all(text)))["spec"]["trainer"]


@pytest.mark.parametrize("cluster", CLUSTERS)
@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("megatron", {"parameters": "405B", "nodes": "2"},
         r"the model does not fit: on 16 GPUs of p5en.48xlarge .* needs .* GiB are missing; .* \[job-memory\]"),
        ("megatron", {"parameters": "405B", "tensor_parallel": "8"},
         r"TP 8, PP 1.*\) needs 297 GiB of each GPU, .*: use more nodes, or degrees that share .* \[job-memory\]"),
        ("maxtext", {"parameters": "405B", "nodes": "4"}, r"\(TP 1, .* DP 32; .* FSDP\) needs .* than the 141 GiB"),
        ("pretrain", {"parameters": "70B", "nodes": "1"}, r"DP 8; .* FSDP\) needs .* more than the 141 GiB of a GPU"),
        ("finetune", {"parameters": "70B"}, r"DP 8; .* FSDP\) needs .* more than the 141 GiB of a GPU"),
        ("rl", {"parameters": "70B", "nodes": "3", "rollout": "2"}, r"DP 8; .*needs 168 GiB"),
        ("inference", {"parameters": "671B", "active_parameters": "37B", "nodes": "1"},
         r"weights of 1,250 GiB in bf16 .* on 8 GPUs .* and 127 GiB are usable .*: use at least 10 GPUs \[job-memory"),
        ("dynamo", {"parameters": "671B", "active_parameters": "37B", "nodes": "8"}, r"on 8 GPUs of p5en.48xlarge are"),
        ("pretrain", {"parameters": "70 B"}, r"must be a number above 0, such as 70B or 70e9, got '70 B' \[workload"),
        ("pretrain", {"parameters": "70B", "active_parameters": "80B"}, r"active parameters are more than all"),
        ("pretrain", {"precision": "int4"}, r"precision must be bf16 or fp8, got 'int4' \[workload\]"),
        ("nccl", {"parameters": "7B"}, r"a setting of nccl for .* must be one of nodes, gpus.*, got 'parameters'"),
    ],
)  # fmt: skip
def test_rejects_a_model_that_does_not_fit(cluster: str, name: str, settings: dict[str, str], message: str) -> None:
    with pytest.raises(Refusal, match=message):
        files(cluster, name, **settings)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("inference", {"parameters": "671B", "active_parameters": "37B", "precision": "fp8", "nodes": "1"}),
        ("inference", {"parameters": "671B", "active_parameters": "37B", "nodes": "2"}),
        ("megatron", {"parameters": "405B", "tensor_parallel": "8", "pipeline_parallel": "16", "recipe": "r"}),
        ("rl", {"parameters": "70B", "nodes": "4", "rollout": "2"}),
        ("megatron", {"parameters": "30.5B", "active_parameters": "3.3B", "recipe": "qwen3_30b_a3b_pretrain_config"}),
        ("maxtext", {"parameters": "109B", "active_parameters": "17B", "recipe": "llama4-17b-16e"}),
    ],
)
def test_accepts_a_model_that_fits(name: str, settings: dict[str, str]) -> None:
    assert files(SLURM, name, **settings)
    assert files(EKS, name, **settings)


def test_the_size_of_a_model_gives_layout_and_checkpoints_of_the_plan() -> None:
    # Daly's interval grows with the time that a checkpoint takes on the file system of the cluster.
    spec = CLUSTERS[SLURM].lustre_spec
    assert spec
    stall = 70e9 * 14 / float(spec.disk_write_mb_per_s) / 1e6
    plan = plan_training(
        Model.of(70e9),
        tokens=1.4e12,
        instance_type="p5en.48xlarge",
        nodes=64,
        fsdp=False,
        assumptions=Assumptions(checkpoint_stall_seconds=stall),
    )
    (text,) = files(SLURM, "megatron", parameters="70B", recipe="r")
    for degree in ("tensor", "pipeline", "context", "expert"):
        name = degree if degree == "context" else f"{degree}_model"
        assert f'"model.{name}_parallel_size={plan.number(f"{degree}_parallel"):g}"' in text
    seconds = round(checkpoint_seconds(64, stall))
    assert f"\ncheckpoint_seconds={seconds}\n" in text
    assert f'"checkpoint.save_interval={round(seconds / plan.number("step_seconds"))}"' in text
    # Its steps are those of the plan, and the signal leaves the time for a step and a checkpoint.
    each = plan.number("batch_tokens") / 8192 / 512
    assert f'"train.global_batch_size=$((SLURM_JOB_NUM_NODES * gpus_per_node * {each:g}))"' in text
    (small,) = files(SLURM, "megatron", parameters="70B", recipe="r", batch_tokens="1048576")
    assert "train.global_batch_size=$((SLURM_JOB_NUM_NODES * gpus_per_node * 1 / 4))" in small, "fewer than the GPUs"
    assert '"model.seq_length=8192" "dataset.sequence_length=8192"' in text
    assert '"model.virtual_pipeline_model_parallel_size=null"' in text, "recipes divide their own stages again"
    assert "#SBATCH --signal=B:USR1@300\n" in text
    (gang,) = files(EKS, "megatron", parameters="70B", checkpoint_steps="9", recipe="r")
    assert "ULTRACLUSTER_CHECKPOINT_SECONDS" in [item["name"] for item in trainer(gang)["env"]]
    assert "checkpoint.save_interval=9" in trainer(gang)["command"]
    (larger,) = files(SLURM, "megatron", parameters="405B", nodes="20", recipe="r")
    assert "recompute" in larger, "it fits only if activations are computed again"
    assert "recompute" not in text


def test_a_checkpoint_that_takes_long_is_requested_earlier() -> None:
    text = (ROOT / "examples/slurm-512-gpus.yaml").read_text()
    slow = loads(text.replace("{throughput: 40 GB/s}", "{throughput: 5 GB/s, capacity: 24 TiB}"), "x")
    spec = slow.lustre_spec
    assert spec
    (job,) = files(slow, "megatron", parameters="405B", recipe="r")
    seconds = int(job.split("USR1@")[1].split("\n")[0])
    assert seconds > 405e9 * 14 / float(spec.disk_write_mb_per_s) / 1e6
    # EKS evicts pods for 15 minutes.
    text = (ROOT / "examples/eks-512-gpus.yaml").read_text()
    slow = loads(re.sub(r"\{throughput: \d+ GB/s", "{throughput: 2 GB/s, capacity: 24 TiB", text), "x")
    (job,) = files(slow, "megatron", parameters="405B", recipe="r")
    grace = int(job.split("terminationGracePeriodSeconds: ")[1].split("\n")[0])
    assert grace > 900
    assert f"# Its pods take up to {grace // 60} minutes" in job
    (fast,) = files(EKS, "megatron", parameters="70B", recipe="r")
    assert "# Its pods take" not in fast


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("megatron", {"parameters": "70B"}, r"parameters=70B is the size .* its default recipe: name the .* recipe="),
        ("maxtext", {"parameters": "70B", "recipe": "llama2-7b"}, r"llama2-7b has 7B .* by its name, .* another model"),
        ("torchtitan", {"parameters": "7B", "recipe": "llama3_70b"}, r"has 70B .* and parameters=7B are those of"),
        ("torchtitan", {"precision": "fp8"}, r"torchtitan has no option for precision=fp8"),
        ("pretrain", {"precision": "fp8"}, r"trains in BF16: precision=fp8 needs program="),
        ("inference", {"active_parameters": "3B"}, r"set parameters too"),
        ("megatron", {"active_parameters": "0", "recipe": "r"}, r"active_parameters must be a number above 0"),
        (
            "megatron",
            {"batch_tokens": "8192"},
            r"batch_tokens, the tokens of a step, need the size .* set parameters too",
        ),
        ("megatron", {"sharding": "some"}, r"sharding must be optimizer or all, got 'some'"),
    ],
)
def test_rejects_settings_of_another_model(name: str, settings: dict[str, str], message: str) -> None:
    for cluster in (SLURM, EKS):
        with pytest.raises(Refusal, match=message):
            files(cluster, name, **settings)


@pytest.mark.parametrize(
    ("name", "slurm", "kubernetes"),
    [
        ("megatron", '"mixed_precision=bf16_with_fp8_current_scaling_mixed"', '"model.seq_length=4096"'),
        ("maxtext", '"quantization=fp8"', "- max_target_length=4096"),
        ("inference", "--quantization=fp8 --max-model-len=4096", "- --max-model-len=4096"),
        ("sglang", "--quantization=fp8 --context-length=4096", "- --quantization=fp8"),
        ("dynamo", "--quantization=fp8 --max-model-len=4096", "- --max-model-len=4096"),
    ],
)
def test_the_framework_gets_sequence_and_precision(name: str, slurm: str, kubernetes: str) -> None:
    given = {"sequence": "4096", "precision": "fp8"} | ({} if name in ("megatron", "maxtext") else {"model": "/fsx/m"})
    (job,) = files(SLURM, name, **given)
    assert slurm in job
    (manifest,) = files(EKS, name, **given)
    assert kubernetes.strip('"') in manifest


@pytest.mark.parametrize("nodes", ["4", "64"])
def test_the_interval_of_checkpoints_follows_from_the_nodes_without_a_model(nodes: str) -> None:
    planned = round(checkpoint_seconds(int(nodes)))
    (text,) = files(SLURM, "pretrain", nodes=nodes)
    assert f"\ncheckpoint_seconds={planned}\n" in text
    for gang in files(EKS, "pretrain", nodes=nodes):
        assert "name: ULTRACLUSTER_CHECKPOINT_SECONDS\n" in gang
        assert f'value: "{planned}"' in gang
    (text,) = files(SLURM, "pretrain", nodes=nodes, checkpoint_seconds="77")
    assert "\ncheckpoint_seconds=77\n" in text


def test_torchtitan_writes_checkpoints_by_the_clock_unless_steps_are_given() -> None:
    given = {"parameters": "70B", "recipe": "llama3_70b"}
    for cluster in (SLURM, EKS):
        (text,) = files(cluster, "torchtitan", **given)
        assert "--checkpoint.interval" not in text
        assert "--training.global_batch_size=" in text
        (text,) = files(cluster, "torchtitan", checkpoint_steps="9", **given)
        assert "--checkpoint.interval=9" in text


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_megatron_gets_fields_that_its_recipe_has(cluster: str) -> None:
    # That of pre-training has no field seq_length, which Hydra refuses to set.
    (text,) = files(cluster, "megatron", sequence="4096")
    assert "dataset.sequence_length=4096" in text
    (text,) = files(cluster, "megatron", sequence="4096", recipe="llama3_8b_sft_config")
    assert "dataset.seq_length=4096" in text
    large = {"parameters": "671B", "active_parameters": "37B", "recipe": "deepseek_v3_pretrain_config"}
    (text,) = files(cluster, "megatron", **large)
    assert "pipeline" not in text.replace("pipeline_timeout", ""), "its 61 layers have stages of their own"
    with pytest.raises(
        Refusal, match=r"deepseek_v3_pretrain_config has stages of its own, .*: leave pipeline_parallel"
    ):
        files(cluster, "megatron", recipe="deepseek_v3_pretrain_config", pipeline_parallel="4")


def test_settings_of_a_plan_are_those_of_the_job() -> None:
    plan = plan_training(Model.of(70e9), tokens=1e12, instance_type="p5en.48xlarge", nodes=16)
    settings = workloads.plan_settings(plan, "pretrain")
    assert {"nodes": "16", "parameters": "70000000000", "sequence": "8192"}.items() <= settings.items()
    (text,) = files(SLURM, "pretrain", **settings)
    assert f"\ncheckpoint_seconds={round(plan.checkpoint_interval_seconds)}\n" in text
    assert "#SBATCH --nodes=16\n" in text
    assert "FSDP" in str(plan["layout"].value)
    assert "tensor_parallel" not in workloads.plan_settings(plan, "torchtitan"), "its layouts share the optimizer alone"
    assert workloads.plan_settings(plan, "megatron")["sharding"] == "all"
    served = plan_inference(Model.of(405e9), instance_type="p5.48xlarge")
    assert workloads.plan_settings(served, "inference")["nodes"] == "2"
    with pytest.raises(Refusal, match=r"inference does not accept a plan of pretraining \[workload\]"):
        workloads.plan_settings(plan, "inference")
    with pytest.raises(Refusal, match=r"nccl does not accept a plan"):
        workloads.plan_settings(plan, "nccl")


def test_rejects_checkpoints_for_which_the_file_system_has_no_room() -> None:
    text = (ROOT / "examples/slurm-512-gpus.yaml").read_text()
    small = loads(text.replace("{throughput: 40 GB/s}", "{capacity: 1.2 TiB}"), "x")
    with pytest.raises(
        Refusal,
        match=r"2 .* a new one, 3 x 5,281 GiB x 1.2 = .* kept of storage.lustre.checkpoint to 4 .* \[job-checkpoi",
    ):
        files(small, "megatron", parameters="405B")
    few = {"parameters": "8B", "recipe": "llama3_8b_pretrain_config"}
    assert files(small, "megatron", **few)
    with pytest.raises(Refusal, match=r"99 checkpoints and a new one, 100 x 104 GiB x 1.2 = .* \[job-checkpoints"):
        files(small, "megatron", **few, checkpoints_kept="99")
    with pytest.raises(Refusal, match=r"checkpoints_kept, .*, at least 2, got 1 \[workload\]"):
        files(small, "megatron", **few, checkpoints_kept="1")


def test_all_programs_keep_as_many_checkpoints() -> None:
    for name in ("train", "finetune"):
        text = (ROOT / f"constructs/ultracluster/boot/scripts/ultracluster_{name}.py").read_text()
        assert f'"--keep", type=int, default={CHECKPOINTS_KEPT},' in text


def test_a_job_whose_data_is_missing_ends_before_its_nodes_work(tmp_path: Path) -> None:
    (text,) = files(SLURM, "megatron", data="/fsx/tokens/part")
    (line,) = (line for line in text.splitlines() if "compgen" in line)
    line = line.replace("/fsx", str(tmp_path))

    def run() -> tuple[int, str]:
        done = subprocess.run(["bash", "-c", f"set -euo pipefail\n{line}"], capture_output=True, text=True)
        return done.returncode, done.stderr

    code, error = run()
    assert code == 2
    assert f"data={tmp_path}/tokens/part does not exist on" in error
    (tmp_path / "tokens").mkdir()
    (tmp_path / "tokens/part.bin").touch()
    assert run() == (0, "")
    for name in ("pretrain", "finetune", "megatron", "maxtext"):
        for gang in files(EKS, name, data="/fsx/tokens/part"):
            assert "name: ULTRACLUSTER_DATA\n" in gang


def test_rejects_a_server_that_cannot_load_its_model_before_kueue_takes_its_nodes() -> None:
    text = """
name: abc
region: us-east-2
zone: use2-az1
orchestrator: {orchestrator}
nodes: {{train: {{type: p5en.48xlarge, count: 4}}}}
storage: {{lustre: {{deployment-type: PERSISTENT_2, capacity: 4800 GiB, tier: 125 MB/s/TiB}}}}
kubernetes: {{admins: ["arn:aws:iam::123456789012:role/a"]{more}}}
"""
    model = {"parameters": "405B", "nodes": "2"}
    small = loads(text.format(orchestrator="kubernetes", more=""), "x")
    with pytest.raises(Refusal) as caught:
        files(small, "inference", **model)
    assert str(caught.value).strip() == (
        "weights of 810 GB at the 586 MB/s of the file system take 23 min, and Kueue evicts a server that is not "
        "ready within 20 min: set kubernetes.ready-timeout to 48 min, or more throughput [job-ready]"
    )
    for allowed in ({**model, "precision": "fp8"}, {**model, "model": "meta-llama/Llama-3.1-405B"}):
        assert files(small, "inference", **allowed)
    longer = loads(text.format(orchestrator="kubernetes", more=", ready-timeout: 48 min"), "x")
    volcano = loads(text.format(orchestrator="kubernetes", more=", scheduler: volcano"), "x")
    assert files(longer, "inference", **model)
    assert files(volcano, "inference", **model)
