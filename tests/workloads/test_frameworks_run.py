"""Job files of frameworks run here in bash, on nodes that are stand-ins."""

import hashlib
import http.server
import io
import os
import re
import shlex
import subprocess
import tarfile
import threading
from pathlib import Path
from typing import ClassVar

import pytest
import yaml  # type: ignore[import-untyped]  # no stubs

from support.job_node import Node, pods, rendered
from support.ports import free_ports
from support.training import BIN
from ultracluster.boot import deep_check
from ultracluster.workloads import IMAGES
from ultracluster.workloads._containers import layer_of

# Prints the variables of the rendezvous, which a program reads.
SAYS = """\
#!/usr/bin/env bash
variables="$JAX_COORDINATOR_IP:$JAX_COORDINATOR_PORT $NODE_RANK/$NNODES $ULTRACLUSTER_REQUEST_SIGNAL"
echo "$SLURM_PROCID: $variables ${0##*/} $*" >>"$SAID/${0##*/}"
"""
# Serves until it is ended; with ENDS, the node of that number ends after the others have started.
DYNAMO = """\
#!/usr/bin/env bash
echo "$SLURM_PROCID: $DYN_DISCOVERY_BACKEND $ETCD_ENDPOINTS $*" >>"$SAID/python3"
fabric="${FI_PROVIDER:-} ${FI_EFA_USE_DEVICE_RDMA:-} ${FI_EFA_ENABLE_SHM_TRANSFER:-}"
echo "$SLURM_PROCID ${DYN_SYSTEM_PORT:-no} $fabric" >>"$SAID/env"
case $* in *frontend*) exec sleep 60 ;; esac
[ "${ENDS%:*}" = "$SLURM_PROCID" ] || exec sleep 60
until [ "$(wc -l <"$SAID/python3")" -eq "$((SLURM_JOB_NUM_NODES + 1))" ]; do sleep 0.05; done
exit "${ENDS#*:}"
"""
# Listens a moment after its start, as the real one does.
ETCD = """\
#!/usr/bin/env bash
echo "$*" >>"$SAID/etcd"
sleep 0.3
exec /usr/bin/python3 -c 'import os, socket; s = socket.create_server(("", int(os.environ["ETCD_PORT"])))
while True: s.accept()'
"""
# All nodes at the same time; a task that fails ends the others, and one that ends with 0 does not.
SRUN = """\
#!/usr/bin/env bash
while [[ $1 == --* ]]; do shift; done
for ((node = 0; node < SLURM_JOB_NUM_NODES; node++)); do
    SLURM_PROCID=$node setsid "$@" &
done
code=0
for ((node = 0; node < SLURM_JOB_NUM_NODES; node++)); do
    wait -n || { code=$?; break; }
done
for task in $(jobs -p); do kill -KILL -- "-$task"; done 2>/dev/null
exit "$code"
"""


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


def test_a_recipe_of_megatron_bridge_gets_degrees_data_and_checkpoints_as_its_overrides(node: Node) -> None:
    node.provide("torchrun")
    settings = {"tensor_parallel": "8", "pipeline_parallel": "2", "checkpoint_steps": "50", "data": "/fsx/tokens"}
    settings["checkpoints_kept"] = "3"
    (text,) = rendered("slurm-512-gpus", "megatron", nodes="4", recipe="llama3_8b_pretrain_config", **settings)
    for arguments in ([], ["qwen3_32b_pretrain_config", "train.train_iters=5"]):
        done = node.run_text(text, *arguments, nodes=4, IMAGE="", RUN=f"{node.directory}/run", HF_HUB_OFFLINE="0")
        assert done.returncode == 0, done.stderr
    default, other = (shlex.split(node.calls("torchrun")[number].partition(": ")[2]) for number in (0, 4))
    program = default.index("/opt/Megatron-Bridge/scripts/training/run_recipe.py")
    assert default[program + 1 :] == [
        "--recipe",
        "llama3_8b_pretrain_config",
        "model.tensor_model_parallel_size=8",
        "model.pipeline_model_parallel_size=2",
        "train.micro_batch_size=1",
        "train.global_batch_size=32",
        "model.sequence_parallel=true",
        "model.virtual_pipeline_model_parallel_size=null",
        "model.pipeline_model_parallel_layout=null",
        "checkpoint.save_interval=50",
        "--dataset=llm-pretrain",
        "dataset.blend=[[/fsx/tokens],null]",
        f"checkpoint.save={node.directory}/run",
        f"checkpoint.load={node.directory}/run",
        "checkpoint.most_recent_k=3",
        "train.exit_signal_handler=true",
    ]
    assert other[-1] == "train.train_iters=5"
    assert other[program + 2] == "qwen3_32b_pretrain_config"
    (manifest,) = rendered("eks-512-gpus", "megatron", nodes="4", recipe="llama3_8b_pretrain_config", **settings)
    trainer = next(iter(yaml.safe_load_all(manifest)))["spec"]["trainer"]
    on_kubernetes = trainer["command"][trainer["command"].index(default[program]) + 1 :]
    assert [word.replace("$(RUN)", f"{node.directory}/run") for word in on_kubernetes] == default[program + 1 :]
    assert (trainer["image"], trainer["numNodes"]) == (IMAGES["megatron"].address, 4)
    assert trainer["command"][3:5] == ["bash", "-c"]
    assert trainer["command"][5].endswith('with_model "$@"\n')
    assert trainer["command"][6:10] == ["node", "env", "ULTRACLUSTER_REQUEST_SIGNAL=TERM", "torchrun"]


