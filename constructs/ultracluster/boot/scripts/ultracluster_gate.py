"""Test the nodes of a gang before its program starts, and leave bad ones out. Each pod of the gang runs it.

Each pod looks at its node: GPUs, EFA devices, Lustre over EFA. With ULTRACLUSTER_GATE=nccl, all pairs of pods run an
all-reduce at once, against the published floor of the type for two nodes, or else against four fifths of the median of
the pairs. Each pod of a slow pair is tested again, with a pod of a good pair: the one that is slow again is bad. Where
nodes share an NVLink domain, the two pods of a pair are in one, and then all pairs run once more over EFA alone.

The pod on a bad node cordons this node, and all pods end with exit code 86: the gang restarts on another node. What
runs on the node goes on. If more nodes are bad than the limit allows, or no other node is free of a cordon, the gang
starts on all nodes, and the annotation of the bad ones raises an alert. The same applies in the mode observe; in the
mode off, no all-reduce runs. If a test cannot run, the gang starts.

ULTRACLUSTER_GATE: nccl, nodes or no. ULTRACLUSTER_NODES: pods of the gang. ULTRACLUSTER_GATE_HEAD: address of its first
pod. ULTRACLUSTER_GATE_FACTS: JSON with what nodes have, the floors, and the limit. ULTRACLUSTER_NODE: name of the node.
"""

from __future__ import annotations

import contextlib
import glob
import importlib.util
import json
import os
import pathlib
import socket
import ssl
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

# Beside this file.
from ultracluster_all_reduce import PAIR_SECONDS, PORT, run_pair  # type: ignore[import-not-found]
from ultracluster_gate_pairs import Result, judge, nvlink_domain  # type: ignore[import-not-found]

LEFT_OUT = 86
# Pods of a gang start together, but their nodes may pull an image for some minutes.
JOIN_SECONDS = float(os.environ.get("ULTRACLUSTER_GATE_JOIN", 600))
HEALTH = "/run/ultracluster/health"
ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
API = "https://kubernetes.default.svc"
#: Annotation of a node that the gate found bad, and that stays in service.
BREAKER = "ultracluster/breaker-gate"
MODE = "/api/v1/namespaces/node-health/configmaps?fieldSelector=metadata.name%3Dhealth-mode"


def check_node(facts: dict[str, Any], health: str = HEALTH) -> str:
    """Return why this node must not be part of the gang, or an empty text."""
    reasons = []
    try:
        listed = subprocess.run(["nvidia-smi", "--list-gpus"], capture_output=True, text=True, timeout=60)
        gpus = sum(line.startswith("GPU ") for line in listed.stdout.splitlines())
        if gpus != facts["gpus"]:
            reasons.append(f"{gpus} of {facts['gpus']} GPUs are there")
    except FileNotFoundError:
        print("gate: the image has no nvidia-smi: GPUs are not counted", flush=True)
    except subprocess.TimeoutExpired:
        reasons.append("nvidia-smi does not answer")
    devices = len(glob.glob("/dev/infiniband/uverbs*"))
    if devices < facts["efa"]:
        reasons.append(f"{devices} of {facts['efa']} EFA devices are there")
    # The node writes it when it sets up its Lustre client.
    file = pathlib.Path(health, "lustre-efa")
    status = file.read_text().strip() if file.is_file() else ""
    if status.startswith("failed:") or "over TCP" in status:
        reasons.append(f"Lustre: {status.partition(': ')[2]}")
    return "; ".join(reasons)


