"""Inference on several nodes: replicas of a model, each over the GPUs of a few nodes."""

from collections.abc import Callable
from dataclasses import dataclass

from ultracluster.kubernetes import (
    Object,
    Platform,
    PlatformNodes,
    Team,
    cached,
    from_collectors,
    hugging_face,
    job_policy,
    make,
    metrics_port,
    namespaced,
    near,
    node_pod,
)
from ultracluster.rules import Refusal
from ultracluster.workloads._frameworks import SGLANG_OPTIONS, VLLM_OPTIONS, Framework
from ultracluster.workloads._images import SGLANG, VLLM, ContainerImage
from ultracluster.workloads._kubernetes_gang import image_for, name_of, queue_metadata
from ultracluster.workloads._room import JOB_NODES
from ultracluster.workloads._workload import Settings

_RENDEZVOUS = 29_500
# SGLang generates a token for each probe: it answers after a second at the earliest, the limit of Kubernetes otherwise,
# and gives up after 20 s. https://github.com/sgl-project/sglang, python/sglang/srt/entrypoints/http_server.py (commit
# 0025436), and https://github.com/modelplaneai/modelplane/issues/206 (read 2026-11-27)
_ANSWER_SECONDS = 30
#: Time of a server to end, as that of a gang for its checkpoint: Kubernetes kills it after 30 s by default. SGLang ends
#: after its requests, and vLLM at once, unless an option has a time: entrypoints/launcher.py of vLLM 0.27.0,
#: managers/tokenizer_manager.py of SGLang 0.5.19. Dynamo takes 5, 30 and 30 s: common/utils/graceful_shutdown.py of
#: 1.6.1 (read 2026-11-28). A Service sends requests until its endpoint is gone.
END_SECONDS = 300
_DRAIN_SECONDS, _LEAVE_SECONDS = 240, 10
_PREFERRED = "kueue.x-k8s.io/podset-preferred-topology"
_REQUIRED = "kueue.x-k8s.io/podset-required-topology"


@dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    """A server of inference on several nodes.

    Args:
        name: Name of its container, and beginning of the name of its set.
        image: Its image.
        port: Port of its API and its metrics, on the leader.
        options: Its options for settings.
        command: Returns its command, for a model, a port, GPUs of a tensor-parallel group, stages and nodes.
        worker: Arguments of nodes other than the leader.
    """

    name: str
    image: ContainerImage
    port: int
    options: Framework
    command: Callable[[str, int, int, int, int], list[str]]
    worker: tuple[str, ...] = ()


#: https://docs.vllm.ai/en/stable/serving/parallelism_scaling.html, section "Running vLLM with MultiProcessing" (read
#: 2026-11-21)
VLLM_SERVER = Server(
    name="vllm",
    image=VLLM,
    port=8_000,
    options=VLLM_OPTIONS,
    command=lambda model, port, tensor, stages, nodes: [
        *("vllm", "serve", model, f"--port={port}"),
        *(f"--tensor-parallel-size={tensor}", f"--pipeline-parallel-size={stages}"),
        *(f"--nnodes={nodes}", "--node-rank=$(LWS_WORKER_INDEX)", "--master-addr=$(LWS_LEADER_ADDRESS)"),
        *([f"--shutdown-timeout={_DRAIN_SECONDS}"] if nodes == 1 else []),
    ],
    worker=("--headless",),
)
#: https://docs.sglang.io/docs/references/multi_node_deployment/multi_node.md (read 2026-11-23)
SGLANG_SERVER = Server(
    name="sglang",
    image=SGLANG,
    port=30_000,
    options=SGLANG_OPTIONS,
    command=lambda model, port, tensor, stages, nodes: [
        *("python3", "-m", "sglang.launch_server", "--model-path", model),
        *(f"--tp-size={tensor}", "--host=0.0.0.0", f"--port={port}", "--enable-metrics", f"--pp-size={stages}"),
        *(f"--nnodes={nodes}", "--node-rank=$(LWS_WORKER_INDEX)"),
        f"--dist-init-addr=$(LWS_LEADER_ADDRESS):{_RENDEZVOUS}",
    ],
)


