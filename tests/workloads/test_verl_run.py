"""The job file of veRL runs here in bash, on nodes that are stand-ins, with the real configuration of veRL."""

import hashlib
import io
import json
import os
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from support import ROOT
from support.job_node import Node, pods, rendered
from ultracluster.workloads import IMAGES
from ultracluster.workloads._containers import layer_of


@pytest.fixture
def node(tmp_path: Path) -> Node:
    node = Node(tmp_path)
    node.provide("sleep", "#!/bin/sh\nexec /bin/sleep 0.05\n")
    return node


CURL = """\
#!/bin/bash
while [ "$1" != --output ]; do shift; done
cp "$INSTALLER" "$2"
"""
PYTHON = """\
#!/bin/bash
echo "$*" >>"$SAID/python3"
cat requirements.txt >>"$SAID/python3" 2>/dev/null || true
"""
# Four nodes have joined the head, which is gone for the workers at once.
RAY = """\
#!/bin/bash
case $1 in
    status) exit 1 ;;
    list) for node in 1 2 3 4; do echo '"node_id": 1,'; done ;;
esac
"""


class VerlJob:
    """The veRL job with the checksum of an installer of EFA that is a fake."""

    def __init__(self, node: Node) -> None:
        installer = node.directory / "installer.tar.gz"
        plugin = node.directory / "amazon/ofi-nccl/lib/libnccl-net.so"
        script = f'#!/bin/sh\necho "$*" >>"$SAID/installer"\n${{FAILS:-install -D /dev/null {plugin}}}\n'.encode()
        with tarfile.open(installer, "w:gz") as archive:
            member = tarfile.TarInfo("aws-efa-installer/efa_installer.sh")
            member.size, member.mode = len(script), 0o755
            archive.addfile(member, io.BytesIO(script))
        node.provide("curl", CURL.replace("$INSTALLER", str(installer)))
        node.provide("python3", PYTHON)
        node.provide("ray", RAY)
        pinned = IMAGES["verl"].packages[1]
        self.good = hashlib.sha256(installer.read_bytes()).hexdigest()
        (text,) = rendered("slurm-512-gpus", "rl", nodes="1")
        assert pinned in text
        self.text = text.replace(pinned, self.good).replace("/opt/amazon", f"{node.directory}/amazon")
        self.pinned = text


def test_the_image_of_verl_gets_its_layer_once_from_parts_with_checksums(node: Node) -> None:
    verl = VerlJob(node)
    done = node.run_text(verl.pinned, "x", nodes=1)
    assert done.returncode == 2
    assert "sha256sum: WARNING: 1 computed checksum did NOT match" in done.stderr
    assert "cannot make" in done.stderr
    assert not (node.said / "installer").exists()
    # An installer that left NCCL without a plugin would be seen by its speed alone.
    done = node.run_text(verl.text, "x", nodes=1, FAILS="true")
    assert done.returncode == 2
    assert "cannot make" in done.stderr
    (node.said / "installer").unlink()
    for _ in range(2):
        done = node.run_text(verl.text, "x", nodes=1)
        assert done.returncode == 0, done.stderr
    assert node.calls("installer") == [
        "--yes --skip-kmod --skip-limit-conf --no-verify --disable-build-ngc --disable-ngc"
    ]
    assert "verl==0.9.1 --hash=sha256:" in "\n".join(node.calls("python3"))
    (image,) = (word.partition("=")[2] for word in node.calls("srun") if word.startswith("--container-image"))
    assert Path(image).parent == node.directory / "fsx/ana/containers"
    assert Path(image).name.startswith("verlai+verl=vllm024.dev2-")
    # The installer of EFA in an image that it takes for one of NVIDIA's.
    plugin = node.directory / "amazon/ofi-nccl/lib/libnccl-net.so"
    plugin.rename(plugin.with_name("libnccl-net-ofi.so"))
    node.provide("python3", '#!/bin/sh\necho "$NCCL_NET_PLUGIN $FI_EFA_USE_HUGE_PAGE" >>"$SAID/plugin"\n')
    assert node.run_text(verl.text, "x", nodes=1).returncode == 0
    assert node.calls("plugin")[-1] == "ofi 0"
    other = node.run_text(verl.text, "x", nodes=1, IMAGE="registry.io#verl:1")
    assert other.returncode == 0, other.stderr
    assert len(node.calls("installer")) == 1, "an image of the user has what it needs"