class Gang:
    """The pods of a gang: the first is the head, to which the others connect."""

    def __init__(self, index: int, pods: int, head: str) -> None:
        """Connect all pods, or raise OSError if some do not come."""
        self.index = index
        self._links: dict[int, Any] = {}
        deadline = time.monotonic() + JOIN_SECONDS
        if index == 0:
            with socket.create_server(("", PORT), backlog=pods) as server:
                while len(self._links) + 1 < pods:
                    server.settimeout(max(0.1, deadline - time.monotonic()))
                    link = Connection(server.accept()[0].detach())
                    self._links[self._received(link)] = link
        while index > 0 and not self._links:
            try:
                with socket.create_connection((head, PORT), timeout=30) as connected:
                    connected.settimeout(None)
                    self._links[0] = Connection(connected.detach())
                self._send(self._links[0], index)
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(1)

    def exchange(self, value: Any, answer: Callable[[list[Any]], Any]) -> Any:
        """Return what the head answers to the values of all pods, in the order of their indexes."""
        if self.index > 0:
            self._send(self._links[0], value)
            return self._received(self._links[0])
        reply = answer([value, *(self._received(link) for _, link in sorted(self._links.items()))])
        for link in self._links.values():
            self._send(link, reply)
        return reply

    @staticmethod
    def _send(link: Any, value: Any) -> None:
        # JSON, for what unpickles runs what the sender likes.
        link.send_bytes(json.dumps(value).encode())

    @staticmethod
    def _received(link: Any) -> Any:
        # Two pairs can end after each other, where a pod waits for others.
        if not link.poll(JOIN_SECONDS + 2 * PAIR_SECONDS):
            raise TimeoutError("a pod of the gang does not answer")
        return json.loads(link.recv_bytes())


def tested(gang: Gang, pod: dict[str, Any], facts: dict[str, Any], nccl: bool) -> dict[int, str]:
    """Test all pods, and return the reasons of the bad ones by index."""
    state: dict[str, Any] = {}

    def advance(values: list[Any]) -> dict[str, Any]:
        """Return the next pairs with the address of the first of each, or the bad pods."""
        try:
            if "judge" not in state:
                state["pods"] = values
                state["judge"] = judge(values, facts, nccl and all(value["torch"] for value in values))
                pairs, nvlink = next(state["judge"])
            else:
                pairs, nvlink = state["judge"].send(
                    [_merged(values[first], values[second]) for first, second in state["pairs"]]
                )
        except StopIteration as end:
            return {"bad": end.value}
        state["pairs"] = pairs
        address = {pod: state["pods"][pair[0]]["address"] for pair in pairs for pod in pair}
        places = [[pod, address[pod], place] for pair in pairs for place, pod in enumerate(pair)]
        return {"pairs": places, "nvlink": nvlink}

    reply = gang.exchange(pod, advance)
    while "bad" not in reply:
        places = [place for place in reply["pairs"] if place[0] == gang.index]
        reply = gang.exchange(run_pair(*places[0][1:], facts, nvlink=reply["nvlink"]) if places else None, advance)
    return {int(index): reason for index, reason in reply["bad"].items()}


def _merged(first: Result, second: Result) -> Result:
    return second if "error" in second else first


def call(path: str, patch: dict[str, Any] | None = None) -> Any:
    """Return what the API of the cluster answers."""
    account = os.environ.get("ACCOUNT", ACCOUNT)
    api = os.environ.get("API", API)
    headers = {
        "Authorization": f"Bearer {pathlib.Path(account, 'token').read_text().strip()}",
        "Content-Type": "application/merge-patch+json",
    }
    body = json.dumps(patch).encode() if patch is not None else None
    request = urllib.request.Request(api + path, body, headers, method="PATCH" if body else "GET")
    trusted = ssl.create_default_context(cafile=f"{account}/ca.crt") if api.startswith("https:") else None
    with urllib.request.urlopen(request, timeout=30, context=trusted) as answer:
        return json.load(answer)


def checks_mode() -> str:
    """Return the mode of the checks: enforce, observe or off. Without the ConfigMap, or an answer, they enforce."""
    try:
        return str(call(MODE)["items"][0]["data"]["mode"])
    except (OSError, LookupError, TypeError, ValueError):
        return "enforce"