class Hub(http.server.BaseHTTPRequestHandler):
    """A model at Hugging Face; counts its requests."""

    requests: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.requests.append(self.path)
        self.send_response(200)
        for name, value in (("ETag", '"a"'), ("X-Repo-Commit", "a" * 40), ("Content-Length", "2")):
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(b"{}")

    do_HEAD = do_GET

    def log_message(self, *_: object) -> None:
        pass


# Of Megatron Bridge: a recipe reads the configuration of its model, and each rank the tokenizer.
RECIPE = """\
import sys
from types import SimpleNamespace
from huggingface_hub import hf_hub_download
from megatron.bridge.training.tokenizers.tokenizer import build_tokenizer
def pretrain(config, forward_step_func):
    build_tokenizer(config.tokenizer)
    print("trained", sys.argv[1:3])
TRAIN_FUNCTIONS = {"pretrain": pretrain, "finetune": pretrain}
def main():
    hf_hub_download("a/model", "config.json")
    TRAIN_FUNCTIONS["pretrain"](config=SimpleNamespace(tokenizer="a/model"), forward_step_func=None)
if __name__ == "__main__":
    main()
"""
TOKENIZER = """\
from huggingface_hub import hf_hub_download
def build_tokenizer(config):
    hf_hub_download(config, "tokenizer.json")
"""


def test_one_node_reads_the_model_of_a_recipe_and_the_ranks_its_cache(node: Node) -> None:
    for path, program in (
        ("scripts/training/run_recipe.py", RECIPE),
        ("megatron/bridge/training/tokenizers/tokenizer.py", TOKENIZER),
    ):
        (node.directory / path).parent.mkdir(parents=True, exist_ok=True)
        (node.directory / path).write_text(program)
    node.provide("python3", f'#!/bin/sh\nexec {BIN / "python"} "$@"\n')
    node.provide("torchrun", '#!/bin/bash\nwhile [[ $1 == --* ]]; do shift; done\nexec python3 "$@"\n')
    (text,) = rendered("slurm-512-gpus", "megatron", nodes="2")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def run(**given: str) -> tuple[int, str, int]:
        Hub.requests.clear()
        environment = {"IMAGE": "", "REPORT": "no", "MEGATRON_BRIDGE": str(node.directory), **given}
        environment |= {"PYTHONPATH": str(node.directory), "HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}"}
        done = node.run_text(text, nodes=2, HF_HOME=str(node.directory / "cache"), **environment)
        return done.returncode, done.stdout + done.stderr, len(Hub.requests)

    code, output, requests = run(HF_HUB_OFFLINE="1")
    assert (code != 0, requests) == (True, 0), output
    assert (
        f"cannot read the model of the recipe into {node.directory}/cache. Without internet access, run else" in output
    )
    code, output, requests = run()
    assert (code, output.count("trained ['--recipe', 'qwen3_8b_pretrain_config']")) == (0, 2), output
    assert requests == 4, "a HEAD and a GET of two files"
    assert run(RUN=f"{node.directory}/other")[::2] == (0, 0)
    assert run(HF_HUB_OFFLINE="0")[2] > 0
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("name", "settings", "words"),
    [
        ("torchtitan", {"tensor_parallel": "8", "checkpoint_steps": "50", "data": "/fsx/t"},
         ["ultracluster_titan.py", "llama3_8b", "--parallelism.tensor_parallel_degree=8", "--checkpoint.interval=50",
          "--dataloader.dataset_path=/fsx/t", "--dump_folder=RUN", "--checkpoint.keep_latest_k=2"]),
        ("torchtitan", {"recipe": "llama3_70b", "checkpoints_kept": "4"},
         ["ultracluster_titan.py", "llama3_70b", "--dump_folder=RUN", "--checkpoint.keep_latest_k=4"]),
        ("finetune", {}, ["ultracluster_finetune.py"]),
        ("finetune", {"model": "/fsx/m", "data": "/fsx/s"},
         ["ultracluster_finetune.py", "--model", "/fsx/m", "--data", "/fsx/s"]),
    ],
)  # fmt: skip
def test_programs_get_the_same_arguments_on_slurm_and_kubernetes(
    node: Node, name: str, settings: dict[str, str], words: list[str]
) -> None:
    node.provide("torchrun")
    (text,) = rendered("slurm-512-gpus", name, nodes="2", **settings)
    done = node.run_text(text, nodes=2, IMAGE="", RUN=f"{node.directory}/run")
    assert done.returncode == 0, done.stderr
    on_slurm = shlex.split(node.calls("torchrun")[0].partition(": ")[2])[-len(words) :]
    assert [word.replace(f"{node.directory}/run", "RUN") for word in on_slurm] == words
    (manifest,) = rendered("eks-512-gpus", name, nodes="2", **settings)
    command = next(iter(yaml.safe_load_all(manifest)))["spec"]["trainer"]["command"]
    on_kubernetes = [word.replace("$(RUN)", "RUN") for word in command[-len(words) :]]
    assert on_kubernetes == [f"/opt/ultracluster/python/{words[0]}", *words[1:]]
    shell = command[command.index("-c") + 1]
    assert f"layer {shlex.join(IMAGES[name].packages)} || exit\n" in shell
    assert all(re.fullmatch(r"[a-z0-9-]+==[\w.]+ [0-9a-f]{64}", part) for part in IMAGES[name].packages)


