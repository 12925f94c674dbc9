"""Rules of Slurm."""

from collections.abc import Iterator, Mapping, Sequence

from ultracluster.boot import breaker_limit, health_settings
from ultracluster.catalogue.schedulers import Place, pcs
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._draft import Draft, until_invalid
from ultracluster.clusterfile._node_group import NodeGroup
from ultracluster.clusterfile._problems import Path, Problem
from ultracluster.clusterfile._slurm_plan import (
    QUEUE_KEYS,
    cluster_settings,
    preempting,
    qos_names,
    queue_settings,
)
from ultracluster.clusterfile.rules._capacity import NODE_GROUP_QUOTA
from ultracluster.clusterfile.rules._rule import Rule, error, shared, warning
from ultracluster.clusterfile.rules._slurm_accounts import NORMAL, check_accounting, check_name, check_users
from ultracluster.clusterfile.sections._nodes import NodeGroupSection
from ultracluster.clusterfile.sections._slurm import Queue, Slurm
from ultracluster.clusterfile.sections._slurm_words import CONTROLLER_SIZE, SLURM_VERSION
from ultracluster.clusterfile.sections._word import not_one_of
from ultracluster.planning.capacity import check_static_nodes
from ultracluster.planning.slurm import (
    METRICS_SETTINGS,
    METRICS_SINCE,
    QueueMember,
    check_gres,
    check_settings,
    check_shared_queue,
    unknown_settings,
)

_USERS_WITHOUT_HOME = warning("users-without-home", "There are users, and no shared home.")
_NO_SHARED = warning("no-shared-file-system", "Several GPU nodes share no file system for checkpoints and logs.")
_UNKNOWN_SETTING = warning("unknown-setting", "A setting of Slurm that AWS PCS is not known to accept.")
_REPLACE = error("slurm-replace", "A wrong check must not replace a cluster, and every replacement must be reported.")
_VERSION = shared("slurm-version")
_SIZE = shared("slurm-size")
_FEATURES = error("slurm-features", "The library sets the features of nodes, from labels.")
_GRES = shared("slurm-gres")
_MIN = shared("min-nodes")
_METRICS = shared("slurm-metrics")
_REST = shared("slurm-rest-api")
_PURGE = shared("slurm-purge-time")
_ACCOUNTING = shared("slurm-accounting")
_SETTING = shared("slurm-setting")
_SETTING_KEY = error("slurm-setting-key", "A setting with a key of its own is written there.")
_QUEUE_NODES = shared("slurm-queue-nodes")
_QUEUE_TIME = error("slurm-queue-time", "A default above the maximum refuses every job that requests no time.")
_PREEMPT = error("slurm-preempt", "Preemption needs partition priorities and a queue with a higher one.")
_DEFAULT = error("slurm-default-queue", "Slurm has one default queue.")
_QUEUE_NAME = error("slurm-queue-name", "Slurm reads a partition of the name DEFAULT as settings of the others.")


def check_slurm(draft: Draft) -> Iterator[Problem]:
    """Check the section, and the settings of nodes in Slurm."""
    for group in draft.node_groups:
        for message in check_static_nodes(group.capacity, minimum=group.minimum, count=group.count):
            yield _MIN(("nodes", group.section, "min"), message)
    slurm = draft.slurm
    yield from _check_controller(slurm)
    yield from _check_queues(slurm, draft.nodes, draft.node_groups)
    yield from check_accounting(slurm)
    yield from until_invalid(_check_replace(draft))
    yield from check_users(slurm)
    for name, section in draft.nodes.items():
        path: Path = ("nodes", name, "slurm")
        yield from _settings("node-group", (*path, "settings"), section.slurm.settings, slurm.version)
        if "Features" in section.slurm.settings:
            message = "this library sets it, from labels; write labels"
            yield _FEATURES((*path, "settings", "Features"), message, at_key=True)
        for message in check_gres(section.slurm.settings, section.slurm.gres, version=slurm.version):
            yield _GRES((*path, "gres" if section.slurm.gres else "settings"), message)


def check_queues_and_users(draft: Draft) -> Iterator[Problem]:
    """Check what does not depend on the service that runs Slurm."""
    yield from _check_queues(draft.slurm, draft.nodes, draft.node_groups)
    yield from check_users(draft.slurm)


def _check_replace(draft: Draft) -> Iterator[Problem]:
    most, path = draft.slurm.replacements, ("slurm", "health", "replace")
    limit = max((breaker_limit(group.count) for group in draft.node_groups), default=most)
    if most > limit:
        message = (
            f"must be at most {limit}, got {most}: health checks may not replace more nodes of a node group within an "
            f"hour"
        )
        yield _REPLACE(path, message)
    if most and not draft.observability.on:
        yield _REPLACE(path, "needs the topic of alerts, which gets a notice; remove observability: {profile: none}")


