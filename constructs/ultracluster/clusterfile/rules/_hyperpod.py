"""Rules of SageMaker HyperPod with Slurm, and those that both of its modes have."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ultracluster.catalogue.ec2 import REGIONS
from ultracluster.catalogue.schedulers import hyperpod
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._draft import Draft, until_invalid, valid
from ultracluster.clusterfile._problems import Path, Problem
from ultracluster.clusterfile.rules._hyperpod_limits import check_limits
from ultracluster.clusterfile.rules._rule import Rule, error, shared, warning
from ultracluster.clusterfile.sections._scripts import Script
from ultracluster.planning.capacity import OnDemand, Spot, TrainingPlan

_TYPE = shared("hyperpod-type")
_REGION = shared("hyperpod-region")
_NAME = error(
    "hyperpod-name", "HyperPod accepts letters, digits and hyphens in names, and reserves some names of groups."
)
_SPOT = error("hyperpod-spot", "HyperPod launches Spot instances for Kubernetes only.")
_SLURM = error("hyperpod-slurm", "HyperPod runs Slurm by its image and its API, which have no such setting.")
NODES = error("hyperpod-nodes", "HyperPod launches its nodes itself, without a launch template of the account.")
_PARTITION = error("hyperpod-partition", "HyperPod puts a node group into one partition, which has no settings.")
_STORAGE = error("hyperpod-storage", "HyperPod mounts FSx for Lustre itself, with EFA where both sides support it.")
_PRIVATE = error("hyperpod-private", "AWS does not publish the endpoints and buckets that HyperPod nodes need.")
_ACCOUNTING = error("hyperpod-accounting", "An accounting database needs continuous provisioning.")
_KEY = error("hyperpod-volume-key", "A key of the volumes needs continuous provisioning.")
_PLAN = error(
    "hyperpod-training-plan", "A training plan can be used only in the account that purchased it.", acceptable=True
)
_SCRIPT = error("hyperpod-script", "HyperPod runs scripts once on a new node, after its image has started Slurm.")
MODE = error("hyperpod-mode", "Some settings of HyperPod are for Slurm, and others for Kubernetes.")
_OVERWRITES = warning(
    "hyperpod-overwrite", "A strategy of HyperPod overwrites what the library and the file add to slurm.conf."
)
_QUOTA = warning("hyperpod-quota", "On-demand nodes need quotas of SageMaker, which are 0 in a new account.")

# Keys of the section `slurm`, and what takes their place. A key with its default is no request.
_KEYS: Mapping[str, str] = {
    "version": "the image of HyperPod has its own version; remove it",
    "size": "the controller is a node; write its type instead: hyperpod: {controller: m7i.8xlarge}",
    "accounting": "its image always keeps accounting; remove it",
    "scale_down_idle_time": "it powers no node off; remove it",
    "accounting_purge_time": "it has no setting for this; remove it, or purge a database of your own: hyperpod: "
    "{accounting: {endpoint: ..., secret: ...}}",
    "rest_api": "its image does not serve the REST API; remove it, and start slurmrestd on the controller",
    "metrics": "its controller serves no metrics; remove it",
    "slurmdbd_settings": "it writes slurmdbd.conf itself; remove it",
    "cgroup_settings": "it writes cgroup.conf itself; remove it",
    "accounts": "accounts are created on the controller, which has the database: sacctmgr; remove it",
    "qos": "QoS are created on the controller, which has the database: sacctmgr; remove it",
    "directory": "no node is joined to a directory yet; write users instead",
}
# Why there is no private network, with Slurm and with Kubernetes. "Closed Network Deployment" is a section of
# https://github.com/awslabs/awsome-distributed-ai, README.md of 1.architectures/7.sagemaker-hyperpod-eks/
# terraform-modules (commit 95b939c of 2026-07-23, read 2026-11-25)
_CLOSED = (
    "no page of AWS lists the endpoints that replace it",
    "AWS's template for a closed network copies images and edits HyperPod's charts, which this release does not do",
)
# Keys of a section of `nodes`.
#: Those that both modes refuse.
NODE_KEYS: Mapping[str, str] = {
    "tags": "its instances are in an account of the service; remove it, and write tags of the cluster",
    "layout": "it creates the network interfaces itself; remove it",
    "image": "its nodes have its own image; remove it",
    "stack": "all node groups are in the resource of the cluster; remove it",
}
_NODE_KEYS: Mapping[str, str] = {
    "min": "every node of a group runs; remove it",
    "canary": "it updates its nodes itself, by aws sagemaker update-cluster-software; remove it",
    "slurm": "it writes the nodes into slurm.conf itself; remove it",
    "labels": "it gives nodes no features; remove it, and submit by partition",
    **NODE_KEYS,
}
_LUSTRE_KEYS: Mapping[str, str] = {
    "client": "it sets up EFA for Lustre itself, where file system and node are in one zone; remove it",
}
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html, and the agent that writes them:
# https://github.com/awslabs/awsome-distributed-ai, 1.architectures/5.sagemaker-hyperpod/tools/devops-agent/docs/
# hyperpod-mental-model.md (commit 95b939c of 2026-07-23; both read 2026-11-23)
_ITS_SETTINGS = (
    *("nodename", "partitionname", "slurmctldhost", "slurmctldparameters", "clustername", "topologyplugin", "include"),
    *("accountingstoragehost", "accountingstorageport", "accountingstoragetype", "prolog", "epilog", "grestypes"),
)
# The list of a group is a parameter: scripts of the library, and for each further one its checksum, which the address
# of an asset has too, the bucket, and a word.
_LIST, _OF_THE_LIBRARY, _OF_A_SCRIPT = 8_192, 1_500, 250
_OWN_GROUPS = ("controller", hyperpod.ALL_NODES_PARTITION)


def check_hyperpod(draft: Draft) -> Iterator[Problem]:
    """Check a cluster of HyperPod with Slurm."""
    for rule in (check_region, _check_names, _check_types, _check_nodes, _check_section, _check_slurm, _check_storage):
        yield from until_invalid(rule(draft))


def check_region(draft: Draft) -> Iterator[Problem]:
    """Check that the region has HyperPod, and that the nodes reach it."""
    if draft.region in REGIONS.values() and draft.region not in hyperpod.REGIONS:
        yield _REGION(("region",), f"HyperPod is not available in {draft.region}; use another Region or orchestrator")
    if not draft.network.internet:
        message = f"nodes of HyperPod need the internet here: {_CLOSED[draft.traits.has_platform]}"
        yield _PRIVATE(("network", "internet"), f"{message}; remove it, or write orchestrator: {_other(draft)}")
    if draft.perimeter is not None:
        message = "no page of AWS lists the buckets of the service that its nodes read through the endpoint of the VPC"
        yield _PRIVATE(("perimeter",), f"{message}; remove it, or write orchestrator: {_other(draft)}", at_key=True)


def _other(draft: Draft) -> str:
    return draft.traits.sections[0]


def _check_names(draft: Draft) -> Iterator[Problem]:
    yield from check_names(draft)
    for name in draft.nodes:
        if name in _OWN_GROUPS:
            message = f"{name!r} is a name of HyperPod's own; choose another name"
            yield _NAME(("nodes", name), message, at_key=True)


def check_names(draft: Draft) -> Iterator[Problem]:
    """Check the names of cluster and groups."""
    yield from (_NAME(("name",), message) for message in hyperpod.check_name(valid(lambda: draft.name) or "a"))
    for name in draft.nodes:
        for message in hyperpod.check_name(name):
            yield _NAME(("nodes", name), message, at_key=True)


def check_types(draft: Draft) -> Iterator[Problem]:
    """Check that HyperPod has the types of the node groups, and the account their training plans."""
    account = valid(lambda: draft.account)
    for group in draft.node_groups:
        # ListTrainingPlans returns those of the account: https://docs.aws.amazon.com/sagemaker/latest/dg/
        # training-plan-creation-using-api-cli-sdk.html; no page shares one (read 2026-11-26).
        plan = group.capacity.arn.split(":")[4] if isinstance(group.capacity, TrainingPlan) else None
        if account is not None and plan not in (None, account):
            message = (
                f"is of the account {plan}, and the cluster is in {account}: AWS documents no sharing of training plans"
            )
            yield _PLAN(("nodes", group.section, "capacity", "training-plan"), f"{message}; purchase one in {account}")
        for message in hyperpod.check_type(group.instance_type.name):
            yield _TYPE(("nodes", group.section, "type"), f"{message}; use another type")


def _check_types(draft: Draft) -> Iterator[Problem]:
    yield from check_types(draft)
    for group in draft.node_groups:
        if isinstance(group.capacity, Spot):
            message = "HyperPod launches Spot instances for Kubernetes only; write on-demand, or {training-plan: ARN}"
            yield _SPOT(("nodes", group.section, "capacity"), message)
    for path, name in (
        (("slurm", "login", "type"), valid(lambda: draft.service_type.name)),
        (("hyperpod", "controller"), valid(lambda: draft.hyperpod.controller)),
    ):
        yield from (_TYPE(path, f"{message}; use another") for message in (hyperpod.check_type(name) if name else ()))


def _check_nodes(draft: Draft) -> Iterator[Problem]:
    yield from check_nodes(draft, _NODE_KEYS)
    scripts: list[tuple[Path, Sequence[Script]]] = [
        (("nodes", name, "scripts"), section.scripts) for name, section in draft.nodes.items()
    ]
    for path, of_nodes in (*scripts, (("slurm", "login", "scripts"), draft.slurm.login.scripts)):
        for index, script in enumerate(of_nodes):
            if script.stage != "nodeReady":
                message = f"HyperPod runs scripts once slurmd has started; write stage: nodeReady, got {script.stage}"
                yield _SCRIPT((*path, index, "stage"), message)
            if script.every_boot:
                message = "HyperPod runs scripts on each new node, and not at further boots; remove it"
                yield _SCRIPT((*path, index, "every-boot"), message, at_key=True)
        size = _OF_THE_LIBRARY + sum(map(_size, of_nodes))
        if of_nodes and size > _LIST:
            message = f"the list of scripts has {size:,} of the {_LIST:,} bytes of a parameter; use fewer arguments"
            yield _SCRIPT(path, message, at_key=True)


def _size(script: Script) -> int:
    """Return the bytes of a script in the list that nodes read."""
    return len(script.url or "") + _OF_A_SCRIPT + sum(len(shlex.quote(text).encode()) + 1 for text in script.arguments)


def check_nodes(draft: Draft, hints: Mapping[str, str]) -> Iterator[Problem]:
    """Check that no key is for nodes of the account; `hints` has what to write instead."""
    for name, section in draft.nodes.items():
        path: Path = ("nodes", name)
        yield from refused(NODES, path, section, hints)
        if "placement_group" in section.model_fields_set and section.placement_group not in ("auto", None):
            message = "HyperPod places its instances itself; remove it"
            yield NODES((*path, "placement-group"), message, at_key=True)
    if "image" in draft.model_fields_set and draft.image != "aws":
        yield NODES(("image",), "HyperPod: its nodes have its own image; remove it", at_key=True)


def _check_section(draft: Draft) -> Iterator[Problem]:
    section = draft.hyperpod
    if section.accounting is not None and section.strategy is not None:
        message = "a database needs continuous provisioning, which strategy turns off; remove one of the two"
        yield _ACCOUNTING(("hyperpod", "accounting"), message, at_key=True)
    # https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-cmk.html (read 2026-11-26)
    if section.volume_key is not None and section.strategy is not None:
        message = "a key needs continuous provisioning, which strategy turns off; remove one of the two"
        yield _KEY(("hyperpod", "volume-key"), message, at_key=True)
    if section.checkpoint_memory is not None:
        message = "HyperPod keeps checkpoints in the memory of nodes with Kubernetes only; remove it"
        yield MODE(("hyperpod", "checkpoint-memory"), message, at_key=True)
    yield from check_limits(draft, extra=2)


def _check_slurm(draft: Draft) -> Iterator[Problem]:
    slurm = draft.slurm
    yield from refused(_SLURM, ("slurm",), slurm, _KEYS)
    if "imds" in slurm.model_fields_set and slurm.imds != "all":
        message = "agents of HyperPod serve the credentials of the role to all users of a node; write imds: all"
        yield _SLURM(("slurm", "imds"), message)
    if slurm.replacements:
        yield _SLURM(("slurm", "health"), "HyperPod replaces faulty nodes itself; write health: true")
    for key, hint in (
        ("ssh", "its nodes are reached by Session Manager; remove it"),
        ("image", "its nodes have its own image; remove it"),
        ("tags", "its instances are in an account of the service; remove it"),
    ):
        yield from refused(_SLURM, ("slurm", "login"), slurm.login, {key: hint})
    for name in slurm.settings:
        # Slurm reads names in any case.
        if name.lower() in _ITS_SETTINGS:
            yield _SLURM(("slurm", "settings", name), "HyperPod writes it itself; remove it", at_key=True)
        if name.lower() == "taskplugin":
            # The agent on a node: https://github.com/awslabs/awsome-distributed-ai/pull/584 (read 2026-11-27)
            message = "HyperPod resumes jobs with task/none only, which its image has; remove it"
            yield _SLURM(("slurm", "settings", name), message, at_key=True)
    for name, user in slurm.users.items():
        hint = "accounts are created on the controller, which has the database: sacctmgr; remove it"
        yield from refused(_SLURM, ("slurm", "users", name), user, {"accounts": hint, "admin": hint})
    yield from _check_partitions(draft)


def _check_partitions(draft: Draft) -> Iterator[Problem]:
    slurm = draft.slurm
    types = {group.section: group.instance_type.name for group in draft.node_groups}
    partition_of: dict[str, str] = {}
    for name, queue in slurm.queues.items():
        path: Path = ("slurm", "queues", name)
        # What `scontrol update` sets, the next `scontrol reconfigure` undoes: slurm.conf(5), ReconfigFlags.
        hint = f"partitions have no settings; remove it, and add it to PartitionName={name} in slurm.conf on the "
        hint += "controller, then run scontrol reconfigure"
        if name == hyperpod.ALL_NODES_PARTITION:
            message = f"HyperPod has a partition {name} with all nodes; choose another name"
            yield _PARTITION(path, message, at_key=True)
        keys = sorted(queue.model_fields_set - {"nodes"})
        yield from refused(_PARTITION, path, queue, dict.fromkeys(keys, hint))
        of_queue = sorted({types[section] for section in queue.nodes if section in types})
        if len(of_queue) > 1:
            message = f"has {' and '.join(of_queue)}, which a job would mix: HyperPod names nodes by"
            yield _PARTITION((*path, "nodes"), f"{message} their addresses; write a queue for each")
        for section in queue.nodes or (name,):
            first = partition_of.setdefault(section, name)
            if first != name:
                message = f"{section} is in the partition {first}, and in {hyperpod.ALL_NODES_PARTITION}, as all"
                yield _PARTITION((*path, "nodes"), f"{message} nodes are; remove it from one")


def _check_storage(draft: Draft) -> Iterator[Problem]:
    if (lustre := draft.storage.lustre) is not None:
        yield from refused(_STORAGE, ("storage", "lustre"), lustre, _LUSTRE_KEYS)


def refused(rule: Rule, path: Path, section: Any, hints: Mapping[str, str]) -> Iterator[Problem]:
    """Yield a problem for each key that differs from its default."""
    for key, hint in hints.items():
        field = type(section).model_fields.get(key)
        if field is not None and key in section.model_fields_set and getattr(section, key) != field.default:
            yield rule((*path, key.replace("_", "-")), f"HyperPod: {hint}", at_key=True)


def warn_hyperpod(cluster: ClusterFile) -> Iterator[tuple[Rule, str]]:
    """Yield the warnings."""
    groups = [group for group in cluster.node_groups if group.gpus and isinstance(group.capacity, OnDemand)]
    types = sorted({group.instance_type.name for group in groups})
    if cluster.hyperpod.strategy == "Overwrite" and (cluster.slurm_settings or cluster.slurm.health):
        yield (
            _OVERWRITES,
            "with strategy: Overwrite, HyperPod writes slurm.conf again when the cluster changes, without "
            "slurm.settings and what the health checks need: remove strategy, or run `sudo systemctl restart "
            "ultracluster-hyperpod-settings` on the controller after each update",
        )
    if types:
        names = ", ".join(hyperpod.QUOTA.format(f"ml.{name}") for name in types)
        yield (
            _QUOTA,
            f"nodes on demand need quotas of SageMaker, which are zero for GPUs in a new account: {names}; request an "
            "increase, or purchase a training plan: capacity: {training-plan: ARN}",
        )
