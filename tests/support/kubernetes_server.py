"""A disposable cluster with a real API server, such as kind, whose 64 GPU nodes KWOK simulates.

The tests in tests/integration/kubernetes use the cluster of `KUBECONFIG` if `DISPOSABLE_CLUSTER` is `yes`: they replace
its nodes, releases and objects.
"""

import json
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ultracluster.catalogue import ec2
from ultracluster.platform import ApplyError, Bundle, Options, Tools, apply
from ultracluster.platform._bundle import Release

Object = dict[str, Any]
NODES = 64
_TYPE = "p5en.48xlarge"
_SIMULATED = "kwok.x-k8s.io/node"  # https://kwok.sigs.k8s.io/docs/user/kwok-manage-nodes-and-pods (read 2026-11-24)
_CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
_SECONDS = 900
# Where charts have the requests of their pods. Four CPUs hold those of the charts, and no second pod during an update.
_REQUESTS = {"kueue": ("controllerManager", "manager"), "jobset": ("controller",), "lws": ()}
_SMALL = {"requests": {"cpu": "10m", "memory": "64Mi"}}


def given() -> Path | None:
    """Kubeconfig of the disposable cluster, or None."""
    path = os.environ.get("KUBECONFIG")
    return Path(path) if path and os.environ.get("DISPOSABLE_CLUSTER") == "yes" else None


class Server:
    """A disposable cluster of 64 simulated nodes, and the lines of the last apply."""

    def __init__(self, cluster: Tools) -> None:
        real = [
            item["metadata"]["name"]
            for item in cluster.get("nodes")
            if _SIMULATED not in item["metadata"].get("annotations", {})
            and _CONTROL_PLANE not in item["metadata"].get("labels", {})
        ]
        assert not real, f"the cluster is in use, it has the nodes {', '.join(real)}: name a new cluster of kind"
        self.cluster = cluster
        self.lines: list[str] = []
        self.add_nodes(range(NODES))

    def add_nodes(self, indices: Iterable[int]) -> None:
        self.put(*(simulated_node(index) for index in indices))

    def put(self, *items: Object) -> None:
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
        self.cluster.run("kubectl", "apply", "--server-side", "--force-conflicts", "--filename=-", stdin=text)

    def delete(self, kind: str, name: str, namespace: str = "default") -> None:
        self.cluster.run("kubectl", "delete", kind, name, f"--namespace={namespace}", "--ignore-not-found")

    def apply(self, of: Bundle, **options: Any) -> bool:
        # Collectors on simulated nodes write nothing, and the one of the control plane has no workspace.
        of = replace(of, metrics=None, releases=[_small(release) for release in of.releases])
        self.lines.clear()
        return apply(self.cluster, of, Options(seconds=_SECONDS, report=self.lines.append, **options))

    def refused(self, of: Bundle, **options: Any) -> str:
        with pytest.raises(ApplyError) as error:
            self.apply(of, **options)
        return str(error.value)


def _small(release: Release) -> Release:
    """The release with requests that fit a small machine."""
    if release.name not in _REQUESTS:
        return release
    values: Object = json.loads(json.dumps(dict(release.values)))
    place = values
    for name in _REQUESTS[release.name]:
        place = place.setdefault(name, {})
    place["resources"] = _SMALL
    return replace(release, values=values)


def simulated_node(index: int) -> Object:
    """A node of the group `train` with the resources of its type, in blocks of 16 nodes of one network node."""
    record = ec2.instance_type(_TYPE)
    name = f"train-{index}"
    resources = {
        "cpu": str(record.vcpus),
        "memory": f"{record.memory_gib}Gi",
        "ephemeral-storage": "500Gi",
        "hugepages-2Mi": "16Gi",
        "pods": "100",
        "nvidia.com/gpu": str(record.gpus),
        "vpc.amazonaws.com/efa": "16",
    }
    layers = {f"topology.k8s.aws/network-node-layer-{layer}": f"nn-{layer}-{index // 16**layer}" for layer in (1, 2, 3)}
    labels = {
        "ultracluster.dev/group": "train",
        "node.kubernetes.io/instance-type": _TYPE,
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        **{label: value for label, value in zip(layers, reversed(layers.values()), strict=True)},
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels, "annotations": {_SIMULATED: "fake"}},
        "spec": {
            "providerID": f"aws:///use2-az1/i-{index:017x}",
            "taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}],
        },
        "status": {
            "allocatable": resources,
            "capacity": resources,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def wait_for(condition: Callable[[], bool], seconds: int, what: str) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, f"not within {seconds} s: {what}"
        time.sleep(2)