def test_maxtext_is_one_process_a_node_that_finds_the_first_one(node: Node) -> None:
    node.provide("python3", SAYS)
    (text,) = rendered("slurm-512-gpus", "maxtext", nodes="2", tensor_parallel="4")
    given = {"IMAGE": "", "MAXTEXT": str(node.directory), "MASTER_PORT": "77", "RUN": f"{node.directory}/run"}
    done = node.run_text(text, "llama3.1-8b", "steps=9", nodes=2, **given)
    assert done.returncode == 0, done.stderr
    first, second = node.calls("python3")
    assert re.match(
        r"0: \S+:77 0/2 TERM python3 -m maxtext.trainers.pre_train.train src/maxtext/configs/base.yml ", first
    )
    assert re.match(r"1: \S+:77 1/2 TERM ", second)
    for option in ("model_name=llama3.1-8b", "ici_tensor_parallelism=4", f"base_output_directory={node.directory}/run",
                   "max_num_checkpoints_to_keep=2"):  # fmt: skip
        assert f" {option} " in first
    assert first.endswith(" steps=9")
    # Else each node has a copy of the model, of which the check of its memory assumes one for all.
    assert " dcn_data_parallelism=1 dcn_fsdp_parallelism=-1 " in first
    (manifest,) = rendered("eks-512-gpus", "maxtext", nodes="2", tensor_parallel="4")
    (pod,) = pods(manifest)
    command = pod["containers"][0]["command"]
    assert "base_output_directory=$(RUN)" in command
    assert "ici_tensor_parallelism=4" in command
    environment = {item["name"]: item.get("value") for item in pod["containers"][0]["env"]}
    assert (environment["nodes"], environment["head"]) == ("2", "maxtext-train-node-0-0.maxtext-train")
    assert environment["HF_HOME"] == "/fsx/huggingface/$(POD_NAMESPACE)"
    assert "HF_HUB_OFFLINE" not in environment


@pytest.mark.parametrize(("ends", "code"), [("1:0", 1), ("2:4", 4)])
def test_dynamo_splits_nodes_into_roles_and_serves_until_one_ends(node: Node, ends: str, code: int) -> None:
    for name, program in (("python3", DYNAMO), ("etcd", ETCD), ("srun", SRUN)):
        node.provide(name, program)
    (text,) = rendered("slurm-512-gpus", "dynamo", nodes="3", model="/fsx/m")
    (port,) = free_ports(1)
    (node.root / "sys/class/infiniband/rdmap79s0").mkdir()
    done = node.run_text(text, nodes=3, IMAGE="", ENDS=ends, ETCD_PORT=str(port))
    assert done.returncode == code, done.stderr
    calls = sorted(line for line in node.calls("python3") if "dynamo.vllm" in line)
    assert [re.search(r"mode=(\w+)", line)[1] for line in calls] == ["prefill", "decode", "decode"]  # type: ignore[index]
    assert all(
        '"backends":["LIBFABRIC"]' in line and "--model /fsx/m --tensor-parallel-size=8 " in line for line in calls
    )
    (front,) = (line for line in node.calls("python3") if "frontend" in line)
    assert front == f"0: etcd http://{os.uname().nodename}:{port} -m dynamo.frontend --http-port=8000"
    # Metrics of an engine are on a port that is closed by default, and not on that of the API.
    assert sorted(node.calls("env")) == ["0 8081 efa 1 0", "0 no   ", "1 8081 efa 1 0", "2 8081 efa 1 0"]
    (store,) = node.calls("etcd")
    assert f"--listen-client-urls=http://0.0.0.0:{port} " in store


