"""Inference on several nodes: replicas of a model, each over the GPUs of a few nodes."""

from ultracluster.kubernetes import (
    Object,
    Platform,
    PlatformNodes,
    Team,
    check_job,
    from_collectors,
    job_name,
    job_policy,
    make,
    metrics_port,
    near,
    node_pod,
)
from ultracluster.rules import Refusal
from ultracluster.workloads._images import VLLM
from ultracluster.workloads._kubernetes_gang import image_for, queue_labels
from ultracluster.workloads._limits import JOB_NODES

_PORT = 8_000


def leader_worker_set(
    platform: Platform,
    group: PlatformNodes,
    team: Team,
    *,
    name: str | None = None,
    size: int = 2,
    replicas: int = 1,
    model: str = "",
    tensor_parallel: int | None = None,
    image: str = "",
) -> list[Object]:
    """Return vLLM as a LeaderWorkerSet, which restarts leader and workers as one, and its Service.

    Args:
        platform: The cluster.
        group: Node group.
        team: Team of the job.
        name: Name of the set. By default, `vllm-` and the group.
        size: Nodes of a replica.
        replicas: Number of replicas.
        model: Directory of the model. By default, `model` of the first file system.
        tensor_parallel: GPUs of a tensor-parallel group, which divide those of a replica. By default, those of a node.
        image: Image of every pod. By default, the pinned one.

    Raises:
        Refusal: If the group has too few nodes, or the name is not valid for a job.

    See: https://lws.sigs.k8s.io/docs (0.10) and https://docs.vllm.ai/en/stable/serving/parallelism_scaling.html, whose
    section "Running vLLM with MultiProcessing" has these flags (read 2026-11-21)
    """
    name = job_name("vllm", group.name) if name is None else name
    check_job(name)
    if size < 1 or replicas < 1 or size * replicas > group.working:
        text = f"size times replicas is 1 to {group.working}, the nodes of {group.name}, got {size} times {replicas}"
        raise Refusal("", JOB_NODES(text))
    tensor = tensor_parallel or group.instance_type.gpus
    serve = [
        "vllm",
        "serve",
        model or f"{next(iter(platform.volumes), '/workspace')}/model",
        f"--port={_PORT}",
        f"--tensor-parallel-size={tensor}",
        f"--pipeline-parallel-size={size * group.instance_type.gpus // tensor}",
        f"--nnodes={size}",
        "--node-rank=$(LWS_WORKER_INDEX)",
        "--master-addr=$(LWS_LEADER_ADDRESS)",
    ]
    pods = {"leaderworkerset.sigs.k8s.io/name": name}
    template: Object = {"restartPolicy": "RecreateGroupOnPodRestart", "size": size}
    template["leaderTemplate"] = _template(platform, group, serve, image, role="leader")
    template["workerTemplate"] = _template(platform, group, [*serve, "--headless"], image, role="worker")
    service = {
        "ports": [{"name": "http", "port": _PORT, "protocol": "TCP", "targetPort": _PORT}],
        "selector": {**pods, "role": "leader"},
    }
    callers = {
        "ingress": [
            {"from": [{"podSelector": {}}], "ports": [{"port": _PORT, "protocol": "TCP"}]},
            from_collectors(_PORT),
        ],
        "podSelector": {"matchLabels": {**pods, "role": "leader"}},
        "policyTypes": ["Ingress"],
    }
    return [
        make(
            "leaderworkerset.x-k8s.io/v1",
            "LeaderWorkerSet",
            name,
            namespace=team.name,
            labels=queue_labels(platform, team.name),
            spec={"leaderWorkerTemplate": template, "replicas": replicas, "startupPolicy": "LeaderCreated"},
        ),
        make("v1", "Service", name, namespace=team.name, spec=service),
        job_policy(name, team.name, pods),
        make("networking.k8s.io/v1", "NetworkPolicy", f"callers-{name}", namespace=team.name, spec=callers),
    ]


def _template(platform: Platform, group: PlatformNodes, command: list[str], image: str, *, role: str) -> Object:
    pod = node_pod(platform, group, container="vllm", image=image or image_for(group, VLLM), command=command)
    if role == "leader":
        pod["containers"][0]["ports"] = [{"containerPort": _PORT, "name": "http", "protocol": "TCP"}]
        pod["containers"][0]["readinessProbe"] = {"httpGet": {"path": "/health", "port": _PORT}, "periodSeconds": 10}
    head: Object = {"labels": {"role": role}}
    if annotations := {**near(platform, group), **(metrics_port(_PORT) if role == "leader" else {})}:
        head["annotations"] = annotations
    return {"metadata": head, "spec": pod}
