"""Progress of training programs: the files that run and report them, and the port of their metrics."""

from ultracluster.boot import scripts
from ultracluster.kubernetes._nodes import PlatformNodes
from ultracluster.kubernetes._objects import Object, make

#: Directory of the files in the pods of gangs.
PYTHON = "/opt/ultracluster/python"
#: Program that runs a training program and reports its progress.
REPORTER = f"{PYTHON}/ultracluster_run.py"
_FILES = (
    "ultracluster_job.py",
    "ultracluster_run.py",
    "ultracluster_gang.sh",
    "ultracluster_progress.sh",
    "ultracluster_efa.sh",
    "ultracluster_gate.py",
    "ultracluster_gate_pairs.py",
    "ultracluster_all_reduce.py",
    "ultracluster_train.py",
    "ultracluster_model.py",
    "ultracluster_data.py",
    "ultracluster_checkpoint.py",
    "ultracluster_titan.py",
    "ultracluster_finetune.py",
)
_NAME = "ultracluster-job"
_PORT = 9401
#: The namespace of the agent that reads the metrics of pods.
_COLLECTORS = "ultracluster-metrics"


def metrics_port(port: int = _PORT) -> dict[str, str]:
    """Return the annotation of a pod that serves metrics."""
    return {"ultracluster/metrics-port": str(port)}


def from_collectors(port: int = _PORT) -> Object:
    """Return the ingress rule that allows the agent to read the metrics of a pod."""
    collectors = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": _COLLECTORS}}}
    return {"from": [collectors], "ports": [{"port": port, "protocol": "TCP"}]}


def helper_files(namespace: str) -> Object:
    """Return the ConfigMap with the files of gangs."""
    return make("v1", "ConfigMap", _NAME, namespace=namespace, data={name: scripts.text(name) for name in _FILES})


def with_reporting(pod: Object, group: PlatformNodes) -> Object:
    """Return the spec of a pod whose first container can report: files, port, peak of its GPUs, restarts.

    JobSet labels each pod with the number of restarts: https://github.com/kubernetes-sigs/jobset,
    pkg/constants/constants.go (RestartsKey, read 2026-11-23). Without the label the variable is empty.
    """
    first, *others = pod["containers"]
    attempt = {"fieldRef": {"fieldPath": "metadata.labels['jobset.sigs.k8s.io/restart-attempt']"}}
    peak = f"{group.instance_type.gpu.bf16_pflops * 1e15:.0f}" if group.instance_type.gpu else ""
    env = [
        {"name": "ULTRACLUSTER_JOB_PORT", "value": str(_PORT)},
        {"name": "ULTRACLUSTER_GPU_FLOPS", "value": peak},
        {"name": "JOBSET_RESTART_COUNT", "valueFrom": attempt},
    ]
    mount = {"mountPath": PYTHON, "name": _NAME, "readOnly": True}
    container = {**first, "env": [*first["env"], *env], "volumeMounts": [*first["volumeMounts"], mount]}
    volume = {"configMap": {"name": _NAME}, "name": _NAME}
    return {**pod, "containers": [container, *others], "volumes": [*pod["volumes"], volume]}
