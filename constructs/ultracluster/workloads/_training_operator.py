"""Gangs that the training operator of SageMaker HyperPod runs: the kind `HyperPodPyTorchJob`.

The operator restarts the processes of a gang when one fails, hangs or loses its node, and keeps the pods that work.
See: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-usage.html (read 2026-11-24)
"""

from ultracluster.catalogue.schedulers import hyperpod_kubernetes
from ultracluster.kubernetes import (
    REPORTER,
    Object,
    Platform,
    PlatformNodes,
    Team,
    from_operator,
    job_policy,
    make,
    metrics_port,
    near,
    node_pod,
    operated_command,
    with_checkpoints,
    with_reporting,
)
from ultracluster.rules import Refusal
from ultracluster.workloads._containers import layer_of
from ultracluster.workloads._images import AGENT_IMAGE
from ultracluster.workloads._kubernetes_gang import (
    TRAINING,
    between_checkpoints,
    image_for,
    name_of,
    nodes_of,
    program_of,
    queue_metadata,
    slices,
)
from ultracluster.workloads._room import JOB_NODES
from ultracluster.workloads._workload import Settings

_POD_LABEL = "HPJob"
# Those of AWS's example: three restarts of processes in six hours, then one of the job.
_RESTARTS: Object = {"evalPeriodSeconds": 21_600, "maxFullJobRestarts": 1, "numRestartBeforeFullJobRestart": 3}
_MOST_RESTARTS = 50
# Those of AWS's example of elastic training. The operator sends SIGUSR1 before a job changes its size, upon which the
# program of the job files writes a checkpoint and ends; it continues on any number of nodes.
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-elastic-training.html (read 2026-11-24)
_ELASTIC: Object = {
    "faultyScaleDownTimeoutInSeconds": 30,
    "gracefulShutdownTimeoutInSeconds": 600,
    "replicaIncrementStep": 1,
    "scalingTimeoutInSeconds": 60,
}
# A collective that hangs fails after ten minutes by PyTorch's own timeout, which restarts the gang. This finds what
# hangs elsewhere. Without a time for the first line: only rank 0 writes lines, and each rank has the rule.
# https://github.com/pytorch/pytorch, torch/distributed/constants.py (v2.13.0), and log_agent.py in
# hyperpod-elastic-agent 1.1.3 on PyPI (both read 2026-11-24)
_HANGING: Object = {
    "expectedRecurringFrequencyInSeconds": 1_800,
    "logPattern": '.*"event": "step".*',
    "name": "JobHangingDetection",
    "stopPattern": '.*"event": "(requested )?end".*',
}


def pytorch_job(
    platform: Platform, group: PlatformNodes, team: Team, given: Settings, *, elastic: bool = False
) -> list[Object]:
    """Return a gang as a HyperPodPyTorchJob, and the network policy for its pods.

    Args:
        platform: The cluster.
        group: Node group.
        team: Team of the job.
        given: Settings.
        elastic: Whether the job also runs on fewer nodes, at least `min_nodes`. Otherwise, it has all or none.

    Raises:
        Refusal: If the group has too few nodes, or the name is not valid for a job.
    """
    name = name_of("elastic" if elastic else "pretrain-hyperpod", group, given)
    requested, gpus, program = nodes_of(group, given.nodes), group.instance_type.gpus, program_of(given)
    if elastic and not 1 <= given.min_nodes <= requested:
        text = f"min_nodes is 1 to {requested}, the nodes of the job, got {given.min_nodes}"
        raise Refusal("", JOB_NODES(text))
    # The first process of its container, so that it gets the signal before the pod ends. It reads the lines of its
    # rules from files in the directory of the logs.
    command = ["hyperpodrun", f"--nnodes={requested}", f"--nproc-per-node={gpus}", "--tee=3"]
    command = operated_command(*command, "--log_dir=/tmp/hyperpod", REPORTER, *program)
    if not given.image:
        # `exec`, so that it stays the first process.
        command = ["bash", "-c", f'{layer_of(AGENT_IMAGE)}exec "$@"\n', "node", *command]
    image, env = given.image or image_for(group, AGENT_IMAGE), between_checkpoints(requested, given.checkpoint_seconds)
    pod = node_pod(platform, group, container="node", image=image, command=command, env=env)
    pod = with_checkpoints(platform, group, with_reporting(pod, group), name)
    # A job that changes its size has no whole number of pieces.
    pieces = {} if elastic else slices(platform, group, requested)
    # Kueue admits the first replicas as a whole, so an elastic job starts with the fewest, and grows.
    first = given.min_nodes if elastic else requested
    created, allowed = operated(
        platform, group, team, name=name, nodes=first, pod=pod, annotations={**pieces, **metrics_port()}
    )
    spec = created["spec"]
    if program[0] == TRAINING:
        spec["runPolicy"]["logMonitoringConfiguration"] = [_HANGING]
    if elastic:
        spec["replicaSpecs"][0]["maxReplicas"] = requested
        spec["elasticPolicy"] = {"maxReplicas": requested, "minReplicas": given.min_nodes, **_ELASTIC}
    return [created, allowed]


def operated(
    platform: Platform,
    group: PlatformNodes,
    team: Team,
    *,
    name: str,
    nodes: int,
    pod: Object,
    annotations: Object,
) -> list[Object]:
    """Return a gang of pods whose first container has the agent of the operator, and the network policy for them."""
    first, *others = pod["containers"]
    port = {"containerPort": hyperpod_kubernetes.AGENT_PORT}
    template = {
        "metadata": {"annotations": {**near(platform, group), **annotations}},
        "spec": {**pod, "containers": [{**first, "ports": [port]}, *others]},
    }
    spec: Object = {
        "nprocPerNode": str(group.instance_type.gpus),
        "replicaSpecs": [{"name": "node", "replicas": nodes, "template": template}],
        "runPolicy": {"cleanPodPolicy": "All", "jobMaxRetryCount": _MOST_RESTARTS, "restartPolicy": {**_RESTARTS}},
    }
    kind, version, service = hyperpod_kubernetes.TRAINING_KIND.split(".", 2)
    return [
        make(f"{service}/{version}", kind, name, **queue_metadata(platform, team), spec=spec),
        job_policy(name, team.name, {_POD_LABEL: name}, further=from_operator()),
    ]
