"""Inference whose prompts and tokens are computed on separate nodes: Dynamo with vLLM and NIXL."""

from importlib import resources

from ultracluster.kubernetes import (
    Object,
    Platform,
    PlatformNodes,
    Team,
    cached,
    check_job,
    hugging_face,
    job_name,
    make,
    metrics_port,
    namespaced,
    near,
    node_pod,
)
from ultracluster.workloads._frameworks import VLLM_OPTIONS
from ultracluster.workloads._images import DYNAMO, ETCD
from ultracluster.workloads._kubernetes_form import KubernetesForm
from ultracluster.workloads._kubernetes_gang import image_for, queue_metadata
from ultracluster.workloads._kubernetes_inference import END_SECONDS, api_objects, as_root, disruption_budget, readiness
from ultracluster.workloads._workload import Settings

_API, _METRICS, _ETCD = 8_000, 9_090, 2_379
_NODES = 2
# Beside a worker, which has the whole node but for one core and 2 GiB.
_FRONTEND = {"cpu": "800m", "memory": "1536Mi"}
_STORE = {"cpu": "200m", "memory": "512Mi"}
_LABEL = "ultracluster/serves"


def disaggregated(platform: Platform, group: PlatformNodes, team: Team, given: Settings) -> list[Object]:
    """Return a set of nodes that compute prompts, one of nodes that compute tokens, and the Service of the API.

    Each node is a replica of the model. The API runs beside each worker that computes tokens, and so does etcd, of
    which that of the first one is used.

    See: https://aws.github.io/deep-learning-containers/dynamo (read 2026-11-24)
    """
    name = job_name("dynamo", group.name)
    nodes = given.nodes or min(_NODES, group.working)
    prefill = given.prefill or max(1, nodes // 2)
    pods: Object = {_LABEL: name}
    api = {**pods, "role": "decode"}
    sets, budgets = [], []
    for role, replicas in (("prefill", prefill), ("decode", nodes - prefill)):
        sets.append(_set(platform, group, team, given, name, role=role, replicas=replicas))
        budget = disruption_budget(f"{name}-{role}", team, {**pods, "role": role}, size=1, replicas=replicas)
        budgets.append(budget)
    return [*sets, *api_objects(name, team, pods, _API, api=api, scraped=pods, metrics=_METRICS), *budgets]


def _set(
    platform: Platform, group: PlatformNodes, team: Team, given: Settings, name: str, *, role: str, replicas: int
) -> Object:
    check_job(f"{name}-{role}")
    directory = next(iter(platform.volumes), "/workspace")
    text = resources.files(__package__).joinpath("loads", "dynamo.sh").read_text(encoding="utf-8")
    image = given.image or image_for(group, DYNAMO)
    env = {
        "gpus_per_node": str(group.instance_type.gpus),
        "DYN_REQUEST_PLANE": "tcp",
        "DYN_EVENT_PLANE": "zmq",
        "DYN_DISCOVERY_BACKEND": "etcd",
        # The first pod of the set, by its headless Service.
        "ETCD_ENDPOINTS": f"http://{name}-decode-0.{name}-decode:{_ETCD}",
        "DYN_SYSTEM_PORT": str(_METRICS),
    }
    model = given.model or f"{directory}/model"
    command = ["bash", "-c", f'{text}worker {role} "$@"\n', "worker", model, *VLLM_OPTIONS.options(given)]
    pod = node_pod(
        platform, group, container="worker", image=image, command=command, env=env, beside_launcher=role == "decode"
    )
    pod["terminationGracePeriodSeconds"] = END_SECONDS
    plain = {**pod, "containers": [*pod["containers"]]}
    main = pod["containers"][0]
    main["env"] += [namespaced(), hugging_face(), *cached(platform, group)]
    as_root(main, "SYS_PTRACE")
    probed = {**main, "readinessProbe": readiness(_METRICS)}
    pod["containers"] = [probed]
    if role == "decode":
        pod["containers"] += [_frontend(main, image, text), _store(group)]
    annotations = {**near(platform, group), **metrics_port(_METRICS)}
    head = {"annotations": annotations, "labels": {_LABEL: name, "role": role}}
    return make(
        "leaderworkerset.x-k8s.io/v1",
        "LeaderWorkerSet",
        f"{name}-{role}",
        **queue_metadata(platform, team),
        spec={
            "leaderWorkerTemplate": {
                "leaderTemplate": {"metadata": head, "spec": pod},
                "restartPolicy": "RecreateGroupOnPodRestart",
                "size": 1,
                # Required, and used for none: a replica is one node.
                "workerTemplate": {"metadata": head, "spec": plain},
            },
            "replicas": replicas,
            "startupPolicy": "LeaderCreated",
        },
    )


def _frontend(worker: Object, image: str, text: str) -> Object:
    discovery = [item for item in worker["env"] if item["name"].startswith(("DYN_", "ETCD_", "POD_"))]
    return {
        "command": ["bash", "-c", f"{text}frontend\n"],
        "env": [
            *(item for item in discovery if item["name"] != "DYN_SYSTEM_PORT"),
            {"name": "port", "value": str(_API)},
        ],
        "image": image,
        "name": "frontend",
        "ports": [{"containerPort": _API, "name": "http", "protocol": "TCP"}],
        "readinessProbe": readiness(_API),
        "resources": {"limits": _FRONTEND, "requests": _FRONTEND},
        "volumeMounts": worker["volumeMounts"],
    }


def _store(group: PlatformNodes) -> Object:
    return {
        "command": [
            "etcd",
            "--data-dir=/tmp/etcd",
            "--unsafe-no-fsync",
            f"--listen-client-urls=http://0.0.0.0:{_ETCD}",
            f"--advertise-client-urls=http://0.0.0.0:{_ETCD}",
        ],
        "image": image_for(group, ETCD),
        "name": "etcd",
        "resources": {"limits": _STORE, "requests": _STORE},
    }


DISAGGREGATED = KubernetesForm(
    file="dynamo.yaml",
    kind="LeaderWorkerSet",
    title=lambda group, nodes: f"inference with Dynamo on {nodes} nodes of {group.name}, prompts and tokens apart",
    objects=disaggregated,
    nodes=lambda group: _NODES,
    settings=("nodes", "gpus", "image", "prefill", "model"),
    image=DYNAMO,
)
