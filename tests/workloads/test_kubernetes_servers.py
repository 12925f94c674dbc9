"""Servers of inference on Kubernetes: probes, priorities, queues, rights and placement."""

import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from support import ROOT
from support.kubernetes_data import cluster, gb200, nodes
from ultracluster.clusterfile import load
from ultracluster.kubernetes import Object, Platform, platform
from ultracluster.workloads import workload_files
from ultracluster.workloads._kubernetes_inference import VLLM_SERVER, leader_worker_set
from ultracluster.workloads._kubernetes_jobs import job_objects
from ultracluster.workloads._workload import Settings

#: Of a second of a server, in tests.
FAST = 0.05


def server(name: str, of: Platform | None = None) -> list[Object]:
    """The objects of a job file on four nodes."""
    of = of or cluster(nodes(count=4))
    (objects,) = (objects for path, _, objects in job_objects(of) if path == f"train/{name}.yaml")
    return objects


def probes(objects: list[Object]) -> list[Object]:
    templates = [item["spec"]["leaderWorkerTemplate"] for item in objects if item["kind"] == "LeaderWorkerSet"]
    containers = [pod for item in templates for pod in item["leaderTemplate"]["spec"]["containers"]]
    return [container["readinessProbe"] for container in containers if "readinessProbe" in container]


