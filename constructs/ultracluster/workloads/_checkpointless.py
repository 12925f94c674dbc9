"""Checkpointless training: gangs of HyperPod's training operator whose processes recover from each other's memory.

A process that fails takes model and optimizer from a replica on other nodes, so that no step is lost. AWS publishes the
image, with NeMo and the program: https://github.com/aws/sagemaker-hyperpod-checkpointless-training, examples/llama3
(commit 08c4ff6 of 2026-04-07), and https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-checkpointless.html
(both read 2026-11-25).
"""

from ultracluster.catalogue.schedulers import hyperpod_add_ons as facts
from ultracluster.kubernetes import (
    Object,
    Platform,
    PlatformNodes,
    Team,
    node_pod,
    with_checkpoints,
)
from ultracluster.rules import Refusal
from ultracluster.workloads._kubernetes_gang import name_of, nodes_of
from ultracluster.workloads._room import JOB_IMAGE, JOB_NODES
from ultracluster.workloads._training_operator import operated
from ultracluster.workloads._workload import Settings

# Tensor and pipeline parallelism of its Llama 3 70B, and the copies of the optimizer that recover from each other.
_REPLICA_GPUS, _COPIES = 8 * 4, 2
_EXAMPLE = "/opt/amazon/examples/llama3"
_CONFIG = "llama3_70b_pretrain_checkpointless.yaml"
# The name by which its NCCL finds the plug-in of EFA, and the address by which ranks reach each other.
_START = (
    "set -eu; cd /opt/aws-ofi-nccl/lib; ln -sf libnccl-net-ofi.so libnccl-net-aws-ofi.so; "
    'export LD_LIBRARY_PATH="$PWD:${LD_LIBRARY_PATH:-}" MASTER_ADDR="${MASTER_ADDR:-$(hostname -i)}"; cd /; exec "$@"'
)
# Ranks find each other without a store; its example has the same value.
_ENVIRONMENT = {
    "GLOO_SOCKET_IFNAME": "eth0",
    "HPCT_USE_ROOTLESS": "1",
    "INPROCESS_RESTART": "1",
    "INPROCESS_RESTART_TIMEOUT": "1800",
}
# Each pair of ranks has ports of its own. Kubernetes counts this sysctl among the safe ones, so the pod is not
# privileged: https://kubernetes.io/docs/tasks/administer-cluster/sysctl-cluster (read 2026-11-25)
_PORTS = {"name": "net.ipv4.ip_local_port_range", "value": "20000 65535"}


def checkpointless_nodes(group: PlatformNodes) -> int:
    """Return the nodes by default: as many as are whole copies of the model, and no fewer than its two copies."""
    step = _step(group)
    return max(step, group.working // step * step)


def runs_checkpointless(group: PlatformNodes) -> bool:
    """Return True for a type for which AWS publishes recipes."""
    return group.instance_type.name in facts.CHECKPOINTLESS_TYPES


def checkpointless_job(platform: Platform, group: PlatformNodes, team: Team, given: Settings) -> list[Object]:
    """Return a checkpointless gang as a HyperPodPyTorchJob, and the network policy for its pods.

    Args:
        platform: The cluster.
        group: Node group.
        team: Team of the job.
        given: Settings: nodes, image, program, data, name.

    Raises:
        Refusal: If there is no image for Region and type, or the nodes are not whole copies of the model.
    """
    name = name_of("checkpointless", group, given)
    nodes, gpus = nodes_of(group, given.nodes or checkpointless_nodes(group)), group.instance_type.gpus
    if not given.program and nodes % (step := _step(group)):
        text = f"{_COPIES} copies of {_REPLICA_GPUS} GPUs are {step} nodes, and {nodes} is not a multiple of it"
        raise Refusal("", JOB_NODES(f"{text}: set another number of nodes, or program and its own configuration"))
    program = [given.program] if given.program else _llama(platform, nodes, gpus, given.data)
    command = [
        *("bash", "-c", _START, "checkpointless", "hyperpodrun", f"--nnodes={nodes}", f"--nproc-per-node={gpus}"),
        *("--tee=3", "--redirect=3", "--log_dir=/tmp/hyperpod", "--inprocess-restart", "--server-log-level=warning"),
        *program,
    ]
    image = given.image or _image(platform, group)
    pod = node_pod(platform, group, container="node", image=image, command=command, env=_ENVIRONMENT)
    pod = with_checkpoints(platform, group, {**pod, "securityContext": {"sysctls": [_PORTS]}}, name)
    first, *others = pod["containers"]
    # Its configuration writes its logs and its rare checkpoints there.
    env = [*first["env"], {"name": "CHECKPOINT_DIR", "value": "$(RUN)"}]
    pod = {**pod, "containers": [{**first, "env": env}, *others]}
    return operated(platform, group, team, name=name, nodes=nodes, pod=pod, annotations={})


def _step(group: PlatformNodes) -> int:
    return -(-_REPLICA_GPUS * _COPIES // group.instance_type.gpus)


def _llama(platform: Platform, nodes: int, gpus: int, data: str) -> list[str]:
    """Return its program for Llama 3 70B, without the faults that its configuration injects for a demonstration."""
    where = data or f"{next(iter(platform.volumes), '/workspace')}/data"
    return [
        *(f"{_EXAMPLE}/llama3_70b_pretrain_checkpointless.py", f"--config-path={_EXAMPLE}/config"),
        *(f"--config-name={_CONFIG}", f"trainer.devices={gpus}", f"trainer.num_nodes={nodes}"),
        *(f"dataset.dataset_path={where}", f"+dataset.val_dataset_path={where}"),
        "++callbacks.3.test_fault_config.fault_ranks=[]",
    ]


def _image(platform: Platform, group: PlatformNodes) -> str:
    if not runs_checkpointless(group):
        types = " and ".join(facts.CHECKPOINTLESS_TYPES)
        text = f"AWS publishes checkpointless recipes for {types}, and {group.name} has {group.instance_type.name}"
        raise Refusal("", JOB_IMAGE(f"{text}: set image to one with hyperpod_checkpointless_training"))
    if (account := facts.CHECKPOINTLESS_ACCOUNTS.get(platform.region)) is None:
        regions = ", ".join(sorted(facts.CHECKPOINTLESS_ACCOUNTS))
        text = f"AWS publishes the image of checkpointless training in {regions}, and not in {platform.region}"
        raise Refusal("", JOB_IMAGE(f"{text}: copy it into a registry of the account, and set image"))
    return facts.CHECKPOINTLESS_IMAGE.format(account, platform.region)
