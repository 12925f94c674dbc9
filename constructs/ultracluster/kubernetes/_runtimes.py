"""Training runtimes of the GPU node groups, so that a TrainJob only has an image and a command."""

from ultracluster.kubernetes._nodes import PlatformNodes
from ultracluster.kubernetes._objects import Object, make
from ultracluster.kubernetes._platform import Platform
from ultracluster.kubernetes._pods import near, node_pod

_API = "trainer.kubeflow.org/v1alpha1"

#: Placeholder of the image, which every TrainJob names: a registry that cannot exist.
JOB_IMAGE = "image-of-the-job.invalid/none:0"


def runtime_name(group: PlatformNodes) -> str:
    """Return the name of a group's runtime."""
    return f"torch-{group.name}"


def runtimes(platform: Platform) -> list[Object]:
    """Return a ClusterTrainingRuntime for each group with GPUs. Trainer requires the container name `node`.

    See: https://www.kubeflow.org/docs/components/trainer/operator-guides/runtime (read 2026-11-21)
    """
    return [_runtime(platform, group) for group in platform.gpu_groups]


def _runtime(platform: Platform, group: PlatformNodes) -> Object:
    pod: Object = {"spec": node_pod(platform, group, container="node", image=JOB_IMAGE)}
    if annotations := near(platform, group):
        pod["metadata"] = {"annotations": annotations}
    job = {
        "name": "node",
        "template": {
            "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
            "spec": {"template": pod},
        },
    }
    spec: Object = {
        "mlPolicy": {"numNodes": 1, "torch": {}},
        "template": {"spec": {"failurePolicy": {"maxRestarts": 3}, "replicatedJobs": [job]}},
    }
    if platform.scheduler == "volcano":
        spec["podGroupPolicy"] = {"volcano": {}}
    labels = {"trainer.kubeflow.org/framework": "torch"}
    return make(_API, "ClusterTrainingRuntime", runtime_name(group), labels=labels, spec=spec)