@pytest.fixture
def port() -> Iterator[int]:
    """A server whose /health answers as that of SGLang: once it has slept for a second."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            time.sleep(FAST)
            self.send_response(200 if self.path == "/health" else 404)
            self.end_headers()

        def log_message(self, *args: object) -> None: ...

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    yield http.server_port
    http.shutdown()
    http.server_close()


def answers(probe: Object, port: int) -> bool:
    """Probe as the kubelet: one deadline for the whole exchange, by default of one second."""
    deadline = time.monotonic() + FAST * probe.get("timeoutSeconds", 1)
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(f"GET {probe['httpGet']['path']} HTTP/1.1\r\nHost: pod\r\n\r\n".encode())
        connection.settimeout(max(0.001, deadline - time.monotonic()))
        try:
            status = connection.recv(64)
        except TimeoutError:
            return False
    return b" 200 " in status and time.monotonic() < deadline


@pytest.mark.parametrize(("name", "probed"), [("vllm", 1), ("sglang", 1), ("dynamo", 3)])
def test_a_server_that_answers_after_a_second_is_ready(name: str, probed: int, port: int) -> None:
    readiness = probes(server(name))
    assert len(readiness) == probed
    assert all(answers(probe, port) for probe in readiness)
    # SGLang gives up a probe after 20 s: a shorter limit would call a busy server unready.
    assert all(probe["timeoutSeconds"] > 20 for probe in readiness)


def test_the_probe_of_kubernetes_by_default_is_too_short(port: int) -> None:
    assert not answers({"httpGet": {"path": "/health"}}, port)


def allowed(policies: list[Object], way: str, pod: dict[str, str], peer: dict[str, str], port: int) -> bool:
    """Apply the policies of a namespace to one side of a connection between two pods of it.

    As Kubernetes: a pod that a policy selects is isolated in its directions, and the rules of all policies add up.
    https://kubernetes.io/docs/concepts/services-networking/network-policies (read 2026-11-27)
    """
    peers = {"Ingress": ("ingress", "from"), "Egress": ("egress", "to")}[way]

    def selects(selector: Object | None, labels: dict[str, str]) -> bool:
        return selector is not None and selector.get("matchLabels", {}).items() <= labels.items()

    def rule_allows(rule: Object) -> bool:
        to = any("namespaceSelector" not in item and selects(item.get("podSelector"), peer) for item in rule[peers[1]])
        return to and ("ports" not in rule or {"port": port, "protocol": "TCP"} in rule["ports"])

    isolating = [
        p["spec"] for p in policies if way in p["spec"]["policyTypes"] and selects(p["spec"]["podSelector"], pod)
    ]
    return not isolating or any(rule_allows(rule) for spec in isolating for rule in spec.get(peers[0], []))


@pytest.mark.parametrize("name", ["vllm", "sglang", "dynamo"])
def test_a_pod_of_the_team_reaches_the_api_of_a_server_and_nothing_else(name: str) -> None:
    objects = server(name)
    (service,) = (item for item in objects if item["kind"] == "Service")
    policies = [
        item
        for item in (*platform(cluster(nodes(count=4))).objects, *objects)
        if item["kind"] == "NetworkPolicy" and item["metadata"]["namespace"] == service["metadata"]["namespace"]
    ]
    (port,) = (item["targetPort"] for item in service["spec"]["ports"])
    caller, leader = {"app": "chat"}, service["spec"]["selector"]
    for target, expected in ((port, True), (port + 1, False)):
        assert allowed(policies, "Egress", caller, leader, target) == expected
        assert allowed(policies, "Ingress", leader, caller, target) == expected
    assert not allowed(policies, "Egress", caller, {"app": "another"}, port)
    # The VPC CNI sees the address of a Service, and allows it if its selector has the labels of the egress rule.
    (calls,) = (item["spec"] for item in objects if item["metadata"]["name"].startswith("calls-"))
    assert calls["egress"][0]["to"] == [{"podSelector": {"matchLabels": leader}}]
    # LeaderWorkerSet creates a headless Service of the name of each set, unless there is one.
    sets = {item["metadata"]["name"] for item in objects if item["kind"] == "LeaderWorkerSet"}
    assert service["metadata"]["name"] not in sets


def test_the_policy_of_the_page_allows_a_gateway_to_reach_the_api() -> None:
    page = (ROOT / "docs" / "guides" / "jobs.md").read_text()
    (text,) = (block.partition("```")[0] for block in page.split("```yaml\n")[1:] if block.startswith("apiVersion"))
    spec = yaml.safe_load(text)["spec"]
    (service,) = (item["spec"] for item in server("vllm") if item["kind"] == "Service")
    assert spec["podSelector"] == {"matchLabels": service["selector"]}
    assert [item["port"] for item in spec["ingress"][0]["ports"]] == [service["ports"][0]["targetPort"]]


def values_of_classes(of: Platform) -> dict[str, int]:
    objects = platform(of).objects
    return {item["metadata"]["name"]: item["value"] for item in objects if item["kind"] == "WorkloadPriorityClass"}


@pytest.mark.parametrize("name", ["vllm", "sglang", "dynamo"])
def test_a_training_job_and_a_server_of_the_team_push_each_other_not_out(name: str) -> None:
    of = cluster(nodes(count=4))
    (queue, *_) = (item for item in platform(of).objects if item["kind"] == "ClusterQueue")
    assert queue["spec"]["preemption"]["withinClusterQueue"] == "LowerPriority"
    classes, label = values_of_classes(of), "kueue.x-k8s.io/priority-class"

    def priority(item: Object) -> int:
        """As getDefaultPriority of Kueue: without a class, zero."""
        return classes[item["metadata"]["labels"][label]] if label in item["metadata"]["labels"] else 0

    servers = [priority(item) for item in server(name) if item["kind"] == "LeaderWorkerSet"]
    gangs = [priority(item) for item in server("job-set") if item["kind"] == "JobSet"]
    assert servers
    assert {*servers} == {*gangs}, "a queue preempts for a higher priority alone"


def test_a_server_has_the_priority_of_task_governance() -> None:
    of = cluster(nodes(count=4), scheduler="task-governance")
    sets = [item for name in ("vllm", "sglang", "dynamo") for item in server(name, of) if "LeaderW" in item["kind"]]
    labels = [item["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] for item in sets]
    assert labels == ["research-priority"] * 4


QUEUE = "scheduling.volcano.sh/queue-name"


def pod_group(of: Platform, item: Object) -> tuple[int, str]:
    """The smallest gang and the queue that LeaderWorkerSet and Volcano give the pods of an object."""
    rendered = platform(of)
    values = {release.name: getattr(release, "values", {}) for release in rendered.releases}
    spaces = {space["metadata"]["name"]: space for space in rendered.objects if space["kind"] == "Namespace"}
    annotations = item["metadata"].get("annotations", {})
    # VolcanoProvider of LeaderWorkerSet; without it, a group for each pod: buildPodGroupFromPod of Volcano.
    provider = values["lws"].get("gangSchedulingManagement", {}).get("schedulerProvider")
    grouped = item["kind"] == "LeaderWorkerSet" and provider == "volcano"
    members = item["spec"]["leaderWorkerTemplate"]["size"] if grouped else 1
    if grouped and QUEUE in annotations:
        return members, annotations[QUEUE]
    # createPodGroupPatch of its webhook, which the chart does not enable by itself.
    if "/podgroups/mutate" in values["volcano"]["custom"].get("enabled_admissions", ""):
        space = spaces[item["metadata"]["namespace"]]["metadata"].get("annotations", {})
        return members, space.get(QUEUE, "default")
    return members, "default"


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("vllm", "LeaderWorkerSet", (1, "research")),
        ("dynamo", "LeaderWorkerSet", (1, "research")),
        ("nccl", "MPIJob", (1, "node-health")),
        ("dcgm", "Job", (1, "node-health")),
    ],
)
def test_volcano_has_servers_and_tests_in_the_queue_of_their_team(
    name: str, kind: str, expected: tuple[int, str]
) -> None:
    of = cluster(nodes(count=4), scheduler="volcano")
    items = [item for item in server(name, of) if item["kind"] == kind]
    assert items
    assert [pod_group(of, item) for item in items] == [expected] * len(items)


def workers(objects: list[Object]) -> list[Object]:
    """The containers that use GPUs, of leaders and of workers."""
    templates = [item["spec"]["leaderWorkerTemplate"] for item in objects if item["kind"] == "LeaderWorkerSet"]
    pods = [item[role]["spec"] for item in templates for role in ("leaderTemplate", "workerTemplate")]
    return [pod["containers"][0] for pod in pods]


@pytest.mark.parametrize("name", ["vllm", "sglang", "dynamo"])
def test_a_server_is_root_for_whom_capabilities_and_the_cache_of_the_node_are(name: str) -> None:
    # NVIDIA's images name user 1000: the kernel then drops what is added, and the directory is that of root.
    contexts = [container["securityContext"] for container in workers(server(name))]
    assert contexts
    assert all(context["runAsUser"] == 0 and "IPC_LOCK" in context["capabilities"]["add"] for context in contexts)


def test_dynamo_has_the_rights_with_which_nvidia_tests_it_over_efa() -> None:
    contexts = [container["securityContext"] for container in workers(server("dynamo"))]
    expected = {"capabilities": {"add": ["IPC_LOCK", "SYS_PTRACE"]}, "runAsUser": 0}
    assert contexts == [expected] * 4
    assert all("SYS_PTRACE" not in str(container["securityContext"]) for container in workers(server("vllm")))


def test_no_server_has_a_replica_on_several_nodes_that_nobody_asked_for() -> None:
    """The EFA plugin of AWS's image of vLLM hangs in large broadcasts between nodes."""
    for name in ("vllm", "sglang", "dynamo"):
        sets = [item["spec"] for item in server(name) if item["kind"] == "LeaderWorkerSet"]
        assert [item["leaderWorkerTemplate"]["size"] for item in sets] == [1] * len(sets)