def why_all_start(bad: dict[int, str], pods: int, facts: dict[str, Any], mode: str) -> str:
    """Return why the gang starts on all its nodes although some are bad, or an empty text."""
    if mode in ("observe", "off"):
        return f"the mode of the checks is {mode}"
    nodes = call(f"/api/v1/nodes?labelSelector={facts['selector']}")["items"]
    free = [node for node in nodes if not node["spec"].get("unschedulable")]
    if len(nodes) - len(free) + len(bad) > facts["most"]:
        return f"{len(nodes) - len(free)} nodes are cordoned, {len(bad)} are bad, and the limit is {facts['most']}"
    if not facts["elastic"] and len(free) - len(bad) < pods:
        return f"{len(free) - len(bad)} nodes are left, and the gang needs {pods}"
    return ""


def leave_out(node: str, reason: str) -> None:
    """Cordon the node of this pod, with the reason in an annotation."""
    annotations = {"ultracluster/gate": f"failed: {reason}"}
    call(f"/api/v1/nodes/{node}", {"metadata": {"annotations": annotations}, "spec": {"unschedulable": True}})


def report(node: str, reason: str) -> None:
    """Write on the node of this pod that it is bad, and stays in service."""
    annotations = {"ultracluster/gate": f"failed, not cordoned: {reason}", BREAKER: "open"}
    call(f"/api/v1/nodes/{node}", {"metadata": {"annotations": annotations}})


def forget(node: str) -> None:
    """End the alert about the node of this pod, which has passed the whole test."""
    with contextlib.suppress(OSError):
        call(f"/api/v1/nodes/{node}", {"metadata": {"annotations": {BREAKER: None}}})


def main() -> int:
    """Test the nodes of the gang, and return the exit code."""
    facts, pods = json.loads(os.environ["ULTRACLUSTER_GATE_FACTS"]), int(os.environ["ULTRACLUSTER_NODES"])
    node, index = os.environ["ULTRACLUSTER_NODE"], int(os.environ.get("JOB_COMPLETION_INDEX", 0))
    nccl = os.environ["ULTRACLUSTER_GATE"] == "nccl"
    reason = check_node(facts, os.environ.get("ULTRACLUSTER_NODE_HEALTH", HEALTH))
    gang = Gang(index, pods, os.environ["ULTRACLUSTER_GATE_HEAD"])
    address = os.environ.get("ULTRACLUSTER_GATE_ADDRESS") or socket.gethostbyname(socket.gethostname())
    torch = importlib.util.find_spec("torch") is not None
    # The first pod reads it, and leads the tests.
    mode = checks_mode() if index == 0 else ""
    pod = {"index": index, "reason": reason, "address": address, "torch": torch, "domain": nvlink_domain()}
    bad = tested(gang, pod, facts, nccl and mode != "off")
    # Until here no node was changed. The first pod compares with the limit, once for all.
    verdict, off = gang.exchange(
        None, lambda _: [why_all_start(bad, pods, facts, mode) if bad else "no node is bad", mode == "off"]
    )
    left, failed = False, ""
    if index in bad and not off:
        try:
            (report if verdict else leave_out)(node, bad[index])
            left = not verdict
        except OSError as error:
            failed = f"{node} cannot be {'annotated' if verdict else 'cordoned'}: {error}"
    elif nccl and pods > 1 and not off:
        forget(node)
    answers = gang.exchange((node, left, failed), lambda values: values)
    if index == 0:
        for number, text in bad.items():
            print(f"gate: bad node: {answers[number][0]}: {text}", flush=True)
        for text in [verdict, *(row[2] for row in answers)]:
            print(*([f"gate: {text}"] if text else []), end="\n" if text else "", flush=True)
    return LEFT_OUT if any(row[1] for row in answers) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, EOFError, KeyError, ValueError) as problem:
        print(f"gate: the nodes are not tested: {type(problem).__name__}: {problem}", flush=True)
