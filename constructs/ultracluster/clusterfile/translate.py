"""What pydantic says of a file, in the words of this library."""

from typing import Any

from pydantic import BaseModel

from ultracluster.clusterfile.cluster_file import ClusterFile
from ultracluster.clusterfile.problems import FieldProblems, Path, Problem, shown
from ultracluster.clusterfile.readers.basic import nearest
from ultracluster.clusterfile.sections.declared import Cards, DeclaredType, Nvme
from ultracluster.clusterfile.sections.file import (
    ExistingNetwork,
    Login,
    Network,
    NodeGroupSection,
    Notifications,
    Slurm,
)
from ultracluster.clusterfile.sections.kubernetes import ExistingCluster, Kubernetes, SystemNodes, Team
from ultracluster.clusterfile.sections.observability import Alerts, Grafana, Observability, Saml
from ultracluster.clusterfile.sections.slurm import Account, NodeSlurm, Qos, Queue, Ssh, User
from ultracluster.clusterfile.sections.storage import (
    CheckpointGoal,
    ExistingLustre,
    Home,
    Link,
    Lustre,
    Release,
    Storage,
)
from ultracluster.hardware import eks

_SECTIONS: dict[Path, type[BaseModel]] = {
    (): ClusterFile,
    ("nodes", "*"): NodeGroupSection,
    ("nodes", "*", "slurm"): NodeSlurm,
    ("types", "*"): DeclaredType,
    ("types", "*", "nvme"): Nvme,
    ("types", "*", "network-cards", "*"): Cards,
    ("slurm",): Slurm,
    ("slurm", "login"): Login,
    ("slurm", "login", "ssh"): Ssh,
    ("slurm", "queues", "*"): Queue,
    ("slurm", "accounts", "*"): Account,
    ("slurm", "qos", "*"): Qos,
    ("slurm", "users", "*"): User,
    ("kubernetes",): Kubernetes,
    ("kubernetes", "system"): SystemNodes,
    ("kubernetes", "teams", "*"): Team,
    ("kubernetes", "existing"): ExistingCluster,
    ("network",): Network,
    ("network", "existing"): ExistingNetwork,
    ("storage",): Storage,
    ("storage", "lustre"): Lustre,
    ("storage", "lustre", "checkpoint"): CheckpointGoal,
    ("storage", "lustre", "existing"): ExistingLustre,
    ("storage", "lustre", "links", "*"): Link,
    ("storage", "lustre", "release"): Release,
    ("storage", "home"): Home,
    ("notifications",): Notifications,
    ("observability",): Observability,
    ("observability", "grafana"): Grafana,
    ("observability", "grafana", "saml"): Saml,
    ("observability", "alerts"): Alerts,
}
# Mappings whose keys are names.
_NAMED = {path[:-1] for path in _SECTIONS if path[-1:] == ("*",)}
_EXAMPLES = {
    "name": "name: llama",
    "region": "region: us-east-2",
    "zone": "zone: use2-az1",
    "orchestrator": "orchestrator: slurm",
    "nodes": "nodes: {train: {type: p5en.48xlarge, count: 64}}",
    "type": "type: p5en.48xlarge",
    "count": "count: 64",
    "key-pair": "key-pair: my-key",
    "from": "from: [10.0.0.0/8]",
    "uid": "uid: 2001",
    "kinds": "kinds: [interface, efa, efa-only]",
    "interfaces": "interfaces: 4",
    "disks": "disks: 8",
    "size": "size: 3800 GB",
    "throughput": "throughput: 40 GB/s",
    "stall": "stall: 60 s",
    "after": "after: 14 d",
    "id": "id: fs-0123456789abcdef0",
    "mount-name": "mount-name: fsx",
    "url": "url: s3://my-bucket/configure-efa-fsx-lustre-client.zip",
    "sha256": "sha256: what sha256sum prints for it",
    "metadata": "metadata: https://idp.example.com/metadata",
    "admins": "admins: [admin]",
    "home": "home: {}",
    "clients": "clients: [10.0.0.0/16]",
    "endpoint": "endpoint: https://ABC.gr7.us-east-2.eks.amazonaws.com",
    "certificate-authority": "certificate-authority: the text that aws eks describe-cluster shows",
    "security-group": "security-group: sg-0123456789abcdef0",
    "vpc": "vpc: vpc-0123456789abcdef0",
    "subnet": "subnet: subnet-0123456789abcdef0",
}