@pytest.mark.parametrize("name", ["vllm", "sglang", "dynamo"])
def test_a_server_that_ends_finishes_its_requests(name: str) -> None:
    sets = [item["spec"]["leaderWorkerTemplate"] for item in server(name) if item["kind"] == "LeaderWorkerSet"]
    for template in sets:
        spec = template["leaderTemplate"]["spec"]
        (main, *_) = spec["containers"]
        # Dynamo leaves its registry, waits for 5 s, for transfers for 30, and for its clean-up for 30.
        needed = 5 + 30 + 30
        if name != "dynamo":
            # Until its endpoint is gone, it still gets requests.
            needed = main["lifecycle"]["preStop"]["sleep"]["seconds"]
            assert needed >= 5
        # By default, vLLM aborts all requests; SGLang waits for them without end.
        waits = [int(word.partition("=")[2]) for word in main["command"] if word.startswith("--shutdown-timeout=")]
        assert len(waits) == (name == "vllm")
        assert sum(waits) + needed < spec["terminationGracePeriodSeconds"]


def test_nodes_of_a_replica_that_lost_one_end_at_once() -> None:
    of = cluster(nodes(count=4))
    (item, *_) = leader_worker_set(VLLM_SERVER, of, of.nodes[0], of.teams[0], Settings(nodes=2))
    assert "--shutdown-timeout" not in str(item)
    assert "terminationGracePeriodSeconds" not in str(item)


