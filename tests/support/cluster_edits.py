"""Realistic edits of a cluster file: what a platform team does to a deployed cluster, and what becomes of it."""

import copy
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from support import ROOT

#: Verdict on an edit. `clean`: nothing is lost. `nodes`: data stays, running nodes end. `data`: the guard refuses it
#: for data, or because a service refuses it. `file`: the cluster file is refused. `new`: a second cluster.
Verdict = Literal["clean", "nodes", "data", "file", "new"]
Document = dict[str, Any]


class ClusterEdit(NamedTuple):
    """One edit, and the verdict on it."""

    name: str
    change: Callable[[Document], None]
    verdict: Verdict


def put(path: str, value: Any) -> Callable[[Document], None]:
    """Set the value at a path."""

    def change(document: Document) -> None:
        *steps, last = path.split("/")
        for step in steps:
            document = document.setdefault(step, {})
        document[last] = copy.deepcopy(value)

    return change


def rename_group(document: Document) -> None:
    document["nodes"] = {"gpus": document["nodes"]["train"]}
    for team in document.get("kubernetes", {}).get("teams", {}).values():
        team["nodes"] = {"gpus": team["nodes"]["train"]}


CPU = {"type": "m7i.8xlarge", "count": 2}
OTHER = "cr-0fedcba9876543210"
PLAN = "arn:aws:sagemaker:us-east-2:123456789012:training-plan"
KEY = "arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"


def _rows(rows: list[tuple[str, Any, Verdict]]) -> list[ClusterEdit]:
    return [ClusterEdit(f"{path}={str(value)[:40]}", put(path, value), verdict) for path, value, verdict in rows]