def leader_worker_set(
    server: Server, platform: Platform, group: PlatformNodes, team: Team, given: Settings
) -> list[Object]:
    """Return a server as a LeaderWorkerSet, which restarts leader and workers as one, and its Service.

    Args:
        server: vLLM or SGLang.
        platform: The cluster.
        group: Node group.
        team: Team of the job.
        given: Settings. The nodes are those of a replica, by default 1; the model is by default `model` of the first
            file system.

    Raises:
        Refusal: If the group has too few nodes, or the name is not valid for a job.

    See: https://lws.sigs.k8s.io/docs (0.10, read 2026-11-21)
    """
    name, size, replicas = name_of(server.name, group, given), given.nodes or 1, given.replicas
    if size < 1 or replicas < 1 or size * replicas > group.working:
        text = f"size times replicas is 1 to {group.working}, the nodes of {group.name}, got {size} times {replicas}"
        raise Refusal("", JOB_NODES(text))
    tensor = given.tensor_parallel or group.instance_type.gpus
    stages = size * group.instance_type.gpus // tensor
    model = given.model or f"{next(iter(platform.volumes), '/workspace')}/model"
    serve = [*server.command(model, server.port, tensor, stages, size), *server.options.options(given)]
    pods: Object = {"leaderworkerset.sigs.k8s.io/name": name}
    leader = {**pods, "role": "leader"}
    template: Object = {"restartPolicy": "RecreateGroupOnPodRestart", "size": size}
    template["leaderTemplate"] = _template(platform, group, server, serve, given.image, role="leader", size=size)
    template["workerTemplate"] = _template(
        platform, group, server, [*serve, *server.worker], given.image, role="worker", size=size
    )
    return [
        make(
            "leaderworkerset.x-k8s.io/v1",
            "LeaderWorkerSet",
            name,
            **queue_metadata(platform, team),
            spec={"leaderWorkerTemplate": template, "replicas": replicas, "startupPolicy": "LeaderCreated"},
        ),
        disruption_budget(name, team, pods, size=size, replicas=replicas),
        *api_objects(name, team, pods, server.port, api=leader, scraped=leader, metrics=server.port),
    ]


def disruption_budget(name: str, team: Team, pods: Object, *, size: int, replicas: int) -> Object:
    """Return the object that lets a drain end one replica after another.

    One replica may be drained at any time. Its budget replaces that of an earlier file with more replicas.

    Args:
        name: Name of the set.
        team: Team of the server.
        pods: Labels of its pods.
        size: Nodes of a replica. The eviction of one of its pods restarts all of them.
        replicas: Number of replicas.

    See: https://kubernetes.io/docs/tasks/run-application/configure-pdb (read 2026-11-27): a set whose controller has no
    number of replicas needs a whole number, and a pod that is not ready may be evicted at any time.
    """
    spec = {
        # A worker has no readiness probe, and is ready while its replica still loads the weights.
        "minAvailable": replicas * size - 1 if replicas > 1 else 0,
        "selector": {"matchLabels": pods},
        "unhealthyPodEvictionPolicy": "AlwaysAllow",
    }
    return make("policy/v1", "PodDisruptionBudget", name, namespace=team.name, spec=spec)


