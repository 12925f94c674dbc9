"""Applies of an example of 64 nodes to a cluster in memory."""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from support import ROOT
from support.kubernetes_double import Cluster, node
from ultracluster import clusterfile
from ultracluster.platform import ApplyError, Bundle, Options, apply
from ultracluster.workloads import kubernetes_bundle

FILE = (ROOT / "examples" / "eks-512-gpus.yaml").read_text()
OUTPUTS = (
    "FileSystemId LustreDnsName LustreMountName DataBucketName RemoteWriteUrl TrainingSubnetId LustreSecurityGroupId"
)
ELASTIC = "OwnNodesRoleName NodesSecurityGroupId ClusterSecurityGroupId KarpenterQueue"
VALUES = {name: f"{name.lower()}-1" for name in (*OUTPUTS.split(), *ELASTIC.split())}


def bundle(text: str = FILE) -> Bundle:
    return Bundle.parse(json.loads(_written(text)), VALUES)


@cache
def _written(text: str) -> str:
    return json.dumps(kubernetes_bundle(clusterfile.loads(text, "c.yaml")))


def edit(old: str, new: str, text: str = FILE) -> Bundle:
    assert old in text
    return bundle(text.replace(old, new))


def serve(cluster: Cluster) -> None:
    """Set the statuses that controllers set."""
    for (kind, _, _), item in cluster.objects.items():
        if kind == "LocalQueue":
            item["status"] = {"conditions": [{"type": "Active", "status": "True"}]}
        if kind == "PersistentVolumeClaim":
            item["status"] = {"phase": "Bound"}
        if kind == "Deployment":
            item["status"] = {"readyReplicas": 1, "availableReplicas": 1}


class Clock:
    """Time that passes by sleeping only."""

    def __init__(self) -> None:
        self.now = 0.0
        #: What happens during the next pause.
        self.then: Callable[[], object] = lambda: None

    def monotonic(self) -> float:
        """Return the seconds."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Advance the time."""
        self.now += seconds
        self.then()


class Run:
    """A cluster of 64 nodes, and the lines of the last apply."""

    def __init__(self, *nodes: dict[str, Any]) -> None:
        self.cluster = Cluster(*(nodes or [node(index, "train") for index in range(64)]))
        self.lines: list[str] = []

    def apply(self, of: Bundle, **options: Any) -> bool:
        settings = Options(seconds=0, report=self.lines.append, **options)
        apply(self.cluster, of, settings)
        serve(self.cluster)
        self.lines.clear()
        return apply(self.cluster, of, settings)

    def put(self, item: dict[str, Any]) -> None:
        self.cluster.put(item)

    def delete(self, kind: str, name: str, namespace: str) -> None:
        (key,) = (key for key in self.cluster.objects if (key[0].lower(), *key[1:]) == (kind, namespace, name))
        del self.cluster.objects[key]

    def state(self) -> str:
        """All objects but the Lease, which every apply takes and gives back, as controllers leave them."""
        self.cluster.reconcile()
        return json.dumps([item for key, item in sorted(self.cluster.objects.items()) if key[0] != "Lease"])

    def refused(self, of: Bundle, **options: Any) -> str:
        """The reason, after which nothing has changed."""
        before = self.state()
        with pytest.raises(ApplyError) as error:
            apply(self.cluster, of, Options(seconds=0, report=self.lines.append, **options))
        assert self.state() == before
        return str(error.value)
