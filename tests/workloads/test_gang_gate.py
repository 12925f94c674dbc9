"""The gate of gangs on Kubernetes: pods are processes, with the gate of this checkout and a real all-reduce on CPUs.

The API server is a stand-in with the nodes of the group. It applies the admission policy of the platform to each
change, with the name of the node that the token of the pod would have.
"""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import cel
import pytest

from support import ROOT
from support.kubernetes_data import cluster, nodes
from support.ports import free_ports
from support.training import ENVIRONMENT
from support.waiting import PATIENCE_SECONDS
from ultracluster.kubernetes import GANG_JOB, Object, platform
from ultracluster.workloads._kubernetes_gang import job_set, train_job
from ultracluster.workloads._workload import Settings

GATE = ROOT / "constructs/ultracluster/boot/scripts/ultracluster_gate.py"
SIZE = 2**20
USER = f"system:serviceaccount:{cluster().teams[0].name}:default"
#: Each all-reduce of this pod takes a tenth of a second longer, as on a node with a bad link.
SLOW = """
import builtins, sys, time
real = builtins.__import__
def imported(name, *others, **named):
    module = real(name, *others, **named)
    distributed = sys.modules.get("torch.distributed")
    if hasattr(distributed, "all_reduce") and not hasattr(distributed, "slowed"):
        fast = distributed.all_reduce
        distributed.slowed, distributed.all_reduce = True, lambda value: (time.sleep(0.1), fast(value))[1]
    return module
builtins.__import__ = imported
"""


def admission_policy() -> Object:
    (policy,) = (
        item
        for item in platform(cluster()).objects
        if (item["kind"], item["metadata"]["name"]) == ("ValidatingAdmissionPolicy", "gang-gate")
    )
    spec: Object = policy["spec"]
    return spec


def denied(new: Object, old: Object, *, pod_on: str | None, user: str = USER) -> list[str]:
    """Messages of the admission policy for a change of a node."""
    extra = {"authentication.kubernetes.io/node-name": [pod_on]} if pod_on else {}
    names = {"object": new, "oldObject": old, "request": {"userInfo": {"username": user, "extra": extra}}}
    rules = admission_policy()
    if not all(cel.compile(rule["expression"]).execute(names) is True for rule in rules["matchConditions"]):
        return []
    return [
        rule["message"] for rule in rules["validations"] if cel.compile(rule["expression"]).execute(names) is not True
    ]