def problems(errors: list[Any]) -> list[Problem]:
    """The problems that errors of pydantic stand for."""
    # A misspelt key is told once, and not as a missing one as well.
    meant = {(*path[:-1], near) for path in _paths(errors, "extra_forbidden") if (near := _near(path))}
    kept = [error for error in errors if error["type"] != "missing" or tuple(error["loc"]) not in meant]
    # An entry that is wrong is told where it stands, and not as a list that lacks it as well.
    below = {tuple(error["loc"])[:depth] for error in errors for depth in range(len(error["loc"]))}
    kept = [error for error in kept if error["type"] != "too_short" or tuple(error["loc"]) not in below]
    return [problem for error in kept for problem in _problems(error)]


def no_value(path: Path) -> str:
    """What to say of a key without a value."""
    example = _EXAMPLES.get(str(path[-1]))
    return "has no value; " + (f"write for example {example}" if example else "write one, or remove the key")


def _paths(errors: list[Any], kind: str) -> list[Path]:
    return [tuple(error["loc"]) for error in errors if error["type"] == kind]


def _near(path: Path) -> str | None:
    return nearest(str(path[-1]).replace("_", "-"), _known_keys(path[:-1]))


def _problems(error: dict[str, Any]) -> list[Problem]:
    path: Path = tuple(error["loc"])
    at_key = path[-1:] == ("[key]",)
    path = path[:-1] if at_key else path
    match error["type"]:
        case "missing":
            example = _EXAMPLES.get(str(path[-1]), f"{path[-1]}: ...")
            return [Problem(path=path, message=f"is missing; write for example {example}")]
        case "extra_forbidden":
            return [Problem(path=path, message=_unknown_key(path), at_key=True)]
        case "too_short":
            what = "node group" if path == ("nodes",) else "entry"
            example = f"; write for example {_EXAMPLES[str(path[-1])]}" if path[-1] in _EXAMPLES else ""
            return [Problem(path=path, message=f"needs at least one {what}{example}")]
        case "string_unicode":
            return [Problem(path=path, message="holds half a character, such as \\ud800; remove it", at_key=True)]
        case "tuple_type" | "list_type":
            return [Problem(path=path, message=f"must be a list, as in [...], got {shown(error['input'])}")]
        case "model_type" | "dict_type" | "model_attributes_type":
            return [Problem(path=path, message=f"must be a mapping, got {shown(error['input'])}{_keys(path)}")]
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, FieldProblems):
        return [Problem(path=path + part.path, message=part.message, at_key=part.at_key) for part in cause.problems]
    return [Problem(path=path, message=str(cause or error["msg"]), at_key=at_key)]


def _unknown_key(path: Path) -> str:
    if path == ("kubernetes", "auto-mode"):
        return f"EKS Auto Mode is not for training nodes: {'; '.join(eks.AUTO_MODE_LIMITS)}; remove it"
    near = _near(path)
    return f"unknown key; {f'did you mean {near}? ' if near else ''}allowed are {', '.join(_known_keys(path[:-1]))}"


def _keys(path: Path) -> str:
    known = _known_keys(path)
    if known or path != ("nodes",):
        return f"; its keys are {', '.join(known)}" if known else ""
    return f"; write for example {_EXAMPLES['nodes']}"


def _known_keys(path: Path) -> list[str]:
    pattern = tuple("*" if isinstance(step, int) or path[:depth] in _NAMED else step for depth, step in enumerate(path))
    section = _SECTIONS.get(pattern)
    return [] if section is None else [field.alias or name for name, field in section.model_fields.items()]
