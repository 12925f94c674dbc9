"""Training runtimes of the GPU node groups, so that a TrainJob only has an image and a command."""

from ultracluster.kubernetes._gate import LEFT_OUT, with_gate
from ultracluster.kubernetes._nodes import PlatformNodes
from ultracluster.kubernetes._objects import Object, make
from ultracluster.kubernetes._platform import Platform
from ultracluster.kubernetes._pods import near, node_pod
from ultracluster.kubernetes._reporting import metrics_port, with_reporting
from ultracluster.kubernetes._resuming import REQUESTED_END, with_resuming

_API = "trainer.kubeflow.org/v1alpha1"

# Restarts of a gang whose program failed before it got further than the attempt before.
_RESTARTS = 3

#: Failure policy of a gang, as a JobSet has it. A job that failed because its node was drained, repaired or lost, that
#: ended as requested, that got further than before, or that leaves a bad node out, restarts the gang and costs it no
#: restart. https://jobset.sigs.k8s.io/docs/tasks/handling_host_maintenance (read 2026-11-22)
GANG_FAILURES: Object = {
    "maxRestarts": _RESTARTS,
    "rules": [
        {
            "action": "RestartJobSetAndIgnoreMaxRestarts",
            "name": "disruption",
            "onJobFailureReasons": ["PodFailurePolicy"],
        }
    ],
}
#: The part of its Job: the first failed pod fails the Job, and a disrupted pod does so for its own reason.
#: https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-failure-policy (read 2026-11-22). Kueue ends pods
#: that wait for a node which was cordoned: https://github.com/kubernetes-sigs/kueue (0.19.2),
#: pkg/controller/tas/node_controller.go (read 2026-11-26).
GANG_JOB: Object = {
    "backoffLimit": 0,
    "podFailurePolicy": {
        "rules": [
            *(
                {"action": "FailJob", "onPodConditions": [{"status": "True", "type": type}]}
                for type in ("DisruptionTarget", "TerminatedByKueue")
            ),
            {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [REQUESTED_END, LEFT_OUT]}},
        ]
    },
}

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
    # JobSet's webhook writes `OnFailure` where nothing is written, and pods would restart beside the gang.
    # https://github.com/kubernetes-sigs/jobset, pkg/webhooks/jobset_webhook.go (commit 08dfbdf, read 2026-11-22)
    pod_spec = with_reporting(node_pod(platform, group, container="node", image=JOB_IMAGE), group)
    pod: Object = {
        "metadata": {"annotations": {**near(platform, group), **metrics_port()}},
        "spec": {**with_gate(group, with_resuming(platform, group, pod_spec)), "restartPolicy": "Never"},
    }
    job = {
        "name": "node",
        "template": {
            "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
            "spec": {**GANG_JOB, "template": pod},
        },
    }
    runtime: Object = {
        "mlPolicy": {"numNodes": 1, "torch": {}},
        "template": {"spec": {"failurePolicy": GANG_FAILURES, "replicatedJobs": [job]}},
    }
    if platform.scheduler == "volcano":
        runtime["podGroupPolicy"] = {"volcano": {}}
    labels = {"trainer.kubeflow.org/framework": "torch"}
    return make(_API, "ClusterTrainingRuntime", runtime_name(group), labels=labels, spec=runtime)
