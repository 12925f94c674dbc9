"""Whether AWS PCS and Slurm take what the Slurm section says."""

from collections.abc import Iterator, Mapping, Sequence

from ultracluster.clusterfile.node_group import NodeGroup
from ultracluster.clusterfile.problems import Path, Problem
from ultracluster.clusterfile.sections.file import NodeGroupSection, Slurm
from ultracluster.clusterfile.sections.slurm import Queue
from ultracluster.clusterfile.slurm_plan import (
    QUEUE_KEYS,
    accounting_script,
    accounts,
    cluster_settings,
    preempting,
    queue_settings,
)
from ultracluster.hardware import pcs
from ultracluster.hardware.slurm_settings import Place
from ultracluster.planning import check_static_nodes, health_settings
from ultracluster.planning.shared_queues import QueueMember, check_shared_queue
from ultracluster.planning.slurm_accounts import LONGEST_SCRIPT_BYTES, check_accounts
from ultracluster.planning.slurm_settings import METRICS_SETTINGS, METRICS_SINCE, check_gres, check_settings
from ultracluster.planning.users import User

_DAY_SECONDS = 86_400
# A quarter of the resources of a stack.
_MOST_USERS = 100
# Slurm has it from the beginning.
_NORMAL = "normal"


def check_slurm(
    slurm: Slurm | None, sections: Mapping[str, NodeGroupSection], groups: Sequence[NodeGroup]
) -> Iterator[Problem]:
    """Everything that is wrong with the section, and with what node groups tell Slurm."""
    if slurm is None:
        return
    yield from _check_controller(slurm)
    yield from _check_queues(slurm, sections, groups)
    yield from _check_accounts(slurm)
    yield from _check_users(slurm)
    for name, section in sections.items():
        path: Path = ("nodes", name, "slurm")
        yield from _settings("node-group", (*path, "settings"), section.slurm.settings, slurm.version)
        if "Features" in section.slurm.settings:
            message = "this library sets it, from labels; write labels"
            yield Problem(path=(*path, "settings", "Features"), message=message, at_key=True)
        for message in check_gres(section.slurm.settings, section.slurm.gres, version=slurm.version):
            yield Problem(path=(*path, "gres" if section.slurm.gres else "settings"), message=message)


def check_scaling(groups: Sequence[NodeGroup]) -> Iterator[Problem]:
    """Whether groups may have fewer nodes up than they have."""
    for group in groups:
        for message in check_static_nodes(group.capacity, minimum=group.minimum, count=group.count):
            yield Problem(path=("nodes", group.section, "min"), message=message)


def _check_controller(slurm: Slurm) -> Iterator[Problem]:
    path: Path = ("slurm",)
    if slurm.metrics and slurm.version < METRICS_SINCE:
        message = f"PCS shows metrics from Slurm {METRICS_SINCE} on, and the version is {slurm.version}"
        yield Problem(path=(*path, "metrics"), message=message)
    if slurm.rest_api and slurm.version < pcs.REST_API_SINCE:
        message = f"PCS has the REST API from Slurm {pcs.REST_API_SINCE} on, and the version is {slurm.version}"
        yield Problem(path=(*path, "rest-api"), message=message)
    for name in METRICS_SETTINGS if slurm.metrics else ():
        if name in slurm.settings:
            message = "metrics: true sets it; remove one of the two"
            yield Problem(path=(*path, "settings", name), message=message, at_key=True)
    if slurm.metrics and "PrivateData" in slurm.settings:
        message = "PCS shows no metrics when PrivateData is set; remove one of the two"
        yield Problem(path=(*path, "settings", "PrivateData"), message=message, at_key=True)
    purge = slurm.accounting_purge_time
    if purge is not None:
        days, rest = divmod(purge.seconds, _DAY_SECONDS)
        if rest or not 1 <= days <= pcs.LONGEST_PURGE_DAYS:
            message = f"must be 1 to {pcs.LONGEST_PURGE_DAYS:,} whole days, such as 365 d, got {purge}"
            yield Problem(path=(*path, "accounting-purge-time"), message=message)
    if not slurm.accounting:
        without = {
            "accounting-purge-time": purge is not None,
            "slurmdbd-settings": bool(slurm.slurmdbd_settings),
            "accounts": bool(slurm.accounts),
            "qos": bool(slurm.qos),
        }
        for key in (key for key, there in without.items() if there):
            yield Problem(path=(*path, key), message="needs accounting: true", at_key=True)
        if "AccountingStorageEnforce" in slurm.settings:
            key_path: Path = (*path, "settings", "AccountingStorageEnforce")
            yield Problem(path=key_path, message="needs accounting: true", at_key=True)
    # With what the library adds: a setting of theirs may not go with one of ours.
    told = health_settings(cluster_settings(slurm)) if slurm.health else cluster_settings(slurm)
    for name, message in check_settings("cluster", told, version=slurm.version).items():
        where: Path = (*path, "settings", name) if name in slurm.settings else (*path, "settings")
        if name == "SlurmctldParameters" and "PrologFlags" not in slurm.settings:
            message += f"; slurm.health sets {told['PrologFlags']}, so write PrologFlags: Contain"
        yield Problem(path=where, message=message)
    yield from _settings("slurmdbd", (*path, "slurmdbd-settings"), slurm.slurmdbd_settings, slurm.version)
    yield from _settings("cgroup", (*path, "cgroup-settings"), slurm.cgroup_settings, slurm.version)