#: Edits of both orchestrators.
COMMON: list[tuple[str, Any, Verdict]] = [
    ("tags", {"team": "research"}, "clean"),
    ("nodes/train/tags", {"team": "research"}, "nodes"),
    ("nodes/cpu", CPU, "clean"),
    ("nodes/spot", {**CPU, "capacity": "spot"}, "clean"),
    ("nodes/train/root-volume", "1 TiB", "nodes"),
    ("nodes/train/labels", {"rack": "r1"}, "clean"),
    ("nodes/train/layout", "max-ip", "nodes"),
    ("nodes/train/placement-group", "none", "clean"),
    ("nodes/train/placement-group", "cluster", "file"),
    ("zone", "use2-az3", "data"),
    ("region", "us-west-2", "file"),
    ("name", "other", "new"),
    ("network/cidr", "10.8.0.0/16", "data"),
    ("network/control-plane-zone", "use2-az3", "data"),
    ("storage/lustre/throughput", "60 GB/s", "clean"),
    ("storage/lustre/throughput", "20 GB/s", "data"),
    ("storage/lustre/compression", "NONE", "clean"),
    ("storage/lustre/compression", False, "file"),
    ("storage/lustre/efa", False, "data"),
    ("storage/lustre", {"capacity": "96 TiB"}, "data"),
    ("storage/data-bucket", {"existing": "my-datasets"}, "data"),
    ("encryption-key", KEY, "data"),
    ("observability/profile", "none", "data"),
    ("observability/retention", "7 d", "data"),
    ("observability/retention", "400 d", "clean"),
    ("observability/grafana", {"kind": "none"}, "clean"),
    ("observability/alerts", {"email": "oncall@example.com"}, "clean"),
    ("observability/alerts", {"off": ["NodeFlapping"]}, "clean"),
    ("notifications", {"email": "oncall@example.com"}, "clean"),
    ("orchestrator", "hyperpod", "file"),
    ("perimeter", {"organization": "o-a1b2c3d4e5"}, "clean"),
]
SLURM: list[tuple[str, Any, Verdict]] = [
    ("nodes/train/count", 32, "nodes"),
    ("nodes/train/count", 80, "clean"),
    ("nodes/train/zone", "use2-az3", "nodes"),
    ("storage/lustre/mount", "/data", "nodes"),
    ("storage/home", {"type": "efs"}, "nodes"),
    ("storage/home", {"type": "openzfs"}, "nodes"),
    ("observability/profile", "full", "clean"),
    ("nodes/train/spare", 2, "clean"),
    ("nodes/train/type", "p5.48xlarge", "data"),
    ("nodes/train/capacity", OTHER, "nodes"),
    ("nodes/train/image", "ami-0123456789abcdef0", "nodes"),
    ("nodes/train/min", 0, "clean"),
    ("nodes/train/min", 99, "file"),
    ("nodes/train/slurm", {"settings": {"Weight": "10"}}, "clean"),
    ("slurm/version", "26.05", "nodes"),
    ("slurm/version", "25.05", "data"),
    ("slurm/version", "23.02", "file"),
    ("slurm/size", "LARGE", "data"),
    ("slurm/accounting", False, "data"),
    ("slurm/users", {"ada": {"uid": 2001}}, "clean"),
    ("slurm/settings", {"MaxArraySize": "5000"}, "clean"),
    ("slurm/login/count", 2, "clean"),
    ("slurm/login/type", "m7i.4xlarge", "data"),
    ("slurm/queues", {"batch": {"nodes": ["train"]}}, "nodes"),
    ("slurm/rest-api", True, "clean"),
    ("slurm/imds", "all", "nodes"),
    ("network/internet", False, "file"),
    ("nodes/train/elastic", True, "file"),
    ("nodes/train/os", "bottlerocket", "file"),
    ("image", "ami-0123456789abcdef0", "nodes"),
    ("storage/lustre/metadata-iops", 24000, "clean"),
    ("storage/scratch", {"path": "/local"}, "nodes"),
]
KUBERNETES: list[tuple[str, Any, Verdict]] = [
    ("storage/lustre/mount", "/data", "clean"),
    ("storage/home", {"type": "efs"}, "clean"),
    ("storage/home", {"type": "openzfs"}, "clean"),
    ("observability/profile", "full", "clean"),
    ("nodes/train/zone", "use2-az3", "file"),
    ("kubernetes/version", "1.36", "nodes"),
    ("kubernetes/version", "1.34", "data"),
    ("kubernetes/version", "1.33", "data"),
    ("kubernetes/version", "1.20", "file"),
    ("kubernetes/scaling-tier", "standard", "clean"),
    ("kubernetes/bin-packing", False, "clean"),
    ("kubernetes/deletion-protection", False, "clean"),
    ("kubernetes/support", "standard", "clean"),
    ("kubernetes/admins", ["arn:aws:iam::123456789012:role/other"], "clean"),
    ("kubernetes/public-access-cidrs", ["198.51.100.0/24"], "clean"),
    ("kubernetes/second-zone", "use2-az3", "data"),
    ("kubernetes/service-cidr", "172.16.0.0/16", "data"),
    ("kubernetes/system", {"count": 3}, "clean"),
    ("kubernetes/add-ons", {"coredns": "v1.12.4-eksbuild.1"}, "clean"),
    ("kubernetes/teams", {"pretrain": {"nodes": {"train": 64}}}, "clean"),
    ("kubernetes/scheduler", "kueue", "clean"),
    ("nodes/train/taints", {"dedicated": "NoExecute"}, "nodes"),
    ("nodes/train/os", "bottlerocket", "data"),
    ("nodes/train/image", "ami-0123456789abcdef0", "data"),
    ("nodes/train/type", "p5.48xlarge", "nodes"),
    ("nodes/train/capacity", {"reservation": OTHER, "kind": "odcr", "instances": 64}, "nodes"),
    ("nodes/train/pods", 60, "clean"),
    ("nodes/train/count", 32, "file"),
    ("nodes/train/count", 80, "file"),
    ("nodes/burst", {**CPU, "elastic": True, "image": "ami-0123456789abcdef0"}, "clean"),
]

