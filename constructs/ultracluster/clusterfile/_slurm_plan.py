"""What Slurm is told, from the Slurm section: settings, queues, accounts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ultracluster.boot import SlurmAccount, SlurmQos, SlurmUser
from ultracluster.boot import accounting_script as render
from ultracluster.clusterfile._quantities import Duration
from ultracluster.clusterfile.sections._slurm import Queue, Slurm
from ultracluster.planning.slurm import METRICS_SETTINGS, METRICS_SINCE

# Slurm preempts by the tiers of queues only with these two. https://slurm.schedmd.com/preempt.html (read 2026-11-21)
_PREEMPTION = {"PreemptType": "preempt/partition_prio", "PreemptMode": "REQUEUE"}
#: What a queue's own keys write, by the key.
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


@dataclass(frozen=True, kw_only=True, slots=True)
class QueuePlan:
    """A queue to make.

    Args:
        name: Its name.
        sections: The sections of nodes that it hands out.
        settings: Settings of PCS for it.
    """

    name: str
    sections: tuple[str, ...]
    settings: Mapping[str, str]


def may_show_metrics(slurm: Slurm) -> bool:
    """Whether the version has metrics of its own, and no setting of the file's is in their way."""
    return slurm.version >= METRICS_SINCE and not slurm.settings.keys() & {*METRICS_SETTINGS, "PrivateData"}


def queues(slurm: Slurm, sections: Sequence[str]) -> tuple[QueuePlan, ...]:
    """The queues: those of sections that no queue names, under their names, and those that the file names.

    Args:
        slurm: The section.
        sections: Sections of nodes, in the order of the file.
    """
    requests = slurm.queues
    named = {name: requested.nodes or (name,) for name, requested in requests.items()}
    taken = {section for held in named.values() for section in held}
    preempts = preempting(slurm)
    own = [QueuePlan(name=name, sections=(name,), settings={}) for name in sections if name not in taken]
    # What the file does not speak of can't be preempted either.
    calm = {"PreemptMode": "OFF"} if preempts else {}
    return (
        *(QueuePlan(name=one.name, sections=one.sections, settings=calm) for one in own),
        *(
            QueuePlan(name=name, sections=named[name], settings=queue_settings(requested, preempts=preempts))
            for name, requested in requests.items()
        ),
    )


def preempting(slurm: Slurm) -> bool:
    """Whether jobs of any queue give way."""
    return any(queue.preempt != "off" for queue in slurm.queues.values())


def queue_settings(queue: Queue, *, preempts: bool) -> dict[str, str]:
    """What PCS is told of a queue.

    Args:
        queue: The section.
        preempts: Whether jobs of any queue of the cluster give way.
    """
    written = {
        "Default": "YES" if queue.default else "",
        "PriorityTier": str(queue.priority) if queue.priority != 1 else "",
        "PreemptMode": queue.preempt.upper() if preempts else "",
        "MaxTime": slurm_time(queue.max_time) if queue.max_time else "",
        "DefaultTime": slurm_time(queue.default_time) if queue.default_time else "",
        "AllowAccounts": ",".join(queue.accounts),
        "AllowQos": ",".join(queue.qos),
        "TRESBillingWeights": ",".join(f"{name}={weight}" for name, weight in queue.billing_weights.items()),
    }
    return {name: value for name, value in written.items() if value} | queue.settings


def cluster_settings(slurm: Slurm) -> dict[str, str]:
    """Settings of slurm.conf: those of the file, and what its queues need."""
    return {**(_PREEMPTION if preempting(slurm) else {}), **slurm.settings}


def slurm_time(span: Duration) -> str:
    """A time as Slurm writes it, days-hours:minutes:seconds. Slurm counts in minutes, so that it is rounded up."""
    minutes = math.ceil(span.seconds / 60)
    days, rest = divmod(minutes, 24 * 60)
    return f"{days}-{rest // 60:02}:{rest % 60:02}:00"


def accounts(slurm: Slurm) -> list[SlurmAccount]:
    """The accounts."""
    return [
        SlurmAccount(
            name=name,
            parent=account.parent or "root",
            fairshare=account.fairshare,
            qos=account.qos,
            options=account.settings,
        )
        for name, account in slurm.accounts.items()
    ]


def accounting_script(slurm: Slurm) -> str | None:
    """What a login node runs to make accounts, QoS and users. None: there are none."""
    if not (slurm.accounts or slurm.qos):
        return None
    return render(
        version=slurm.version,
        accounts=accounts(slurm),
        qos=[SlurmQos(name=name, priority=qos.priority, options=qos.settings) for name, qos in slurm.qos.items()],
        users=[
            SlurmUser(name=name, accounts=user.accounts, admin=user.admin)
            for name, user in slurm.users.items()
            if user.accounts
        ],
    )
