"""Rules of the section `storage.lustre` on its own, before planning."""

from collections.abc import Iterator

from ultracluster.boot import MOST_EFA_INTERFACES
from ultracluster.catalogue.storage import lustre as facts
from ultracluster.clusterfile._problems import Path, Problem
from ultracluster.clusterfile.rules._associations import check_file_system
from ultracluster.clusterfile.rules._rule import error, shared
from ultracluster.clusterfile.sections._lustre import LUSTRE_VERSION, Lustre
from ultracluster.clusterfile.sections._word import not_one_of
from ultracluster.planning.lustre import LUSTRE_BACKUPS, LUSTRE_SOLD

_EFA_INTERFACES = error("lustre-efa-interfaces", "AWS's tool configures a limited number of EFA interfaces.")
_EXISTING = error("lustre-existing-keys", "An existing file system keeps its own shape.")
LUSTRE_VERSION_RULE = error("lustre-version", "FSx runs some versions of Lustre only.", acceptable=True)
_GOAL = error("lustre-goal", "The shape of a file system follows from a throughput, a checkpoint or a capacity.")
_CHECKPOINT = error("lustre-checkpoint-size", "The size of a checkpoint follows from the model, or is given.")
_BACKUPS = shared(LUSTRE_BACKUPS)
SOLD = shared(LUSTRE_SOLD)

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
        message = f"must be 1 to {most}, got {requested:,}; for as many as AWS's tool takes, leave it out"
        yield _EFA_INTERFACES((*_PATH, "client", "efa-interfaces"), message)
    if lustre.storage_type == "INTELLIGENT_TIERING" and lustre.tier is not None:
        message = "Intelligent-Tiering has no tier; remove it, or say its throughput-capacity"
        yield SOLD((*_PATH, "tier"), message)
    if lustre.existing is not None:
        for key in sorted(lustre.model_fields_set - _OF_EXISTING):
            message = "describes a new file system, and existing names an existing one; remove one of the two"
            yield _EXISTING((*_PATH, key.replace("_", "-")), message, at_key=True)
        return
    if lustre.lustre_version is not None and lustre.lustre_version not in facts.VERSIONS:
        message = not_one_of(lustre.lustre_version, facts.VERSIONS, LUSTRE_VERSION)
        yield LUSTRE_VERSION_RULE((*_PATH, "lustre-version"), message)
    if lustre.throughput is None and lustre.checkpoint is None and lustre.capacity is None:
        message = f"say what the file system is for: {_GOALS}; write for example throughput: 40 GB/s"
        yield _GOAL(_PATH, message, at_key=True)
    goal = lustre.checkpoint
    if goal is not None and (goal.model is None) == (goal.size is None):
        message = "say how large it is: either model: 70 B, its parameters, or size: 1 TB"
        yield _CHECKPOINT((*_PATH, "checkpoint"), message)
    if lustre.backups is not None and lustre.backups.days not in range(1, _MOST_BACKUP_DAYS + 1):
        message = f"daily backups are kept for whole days, 1 d to {_MOST_BACKUP_DAYS} d, got {lustre.backups}"
        yield _BACKUPS((*_PATH, "backups"), message)
    yield from check_file_system(lustre)