def test_verl_trains_on_the_nodes_that_do_not_generate(node: Node) -> None:
    (text,) = rendered("slurm-512-gpus", "rl", nodes="4", rollout="1")
    refused = node.run_text(text, "x", nodes=4, IMAGE="", ROLLOUT="4")
    assert (refused.returncode, refused.stderr) == (2, "job: ROLLOUT=4 of 4 nodes leaves none that trains\n")
    (manifest,) = rendered("eks-512-gpus", "rl", nodes="4", rollout="1")
    (pod,) = pods(manifest)
    assert {"name": "rollout_nodes", "value": "1"} in pod["containers"][0]["env"]
    assert {"name": "NCCL_NET_PLUGIN", "value": "ofi"} in pod["containers"][0]["env"], "the layer comes after the gang"
    assert pod["containers"][0]["image"] == "docker.io/verlai/verl:vllm024.dev2"
    assert layer_of(IMAGES["verl"]) in pod["containers"][0]["command"][5]


# Composes the configuration of the module as veRL does, and writes it down; other programs of Python run.
VERL = """\
#!{python}
import json, os, pathlib, sys
if "-m" not in sys.argv:
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
import gc, yaml
gc.disable()
yaml.SafeLoader = yaml.CSafeLoader  # of the same package: a fifth of the time is that of 40 files
import hydra
from importlib.util import find_spec
from omegaconf import OmegaConf
module, sys.argv = sys.argv[sys.argv.index("-m") + 1], ["verl", *sys.argv[sys.argv.index("-m") + 2 :]]
root = pathlib.Path(find_spec("verl").submodule_search_locations[0])
trainer = module == "verl.trainer.main_ppo"
path, name = ("trainer", "ppo_trainer") if trainer else ("experimental/one_step_off_policy", "one_step_off_ppo_trainer")
assert (root / path / "main_ppo.py").is_file()

@hydra.main(config_path=str(root / path / "config"), config_name=name, version_base=None)
def main(config):
    missing = sorted(OmegaConf.missing_keys(config))
    chosen = {{key: OmegaConf.select(config, key) for key in os.environ["KEYS"].split()}}
    with open(os.environ["SAID"] + "/verl", "a") as said:
        said.write(json.dumps({{"missing": missing, **chosen}}, default=list) + "\\n")
    steps = os.environ.get("STEPS")
    if steps:
        newest = pathlib.Path(config.trainer.default_local_dir, "latest_checkpointed_iteration.txt")
        import time
        for step in ("5", steps):
            folder = newest.parent / f"global_step_{{step}}"
            (folder / "actor").mkdir(parents=True)
            time.sleep(0.3)
            (folder / "data.pt").touch()
            newest.write_text(step)
            while step != steps and (newest.parent / "global_step_2").exists():
                time.sleep(0.05)
            pathlib.Path(os.environ["CHECKPOINT_REQUEST"]).touch()
        newest.touch()
        time.sleep(60)

main()
"""
# What the job file or its settings must give: veRL has no default, or one that a cluster cannot use.
EXPECTED = {
    "algorithm.adv_estimator": "grpo",
    "actor_rollout_ref.rollout.name": "vllm",
    "actor_rollout_ref.rollout.log_prob_use_dynamic_bsz": True,
    "actor_rollout_ref.ref.log_prob_use_dynamic_bsz": True,
    "actor_rollout_ref.model.path": "/fsx/m",
    "data.train_files": "/fsx/d/train.parquet",
    "data.val_files": "/fsx/d/test.parquet",
    "data.max_response_length": 20480,
    "actor_rollout_ref.actor.ppo_max_token_len_per_gpu": 40960,
    "trainer.logger": ["console"],
    "trainer.n_gpus_per_node": 8,
    "trainer.save_freq": 4,
    "trainer.max_actor_ckpt_to_keep": 3,
    "trainer.max_critic_ckpt_to_keep": 3,
    "trainer.resume_mode": "auto",
}
GIVEN = {"data": "/fsx/d", "model": "/fsx/m", "sequence": "20480", "checkpoint_steps": "4"}


