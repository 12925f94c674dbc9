"""Settings, queues and accounts of Slurm, from the Slurm section."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ultracluster.clusterfile._node_group import NodeGroup
from ultracluster.clusterfile._quantities import Duration
from ultracluster.clusterfile._slurm_enforcement import accounting_settings
from ultracluster.clusterfile.sections._slurm import Queue, Slurm
from ultracluster.planning.slurm import METRICS_SETTINGS, METRICS_SINCE

# Slurm preempts by the tiers of queues only with these two. https://slurm.schedmd.com/preempt.html (read 2026-11-21)
_PREEMPTION = {"PreemptType": "preempt/partition_prio", "PreemptMode": "REQUEUE"}
# A job that is preempted gets the signal of its `sbatch --signal`, in place of TERM for its steps:
# https://slurm.schedmd.com/slurm.conf.html#OPT_send_user_signal (read 2026-11-27)
_SEND_SIGNAL = "send_user_signal"
# Seconds from then to its end, as before the time limit. It is that of the queue of the job that is preempted:
# https://slurm.schedmd.com/slurm.conf.html#OPT_GraceTime (read 2026-11-27).
_GRACE_SECONDS = "300"
#: Settings that keys of a queue write, with the key.
QUEUE_KEYS: Mapping[str, str] = {
    "Default": "default",
    "PriorityTier": "priority",
    "PreemptMode": "preempt",
    "MaxTime": "max-time",
    "DefaultTime": "default-time",
    "AllowAccounts": "accounts",
    "AllowQos": "qos",
    "TRESBillingWeights": "billing-weights",
}
# Settings of a queue with QoS, which must be in the accounting database:
# https://docs.aws.amazon.com/pcs/latest/userguide/slurm-custom-settings-queue.html (read 2026-11-27)
_QOS_SETTINGS = ("AllowQos", "DenyQos", "QOS")
# Slurm counts GPUs, limits them and bills them only with it: https://slurm.schedmd.com/slurm.conf.html
# #OPT_AccountingStorageTRES (read 2026-11-27).
_GPUS = "gres/gpu"


class QueuePlan(NamedTuple):
    """A queue."""

    name: str
    sections: tuple[str, ...]
    settings: Mapping[str, str]

    @property
    def names_qos(self) -> bool:
        """True if its settings name a QoS, which must exist before the queue."""
        return bool(qos_names(self.settings))


def qos_names(settings: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the QoS that settings of a queue name, in lower case as Slurm keeps them, by setting."""
    return {
        setting: [name for word in settings[setting].split(",") if (name := word.strip().lower())]
        for setting in _QOS_SETTINGS
        if setting in settings
    }


def may_show_metrics(slurm: Slurm) -> bool:
    """Return True if the version serves metrics, and no setting of the file conflicts with them."""
    return slurm.version >= METRICS_SINCE and not slurm.settings.keys() & {*METRICS_SETTINGS, "PrivateData"}


def queues(slurm: Slurm, sections: Sequence[str]) -> tuple[QueuePlan, ...]:
    """Return a queue for each section that no queue of the file names, then those of the file.

    The first one is the default queue, unless the file has another.
    """
    nodes = {name: queue.nodes or (name,) for name, queue in slurm.queues.items()}
    named = {section for of_queue in nodes.values() for section in of_queue}
    preempts = preempting(slurm)
    # The file does not configure these queues, so their jobs are not preempted.
    default = {"PreemptMode": "OFF"} if preempts else {}
    plans = (
        *(QueuePlan(name=name, sections=(name,), settings=default) for name in sections if name not in named),
        *(
            QueuePlan(name=name, sections=nodes[name], settings=queue_settings(queue, preempts=preempts))
            for name, queue in slurm.queues.items()
        ),
    )
    if not plans or any("Default" in plan.settings for plan in plans):
        return plans
    # The first, so that a further group leaves the queues of the others as they are.
    return (plans[0]._replace(settings={"Default": "YES", **plans[0].settings}), *plans[1:])


def preempting(slurm: Slurm) -> bool:
    """Return True if jobs of any queue can be preempted."""
    return any(queue.preempt != "off" for queue in slurm.queues.values())


def queue_settings(queue: Queue, *, preempts: bool) -> dict[str, str]:
    """Return the settings of PCS for a queue.

    Args:
        queue: The section.
        preempts: True if jobs of any queue of the cluster can be preempted.
    """
    written = {
        "Default": "YES" if queue.default else "",
        "PriorityTier": str(queue.priority) if queue.priority != 1 else "",
        "PreemptMode": queue.preempt.upper() if preempts else "",
        "GraceTime": _GRACE_SECONDS if queue.preempt != "off" else "",
        "MaxTime": slurm_time(queue.max_time) if queue.max_time else "",
        "DefaultTime": slurm_time(queue.default_time) if queue.default_time else "",
        "AllowAccounts": ",".join(queue.accounts),
        "AllowQos": ",".join(queue.qos),
        "TRESBillingWeights": ",".join(f"{name}={weight}" for name, weight in queue.billing_weights.items()),
    }
    return {name: value for name, value in written.items() if value} | queue.settings


def cluster_settings(slurm: Slurm, groups: Sequence[NodeGroup] = ()) -> dict[str, str]:
    """Return the settings of slurm.conf: those of the file, and those that its queues and accounts need.

    `PreemptParameters` and `AccountingStorageTRES` are lists, and keep the entries of the file.

    Args:
        slurm: The section.
        groups: Node groups whose GPUs the accounting database counts.
    """
    settings = {**accounting_settings(slurm), **(_PREEMPTION if preempting(slurm) else {}), **slurm.settings}
    if preempting(slurm):
        settings["PreemptParameters"] = _with(slurm.settings.get("PreemptParameters", ""), _SEND_SIGNAL)
    if slurm.accounting and any(group.gpus for group in groups):
        settings["AccountingStorageTRES"] = _with(slurm.settings.get("AccountingStorageTRES", ""), _GPUS)
    return settings


def _with(words: str, word: str) -> str:
    """Return a list of a setting with one more entry, unless it has it."""
    entries = [entry for entry in words.split(",") if entry]
    return words if word in map(str.lower, entries) else ",".join([*entries, word])


def slurm_time(span: Duration) -> str:
    """Return a time as Slurm writes it, days-hours:minutes:seconds, rounded up to minutes, which Slurm counts in."""
    minutes = math.ceil(span.seconds / 60)
    days, rest = divmod(minutes, 24 * 60)
    return f"{days}-{rest // 60:02}:{rest % 60:02}:00"