class Server(ThreadingHTTPServer):
    """Nodes of a group, which pods list and change."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        metadata = {"labels": {"ultracluster.dev/group": "train"}, "annotations": {"node": "yes"}}
        self.nodes: dict[str, Object] = {name: {"metadata": {**metadata, "name": name}, "spec": {}} for name in names}
        #: Node on which a pod runs, as its token has it.
        self.bound: dict[str, str] = {}
        #: Mode of the checks, if the ConfigMap is there.
        self.mode = ""

    @property
    def reported(self) -> dict[str, str]:
        """Reasons of nodes that stay in service, for which the alert rings."""
        annotations = {name: node["metadata"]["annotations"] for name, node in self.nodes.items()}
        return {
            name: each["ultracluster/gate"]
            for name, each in annotations.items()
            if each.get("ultracluster/breaker-gate") == "open" and name not in self.cordoned
        }

    @property
    def cordoned(self) -> dict[str, str]:
        return {
            name: node["metadata"]["annotations"].get("ultracluster/gate", "")
            for name, node in self.nodes.items()
            if node["spec"].get("unschedulable")
        }


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        if "/namespaces/node-health/configmaps?fieldSelector=metadata.name%3Dhealth-mode" in self.path:
            items = [{"data": {"mode": self.server.mode}}] if self.server.mode else []
            self._answer(200, {"items": items})
            return
        assert self.path == "/api/v1/nodes?labelSelector=ultracluster.dev/group=train"
        self._answer(200, {"items": list(self.server.nodes.values())})

    def do_PATCH(self) -> None:
        assert self.headers["Content-Type"] == "application/merge-patch+json"
        name, patch = (
            self.path.removeprefix("/api/v1/nodes/"),
            json.loads(self.rfile.read(int(self.headers["Content-Length"]))),
        )
        old = self.server.nodes[name]
        new = {
            "metadata": {
                **old["metadata"],
                "annotations": {**old["metadata"]["annotations"], **patch["metadata"]["annotations"]},
            },
            "spec": {**old["spec"], **patch.get("spec", {})},
        }
        annotations = new["metadata"]["annotations"]
        new["metadata"]["annotations"] = {key: value for key, value in annotations.items() if value is not None}
        if messages := denied(new, old, pod_on=self.server.bound.get(self.headers["Authorization"])):
            self._answer(403, {"message": messages})
            return
        self.server.nodes[name] = new
        self._answer(200, new)

    def _answer(self, code: int, body: Object) -> None:
        data = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server([f"node-{index}" for index in range(8)]) as result:
        thread = threading.Thread(target=result.serve_forever)
        thread.start()
        yield result
        result.shutdown()
        thread.join()


# As nvidia-smi --query prints it.
FABRIC = """\
echo "    Fabric"
echo "        CliqueId                          : 32766"
echo "        ClusterUUID                       : ${DOMAIN:-00000000-0000-0000-0000-000000000000}"
"""


class Gang:
    """The pods of a gang, each on the node of its number."""

    def __init__(self, directory: Path, server: Server, pods: int, *, gate: str = "nodes", **facts: Any) -> None:
        item = cluster()
        objects = job_set(item, item.nodes[0], item.teams[0], Settings(nodes=2))
        container = objects[0]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"][0]
        (written,) = (row["value"] for row in container["env"] if row["name"] == "ULTRACLUSTER_GATE_FACTS")
        self.directory, self.server = directory, server
        # No more than the processes of a test can have; the rest is what the pod has.
        self.facts = {**json.loads(written), "gpus": 1, "efa": 0, "sizes": [SIZE], "floors": {}, "most": 2, **facts}
        port = free_ports(2)[0]
        self.environments = [self._environment(index, pods, gate, port) for index in range(pods)]

    def _environment(self, index: int, pods: int, gate: str, port: int) -> dict[str, str]:
        account = self.directory / f"account-{index}"
        (account / "health").mkdir(parents=True)
        (account / "token").write_text(f"token-{index}")
        self.server.bound[f"Bearer token-{index}"] = f"node-{index}"
        tools = self.directory / "bin"
        tools.mkdir(exist_ok=True)
        (tools / "nvidia-smi").write_text(f"#!/bin/sh\necho 'GPU 0: NVIDIA H100'\n{FABRIC}")
        (tools / "nvidia-smi").chmod(0o755)
        return {
            **ENVIRONMENT,
            "ACCOUNT": str(account),
            "API": f"http://127.0.0.1:{self.server.server_port}",
            "JOB_COMPLETION_INDEX": str(index),
            "PATH": f"{tools}:/usr/bin:/bin",
            "ULTRACLUSTER_GATE": gate,
            "ULTRACLUSTER_GATE_ADDRESS": "127.0.0.1",
            "ULTRACLUSTER_GATE_FACTS": json.dumps(self.facts),
            "ULTRACLUSTER_GATE_HEAD": "127.0.0.1",
            "ULTRACLUSTER_GATE_JOIN": str(PATIENCE_SECONDS),
            "ULTRACLUSTER_GATE_PORT": str(port),
            "ULTRACLUSTER_NODE": f"node-{index}",
            "ULTRACLUSTER_NODES": str(pods),
            "ULTRACLUSTER_NODE_HEALTH": str(account / "health"),
        }

    def over_tcp(self, index: int) -> None:
        """Mount Lustre over TCP on the node of a pod."""
        (self.directory / f"account-{index}" / "health/lustre-efa").write_text("ok: over TCP: no EFA module\n")

    def run(self, python: Path = Path(sys.executable)) -> tuple[list[int], str]:
        """Exit codes of the pods, and the output of the first."""
        running = [
            subprocess.Popen(
                [python, GATE], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
            for environment in self.environments
        ]
        outputs = [process.communicate(timeout=PATIENCE_SECONDS * 2)[0] for process in running]
        return [process.returncode for process in running], outputs[0]


def test_a_node_with_a_slow_network_is_cordoned_and_the_gang_restarts(
    tmp_path: Path, server: Server, torch: Path
) -> None:
    # A floor that a pair with the delay cannot reach: 1 MiB in a tenth of a second.
    gang = Gang(tmp_path, server, 3, gate="nccl", floors={str(SIZE): SIZE / 0.1 / 1e9})
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow/sitecustomize.py").write_text(SLOW)
    gang.environments[2]["PYTHONPATH"] = str(tmp_path / "slow")
    # The third is alone in its domain: it is tested over EFA, once the others were tested over NVLink.
    for index, domain in enumerate(("a", "a", "b")):
        gang.environments[index]["DOMAIN"] = f"dc6e40c4-d722-4357-9ba6-5291dd46127{domain}"
    for name, node in server.nodes.items():
        node["metadata"] = {
            **node["metadata"],
            "annotations": {"ultracluster/gate": name, "ultracluster/breaker-gate": "open"},
        }
    codes, output = gang.run(torch)
    assert codes == [86] * 3, output
    # The alert ends about the nodes that have passed, and about none that was not tested.
    assert [*server.reported] == [f"node-{index}" for index in range(3, 8)]
    assert "gate: bad node: node-2: all-reduce of 0.000976562 GiB at " in output
    assert list(server.cordoned) == ["node-2"]
    assert server.cordoned["node-2"].startswith("failed: all-reduce of ")
    assert server.cordoned["node-2"].endswith(", without NVLink between nodes")
    failed = [rule["onExitCodes"]["values"] for rule in GANG_JOB["podFailurePolicy"]["rules"] if "onExitCodes" in rule]
    assert 86 in failed[0]


def test_a_node_with_lustre_over_tcp_is_left_out_and_good_nodes_start(tmp_path: Path, server: Server) -> None:
    gang = Gang(tmp_path, server, 2)
    assert gang.run() == ([0, 0], "gate: no node is bad\n")
    gang.over_tcp(1)
    codes, output = gang.run()
    assert (codes, server.cordoned) == ([86, 86], {"node-1": "failed: Lustre: over TCP: no EFA module"})
    assert output == "gate: bad node: node-1: Lustre: over TCP: no EFA module\n"


@pytest.mark.parametrize(
    ("nodes_of_group", "cordoned", "bad", "reason"),
    [
        (8, 1, 2, "gate: 1 nodes are cordoned, 2 are bad, and the limit is 2"),
        (2, 0, 1, "gate: 1 nodes are left, and the gang needs 2"),
    ],
)
def test_the_gang_starts_on_all_nodes_where_none_may_be_left_out(
    tmp_path: Path, server: Server, nodes_of_group: int, cordoned: int, bad: int, reason: str
) -> None:
    gang = Gang(tmp_path, server, 2)
    server.nodes = {name: server.nodes[name] for name in list(server.nodes)[:nodes_of_group]}
    for index in range(bad):
        gang.over_tcp(index)
    for index in range(cordoned):
        server.nodes[f"node-{7 - index}"]["spec"]["unschedulable"] = True
    codes, output = gang.run()
    assert (codes, len(server.cordoned)) == ([0, 0], cordoned)
    assert output.splitlines()[-1] == reason
    assert server.reported == {
        f"node-{index}": "failed, not cordoned: Lustre: over TCP: no EFA module" for index in range(bad)
    }


@pytest.mark.parametrize(("mode", "reported"), [("observe", ["node-1"]), ("off", [])])
def test_the_mode_starts_the_gang_on_all_nodes_without_a_deployment(
    tmp_path: Path, server: Server, mode: str, reported: list[str]
) -> None:
    gang = Gang(tmp_path, server, 2)
    gang.over_tcp(1)
    server.mode = mode
    codes, output = gang.run()
    assert (codes, server.cordoned, [*server.reported]) == ([0, 0], {}, reported)
    assert output.splitlines()[-1] == f"gate: the mode of the checks is {mode}"
    server.mode = "enforce"
    assert gang.run()[0] == [86, 86]
    assert (list(server.cordoned), server.reported) == (["node-1"], {})


def test_the_gang_starts_if_the_gate_cannot_do_its_work(tmp_path: Path, server: Server) -> None:
    gang = Gang(tmp_path, server, 2)
    gang.over_tcp(1)
    # The token of a pod that runs on another node.
    server.bound["Bearer token-1"] = "node-0"
    codes, output = gang.run()
    assert (codes, server.cordoned) == ([0, 0], {})
    assert output.splitlines()[-1] == "gate: node-1 cannot be cordoned: HTTP Error 403: Forbidden"
    # A pod that never comes.
    gang.environments = gang.environments[:1]
    gang.environments[0]["ULTRACLUSTER_GATE_JOIN"] = "0.2"
    codes, output = gang.run()
    assert codes == [0]
    assert output.startswith("gate: the nodes are not tested: TimeoutError")


NODE: Object = {
    "metadata": {"name": "n1", "labels": {"a": "b"}, "annotations": {"c": "d"}},
    "spec": {"taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]},
}
CORDON: Object = {
    "metadata": {**NODE["metadata"], "annotations": {"c": "d", "ultracluster/gate": "failed: x"}},
    "spec": {**NODE["spec"], "unschedulable": True},
}


@pytest.mark.parametrize(
    ("new", "pod_on", "message"),
    [
        (CORDON, "n1", ""),
        (CORDON, "n2", "a pod changes no node but its own"),
        (CORDON, None, "a pod changes no node but its own"),
        ({**CORDON, "spec": NODE["spec"]}, "n1", ""),
        ({**CORDON, "spec": {"unschedulable": True}}, "n1", "a pod does not change spec.taints"),
        ({**CORDON, "metadata": {**CORDON["metadata"], "labels": {}}}, "n1", "a pod does not change metadata.labels"),
        (
            {**CORDON, "metadata": {**CORDON["metadata"], "annotations": {"c": "e"}}},
            "n1",
            "a pod changes no annotation but ['ultracluster/gate', 'ultracluster/breaker-gate']",
        ),
        (
            {**CORDON, "metadata": {**CORDON["metadata"], "finalizers": ["x/y"]}},
            "n1",
            "a pod does not change metadata.finalizers",
        ),
        # The garbage collector would delete the node.
        (
            {**CORDON, "metadata": {**CORDON["metadata"], "ownerReferences": [{"kind": "Namespace", "name": "x"}]}},
            "n1",
            "a pod does not change metadata.ownerReferences",
        ),
        (
            {**CORDON, "metadata": {**CORDON["metadata"], "annotations": {"ultracluster/gate": "failed: x"}}},
            "n1",
            "a pod changes no annotation but ['ultracluster/gate', 'ultracluster/breaker-gate']",
        ),
        (
            {**CORDON, "metadata": {"name": "n1", "labels": {"a": "b"}}},
            "n1",
            "a pod changes no annotation but ['ultracluster/gate', 'ultracluster/breaker-gate']",
        ),
    ],
)
def test_a_pod_of_a_team_may_only_cordon_its_own_node(new: Object, pod_on: str | None, message: str) -> None:
    assert denied(new, NODE, pod_on=pod_on) == ([message] if message else [])
    assert denied(new, NODE, pod_on=pod_on, user="system:node:n1") == []


def test_a_pod_of_a_team_does_not_release_its_node() -> None:
    assert (
        denied(NODE, CORDON, pod_on="n1")
        == [
            "a pod may cordon its node, and not release it",
            "a pod changes no annotation but ['ultracluster/gate', 'ultracluster/breaker-gate']",
        ][:1]
    )


def test_pods_of_gangs_have_what_the_gate_needs() -> None:
    item = cluster(nodes("p5.48xlarge"))
    group, team = item.nodes[0], item.teams[0]
    (runtime,) = (created for created in platform(item).objects if created["kind"] == "ClusterTrainingRuntime")
    job = runtime["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    jobset_pod = job_set(item, group, team, Settings(nodes=2))[0]["spec"]["replicatedJobs"][0]["template"]["spec"][
        "template"
    ]["spec"]
    for pod in (job, jobset_pod):
        mounts = {mount["name"] for mount in pod["containers"][0]["volumeMounts"]}
        assert {"api-token", "node-health"} <= mounts <= {volume["name"] for volume in pod["volumes"]}
        env = {row["name"]: row.get("value") for row in pod["containers"][0]["env"]}
        assert json.loads(env["ULTRACLUSTER_GATE_FACTS"]) == {
            "efa": 32,
            "elastic": False,
            "floors": {str(2 * 2**30): 354.4, str(16 * 2**30): 389.6},
            "gpus": 8,
            "most": 3,
            "selector": "ultracluster.dev/group=train",
            "sizes": [2 * 2**30, 16 * 2**30],
        }
    trainer = train_job(item, group, team, Settings(nodes=2, gate="nodes"))[0]["spec"]["trainer"]["env"]
    assert {"name": "ULTRACLUSTER_GATE", "value": "nodes"} in trainer
    assert {"name": "ULTRACLUSTER_NODES", "value": "2"} in trainer