def composed(node: Node, nodes: int, **settings: str) -> dict[str, Any]:
    node.provide("ray", RAY)
    node.provide("python3", VERL.format(python=ROOT / ".venv-hyperpod/bin/python"))
    (text,) = rendered("slurm-512-gpus", "rl", nodes=str(nodes), **GIVEN, **settings)
    keys = (
        *EXPECTED,
        "trainer.nnodes",
        "trainer.default_local_dir",
        "rollout.nnodes",
        "actor_rollout_ref.hybrid_engine",
        "data.train_batch_size",
        "actor_rollout_ref.actor.ppo_mini_batch_size",
        "actor_rollout_ref.rollout.n",
    )
    done = node.run_text(text, nodes=nodes, IMAGE="", REPORT="no", KEYS=" ".join(keys))
    assert done.returncode == 0, done.stderr
    (line,) = node.calls("verl")
    return json.loads(line)  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("nodes", "settings", "further"),
    [
        (3, {}, {"trainer.nnodes": 3, "actor_rollout_ref.hybrid_engine": True}),
        (
            4,
            {"rollout": "1"},
            {
                "trainer.nnodes": 3,
                "rollout.nnodes": 1,
                "actor_rollout_ref.hybrid_engine": False,
            },
        ),
    ],
)
def test_the_job_file_gives_verl_all_that_it_needs(
    node: Node, nodes: int, settings: dict[str, str], further: dict[str, Any]
) -> None:
    config = composed(node, nodes, **settings)
    assert config.items() >= {**EXPECTED, **further}.items()
    assert config["trainer.default_local_dir"] == f"{node.directory}/run"
    # 24 GPUs train: TrainingWorker.train_mini_batch asserts that they divide a mini-batch.
    mini_batch = config["actor_rollout_ref.actor.ppo_mini_batch_size"]
    assert mini_batch * config["actor_rollout_ref.rollout.n"] % 24 == 0
    assert (mini_batch, config["data.train_batch_size"]) == (240, 960)
    # The model of rewards, which is off.
    assert config["missing"] == ["reward.reward_model.rollout.name"]


@pytest.mark.parametrize(("gpus", "batch"), [(8, 256), (12, 252), (256, 256), (512, 256), (768, 768), (2048, 256)])
def test_a_mini_batch_of_verl_is_of_its_default_size_where_that_fits(gpus: int, batch: int) -> None:
    lines = (ROOT / "constructs/ultracluster/workloads/loads/verl.sh").read_text().splitlines()
    arithmetic = "\n".join(line for line in lines if "batch=" in line and "$((" in line and "size" not in line)
    done = subprocess.run(["bash", "-c", f"gpus={gpus}\n{arithmetic}\necho $batch"], capture_output=True, text=True)
    assert done.stdout == f"{batch}\n"
    assert batch * 8 % gpus == 0


