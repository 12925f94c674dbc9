"""Pods of gangs that continue from a checkpoint: its directory, the request before a pod ends, and caches."""

from ultracluster.kubernetes._nodes import PlatformNodes
from ultracluster.kubernetes._objects import Object
from ultracluster.kubernetes._platform import Platform
from ultracluster.kubernetes._pods import scratch_of
from ultracluster.kubernetes._reporting import PYTHON

_GANG = f"{PYTHON}/ultracluster_gang.sh"
#: Exit code of a program that ended as requested: the gang restarts, at no cost to its restarts.
REQUESTED_END = 85
# As long as jobs of Slurm have before their time limit. A pod that has written its checkpoint ends at once. A Spot
# Instance leaves two minutes of it:
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html (read 2026-11-23)
_GRACE_SECONDS = 300
_TOKEN = {"key": "token", "name": "hugging-face", "optional": True}


def gang_command(*program: str) -> list[str]:
    """Return the command of a pod of a gang that runs a program."""
    return ["bash", _GANG, "run", *program]


def operated_command(*program: str) -> list[str]:
    """Return the command of a pod that runs the program of an operator as its first process."""
    return ["bash", _GANG, "over-efa", *program]


def run_directory(platform: Platform) -> str:
    """Return the directory of the runs, on the first file system that pods write or, without one, in the container."""
    return f"{platform.shared or '/workspace'}/runs"


def cached(platform: Platform, group: PlatformNodes) -> list[Object]:
    """Return the environment that puts caches of compilers on the disks of the node; empty without such disks."""
    scratch = scratch_of(platform, group)
    names = ("XDG_CACHE_HOME", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR")
    return [_env(name, f"{scratch}/cache/$(POD_NAMESPACE)/{name.lower()}") for name in names] if scratch else []


def hugging_face() -> Object:
    """Return the environment variable with the token of a team, for models that few accounts may read."""
    return {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": _TOKEN}}


def namespaced() -> Object:
    """Return the environment variable with the namespace of a pod."""
    return _field("POD_NAMESPACE", "metadata.namespace")


def with_resuming(platform: Platform, group: PlatformNodes, pod: Object) -> Object:
    """Return the spec of a pod whose program finds its checkpoints, and writes one before the pod ends.

    Pods share a cache of what they download from Hugging Face.

    The hook requests a checkpoint of all pods of the gang when one is drained, preempted or deleted; a pod that has
    failed already ends the wait. The attempt of the gang is the Job that JobSet creates for it.

    See: https://kubernetes.io/docs/concepts/containers/container-lifecycle-hooks and
    https://kubernetes.io/docs/reference/labels-annotations-taints/#batch-kubernetes-io-controller-uid (read 2026-11-23)
    """
    first, *others = pod["containers"]
    env = [
        namespaced(),
        _field("JOB_NAME", "metadata.labels['jobset.sigs.k8s.io/jobset-name']"),
        _field("ATTEMPT", "metadata.labels['batch.kubernetes.io/controller-uid']"),
        _env("RUN", f"{run_directory(platform)}/$(POD_NAMESPACE)/$(JOB_NAME)"),
        _env("CHECKPOINT_REQUEST", "$(RUN)/.requests/$(ATTEMPT)"),
        _env("ULTRACLUSTER_CHECKPOINTS", "$(RUN)"),
        _env("ULTRACLUSTER_JOB_STATE", "$(RUN)/ultracluster-job.json"),
        *([_env("HF_HOME", f"{platform.shared}/huggingface/$(POD_NAMESPACE)")] if platform.shared else []),
        *([] if platform.internet else [_env("HF_HUB_OFFLINE", "1")]),
        *cached(platform, group),
    ]
    hook = {"preStop": {"exec": {"command": ["bash", _GANG, "stop"]}}}
    container = {**first, "env": [*first["env"], *env], "lifecycle": hook}
    return {**pod, "containers": [container, *others], "terminationGracePeriodSeconds": _GRACE_SECONDS}


def with_checkpoints(platform: Platform, group: PlatformNodes, pod: Object, name: str) -> Object:
    """Return the spec of a pod whose program finds its checkpoints, of a job that its operator restarts."""
    first, *others = pod["containers"]
    env = [
        namespaced(),
        _env("RUN", f"{run_directory(platform)}/$(POD_NAMESPACE)/{name}"),
        _env("ULTRACLUSTER_CHECKPOINTS", "$(RUN)"),
        _env("ULTRACLUSTER_JOB_STATE", "$(RUN)/ultracluster-job.json"),
        *cached(platform, group),
    ]
    return {**pod, "containers": [{**first, "env": [*first["env"], *env]}, *others]}


def _env(name: str, value: str) -> Object:
    return {"name": name, "value": value}


def _field(name: str, path: str) -> Object:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