@pytest.mark.parametrize(("name", "nodes_of_replica"), [("inference", 2), ("sglang", 1), ("dynamo", 1)])
def test_a_drain_ends_one_replica_after_another(name: str, nodes_of_replica: int) -> None:
    settings = {"replicas": "3", "nodes": str(nodes_of_replica)}
    for given in ({"nodes": "5", "prefill": "2"} if name == "dynamo" else settings, {}):
        (file,) = workload_files(load(str(ROOT / "examples/eks-512-gpus.yaml")), name, settings=given)
        objects = list(yaml.safe_load_all(file.text))
        budgets = [item["spec"] for item in objects if item["kind"] == "PodDisruptionBudget"]
        sets = [item for item in objects if item["kind"] == "LeaderWorkerSet"]
        assert ("deploy it with --hold drain" in file.text) == bool(given)
        for budget, item in zip(budgets, sets, strict=True):
            template = item["spec"]["leaderWorkerTemplate"]
            assert template["size"] == (nodes_of_replica if given else 1)
            # Its leader is not ready while a replica loads its weights, but its workers are: no other pod may go.
            replicas = item["spec"]["replicas"]
            assert budget["minAvailable"] == (replicas * template["size"] - 1 if replicas > 1 else 0)
            # LeaderWorkerSet sets this label.
            labels = {"leaderworkerset.sigs.k8s.io/name": item["metadata"]["name"]}
            labels |= template["leaderTemplate"]["metadata"]["labels"]
            assert budget["selector"]["matchLabels"].items() <= labels.items()
            others = {"leaderworkerset.sigs.k8s.io/name": "other", "role": "other"}
            assert not budget["selector"]["matchLabels"].items() <= others.items()


def groups(of: Platform, size: int) -> list[dict[str, str]]:
    """Topology annotations of Kueue, of leader and workers."""
    (item, *_) = leader_worker_set(VLLM_SERVER, of, of.nodes[0], of.teams[0], Settings(nodes=size))
    template = item["spec"]["leaderWorkerTemplate"]
    heads = [template[role]["metadata"].get("annotations", {}) for role in ("leaderTemplate", "workerTemplate")]
    keys = ("podset-required-topology", "podset-preferred-topology", "podset-group-name")
    return [{key: head[f"kueue.x-k8s.io/{key}"] for key in keys if f"kueue.x-k8s.io/{key}" in head} for head in heads]


@pytest.mark.parametrize("scheduler", ["kueue", "task-governance"])
def test_leader_and_workers_are_in_one_nvlink_domain(scheduler: Any) -> None:
    of = cluster(gb200(36), scheduler=scheduler)
    leader, worker = groups(of, 4)
    # Kueue refuses a group whose sets ask for different levels, and places sets without a group one by one.
    assert leader == worker
    assert leader["podset-group-name"] == "replica"
    assert "podset-required-topology" in leader
    # No domain holds more than its instances; a server of one node has no workers.
    assert "podset-required-topology" not in groups(of, 20)[0]
    assert "podset-group-name" not in groups(of, 1)[0]


def test_leader_and_workers_are_near_each_other_on_network_layers() -> None:
    leader, worker = groups(cluster(nodes(count=4)), 2)
    assert leader == worker
    assert set(leader) == {"podset-preferred-topology", "podset-group-name"}
    assert groups(cluster(nodes(count=4), scheduler="volcano"), 2) == [{}, {}]
