"""Settings with which Slurm enforces the limits of a file, and weighs its shares and priorities."""

import re
from collections.abc import Iterator, Mapping

from ultracluster.clusterfile._problems import Path
from ultracluster.clusterfile.sections._slurm import Slurm

_ENFORCE = "AccountingStorageEnforce"
# Word -> the words that imply it: _validate_accounting_storage_enforce in src/common/read_config.c of
# https://github.com/SchedMD/slurm, tag slurm-25-11-2-1 (read 2026-11-27).
_IMPLIED_BY: Mapping[str, frozenset[str]] = {
    "associations": frozenset(("associations", "limits", "qos", "safe")),
    "limits": frozenset(("limits", "safe")),
    "qos": frozenset(("qos",)),
}
# `safe`, too: without it, slurmctld ends the running jobs of an account or QoS whose minutes are used up, and so those
# of a cluster that got its limits enforced. acct_policy_job_time_out in src/slurmctld/acct_policy.c of the same tag.
_ENFORCED = "associations,limits,qos,safe"
# What each setting of a queue needs. Accounts: part_policy_valid_acct in src/slurmctld/partition_mgr.c of the same tag.
# QoS: without `qos`, a job may have any.
_OF_QUEUES = {
    "AllowAccounts": "associations",
    "DenyAccounts": "associations",
    "AllowQos": "qos",
    "DenyQos": "qos",
    "QOS": "limits",
}
# Options of sacctmgr that limit jobs: https://slurm.schedmd.com/sacctmgr.html (read 2026-11-27)
_LIMIT = re.compile(r"(grp|max|min)\w+", re.IGNORECASE)
# Slurm's own are 0, with which neither counts. Factors are 0 to 1, and 1,000 or more keeps their digits:
# https://slurm.schedmd.com/priority_multifactor.html (read 2026-11-27). Fair share counts as much as the highest QoS.
_WEIGHT = "10000"


def accounting_settings(slurm: Slurm) -> dict[str, str]:
    """Return the settings of slurm.conf that accounts and QoS of the file need; those of the file replace them."""
    if not slurm.accounting:
        return {}
    return {
        **({_ENFORCE: _ENFORCED} if any(_limits(slurm)) else {}),
        **({"PriorityWeightFairshare": _WEIGHT} if _has_shares(slurm) else {}),
        **({"PriorityWeightQOS": _WEIGHT} if any(qos.priority for qos in slurm.qos.values()) else {}),
    }


def enforces_associations(settings: Mapping[str, str]) -> bool:
    """Return True if Slurm refuses the jobs of users without an account."""
    return not _words(settings).isdisjoint(_IMPLIED_BY["associations"])


def unenforced(slurm: Slurm) -> dict[str, list[Path]]:
    """Return the limits that `AccountingStorageEnforce` of the file does not cover, by the word that it needs."""
    if _ENFORCE not in slurm.settings:
        return {}
    words, missing = _words(slurm.settings), dict[str, list[Path]]()
    for path, word in _limits(slurm):
        if words.isdisjoint(_IMPLIED_BY[word]):
            missing.setdefault(word, []).append(path)
    return missing


def _words(settings: Mapping[str, str]) -> set[str]:
    return {word.strip() for word in settings.get(_ENFORCE, "").lower().split(",")}


def _has_shares(slurm: Slurm) -> bool:
    return any("fairshare" in account.model_fields_set for account in slurm.accounts.values())


def _limits(slurm: Slurm) -> Iterator[tuple[Path, str]]:
    """Yield the keys that limit jobs, with the word that enforces each."""
    for name, queue in slurm.queues.items():
        if queue.accounts:
            yield ("slurm", "queues", name, "accounts"), "associations"
        if queue.qos:
            yield ("slurm", "queues", name, "qos"), "qos"
        for setting in queue.settings.keys() & _OF_QUEUES:
            yield ("slurm", "queues", name, "settings", setting), _OF_QUEUES[setting]
    for name, account in slurm.accounts.items():
        if account.qos:
            yield ("slurm", "accounts", name, "qos"), "qos"
    for section in ("accounts", "qos"):
        for name, entity in getattr(slurm, section).items():
            if any(map(_LIMIT.fullmatch, entity.settings)):
                yield ("slurm", section, name, "settings"), "limits"
