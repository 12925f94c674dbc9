"""Keys that a configuration of ParallelCluster cannot carry over: the key of the file, the reason and what to do."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ultracluster.clusterfile import ClusterFile, Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Note:
    """A key that the configuration does not carry over, or not as it is."""

    path: Path
    reason: str
    fix: str


_VPC = "ParallelCluster creates no VPC"
_SUBNETS = "replace each subnet-x... of the configuration by a subnet of the zone in its name"
_LUSTRE = "FsxLustreSettings has no key for it"
_CREATE_FIRST = "create the file system with it first, and name its FileSystemId"
_ACCOUNTS = ("it is in Slurm's accounting database", "create it with sacctmgr on the head node, after Database is set")
_MONITORING = (
    "ParallelCluster has CloudWatch dashboards and alarms instead",
    "run Prometheus yourself: ultracluster render --rules --dashboards writes its rules and dashboards",
)
_KUBERNETES = ("it belongs to Kubernetes", "remove it")
# ParallelCluster 3.16: reference of the configuration file at
# https://docs.aws.amazon.com/parallelcluster/latest/ug/cluster-configuration-file-v3.html, and the package's schema,
# aws-parallelcluster 3.16.1 (read 2026-11-23). None: carried over, or described by the module that carries it over.
_KEYS: Mapping[str, tuple[str, str] | None] = {
    **dict.fromkeys(("extends", "name", "region", "zone", "orchestrator", "accept", "tags", "encryption-key")),
    "perimeter": (
        "ParallelCluster writes no policies of a data perimeter",
        "add them to its roles, endpoints and buckets yourself",
    ),
    "compliance": (
        "ParallelCluster creates its log groups without a key, and has no other measures of these frameworks",
        "review its templates with the tools of your auditor",
    ),
    "account": ("pcluster deploys to the account of the credentials", "use credentials of this account"),
    **dict.fromkeys(
        f"nodes.*.{key}"
        for key in ("type", "count", "min", "spare", "capacity", "zone", "root-volume", "placement-group", "tags")
    ),
    "nodes.*.scripts": None,
    "nodes.*.canary": (
        "ParallelCluster has no canary: the node is a compute resource of its own",
        "nothing; it changes with the others",
    ),
    "nodes.*.stack": ("ParallelCluster creates its own stacks", "nothing"),
    "nodes.*.image": None,
    "nodes.*.layout": (
        "ParallelCluster chooses the network interfaces: one with an address, and EFA-only ones",
        "nothing, unless programs need an address on each interface",
    ),
    "nodes.*.labels": (
        "ParallelCluster writes the features of its nodes",
        "request nodes by the name of the compute resource, which is a feature",
    ),
    "nodes.*.slurm.settings": None,
    "nodes.*.slurm.gres": (
        "ParallelCluster writes gres.conf, with the GPUs of the type",
        "request GPUs as gres/gpu, or write gres.conf in a custom action of the head node",
    ),
    **dict.fromkeys(
        (f"nodes.*.{key}" for key in ("taints", "os", "release", "update", "elastic", "pods")), _KUBERNETES
    ),
    "kubernetes": _KUBERNETES,
    "hyperpod": ("ParallelCluster runs on EC2, not on HyperPod", "remove the section"),
    "image": None,
    "types": (
        "ParallelCluster asks EC2 about each type, and 3.16 supports the UltraServers of p6e-gb200 only",
        "nothing for other types; IMEX of an UltraServer of another type has to be set up by a custom action",
    ),
    "software": (
        "no metrics report older software of ParallelCluster's nodes",
        "run the job health, which compares it",
    ),
    "slurm.version": None,
    "slurm.size": ("the controller runs on the head node", "choose HeadNode.InstanceType"),
    "slurm.accounting": None,
    "slurm.scale-down-idle-time": None,
    "slurm.accounting-purge-time": (
        "slurmdbd.conf is ParallelCluster's",
        "edit slurmdbd.conf on the head node, or use ExternalSlurmdbd",
    ),
    "slurm.slurmdbd-settings": (
        "slurmdbd.conf is ParallelCluster's",
        "edit slurmdbd.conf on the head node, or use ExternalSlurmdbd",
    ),
    "slurm.cgroup-settings": ("cgroup.conf is ParallelCluster's", "edit cgroup.conf in a custom action"),
    "slurm.rest-api": ("ParallelCluster starts no slurmrestd", "start slurmrestd in a custom action of the head node"),
    "slurm.metrics": None,
    "slurm.settings": None,
    "slurm.health": None,
    "slurm.health.replace": (
        "ParallelCluster has no limit of replacements",
        "nothing: it replaces nodes that fail their health check at boot, and static nodes that are down",
    ),
    "slurm.imds": None,
    "slurm.logs.retention": None,
    "slurm.logs.encryption-key": (
        "ParallelCluster's log group has no key",
        "associate the key: aws logs associate-kms-key",
    ),
    "slurm.queues": None,
    "slurm.accounts": _ACCOUNTS,
    "slurm.qos": _ACCOUNTS,
    "slurm.users.*.uid": None,
    "slurm.users.*.ssh-keys": None,
    "slurm.users.*.accounts": _ACCOUNTS,
    "slurm.users.*.admin": _ACCOUNTS,
    "slurm.directory": None,
    **dict.fromkeys(("slurm.login.type", "slurm.login.count", "slurm.login.image", "slurm.login.ssh")),
    "slurm.login.scripts": None,
    "slurm.login.tags": ("login nodes of ParallelCluster have the tags of the cluster", "add them there: tags"),
    **dict.fromkeys(
        ("network.cidr", "network.training-subnet", "network.subnets", "network.control-plane-zone"), (_VPC, _SUBNETS)
    ),
    "network.internet": None,
    "network.existing": None,
    **dict.fromkeys(
        f"storage.lustre.{key}"
        for key in (
            *("throughput", "checkpoint", "capacity", "working-set", "temporary", "deployment-type", "storage-type"),
            *("tier", "throughput-capacity", "efa", "compression", "maintenance", "backups", "mount", "existing"),
        )
    ),
    **dict.fromkeys(
        ("storage.lustre.adopt.id", "storage.lustre.adopt.mount-name", "storage.lustre.adopt.security-group"),
        ("ParallelCluster adopts no file system", "name it as an existing one: storage: {lustre: {existing: {...}}}"),
    ),
    "storage.lustre.read-cache": (_LUSTRE, _CREATE_FIRST),
    "storage.lustre.metadata-iops": (_LUSTRE, _CREATE_FIRST),
    "storage.lustre.lustre-version": (_LUSTRE, _CREATE_FIRST),
    "storage.lustre.client": (
        "ParallelCluster mounts Lustre over TCP",
        "set up EFA for the Lustre client in a custom action OnNodeStart of each queue",
    ),
    "storage.lustre.data-repository-associations": None,
    "storage.lustre.release-task": (
        "ParallelCluster creates no release tasks",
        "schedule aws fsx create-data-repository-task --type RELEASE_DATA_FROM_FILESYSTEM",
    ),
    "storage.home": None,
    "storage.data-bucket": None,
    "storage.scratch.path": None,
    "storage.scratch.container-store": (
        "ParallelCluster leaves the directories of docker and enroot on the root volume",
        "move them in a custom action of each queue",
    ),
    "notifications": (
        "ParallelCluster notifies nobody of capacity that ends, and drains no nodes before",
        "reserve the nodes with scontrol create reservation before the Capacity Block ends",
    ),
    "observability": _MONITORING,
}


def key_notes(cluster: ClusterFile) -> Iterator[Note]:
    """Return a note for each key of the file that has no equivalent."""
    for path, pattern in written_keys(cluster):
        entry = _KEYS.get(
            pattern, ("this release does not export the key", "look for it in ParallelCluster's reference")
        )
        if entry is not None:
            yield Note(path=path, reason=entry[0], fix=entry[1])


def written_keys(cluster: ClusterFile) -> Iterator[tuple[Path, str]]:
    """Return the path of each key of the file, down to those of the table, with its pattern."""
    yield from _below(cluster.model_dump(by_alias=True, exclude_unset=True), (), ())


def path_of(cluster: ClusterFile, *path: str) -> Path:
    """Return the path of a key if the file has it; else of the nearest key above, or of `orchestrator`."""
    value: Any = cluster.model_dump(by_alias=True, exclude_unset=True)
    existing: list[str] = []
    for key in path:
        if not isinstance(value, Mapping) or key not in value:
            break
        existing.append(key)
        value = value[key]
    return tuple(existing) or ("orchestrator",)


def _below(value: Any, path: Path, pattern: tuple[str, ...]) -> Iterator[tuple[Path, str]]:
    name = ".".join(pattern)
    longer = any(key.startswith(f"{name}.") for key in _KEYS) if name else True
    if not isinstance(value, Mapping) or not longer:
        yield path, name
        return
    any_name = any(key.startswith(f"{name}.*.") for key in _KEYS)
    for key, inner in value.items():
        yield from _below(inner, (*path, key), (*pattern, "*" if any_name else key))
