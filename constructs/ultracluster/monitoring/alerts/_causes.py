"""Rules that find alerts of one cause: of a node, and of the jobs that wait for it."""

from collections.abc import Iterable
from typing import Any

from ultracluster.monitoring.alerts._alert import OF_ONE_CAUSE, Alert, Severity
from ultracluster.monitoring.names import JOB_CAUSE, OUTAGE, PROBLEM, PROBLEM_CAUSE, PROBLEM_START

#: Those of a node that end a job. Others stay for days beside jobs that run: until a reset, or until an operator has
#: looked.
ENDS_A_JOB = frozenset(
    {
        *("GpuXidFatal", "GpuXidReset", "GpuRecoveryRequired", "GpuMissing", "NvswitchFatal", "FabricManagerDown"),
        *("NodeLost", "NodeUnhealthy", "AcceleratorUnhealthy"),
    }
)
_ALERT = "on (cluster, instance, problem)"
_SEEN = "node_job:ultracluster_job_seen_timestamp_seconds:max"
_STALL = "ultracluster_job_stall_start_timestamp_seconds"
#: Mounts whose file system does not answer.
MOUNT_OUTAGE = "ultracluster_node_mount_outage"
# Alerts of a node that others inhibit: they are no cause, or nobody would be notified. With the labels of both.
_INHIBITED = (
    ("NodeUnhealthy", "HealthBreakerOpen", "cluster, group"),
    ("GpuMissing", "GpuMetricImplausible|GpuMetricsUnrecognised", "cluster, instance"),
)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def causes(alerts: Iterable[Alert]) -> list[dict[str, Any]]:
    """Return the recording rules, in the order in which they read each other."""
    critical = {alert.name: alert for alert in alerts if alert.severity is Severity.CRITICAL}
    ordered = [critical[name] for name in OF_ONE_CAUSE if name in critical]
    nodes = [_start(ordered), _cause()] if ordered else []
    # Those of nodes have lasted as long as their alert waits: one that comes and goes before that keeps nobody silent.
    ends = "|".join(alert.name for alert in ordered if alert.name in ENDS_A_JOB)
    jobs = [_of_nodes(ends)] if ends else []
    jobs += [f'count by (cluster, job_id) ({PROBLEM}{{problem="NodeLost"}})'] if "NodeLost" in critical else []
    # Not for longer than half a day: what nobody mends then, no job needs.
    recent = OUTAGE.replace(MOUNT_OUTAGE, f"({MOUNT_OUTAGE} unless {MOUNT_OUTAGE} offset 12h)")
    jobs += [recent] if "FileSystemUnavailable" in critical else []
    return [*nodes, *([{"record": JOB_CAUSE, "expr": " or ".join(jobs)}] if jobs else [])]


def _start(ordered: list[Alert]) -> dict[str, Any]:
    """Return when each alert began to fire, a thousandth of a second apart in their order.

    It is remembered for a quarter of an hour after the problem has ended: one that flaps is the same.
    """
    names = "|".join(alert.name for alert in ordered)
    firing = " or ".join(f"{_lasts(alert)} * 0 + time() + {place / 1000:g}" for place, alert in enumerate(ordered))
    return {
        "record": PROBLEM_START,
        "expr": f"last_over_time({PROBLEM_START}[5m]) and {_ALERT} "
        f'last_over_time({PROBLEM}{{problem=~"{names}"}}[15m]) '
        f"or max by (cluster, instance, problem) ({firing})",
    }


def _lasts(alert: Alert) -> str:
    """Return an expression that holds now, and did at half and at the whole of the pending period before."""
    problem = f'{PROBLEM}{{problem="{alert.name}"}}'
    if alert.for_ == "0m":
        return problem
    half = int(alert.for_[:-1]) * _SECONDS[alert.for_[-1]] // 2
    return f"({problem} and {problem} offset {half}s and {problem} offset {alert.for_})"


def _cause() -> dict[str, Any]:
    """Return the alerts that began within half an hour after another one of the node, for as long as they last.

    That is decided when an alert begins. The other one has no cause itself, and may end before.
    """
    known = f"last_over_time({PROBLEM_CAUSE}[5m])"
    silent = "".join(
        f' unless {_ALERT} ({PROBLEM}{{problem="{name}"}} and on ({labels}) {PROBLEM}{{problem=~"{others}"}})'
        for name, others, labels in _INHIBITED
    )
    first = f"bottomk by (cluster, instance) (1, {PROBLEM_START} > time() - 1800 unless {_ALERT} {known}{silent})"
    return {
        "record": PROBLEM_CAUSE,
        "expr": f"{known} and {_ALERT} {PROBLEM_START} or {_ALERT} (({PROBLEM_START} > time() - 90) > on (cluster, "
        f'instance) group_left (cause) label_replace({first}, "cause", "$1", "problem", "(.+)")) * 0 + 1',
    }


def _of_nodes(problems: str) -> str:
    """Return the nodes of a job, also those that it has lost since, whose alert began when the job began to wait.

    A gang that has moved and computes waits from then on, without the node that it has left.
    """
    stall = f"on (cluster, job_id) group_left () {_STALL}"
    node = f"{_SEEN} > time() - 1800 > on (cluster, job_id) group_left () ({_STALL} - 300)"
    selector = f'{{problem=~"{problems}"}}'
    start = f"max by (cluster, instance) ({PROBLEM_START}{selector} and {_ALERT} {PROBLEM}{selector})"
    waits = f"({node}) * 0 + {stall} - on (cluster, instance) group_left () {start}"
    return f"count by (cluster, job_id) (abs({waits}) < 1800)"
