"""Whether FSx sells the file system that the file asks for."""

from collections.abc import Iterator, Sequence

from ultracluster.clusterfile.check_links import check_file_system_of_links
from ultracluster.clusterfile.lustre_client import efa_connections, most_interfaces, wished_client
from ultracluster.clusterfile.needs import lustre_plan
from ultracluster.clusterfile.node_group import NodeGroup
from ultracluster.clusterfile.problems import Path, Problem
from ultracluster.clusterfile.storage_sections import Lustre, Storage
from ultracluster.hardware import InstanceType
from ultracluster.hardware.quotas import LUSTRE_EFA_CONNECTIONS
from ultracluster.planning import LustreSpec, check_capacity, lustre_offer

_PATH: Path = ("storage", "lustre")
_GOALS = "a throughput, a checkpoint or a capacity"
_DAY = 86_400
# https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html (read 2026-11-21)
_MOST_BACKUP_DAYS = 90


def check_lustre(storage: Storage | None, *, zone: str | None) -> Iterator[Problem]:
    """Everything that is wrong with the file system."""
    lustre = storage.lustre if storage else None
    if lustre is None:
        return
    problems = list(_check_words(lustre))
    yield from problems
    if lustre.existing is not None or zone is None or problems:
        return
    offer = lustre_offer(zone)
    if lustre.efa and not offer.efa:
        message = f"FSx sells no file systems with EFA in {zone}; remove it, or write efa: false"
        yield Problem(path=(*_PATH, "efa"), message=message)
    if lustre.tier and lustre.tier.mb_per_s_per_tib not in offer.tiers:
        tiers = ", ".join(str(tier) for tier in offer.tiers)
        sold = f"sells the tiers {tiers} MB/s/TiB in {zone}" if tiers else f"sells no PERSISTENT_2 in {zone}"
        yield Problem(path=(*_PATH, "tier"), message=f"FSx {sold}, got {lustre.tier}")
        return
    if lustre.efa and not offer.efa:
        return
    try:
        plan = lustre_plan(lustre, zone=zone)
    except ValueError as error:
        yield _unsold(lustre, str(error))
        return
    if plan is not None:
        yield from _check_shape(lustre, plan.spec)


def _check_words(lustre: Lustre) -> Iterator[Problem]:
    if lustre.existing is not None:
        for key in sorted(lustre.model_fields_set - {"client", "existing", "links", "mount", "release"}):
            message = "describes a file system that is made, and existing names one of yours; remove one of the two"
            yield Problem(path=(*_PATH, key.replace("_", "-")), at_key=True, message=message)
        return
    if lustre.throughput is None and lustre.checkpoint is None and lustre.capacity is None:
        message = f"say what the file system is for: {_GOALS}; write for example throughput: 40 GB/s"
        yield Problem(path=_PATH, message=message, at_key=True)
    goal = lustre.checkpoint
    if goal is not None and (goal.model is None) == (goal.size is None):
        message = "say how large it is: either model: 70 B, its parameters, or size: 1 TB"
        yield Problem(path=(*_PATH, "checkpoint"), message=message)
    if lustre.backups is not None and (
        lustre.backups.amount % _DAY or lustre.backups.amount > _MOST_BACKUP_DAYS * _DAY
    ):
        message = f"daily backups are kept for whole days, 1 d to {_MOST_BACKUP_DAYS} d, got {lustre.backups}"
        yield Problem(path=(*_PATH, "backups"), message=message)
    yield from check_file_system_of_links(lustre)


def _unsold(lustre: Lustre, message: str) -> Problem:
    """The problem at the key that is nearest to it."""
    exact = lustre.tier is not None and lustre.capacity is not None
    for key in ("capacity",) if exact and "GiB" in message else ():
        return Problem(path=(*_PATH, key), message=f"{message}; without `tier` any size will do")
    # The cluster file's word for it: nobody writes a deployment type there.
    message = message.replace("use SCRATCH_2", "where all may be lost, `temporary: true` takes SCRATCH_2")
    return Problem(path=_PATH, message=message, at_key=True)


def _check_shape(lustre: Lustre, spec: LustreSpec) -> Iterator[Problem]:
    if lustre.capacity is None or lustre.tier is None or lustre.throughput is None:
        return
    asked, tier = lustre.capacity.gib, lustre.tier.mb_per_s_per_tib
    for message in check_capacity(asked, tier=tier, efa=spec.efa):
        way_out = "; without `tier` any size will do" + (", and without EFA the steps are smaller" if spec.efa else "")
        yield Problem(path=(*_PATH, "capacity"), message=message + way_out)
        return


def check_efa_connections(
    storage: Storage | None, *, zone: str | None, groups: Sequence[NodeGroup], login: tuple[InstanceType, int] | None
) -> Iterator[Problem]:
    """Whether each node can have one connection at least; `login` is what login nodes in the zone are, and how many."""
    lustre = storage.lustre if storage else None
    if lustre is None or zone is None or list(_check_words(lustre)):
        return
    try:
        plan = lustre_plan(lustre, zone=zone)
    except ValueError:
        return
    efa = plan.spec.efa if plan else bool(lustre.existing and lustre.existing.efa)
    groups = [group for group in groups if group.zone == zone]
    near = [(group.instance_type, group.count) for group in groups] + ([login] if login else [])
    client = wished_client(lustre)
    clients = sum(count for instance_type, count in near if client.connections(instance_type))
    if not efa:
        if lustre.client.model_fields_set:
            message = "says how nodes use EFA, and the file system has none; write efa: true, or remove this"
            yield Problem(path=(*_PATH, "client"), message=message, at_key=True)
        return
    if lustre.client.gpudirect_storage and not any(instance_type.gpudirect_storage for instance_type, _ in near):
        message = "FSx supports GPUDirect Storage on P5, P5e, P5en, P6-B200 and P6-B300, and no nodes are; remove it"
        yield Problem(path=(*_PATH, "client", "gpudirect-storage"), message=message)
    if clients > LUSTRE_EFA_CONNECTIONS:
        message = (
            f"a file system takes {LUSTRE_EFA_CONNECTIONS:,} EFA connections, and {clients:,} nodes want at least one "
            "each; write efa: false, and nodes mount it over TCP"
        )
        yield Problem(path=(*_PATH, *(("existing", "efa") if lustre.existing else ("efa",))), message=message)
        return
    opened = efa_connections(client, near)
    if client.efa_interfaces is not None and opened > LUSTRE_EFA_CONNECTIONS:
        message = (
            f"{clients:,} nodes with at most {client.efa_interfaces} each open {opened:,} EFA connections, and a file "
            f"system takes {LUSTRE_EFA_CONNECTIONS:,}; write {most_interfaces(client, near)}, or leave it out"
        )
        yield Problem(path=(*_PATH, "client", "efa-interfaces"), message=message)