#: Edits of the common table whose verdict on HyperPod is another one.
HYPERPOD_ALONE: dict[str, Verdict] = {
    "notifications": "file",
    "nodes/train/tags": "file",
    "nodes/spot": "file",
    "nodes/train/root-volume": "data",
    "nodes/train/labels": "file",
    "nodes/train/layout": "file",
    "perimeter": "file",
}
HYPERPOD: list[tuple[str, Any, Verdict]] = [
    *((path, value, HYPERPOD_ALONE.get(path, verdict)) for path, value, verdict in COMMON),
    ("nodes/train/count", 32, "nodes"),
    ("nodes/train/count", 80, "clean"),
    ("nodes/train/type", "p5.48xlarge", "data"),
    ("nodes/train/image", "ami-0123456789abcdef0", "file"),
    ("nodes/train/zone", "use2-az3", "data"),
    ("storage/lustre/mount", "/data", "data"),
    ("storage/home", {"type": "efs"}, "data"),
    ("observability/profile", "full", "clean"),
    ("slurm/version", "26.05", "file"),
    ("slurm/users", {"ada": {"uid": 2001}}, "clean"),
    ("slurm/login/count", 2, "clean"),
    ("slurm/login/type", "m7i.4xlarge", "data"),
    ("slurm/queues", {"batch": {"nodes": ["train"]}}, "data"),
    ("slurm/settings", {"MaxArraySize": "5000"}, "clean"),
    ("slurm/health", False, "clean"),
    ("slurm/rest-api", True, "file"),
    ("slurm/accounting", False, "file"),
    ("slurm/size", "LARGE", "file"),
    ("hyperpod/controller", "m7i.16xlarge", "data"),
    ("hyperpod/deep-health-checks", False, "clean"),
    ("hyperpod/node-recovery", False, "clean"),
    ("hyperpod/bucket", "sagemaker-my-scripts", "data"),
    (
        "nodes/tuning",
        {"type": "p5en.48xlarge", "count": 2, "capacity": {"training-plan": f"{PLAN}/orion-2026"}},
        "clean",
    ),
    ("nodes/train/capacity", {"training-plan": f"{PLAN}/orion-2027"}, "data"),
    ("nodes/train/spare", 2, "clean"),
    ("nodes/train/min", 0, "file"),
    ("nodes/train/taints", {"dedicated": "NoSchedule"}, "file"),
    ("storage/lustre/metadata-iops", 24000, "clean"),
    ("storage/lustre/backups", "7 d", "clean"),
    ("network/internet", False, "file"),
    ("compliance", ["hipaa"], "clean"),
    ("image", "ami-0123456789abcdef0", "file"),
    (
        "hyperpod/accounting",
        {"endpoint": "db.example.com", "secret": "arn:aws:secretsmanager:us-east-2:123456789012:secret:slurm-a1b2c3"},
        "clean",
    ),
]


def remove_group(document: Document) -> None:
    del document["nodes"]["burst"]


def move_group(document: Document) -> None:
    nodes = document["nodes"]
    nodes["spill"] = nodes.pop("burst", None) or nodes["spill"]


#: Edits of the only elastic group: with it, Karpenter loses the permission to end its instances.
ELASTIC = [
    ClusterEdit("the last elastic group leaves", remove_group, "data"),
    ClusterEdit("another elastic group takes its place", move_group, "clean"),
    *_rows([("nodes/burst/elastic", False, "data")]),
]
RENAMED = ClusterEdit("a renamed node group", rename_group, "nodes")
#: Edits by the example that is deployed: those of each orchestrator.
OF_ORCHESTRATORS: dict[str, list[ClusterEdit]] = {
    "slurm-512-gpus": [*_rows(COMMON), *_rows(SLURM), RENAMED],
    "eks-512-gpus": [*_rows(COMMON), *_rows(KUBERNETES), RENAMED],
    "hyperpod-slurm": [*_rows(HYPERPOD), RENAMED],
}
#: All of them.
EDITS = {**OF_ORCHESTRATORS, "eks-mixed": ELASTIC}


def text_of(example: str) -> str:
    """The text of an example, in the Region of the local cloud."""
    text = (ROOT / "examples" / f"{example}.yaml").read_text()
    return text.replace("us-west-2", "us-east-2").replace("usw2-az2", "use2-az1")


def joined(edits: list[ClusterEdit], number: int = 8) -> list[ClusterEdit]:
    """Join clean edits into updates of several each: what one of them replaced, their update would replace too."""
    clean = [edit for edit in edits if edit.verdict == "clean"]
    # Neighbors in the tables edit the same keys.
    updates = -(-len(clean) // number)
    together = [_together(clean[first::updates]) for first in range(updates)]
    return [*(edit for edit in edits if edit.verdict != "clean"), *together]


def _together(edits: list[ClusterEdit]) -> ClusterEdit:
    def change(document: Document) -> None:
        for edit in edits:
            edit.change(document)
        for edit in edits:
            again = copy.deepcopy(document)
            edit.change(again)
            assert again == document, f"another edit has undone {edit.name}"

    return ClusterEdit(", ".join(edit.name for edit in edits), change, "clean")