def test_dynamo_has_nodes_in_both_roles(node: Node) -> None:
    (text,) = rendered("slurm-512-gpus", "dynamo", nodes="3", model="/fsx/m")
    refused = node.run_text(text, nodes=3, IMAGE="", PREFILL="3")
    assert (refused.returncode, refused.stderr) == (2, "job: PREFILL=3 of 3 nodes: use 1 to 2\n")


def test_the_image_of_dynamo_gets_etcd(tmp_path: Path) -> None:
    name = f"etcd-v{IMAGES['etcd'].tag.partition('-')[0]}-linux-amd64"
    archive = tmp_path / "etcd.tar.gz"
    with tarfile.open(archive, "w:gz") as packed:
        member = tarfile.TarInfo(f"{name}/etcd")
        member.size = 4
        packed.addfile(member, io.BytesIO(b"true"))
    node = Node(tmp_path / "node")
    node.provide("curl", 'while [ "$1" != --output ]; do shift; done\ncp "$INSTALLER" "$2"\necho "$3" >"$SAID/curl"\n')
    node.provide("install", 'echo "$*" >"$SAID/install"; cat "$3"\n')
    layer = layer_of(IMAGES["dynamo"])
    environment = {"PATH": f"{node.directory}/bin:/usr/bin:/bin", "SAID": str(node.said), "INSTALLER": str(archive)}

    def added(text: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["bash", "-c", text], env=environment, capture_output=True, text=True, check=False)

    refused = added(layer)
    assert (refused.returncode, "did NOT match" in refused.stderr) == (1, True)
    assert not (node.said / "install").exists()
    done = added(layer.replace(IMAGES["dynamo"].packages[1], hashlib.sha256(archive.read_bytes()).hexdigest()))
    assert (done.returncode, done.stdout) == (0, "true"), done.stderr
    assert node.calls("curl") == [f"https://github.com/etcd-io/etcd/releases/download/{name[5:11]}/{name}.tar.gz"]
    assert node.calls("install") == [f"-m 755 {name}/etcd /usr/local/bin/etcd"]


def test_dynamo_on_kubernetes_has_an_api_beside_each_worker_that_computes_tokens() -> None:
    (text,) = rendered("eks-512-gpus", "dynamo", nodes="5", prefill="2", model="/fsx/m")
    prefill, decode, service, *_ = yaml.safe_load_all(text)
    assert (prefill["spec"]["replicas"], decode["spec"]["replicas"]) == (2, 3)
    before, _, after, _ = pods(text)
    assert [item["name"] for item in before["containers"]] == ["worker"]
    assert [item["name"] for item in after["containers"]] == ["worker", "frontend", "etcd"]
    labels = decode["spec"]["leaderWorkerTemplate"]["leaderTemplate"]["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()
    for container in (*before["containers"], *after["containers"][:2]):
        environment = {item["name"]: item.get("value") for item in container["env"]}
        assert environment["ETCD_ENDPOINTS"] == "http://dynamo-train-decode-0.dynamo-train-decode:2379"
        assert environment["DYN_DISCOVERY_BACKEND"] == "etcd"
        assert "/fsx" in [mount["mountPath"] for mount in container["volumeMounts"]]


@pytest.mark.parametrize(
    ("driver", "efa", "code", "message"),
    [
        ("580.95.05", "1.49.0", 0, ""),
        ("535.1", "1.49.0", 1, r"FAILED: train-1: driver 535.1 is older than [\d.]+\n"),
        ("580.95.05", "1.9.0", 1, r"FAILED: train-2: efa-installer 1.9.0 is older than 1\.[\d.]+\n"),
        ("580.95.05", "", 0, r"train-1: the version of efa-installer is not known\n"),
    ],
)
def test_the_health_job_names_software_that_is_too_old(
    node: Node, driver: str, efa: str, code: int, message: str
) -> None:
    node.install(deep_check("p5en.48xlarge"))
    node.provide("dcgmi")
    node.provide("modinfo", "#!/bin/sh\necho 2.5\n")
    node.provide("nvidia-smi", f"#!/bin/sh\nfor gpu in 1 2 3 4 5 6 7 8; do echo {driver}; done\n")
    (node.root / "opt/amazon").mkdir(parents=True)
    if efa:
        (node.root / "opt/amazon/efa_installed_packages").write_text(f"# EFA installer version: {efa}\n")
    done = node.run("slurm-512-gpus:train/health")
    assert done.returncode == code, done.stdout + done.stderr
    assert re.search(message, done.stdout)
    assert ("older than" in done.stdout) == (code == 1)
