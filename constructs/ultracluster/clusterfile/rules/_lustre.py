"""Rules of the Lustre file system."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ultracluster.boot import MOST_EFA_INTERFACES
from ultracluster.catalogue.storage import lustre as facts
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._draft import Draft
from ultracluster.clusterfile._lustre import (
    accepted_offer,
    checkpoint,
    efa_nodes,
    lustre_goal,
    lustre_overrides,
    lustre_plan,
    requested_client,
    writers,
)
from ultracluster.clusterfile._problems import Path, Problem
from ultracluster.clusterfile.rules._associations import check_file_system
from ultracluster.clusterfile.rules._rule import Rule, error, listed, shared, warning
from ultracluster.clusterfile.sections._lustre import LUSTRE_VERSION, Lustre
from ultracluster.clusterfile.sections._word import not_one_of
from ultracluster.planning.lustre import (
    LUSTRE_BACKUPS,
    LUSTRE_SOLD,
    LustreOffer,
    LustreOverrides,
    LustrePlan,
    check_capacity,
    checkpoint_times,
    kind_of,
    lustre_offer,
    needs_efa,
)
from ultracluster.planning.lustre import check_lustre as check_sold

_EXISTING_LUSTRE = shared("existing-lustre")
_LUSTRE_QUOTA = warning("lustre-quota", "The file system is larger than the default quota of a Region.")
_LUSTRE_CHECKPOINT = warning(
    "lustre-checkpoint", "The nodes are too few, or too slow, to write the checkpoint within its stall."
)
_LUSTRE_EFA_UNUSED = warning(
    "lustre-efa-unused", "The file system has EFA, and no node in its zone is known to use it."
)
_LUSTRE_OTHER_ZONE = warning("lustre-other-zone", "Nodes reach the file system across zones.")
_ADOPTED_NEW_HOME = warning(
    "adopt-new-home", "A cluster that adopts its Lustre file system creates new, empty home directories."
)
_EFA_ZONE = error("lustre-efa-zone", "FSx for Lustre does not support EFA in every zone.", acceptable=True)
_TIER = shared("lustre-tier")

_EFA_INTERFACES = shared("lustre-efa-interfaces")
_EXISTING = error("lustre-existing-keys", "An existing file system keeps its own shape.")
_ADOPTED_LINKS = error(
    "lustre-adopt-associations",
    "A retained file system has the associations that it had, and FSx refuses a second one for a directory.",
    acceptable=True,
)
_VERSION = shared("lustre-version")
_GOAL = error("lustre-goal", "The shape of a file system follows from a throughput, a checkpoint or a capacity.")
_CHECKPOINT = error("lustre-checkpoint-size", "The size of a checkpoint follows from the model, or is given.")
_BACKUPS = shared(LUSTRE_BACKUPS)
_SOLD = shared(LUSTRE_SOLD)

_PATH: Path = ("storage", "lustre")
# Keys that an existing file system takes.
_OF_EXISTING = {"client", "data_repository_associations", "existing", "mount", "release_task"}
_GOALS = "a throughput, a checkpoint or a capacity"
# https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html (read 2026-11-21)
_MOST_BACKUP_DAYS = 90


def check_keys(lustre: Lustre) -> Iterator[Problem]:
    """Check the keys of the section that do not depend on the zone."""
    most, requested = MOST_EFA_INTERFACES, lustre.client.efa_interfaces
    if requested is not None and requested > most:
        message = f"must be 1 to {most}, got {requested:,}; for as many as AWS's tool configures, leave it out"
        yield _EFA_INTERFACES((*_PATH, "client", "efa-interfaces"), message)
    if lustre.storage_type == "INTELLIGENT_TIERING" and lustre.tier is not None:
        message = "Intelligent-Tiering has no tier; remove it, or set throughput-capacity"
        yield _SOLD((*_PATH, "tier"), message)
    yield from _check_adopted(lustre)
    if lustre.existing is not None:
        yield from _EXISTING.of_new(_PATH, lustre.model_fields_set - _OF_EXISTING, "file system")
        return
    if lustre.lustre_version is not None and lustre.lustre_version not in facts.VERSIONS:
        message = not_one_of(lustre.lustre_version, facts.VERSIONS, LUSTRE_VERSION)
        yield _VERSION((*_PATH, "lustre-version"), message)
    if lustre.throughput is None and lustre.checkpoint is None and lustre.capacity is None:
        message = f"specify what the file system is for: {_GOALS}; write for example throughput: 40 GB/s"
        yield _GOAL(_PATH, message, at_key=True)
    goal = lustre.checkpoint
    if goal is not None and (goal.model is None) == (goal.size is None):
        message = "specify its size: either model: 70 B, its parameters, or size: 1 TB"
        yield _CHECKPOINT((*_PATH, "checkpoint"), message)
    if lustre.backups is not None:
        yield from _BACKUPS.of_days((*_PATH, "backups"), "daily backups", lustre.backups, _MOST_BACKUP_DAYS)
    yield from check_file_system(lustre)


def _check_adopted(lustre: Lustre) -> Iterator[Problem]:
    if lustre.adopt is not None and lustre.data_repository_associations:
        message = (
            f"{lustre.adopt.id} keeps the associations that it had; remove this key, or delete those associations "
            "and accept this rule"
        )
        yield _ADOPTED_LINKS((*_PATH, "data-repository-associations"), message, at_key=True)


def check_lustre(draft: Draft) -> Iterator[Problem]:
    """Check the file system."""
    lustre, accept = draft.storage.lustre, draft.accept
    if lustre is None:
        return
    problems = list(check_keys(lustre))
    yield from problems
    if lustre.existing is not None or any(problem.rule not in accept for problem in problems):
        return
    zone = draft.zone
    sells, offer = lustre_offer(zone), accepted_offer(lustre, zone, accept)
    if lustre.efa and not sells.efa:
        message = f"FSx for Lustre does not support EFA in {zone}; remove it, or write efa: false"
        yield _EFA_ZONE((*_PATH, "efa"), message)
    if lustre.tier and lustre.tier.amount not in sells.tiers:
        tiers = ", ".join(str(tier) for tier in sells.tiers)
        sold = f"supports the tiers {tiers} MB/s/TiB in {zone}" if tiers else f"does not offer PERSISTENT_2 in {zone}"
        yield _TIER((*_PATH, "tier"), f"FSx {sold}, got {lustre.tier}")
    if (lustre.tier and lustre.tier.amount not in offer.tiers) or (lustre.efa and not offer.efa):
        return
    refusals = list(check_choices(lustre, offer))
    if any(key is not None for key, _ in refusals):
        for key, message in refusals:
            at_key = key is not None and key != "capacity"
            yield _SOLD((*_PATH, str(key)), message) if at_key else _unsold(lustre, message)
        return
    try:
        plan = lustre_plan(lustre, zone=zone, accept=accept)
    except ValueError as error:
        yield _unsold(lustre, str(error))
        return
    if plan is not None:
        yield from _check_shape(lustre, plan, offer)


def _unsold(lustre: Lustre, message: str) -> Problem:
    """Return the error at the key that causes it."""
    exact = lustre.tier is not None and lustre.capacity is not None
    for key in ("capacity",) if exact and "GiB" in message else ():
        return _SOLD((*_PATH, key), f"{message}; without `tier` any size will do")
    # The key of the cluster file for it.
    message = message.replace("use SCRATCH_2", "where all may be lost, `temporary: true` creates SCRATCH_2")
    for words, key, value in (
        ("metadata IOPS", "metadata-iops", lustre.metadata_iops),
        ("throughput capacity", "throughput-capacity", lustre.throughput_capacity),
        ("read cache", "read-cache", lustre.read_cache),
    ):
        # Of several problems none is nearest.
        if value is not None and words in message and "; " not in message.replace("; the next", ""):
            return _SOLD((*_PATH, key), message)
    return _SOLD(_PATH, message, at_key=True)


def _check_shape(lustre: Lustre, plan: LustrePlan, offer: LustreOffer) -> Iterator[Problem]:
    if lustre.capacity is None or lustre.tier is None or lustre.throughput is None:
        return
    clients, efa = plan.goal.clients, plan.spec.efa
    # A size that only file systems without EFA have must not be the reason why there is none.
    lost = not efa and lustre.efa is None and offer.efa and needs_efa(plan.goal)
    lost = lost and (clients is None or clients.can_use_efa)
    for message in check_capacity(lustre.capacity.gib, tier=lustre.tier.mb_per_s_per_tib, efa=efa or lost):
        remedy = "; without `tier` any size will do"
        if lost:
            remedy += "; AWS recommends EFA above 10 GB/s: write efa: false for a file system without it"
        elif efa:
            remedy += ", and without EFA the steps are smaller"
        yield _SOLD((*_PATH, "capacity"), message + remedy)
        return


# Properties that each key sets. If two keys conflict, the first of this list, the narrower one, has the error.
_DECIDES = {
    "metadata-iops": ("metadata_mode", "metadata_iops"),
    "capacity": ("capacity_gib",),
    "tier": ("mb_per_s_per_tib",),
    "read-cache": ("read_cache_mode", "read_cache_gib"),
    "lustre-version": ("lustre_version",),
    "throughput-capacity": ("throughput_capacity_mb_per_s",),
    "efa": ("efa",),
    "storage-type": ("storage_type",),
    "deployment-type": ("deployment_type",),
}


def check_choices(lustre: Lustre, offer: LustreOffer) -> Iterator[tuple[str | None, str]]:
    """Yield each error of FSx with the key that causes it, or None if no single key does."""
    stated = lustre_overrides(lustre)
    for message in _refusals(lustre, stated, offer):
        yield next((key for key in _DECIDES if _is_reason(lustre, key, message, stated, offer)), None), message


def _is_reason(lustre: Lustre, key: str, message: str, stated: LustreOverrides, offer: LustreOffer) -> bool:
    if getattr(lustre, key.replace("-", "_")) is None:
        return False
    without = replace(stated, **dict.fromkeys(_DECIDES[key]))
    return message not in _refusals(lustre, without, offer)


def _refusals(lustre: Lustre, overrides: LustreOverrides, offer: LustreOffer) -> Sequence[str]:
    goal = lustre_goal(lustre)
    # Properties without a key follow from the goal.
    stated, _ = kind_of(goal, offer, overrides)
    capacity, tier = stated.capacity_gib, stated.mb_per_s_per_tib
    if (
        capacity
        and tier
        and stated.efa is None
        and offer.efa
        and needs_efa(goal)
        and check_capacity(capacity, tier=tier)
    ):
        # Sizes for the message: those without EFA would remove it, which FSx refuses for a file system that exists.
        stated = replace(stated, efa=True)
    return check_sold(stated, offer=offer, associations=goal.associations, backups=goal.backups)


def _existing(cluster: ClusterFile, lustre: Lustre) -> Iterator[tuple[Rule, str]]:
    existing = lustre.existing
    if existing is None:
        return
    words = [
        f"{existing.id} is an existing file system: this library neither retains nor guards it, and does not change it"
    ]
    if existing.security_group is None:
        words.append("allow the nodes in its security group, by the group of the nodes, or name its security-group")
    if cluster.network.existing is None:
        words.append("it is in another VPC than the one that is created: connect the two, or name its VPC")
    network = cluster.network.existing
    if existing.efa and (existing.cidr is None or network is None or network.cidr is None):
        words.append(
            "over EFA it is reached from its own /16 only; to have that checked, give the ranges of its subnet, "
            "existing.cidr, and of the nodes', network.existing.cidr"
        )
    yield _EXISTING_LUSTRE, "; ".join(words)


def warn_lustre(cluster: ClusterFile) -> Iterator[tuple[Rule, str]]:
    """Yield the warnings."""
    lustre, plan = cluster.storage.lustre, cluster.lustre_plan
    if lustre is None:
        return
    if plan is not None and plan.quotas_passed:
        takes = {quota: used for quota, used in plan.spec.quota_uses}
        words = [
            f"{takes[quota]:,} {quota.unit} of {quota.name} ({quota.code}), which is {quota.default:,} by default"
            for quota in plan.quotas_passed
        ]
        yield _LUSTRE_QUOTA, f"the file system needs {'; '.join(words)}; request an increase before you deploy"
    yield from _existing(cluster, lustre)
    home = cluster.storage.home
    if lustre.adopt is not None and home is not None and home.existing is None and home.type != "s3-files":
        yield (
            _ADOPTED_NEW_HOME,
            f"{lustre.adopt.id} was retained, and the home directories are new and empty: those of the earlier "
            "deployment were retained too, and nothing mounts them; name them: storage: {home: {existing: ...}} "
            "(docs/operations/operate.md#deploy-again-on-the-same-files)",
        )
    goal, nodes = checkpoint(lustre), writers(cluster.node_groups, cluster.lustre_zone)
    if plan is not None and goal is not None and nodes is not None:
        seconds = checkpoint_times(goal.size_bytes, plan.spec, nodes).write_seconds
        if seconds > goal.stall_seconds:
            yield (
                _LUSTRE_CHECKPOINT,
                f"{nodes.count:,} nodes of {nodes.record.name} take {float(seconds):,.4g} s to write a checkpoint, and "
                f"it may take {float(goal.stall_seconds):,.4g} s: the nodes are the limit, not the file system; write "
                "it from more nodes, or allow a longer stall",
            )
    if cluster.lustre_efa and not efa_nodes(requested_client(lustre), cluster.efa_clients):
        yield (
            _LUSTRE_EFA_UNUSED,
            "the file system has EFA, and no node in its zone is known to use it, so all come over TCP; "
            + (
                "write existing.efa: false, so that nodes are not set up for it"
                if lustre.existing
                else "write efa: false if none ever will: it can't be changed later"
            ),
        )
    zone = cluster.lustre_zone
    too_distant = [group.section for group in cluster.node_groups if group.zone != zone]
    if too_distant:
        yield (
            _LUSTRE_OTHER_ZONE,
            f"{listed(too_distant)}: the file system is in {zone}, so these nodes reach it across zones: over TCP "
            "only, and the traffic is charged",
        )
