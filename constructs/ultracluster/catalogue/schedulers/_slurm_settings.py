"""Slurm settings that AWS PCS supports, and their values.

The names are the whole lists of the user guide: slurm-custom-settings-cluster.html, slurm-custom-settings-cng.html,
slurm-custom-settings-queue.html, slurmdbd-custom-settings.html, cgroup-custom-settings.html and
gres-custom-settings.html below https://docs.aws.amazon.com/pcs/latest/userguide/; the values are those of
https://slurm.schedmd.com/slurm.conf.html, slurmdbd.conf.html and cgroup.conf.html (all read 2026-11-21).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Literal, NamedTuple

from ultracluster.catalogue.provenance import Source, Stated

_GUIDE = Source(
    "https://docs.aws.amazon.com/pcs/latest/userguide/ https://slurm.schedmd.com/slurm.conf.html "
    "https://slurm.schedmd.com/slurmdbd.conf.html https://slurm.schedmd.com/cgroup.conf.html",
    read_on="2026-11-21",
)

#: Where a setting is written: of the cluster, of a node group, of a queue, of slurmdbd.conf, of cgroup.conf.
Place = Literal["cluster", "node-group", "queue", "slurmdbd", "cgroup"]


class Setting(NamedTuple):
    """Valid values of a setting.

    Args:
        pattern: Regular expression of a value, or of each part of a list.
        what: Description for the message `must be ...`, or empty if any value is accepted.
        parts: The value is a comma-separated list.
        since: First Slurm version with which PCS supports it, or empty for all.
    """

    pattern: str = ".+"
    what: str = ""
    parts: bool = False
    since: str = ""


def _words(*words: str, parts: bool = False, since: str = "") -> Setting:
    what = f"{'some' if parts else 'one'} of {', '.join(words)}"
    return Setting(pattern="|".join(words), what=what, parts=parts, since=since)


_ANY = Setting()
_NUMBER = Setting(pattern=r"\d{1,10}", what="a whole number, 0 or more")
_UP_TO_65533 = Setting(
    pattern=r"\d{1,4}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-3]", what="a whole number, 0 to 65533"
)
_FLAG = _words("yes", "no")
_ONE_OR_NONE = _words("0", "1")
_TIME = Setting(
    pattern=r"\d+(:[0-5]\d){0,2}|\d+-([01]?\d|2[0-3])(:[0-5]\d){0,2}|UNLIMITED|INFINITE",
    what="a time of Slurm: minutes, minutes:seconds, hours:minutes:seconds, days-hours or UNLIMITED",
)
_PATH = Setting(pattern=r"/\S+", what="the path of a program that every node sees, beginning with /")
_PERCENT = Setting(pattern=r"\d{1,4}(\.\d+)?", what="a percentage, without the sign")
_AGE = Setting(pattern=r"[1-9]\d*(hours?|days?|months?)?", what="an age, such as 30days or 12months")
_PREEMPT = _words("OFF", "CANCEL", "GANG", "REQUEUE", "SUSPEND", "PRIORITY", "WITHIN", parts=True)
_WEIGHTS = Setting(
    pattern=r"[A-Za-z][\w/:.-]*=\d+(\.\d+)?[KMGTPkmgtp]?", what="weights such as CPU=1.0,GRES/gpu=24.0", parts=True
)
_SELECT = (
    *("CR_CPU", "CR_CPU_Memory", "CR_Core", "CR_Core_Memory", "CR_Socket", "CR_Socket_Memory"),
    *("CR_Memory", "CR_ONE_TASK_PER_CORE", "CR_CORE_DEFAULT_DIST_BLOCK", "CR_LLN", "CR_Pack_Nodes"),
    *("LL_SHARED_GRES", "MULTIPLE_SHARING_GRES_PJ", "ENFORCE_BINDING_GRES", "ONE_TASK_PER_SHARING_GRES"),
)

_CLUSTER: Mapping[str, Setting] = {
    # https://docs.aws.amazon.com/pcs/latest/userguide/slurm-accounting.html names these and no more.
    "AccountingStorageEnforce": _words("associations", "limits", "qos", "safe", "nosteps", "nojobs", parts=True),
    **dict.fromkeys(
        ("AccountingStorageTRES", "AccountingStoreFlags", "AuthAltParameters", "CliFilterParameters"), _ANY
    ),
    **dict.fromkeys(("CliFilterPlugins", "CommunicationParameters", "DefMemPerCPU", "LaunchParameters"), _ANY),
    **dict.fromkeys(("Licenses", "PreemptParameters", "PriorityFlags", "PriorityWeightTRES", "PrivateData"), _ANY),
    **dict.fromkeys(("SchedulerParameters", "SlurmctldParameters", "TaskPluginParam", "RequeueExit"), _ANY),
    **dict.fromkeys(("RequeueExitHold", "FairShareDampeningFactor", "PriorityCalcPeriod"), _ANY),
    **dict.fromkeys(("PriorityDecayHalfLife", "PriorityMaxAge", "PreemptExemptTime"), _ANY),
    **dict.fromkeys(("Prolog", "Epilog", "TaskProlog", "TaskEpilog", "HealthCheckProgram"), _PATH),
    "UnkillableStepProgram": _PATH,
    "EnforcePartLimits": _words("ALL", "ANY", "NO"),
    "FirstJobId": _NUMBER,
    "HealthCheckInterval": _NUMBER,
    "HealthCheckNodeState": _words(
        *("ALLOC", "ANY", "CYCLE", "IDLE", "NONDRAINED_IDLE", "MIXED", "START_ONLY", "REBOOT_ONLY"), parts=True
    ),
    "JobRequeue": _ONE_OR_NONE,
    "MetricsType": _words("metrics/openmetrics", since="25.11"),
    "MinJobAge": Setting(pattern=r"[5-9]|[1-9]\d+", what="a number of seconds, 5 or more"),
    "OverTimeLimit": Setting(pattern=r"\d+|UNLIMITED", what="a number of minutes, or UNLIMITED"),
    "PreemptMode": _PREEMPT,
    "PreemptType": _words("preempt/none", "preempt/partition_prio", "preempt/qos"),
    "PriorityFavorSmall": _FLAG,
    "PriorityUsageResetPeriod": _words("NONE", "NOW", "DAILY", "WEEKLY", "MONTHLY", "QUARTERLY", "YEARLY"),
    **dict.fromkeys(("PriorityWeightAge", "PriorityWeightAssoc", "PriorityWeightFairshare"), _NUMBER),
    **dict.fromkeys(("PriorityWeightJobSize", "PriorityWeightPartition", "PriorityWeightQOS"), _NUMBER),
    "PrologFlags": _words(
        *("Alloc", "Contain", "DeferBatch", "ForceRequeueOnFail", "NoHold", "RunInJob", "Serial", "X11"), parts=True
    ),
    "SelectTypeParameters": _words(*_SELECT, parts=True),
    "SrunPortRange": Setting(pattern=r"\d{1,5}-\d{1,5}", what="two ports, such as 60001-63000"),
    "TrackWCKey": _FLAG,
    "UnkillableStepTimeout": _NUMBER,
}
_NODE_GROUP: Mapping[str, Setting] = {
    "CpuSpecList": Setting(pattern=r"\d+(-\d+)?", what="numbers of CPUs, such as 0,1 or 0-3", parts=True),
    "Features": _ANY,
    "Gres": Setting(pattern=r"[A-Za-z]\w*(:[\w.-]+)?(:\d+[KMGT]?)?", what="resources such as gpu:8", parts=True),
    "MemSpecLimit": _NUMBER,
    "Parameters": _words("numa_node_as_socket", "l3cache_as_socket", since="25.11"),
    "RealMemory": _NUMBER,
    "Sockets": Setting(pattern=r"[1-9]\d*", what="a whole number, 1 or more", since="25.11"),
    "Weight": _NUMBER,
}
_QUEUE: Mapping[str, Setting] = {
    **dict.fromkeys(("AllowAccounts", "AllowQos", "DenyAccounts", "DenyQos", "QOS"), _ANY),
    "Default": _words("YES", "NO"),
    "DefaultTime": _TIME,
    # Not in src/common/read_config.c of the tag slurm-25-11-2-1 of https://github.com/SchedMD/slurm (read 2026-11-22).
    "Exclusive": _words("NO", "NODE", "TOPO", "USER", since="26.05"),
    "ExclusiveUser": _words("YES", "NO"),
    "GraceTime": _NUMBER,
    "MaxTime": _TIME,
    "OverSubscribe": Setting(
        pattern=r"EXCLUSIVE|NO|(YES|FORCE)(:[1-9]\d*)?", what="EXCLUSIVE, NO, YES, FORCE or FORCE:4"
    ),
    "OverTimeLimit": Setting(pattern=r"\d+|UNLIMITED", what="a number of minutes, or UNLIMITED"),
    "PowerDownOnIdle": _words("YES", "NO"),
    "PreemptMode": _PREEMPT,
    "PriorityJobFactor": _UP_TO_65533,
    "PriorityTier": _UP_TO_65533,
    "TRESBillingWeights": _WEIGHTS,
}
_SLURMDBD: Mapping[str, Setting] = {
    **dict.fromkeys(("AllowNoDefAcct", "AllResourcesAbsolute", "TrackWCKey"), _FLAG),
    "CommitDelay": _NUMBER,
    **dict.fromkeys(("DefaultQOS", "MaxQueryTimeRange", "Parameters", "PrivateData"), _ANY),
    **dict.fromkeys(
        (
            *("PurgeEventAfter", "PurgeJobAfter", "PurgeJobEnvAfter", "PurgeJobScriptAfter", "PurgeResvAfter"),
            *("PurgeStepAfter", "PurgeSuspendAfter", "PurgeTXNAfter", "PurgeUsageAfter"),
        ),
        _AGE,
    ),
}
_CGROUP: Mapping[str, Setting] = {
    **dict.fromkeys(("AllowedRAMSpace", "AllowedSwapSpace", "MaxRAMPercent", "MaxSwapPercent"), _PERCENT),
    **dict.fromkeys(("ConstrainCores", "ConstrainDevices", "ConstrainRAMSpace", "ConstrainSwapSpace"), _FLAG),
    **dict.fromkeys(("IgnoreSystemd", "SignalChildrenProcesses"), _FLAG),
    "MinRAMSpace": _NUMBER,
}

#: Place -> the settings that PCS takes there.
SETTINGS: Annotated[
    Mapping[Place, Mapping[str, Setting]],
    Stated(_GUIDE, columns="place: name of a setting: pattern of its value, what it is, since which version"),
] = MappingProxyType(
    {
        "cluster": MappingProxyType(_CLUSTER),
        "node-group": MappingProxyType(_NODE_GROUP),
        "queue": MappingProxyType(_QUEUE),
        "slurmdbd": MappingProxyType(_SLURMDBD),
        "cgroup": MappingProxyType(_CGROUP),
    }
)

#: Attributes of a record of gres.conf.
GRES_ATTRIBUTES: Annotated[tuple[str, ...], Stated(_GUIDE, columns="names of attributes")] = (
    "AutoDetect",
    "Name",
    "Type",
    "Count",
    "Cores",
    "Links",
    "Flags",
    "File",
    "MultipleFiles",
)

# PCS generates slurm.conf "from your cluster, queue, and compute node group settings":
# https://docs.aws.amazon.com/pcs/latest/userguide/slurm-configuration.html (read 2026-11-21)
_OF_PCS = "PCS sets it itself"
_TOPOLOGY = "PCS derives the topology from the UltraServers of the node groups"
_IDLE = "write scale-down-idle-time"
_IMAGE = "it belongs into the image"
#: Settings of slurm.conf that PCS takes in no place, though people look for them, each with what to do instead.
NOT_TAKEN: Annotated[Mapping[str, str], Stated(_GUIDE, columns="name of a setting: why PCS does not accept it")] = (
    MappingProxyType(
        {
            **dict.fromkeys(("ClusterName", "SlurmctldHost", "SlurmctldPort", "SlurmdPort", "SlurmUser"), _OF_PCS),
            **dict.fromkeys(("StateSaveLocation", "SlurmdSpoolDir", "AuthType", "CredType", "SelectType"), _OF_PCS),
            **dict.fromkeys(("AccountingStorageType", "AccountingStorageHost", "JobAcctGatherType"), _OF_PCS),
            **dict.fromkeys(
                ("ProctrackType", "TaskPlugin", "PriorityType", "SchedulerType", "ReturnToService"), _OF_PCS
            ),
            **dict.fromkeys(
                ("ResumeProgram", "SuspendProgram", "ResumeTimeout", "SuspendTimeout", "MpiDefault"), _OF_PCS
            ),
            "SuspendTime": _IDLE,
            "GresTypes": "PCS derives it from Gres of the node groups",
            "NodeName": "node groups are the keys under nodes",
            "PartitionName": "queues are the keys under slurm.queues",
            **dict.fromkeys(("TopologyPlugin", "TopologyParam"), _TOPOLOGY),
            "AllowGroups": "write accounts, or qos",
            "Nodes": "write nodes",
            **dict.fromkeys(("MaxNodes", "MinNodes"), "limit accounts, or QoS: {GrpTRES: node=16}"),
            "PlugStackConfig": _IMAGE,
            "JobSubmitPlugins": "PCS runs no custom plugins in the controller; CliFilterPlugins run where jobs are "
            "submitted",
            "PrologSlurmctld": "PCS runs no custom programs in the controller; Prolog runs on the nodes",
            "EpilogSlurmctld": "PCS runs no custom programs in the controller; Epilog runs on the nodes",
        }
    )
)