def _check_controller(slurm: Slurm) -> Iterator[Problem]:
    path: Path = ("slurm",)
    if slurm.version not in pcs.SLURM_VERSIONS:
        message = not_one_of(slurm.version, pcs.SLURM_VERSIONS, SLURM_VERSION)
        if ended := pcs.ENDED_SLURM_VERSIONS.get(slurm.version):
            message = f"AWS PCS ended Slurm {slurm.version} on {ended}; use one of {', '.join(pcs.SLURM_VERSIONS)}"
        yield _VERSION((*path, "version"), message)
    if slurm.size is not None and slurm.size not in pcs.SIZES:
        yield _SIZE((*path, "size"), not_one_of(slurm.size, pcs.SIZES, CONTROLLER_SIZE))
    if slurm.metrics and slurm.version < METRICS_SINCE:
        message = f"PCS shows metrics from Slurm {METRICS_SINCE} on, and the version is {slurm.version}"
        yield _METRICS((*path, "metrics"), message)
    if slurm.rest_api and slurm.version < pcs.REST_API_SINCE:
        message = f"PCS has the REST API from Slurm {pcs.REST_API_SINCE} on, and the version is {slurm.version}"
        yield _REST((*path, "rest-api"), message)
    for name in METRICS_SETTINGS if slurm.metrics else ():
        if name in slurm.settings:
            message = "metrics: true sets it; remove one of the two"
            yield _METRICS((*path, "settings", name), message, at_key=True)
    if slurm.metrics and "PrivateData" in slurm.settings:
        message = "PCS shows no metrics when PrivateData is set; remove one of the two"
        yield _METRICS((*path, "settings", "PrivateData"), message, at_key=True)
    purge = slurm.accounting_purge_time
    if purge is not None and purge.days not in range(1, pcs.LONGEST_PURGE_DAYS + 1):
        message = f"must be 1 to {pcs.LONGEST_PURGE_DAYS:,} whole days, such as 365 d, got {purge}"
        yield _PURGE((*path, "accounting-purge-time"), message)
    if not slurm.accounting:
        for key in ("accounting-purge-time", "slurmdbd-settings", "accounts", "qos"):
            if getattr(slurm, key.replace("-", "_")):
                yield _ACCOUNTING((*path, key), "needs accounting: true", at_key=True)
        if "AccountingStorageEnforce" in slurm.settings:
            key_path: Path = (*path, "settings", "AccountingStorageEnforce")
            yield _ACCOUNTING(key_path, "needs accounting: true", at_key=True)
    # With the settings of the library: one of the file may conflict with them. Its prolog runs that of the file.
    settings = cluster_settings(slurm)
    prolog = {name: value for name, value in settings.items() if name == "Prolog"}
    all_settings = {**health_settings(settings, health=bool(slurm.health)), **prolog}
    for name, message in check_settings("cluster", all_settings, version=slurm.version).items():
        where: Path = (*path, "settings", name) if name in slurm.settings else (*path, "settings")
        if name == "SlurmctldParameters" and slurm.health and "PrologFlags" not in slurm.settings:
            message += f"; slurm.health sets {all_settings['PrologFlags']}, so write PrologFlags: Contain"
        yield _SETTING(where, message)
    yield from _settings("slurmdbd", (*path, "slurmdbd-settings"), slurm.slurmdbd_settings, slurm.version)
    yield from _settings("cgroup", (*path, "cgroup-settings"), slurm.cgroup_settings, slurm.version)


def _settings(place: Place, path: Path, settings: Mapping[str, str], version: str) -> Iterator[Problem]:
    for name, message in check_settings(place, settings, version=version).items():
        yield _SETTING((*path, name), message)


def _member(group: NodeGroup) -> QueueMember:
    return QueueMember(
        name=group.section,
        count=group.count,
        ultraserver=bool(group.instance_type.ultraservers),
        block=getattr(group.capacity, "reservation_id", group.name),
    )