def test_a_request_ends_verl_at_its_next_checkpoint_and_the_job_is_queued_again(node: Node) -> None:
    node.provide("ray", RAY)
    node.provide("python3", VERL.format(python=ROOT / ".venv-hyperpod/bin/python"))
    (text,) = rendered("slurm-512-gpus", "rl", nodes="1", **GIVEN)
    text = text.replace('"${RUN:-/fsx/', f'"${{RUN:-{node.directory}/fsx/')
    # Earlier starts left these: two are incomplete, and after number 4 no start wrote its number.
    run = node.directory / "fsx/ana/rl/7"
    for step in (1, 2, 3, 4):
        (run / f"global_step_{step}/actor").mkdir(parents=True)
    for step in (1, 2, 3):
        (run / f"global_step_{step}/data.pt").touch()
    (run / "latest_checkpointed_iteration.txt").write_text("3")
    # The first of them with a limit wrote number 2.
    (run / "checkpoints_without_limit.txt").write_text("global_step_1\n")
    # As most users submit it: a RUN that is in the environment would reach the nodes by itself.
    done = node.run_text(text, nodes=1, IMAGE="", REPORT="no", KEYS="trainer.nnodes", STEPS="8", RUN=None)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in run.glob("global_step_*")) == [f"global_step_{step}" for step in (1, 3, 5, 8)]
    assert [line.rpartition("_")[2] for line in done.stderr.splitlines() if "job: delete" in line] == ["4", "2"]


def test_verl_keeps_the_checkpoints_of_starts_without_a_limit(tmp_path: Path) -> None:
    text = (ROOT / "constructs/ultracluster/workloads/loads/verl.sh").read_text()
    environment = {"PATH": os.environ["PATH"], "ULTRACLUSTER_CHECKPOINTS": str(tmp_path / "run")}

    def remove(kept: str, running: int, *written: int) -> list[int]:
        for step in written:
            (tmp_path / f"run/global_step_{step}/actor").mkdir(parents=True)
            (tmp_path / f"run/global_step_{step}/data.pt").touch()
            (tmp_path / "run/latest_checkpointed_iteration.txt").write_text(str(step))
        command = ["bash", "-c", f"set -euo pipefail\n{text}\nremove_old '{kept}' {running}"]
        subprocess.run(command, check=True, env=environment)
        return sorted(int(path.name.rpartition("_")[2]) for path in tmp_path.glob("run/global_step_*"))

    assert remove("null", 0) == [], "a first start has no directory"
    assert remove("2", 0, 1, 2, 3) == [1, 2, 3]
    assert remove("2", 1, 4, 5, 6) == [1, 2, 3, 5, 6]
    assert remove("2", 0, 7) == [1, 2, 3, 6, 7]
    assert remove("null", 0, 8) == [1, 2, 3, 6, 7, 8]
    assert remove("2", 0, 9) == [1, 2, 3, 6, 7, 8, 9], "no start with a limit wrote them"
    assert remove("2", 1, 10, 11, 12) == [1, 2, 3, 6, 7, 8, 9, 11, 12]


def test_verl_has_the_time_of_a_request_for_its_next_checkpoint(tmp_path: Path) -> None:
    text = (ROOT / "constructs/ultracluster/workloads/loads/verl.sh").read_text()
    (tmp_path / "request").touch()
    clock = 'slept=0; sleep() { slept=$((slept + $1)); }; kill() { echo "$slept"; }'
    given = {"CHECKPOINT_REQUEST": str(tmp_path / "request"), "ULTRACLUSTER_CHECKPOINTS": str(tmp_path)}
    for seconds in (300, 1200):
        environment = {"PATH": os.environ["PATH"], **given, "request_seconds": str(seconds)}
        command = ["bash", "-c", f"{text}\n{clock}\nstop_at_request 1 2"]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.stdout == f"{seconds - 60}\n", done.stderr
    (job,) = rendered("slurm-512-gpus", "rl", nodes="2", parameters="70B", data="/fsx/d", model="/fsx/m")
    (pod,) = pods(rendered("eks-512-gpus", "rl", nodes="2", parameters="70B")[0])
    (seconds,) = (item["value"] for item in pod["containers"][0]["env"] if item["name"] == "request_seconds")
    assert pod["terminationGracePeriodSeconds"] == int(seconds) > 300
    assert f"\nrequest_seconds={seconds}\n" in job
    assert f"--signal=B:USR1@{seconds}\n" in job
    # Its interval is not that of a program which writes one at each planned end.
    assert "\ncheckpoint_seconds=1800\n" in job
