"""Whether FSx sells the file system that the file asks for."""

from collections.abc import Iterator

from ultracluster.clusterfile.checks.choices import check_choices
from ultracluster.clusterfile.checks.links import check_file_system_of_links
from ultracluster.clusterfile.needs import lustre_plan
from ultracluster.clusterfile.problems import Path, Problem
from ultracluster.clusterfile.sections.storage import Lustre, Storage
from ultracluster.planning import LustreSpec, check_capacity, lustre_offer
from ultracluster.planning.slurm_boot import MOST_EFA_INTERFACES

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
    problems = list(check_words(lustre))
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
    found = list(check_choices(lustre, offer))
    if any(key is not None for key, _ in found):
        for key, message in found:
            at_key = key is not None and key != "capacity"
            yield Problem(path=(*_PATH, str(key)), message=message) if at_key else _unsold(lustre, message)
        return
    try:
        plan = lustre_plan(lustre, zone=zone)
    except ValueError as error:
        yield _unsold(lustre, str(error))
        return
    if plan is not None:
        yield from _check_shape(lustre, plan.spec)


def check_words(lustre: Lustre) -> Iterator[Problem]:
    """What is wrong with the words of the section, before anything is looked up."""
    most, wanted = MOST_EFA_INTERFACES, lustre.client.efa_interfaces
    if wanted is not None and wanted > most:
        message = f"must be 1 to {most}, got {wanted:,}; for as many as AWS's tool takes, leave it out"
        yield Problem(path=(*_PATH, "client", "efa-interfaces"), message=message)
    if lustre.storage_type == "INTELLIGENT_TIERING" and lustre.tier is not None:
        message = "Intelligent-Tiering has no tier; remove it, or say its throughput-capacity"
        yield Problem(path=(*_PATH, "tier"), message=message)
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
    # The cluster file's word for it.
    message = message.replace("use SCRATCH_2", "where all may be lost, `temporary: true` takes SCRATCH_2")
    for words, key, said in (
        ("metadata IOPS", "metadata-iops", lustre.metadata_iops),
        ("throughput capacity", "throughput-capacity", lustre.throughput_capacity),
        ("read cache", "read-cache", lustre.read_cache),
    ):
        # Of several problems none is nearest.
        if said is not None and words in message and "; " not in message.replace("; the next", ""):
            return Problem(path=(*_PATH, key), message=message)
    return Problem(path=_PATH, message=message, at_key=True)


def _check_shape(lustre: Lustre, spec: LustreSpec) -> Iterator[Problem]:
    if lustre.capacity is None or lustre.tier is None or lustre.throughput is None:
        return
    asked, tier = lustre.capacity.gib, lustre.tier.mb_per_s_per_tib
    for message in check_capacity(asked, tier=tier, efa=spec.efa):
        way_out = "; without `tier` any size will do" + (", and without EFA the steps are smaller" if spec.efa else "")
        yield Problem(path=(*_PATH, "capacity"), message=message + way_out)
        return