def api_objects(
    name: str, team: Team, pods: Object, port: int, *, api: Object, scraped: Object, metrics: int
) -> list[Object]:
    """Return the Service of the API of a server, and the network policies of its pods and of their callers.

    LeaderWorkerSet has a headless Service with the name of the set, by which workers resolve their leader. It leaves
    one that exists as it is, so that the API has another name. The selector of the Service and that of the egress rule
    are the same, because the VPC CNI allows the address of a Service only then.

    See: https://github.com/kubernetes-sigs/lws, pkg/utils/controller/controller_utils.go, and
    https://github.com/aws/amazon-network-policy-controller-k8s, pkg/resolvers/endpoints.go,
    getMatchingServiceClusterIPs (read 2026-11-27)
    """
    ports = [{"port": port, "protocol": "TCP"}]
    service = {"ports": [{"name": "http", **ports[0], "targetPort": port}], "selector": api}
    ingress = {
        "ingress": [{"from": [{"podSelector": {}}], "ports": ports}, from_collectors(metrics)],
        "podSelector": {"matchLabels": scraped},
        "policyTypes": ["Ingress"],
    }
    egress = {
        "egress": [{"ports": ports, "to": [{"podSelector": {"matchLabels": api}}]}],
        "podSelector": {},
        "policyTypes": ["Egress"],
    }
    return [
        make("v1", "Service", f"{name}-api", namespace=team.name, spec=service),
        job_policy(name, team.name, pods),
        make("networking.k8s.io/v1", "NetworkPolicy", f"calls-{name}", namespace=team.name, spec=egress),
        make("networking.k8s.io/v1", "NetworkPolicy", f"callers-{name}", namespace=team.name, spec=ingress),
    ]


def as_root(container: Object, *capabilities: str) -> None:
    """Set root as the user of a container of a server, and add capabilities.

    NVIDIA's images run as user 1000, for whom IPC_LOCK has no effect, and who cannot write caches of root on the node.

    See: https://github.com/NVIDIA/nvcf/issues/1353 and https://github.com/ai-dynamo/dynamo/pull/11506, recipes, which
    do so (read 2026-11-27)
    """
    context = container["securityContext"]
    context["runAsUser"] = 0
    context["capabilities"]["add"] += capabilities


def readiness(port: int) -> Object:
    """Return the readiness probe of a server."""
    return {"httpGet": {"path": "/health", "port": port}, "periodSeconds": 10, "timeoutSeconds": _ANSWER_SECONDS}


def _template(
    platform: Platform, group: PlatformNodes, server: Server, command: list[str], image: str, *, role: str, size: int
) -> Object:
    image = image or image_for(group, server.image)
    pod = node_pod(platform, group, container=server.name, image=image, command=command)
    main = pod["containers"][0]
    main["env"] += [namespaced(), hugging_face(), *cached(platform, group)]
    as_root(main)
    # Of several nodes, one that is gone would hold the others back: their requests never end.
    if size == 1:
        pod["terminationGracePeriodSeconds"] = END_SECONDS
        main["lifecycle"] = {"preStop": {"sleep": {"seconds": _LEAVE_SECONDS}}}
    if role == "leader":
        main["ports"] = [{"containerPort": server.port, "name": "http", "protocol": "TCP"}]
        main["readinessProbe"] = readiness(server.port)
    head: Object = {"labels": {"role": role}}
    if annotations := {**_together(platform, group, size), **(metrics_port(server.port) if role == "leader" else {})}:
        head["annotations"] = annotations
    return {"metadata": head, "spec": pod}


def _together(platform: Platform, group: PlatformNodes, size: int) -> dict[str, str]:
    """Return the annotations of the pods of a replica: near each other, and in one NVLink domain that holds them.

    Kueue places leader and workers one by one, unless a group joins them.

    See: https://kueue.sigs.k8s.io/docs/tasks/run/leaderworkerset (0.19, read 2026-11-27)
    """
    placed = near(platform, group)
    level = placed.pop(_PREFERRED, "")
    if not level:
        return placed
    in_domain = group.ultraserver is not None and size <= group.ultraserver.instances
    return {
        (_REQUIRED if in_domain else _PREFERRED): level,
        **({"kueue.x-k8s.io/podset-group-name": "replica"} if size > 1 else {}),
    }
