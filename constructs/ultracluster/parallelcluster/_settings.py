"""Settings of Slurm that ParallelCluster accepts, by level."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from ultracluster.clusterfile import ClusterFile, Path
from ultracluster.parallelcluster._notes import Note, path_of
from ultracluster.planning.slurm import METRICS_SETTINGS

Level = Literal["SlurmSettings", "Queue", "ComputeResource"]
# Settings that pcluster refuses: SLURM_SETTINGS_DENY_LIST in pcluster/validators/slurm_settings_validator.py of
# aws-parallelcluster 3.16.1 (read 2026-11-23). Of these, it has keys or values of its own.
REFUSED: Mapping[Level, Sequence[str]] = {
    "SlurmSettings": (
        *("epilog", "grestypes", "launchparameters", "prolog", "reconfigflags", "resumefailprogram", "resumeprogram"),
        *("resumetimeout", "slurmctldhost", "slurmctldlogfile", "slurmctldparameters", "slurmdlogfile", "slurmuser"),
        *("suspendexcnodes", "suspendprogram", "suspendtime", "taskplugin", "treewidth"),
    ),
    "Queue": ("nodes", "partitionname", "resumetimeout", "state", "suspendtime", "oversubscribe"),
    "ComputeResource": ("cpus", "gres", "nodeaddr", "nodehostname", "nodename", "state", "weight"),
}
#: Version of Slurm of ParallelCluster 3.16: https://github.com/aws/aws-parallelcluster/releases (read 2026-11-23).
SLURM_VERSION = "25.11"
# What ParallelCluster sets, and a list of the file would replace.
# https://docs.aws.amazon.com/parallelcluster/latest/ug/slurm-prolog-epilog-v3.html (read 2026-11-23)
_SCHEDULER_PARAMETERS = "nohold_on_prolog_fail"
# Settings that name what only the accounting database has: https://slurm.schedmd.com/slurm.conf.html (read 2026-11-23).
_OF_DATABASE = (
    "accountingstorageenforce",
    "accountingstoragetres",
    "allowaccounts",
    "allowqos",
    "denyaccounts",
    "denyqos",
    "qos",
)


def accepted(settings: Mapping[str, str], level: Level, path: Path, notes: list[Note]) -> dict[str, str]:
    """Return the settings that ParallelCluster accepts on a level, and note the others.

    Args:
        settings: Settings by name.
        level: Where they are in the configuration.
        path: Where they are in the cluster file.
        notes: Notes, to which those of this function are added.
    """
    kept = {}
    for name, value in settings.items():
        if name.lower() in _OF_DATABASE:
            reason = f"{name} needs the accounting database"
            notes.append(Note(path=(*path, name), reason=reason, fix=f"add {name}={value} when Database is set"))
            continue
        if name.lower() not in REFUSED[level]:
            kept[name] = value
            continue
        fix = "put the script into prolog.d or epilog.d of /opt/slurm/etc/scripts on the head node"
        notes.append(
            Note(
                path=(*path, name),
                reason=f"ParallelCluster sets {name} itself",
                fix=fix if name.lower() in ("prolog", "epilog") else "remove it",
            )
        )
    return kept


def slurm_settings(cluster: ClusterFile, notes: list[Note]) -> dict[str, object]:
    """Return SlurmSettings."""
    slurm = cluster.slurm
    derived = _of_accounting(cluster)
    written = {name: value for name, value in cluster.slurm_settings.items() if name not in derived}
    settings = accepted(written, "SlurmSettings", ("slurm", "settings"), notes)
    if slurm.metrics:
        settings = {**METRICS_SETTINGS, **settings}
    if "SchedulerParameters" in settings:
        words = settings["SchedulerParameters"].split(",")
        settings["SchedulerParameters"] = ",".join(dict.fromkeys([*words, _SCHEDULER_PARAMETERS]))
    notes += _version_and_accounting(cluster)
    return {
        "ScaledownIdletime": -(-slurm.scale_down_idle_time.seconds // 60),
        # As in AWS PCS, an update replaces nodes when their jobs have ended.
        "QueueUpdateStrategy": "DRAIN",
        **({"CustomSlurmSettings": [{name: value} for name, value in settings.items()]} if settings else {}),
    }


def _of_accounting(cluster: ClusterFile) -> dict[str, str]:
    """Return the settings of the accounting database that the file does not write."""
    written = {name.lower() for name in cluster.slurm.settings}
    return {
        name: value
        for name, value in cluster.slurm_settings.items()
        if name.lower() in _OF_DATABASE and name.lower() not in written
    }


def _version_and_accounting(cluster: ClusterFile) -> Iterator[Note]:
    slurm = cluster.slurm
    if slurm.version != SLURM_VERSION:
        yield Note(
            path=path_of(cluster, "slurm", "version"),
            reason=f"ParallelCluster 3.16 has Slurm {SLURM_VERSION}, not {slurm.version}",
            fix=f"check that jobs and settings work with {SLURM_VERSION}, or use a release of ParallelCluster that "
            "has the other",
        )
    if slurm.accounting:
        settings = "".join(
            f", and {name}={value} to CustomSlurmSettings" for name, value in _of_accounting(cluster).items()
        )
        yield Note(
            path=path_of(cluster, "slurm", "accounting"),
            reason="AWS PCS keeps the accounting database itself, and ParallelCluster uses an existing one",
            fix="create a MySQL database, and add Database with Uri, UserName and PasswordSecretArn to SlurmSettings"
            f"{settings}",
        )