def _check_queues(
    slurm: Slurm, sections: Mapping[str, NodeGroupSection], groups: Sequence[NodeGroup]
) -> Iterator[Problem]:
    preempts = cluster_settings(slurm)
    # https://slurm.schedmd.com/slurm.conf.html#SECTION_PARTITION-CONFIGURATION (read 2026-11-27): in any case.
    if any(group.section == "default" for group in groups) and not any(
        "default" in (queue.nodes or (name,)) for name, queue in slurm.queues.items()
    ):
        message = (
            "its queue would have this name, which Slurm reads as defaults of all queues; name the group otherwise"
        )
        yield _QUEUE_NAME(("nodes", "default"), message, at_key=True)
    for name, queue in slurm.queues.items():
        path: Path = ("slurm", "queues", name)
        if name == "default":
            yield _QUEUE_NAME(path, "Slurm reads this name as defaults of all queues; choose another", at_key=True)
        yield from _check_nodes_of(name, queue, path, sections, slurm)
        members = [_member(group) for group in groups if group.section in (queue.nodes or (name,))]
        for message in check_shared_queue(members):
            yield _QUEUE_NODES((*path, "nodes"), message)
        settings = queue_settings(queue, preempts=preempting(slurm))
        for setting, message in check_settings("queue", settings, version=slurm.version).items():
            if setting in queue.settings:
                yield _SETTING((*path, "settings", setting), message)
        for setting, key in QUEUE_KEYS.items():
            if setting in queue.settings:
                message = f"has a key of its own: write {key} beside settings"
                yield _SETTING_KEY((*path, "settings", setting), message, at_key=True)
        longest, usual = queue.max_time, queue.default_time
        if longest and usual and usual.seconds > longest.seconds:
            message = f"is longer than max-time, {longest}; Slurm would refuse every job without a time limit"
            yield _QUEUE_TIME((*path, "default-time"), message)
        for word in queue.accounts if slurm.accounts else ():
            if word != "root":
                yield from check_name((*path, "accounts"), word, "accounts", slurm.accounts)
        services = qos_names(settings)
        for setting, words in services.items():
            for word in words:
                where = (*path, "settings", setting) if setting in queue.settings else (*path, "qos")
                yield from check_name(where, word, "qos", {**slurm.qos, NORMAL: None})
        if (queue.accounts or services) and not slurm.accounting:
            yield _ACCOUNTING(path, "accounts and QoS of a queue need accounting: true", at_key=True)
        if queue.billing_weights and not slurm.accounting:
            yield _ACCOUNTING((*path, "billing-weights"), "needs accounting: true", at_key=True)
        if queue.preempt != "off" and preempts.get("PreemptType") != "preempt/partition_prio":
            message = (
                f"requires PreemptType preempt/partition_prio, and the settings have {preempts.get('PreemptType')}"
            )
            yield _PREEMPT((*path, "preempt"), message)
        higher = [other for other in slurm.queues.values() if other.priority > queue.priority]
        if queue.preempt != "off" and not higher:
            message = "no queue has a higher priority, so that its jobs would never be preempted; set one: priority: 2"
            yield _PREEMPT((*path, "preempt"), message)
    defaults = [name for name, queue in slurm.queues.items() if queue.default]
    for name in defaults[1:]:
        message = f"{defaults[0]} is the default queue already, and there is one"
        yield _DEFAULT(("slurm", "queues", name, "default"), message)


def _check_nodes_of(
    name: str, queue: Queue, path: Path, sections: Mapping[str, NodeGroupSection], slurm: Slurm
) -> Iterator[Problem]:
    names = queue.nodes or (name,)
    for word in names:
        if sections and word not in sections:
            where: Path = (*path, "nodes") if queue.nodes else path
            what = "" if queue.nodes else "; specify its node groups: nodes: [...]"
            message = f"there is no node group {word}; there are {', '.join(sections)}{what}"
            yield _QUEUE_NODES(where, message, at_key=not queue.nodes)
    held = {section for other in slurm.queues.items() for section in (other[1].nodes or (other[0],))}
    if name in sections and name not in held:
        message = f"is the name of a node group that no queue names, and so of its queue; name {name} in one of them"
        yield _QUEUE_NODES(path, message, at_key=True)


def warn_slurm(cluster: ClusterFile) -> Iterator[tuple[Rule, str]]:
    """Yield the warnings."""
    slurm = cluster.slurm
    unknown = [
        *unknown_settings("cluster", slurm.settings),
        *unknown_settings("slurmdbd", slurm.slurmdbd_settings),
        *unknown_settings("cgroup", slurm.cgroup_settings),
    ]
    for queue in slurm.queues.values():
        unknown += unknown_settings("queue", queue.settings)
    for section in cluster.nodes.values():
        unknown += unknown_settings("node-group", section.slurm.settings)
    if len(cluster.queues) > pcs.NODE_GROUPS_PER_CLUSTER:
        yield (
            NODE_GROUP_QUOTA,
            f"the cluster has {len(cluster.queues)} queues, and PCS gives a cluster {pcs.NODE_GROUPS_PER_CLUSTER} by "
            "default; request an increase by a support case before you deploy",
        )
    several = dict.fromkeys(group.section for group in cluster.node_groups if group.gpus and group.count > 1)
    if several and cluster.storage.lustre is None and cluster.storage.home is None:
        yield (
            _NO_SHARED,
            f"{', '.join(several)}: the nodes share no file system, so each keeps its part of a checkpoint, and logs, "
            "on disks that leave with it; write storage: {lustre: {throughput: ... GB/s}} or {home: {}}",
        )
    if cluster.users and cluster.storage.home is None:
        yield (
            _USERS_WITHOUT_HOME,
            "each user has another home on every node, for none is shared, and a job finds there what its node has; "
            "write storage: {home: {}}",
        )
    if unknown:
        yield (
            _UNKNOWN_SETTING,
            f"{', '.join(dict.fromkeys(unknown))}: not among the settings that AWS PCS took on 2026-11-21; if it still "
            "does not, the deployment fails there",
        )