def _settings(place: Place, path: Path, settings: Mapping[str, str], version: str) -> Iterator[Problem]:
    for name, message in check_settings(place, settings, version=version).items():
        yield Problem(path=(*path, name), message=message)


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
    for name, queue in slurm.queues.items():
        path: Path = ("slurm", "queues", name)
        yield from _check_nodes_of(name, queue, path, sections, slurm)
        members = [_member(group) for group in groups if group.section in (queue.nodes or (name,))]
        for message in check_shared_queue(members):
            yield Problem(path=(*path, "nodes"), message=message)
        told = queue_settings(queue, preempts=preempting(slurm))
        for setting, message in check_settings("queue", told, version=slurm.version).items():
            if setting in queue.settings:
                yield Problem(path=(*path, "settings", setting), message=message)
        for setting, key in QUEUE_KEYS.items():
            if setting in queue.settings:
                message = f"has a key of its own: write {key} beside settings"
                yield Problem(path=(*path, "settings", setting), message=message, at_key=True)
        longest, usual = queue.max_time, queue.default_time
        if longest and usual and usual.seconds > longest.seconds:
            message = f"is longer than max-time, {longest}; Slurm would refuse every job that says nothing"
            yield Problem(path=(*path, "default-time"), message=message)
        for key, known in (("accounts", slurm.accounts), ("qos", {**slurm.qos, _NORMAL: None})):
            for word in getattr(queue, key) if known or key == "qos" else ():
                if word not in known and (key == "qos" or word != "root"):
                    there = ", ".join(known) or "none"
                    message = f"{word} is not under slurm.{key}, where there are: {there}"
                    yield Problem(path=(*path, key), message=message)
        if (queue.accounts or queue.qos) and not slurm.accounting:
            yield Problem(path=path, message="accounts and QoS of a queue need accounting: true", at_key=True)
        if queue.billing_weights and not slurm.accounting:
            yield Problem(path=(*path, "billing-weights"), message="needs accounting: true", at_key=True)
        if queue.preempt != "off" and preempts.get("PreemptType") != "preempt/partition_prio":
            message = f"wants PreemptType preempt/partition_prio, and the settings say {preempts.get('PreemptType')}"
            yield Problem(path=(*path, "preempt"), message=message)
        higher = [other for other in slurm.queues.values() if other.priority > queue.priority]
        if queue.preempt != "off" and not higher:
            message = "no queue has a higher priority, so that its jobs would never give way; give one: priority: 2"
            yield Problem(path=(*path, "preempt"), message=message)
    defaults = [name for name, queue in slurm.queues.items() if queue.default]
    for name in defaults[1:]:
        message = f"{defaults[0]} is the default queue already, and there is one"
        yield Problem(path=("slurm", "queues", name, "default"), message=message)


def _check_nodes_of(
    name: str, queue: Queue, path: Path, sections: Mapping[str, NodeGroupSection], slurm: Slurm
) -> Iterator[Problem]:
    names = queue.nodes or (name,)
    for word in names:
        if sections and word not in sections:
            where: Path = (*path, "nodes") if queue.nodes else path
            what = "" if queue.nodes else "; say which it hands out: nodes: [...]"
            message = f"there is no node group {word}; there are {', '.join(sections)}{what}"
            yield Problem(path=where, message=message, at_key=not queue.nodes)
    held = {section for other in slurm.queues.items() for section in (other[1].nodes or (other[0],))}
    if name in sections and name not in held:
        message = f"is the name of a node group that no queue names, and so of its queue; name {name} in one of them"
        yield Problem(path=path, message=message, at_key=True)


def _check_accounts(slurm: Slurm) -> Iterator[Problem]:
    for name, message in check_accounts(accounts(slurm)).items():
        key = ("parent",) if slurm.accounts[name].parent and name != "root" else ()
        yield Problem(path=("slurm", "accounts", name, *key), message=message, at_key=not key)
    try:
        script = accounting_script(slurm) or ""
    except ValueError:
        return  # Told already, at the account.
    if len(script.encode()) > LONGEST_SCRIPT_BYTES:
        message = "are more than one document of Systems Manager holds; name fewer accounts, QoS and users"
        yield Problem(path=("slurm", "accounts"), message=message, at_key=True)
    for name, account in slurm.accounts.items():
        for word in account.qos:
            if word not in slurm.qos and word != _NORMAL:
                message = f"{word} is not under slurm.qos, where there are: {', '.join(slurm.qos) or 'none'}"
                yield Problem(path=("slurm", "accounts", name, "qos"), message=message)


def _check_users(slurm: Slurm) -> Iterator[Problem]:
    owners: dict[int, str] = {}
    for name, user in slurm.users.items():
        path: Path = ("slurm", "users", name)
        other = owners.setdefault(user.uid, name)
        if other != name:
            yield Problem(path=(*path, "uid"), message=f"is {other}'s already; every user has a number of their own")
        for word in user.accounts:
            if word not in slurm.accounts:
                there = ", ".join(slurm.accounts) or "none"
                message = f"{word} is not under slurm.accounts, where there are: {there}"
                yield Problem(path=(*path, "accounts"), message=message)
        if user.admin and not user.accounts:
            message = "an administrator of Slurm is a user of Slurm, who has an account: accounts: [...]"
            yield Problem(path=(*path, "admin"), message=message)
        try:
            User(name=name, uid=user.uid, ssh_keys=user.ssh_keys)
        except ValueError as error:
            yield Problem(path=path, message=str(error))
    if len(slurm.users) > _MOST_USERS:
        message = f"has {len(slurm.users)} users, and this takes {_MOST_USERS}; use a directory service for more"
        yield Problem(path=("slurm", "users"), message=message)
