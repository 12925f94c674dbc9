"""Rules that find alerts of one cause: of a node, and of the jobs that wait for it."""

from collections.abc import Iterable
from typing import Any

from ultracluster.monitoring.alerts._alert import OF_ONE_CAUSE, Alert, Severity
from ultracluster.monitoring.names import (
    JOB_CAUSE,
    OUTAGE,
    PROBLEM,
    PROBLEM_CAUSE,
    PROBLEM_DAY,
    PROBLEM_FIRST,
    PROBLEM_START,
)

#: Those of a node that end a job. Others stay for days beside jobs that run: until a reset, or until an operator has
#: looked.
ENDS_A_JOB = frozenset(
    {
        *("GpuXidFatal", "GpuXidReset", "GpuRecoveryRequired", "GpuMissing", "NvswitchFatal", "FabricManagerDown"),
        *("NodeLost", "NodeUnhealthy", "AcceleratorUnhealthy"),
    }
)
#: Labels of an alert of a node: another check, or another XID, is another one.
_LABELS = "cluster, instance, problem, check, xid"
_ALERT = f"on ({_LABELS})"
# Checks that no GPU and no EFA device fails: another alert of the node is not their cause.
_APART = "mounts|nfs-client|local-scratch|node-scripts|configmaps"
_SEEN = "node_job:ultracluster_job_seen_timestamp_seconds:max"
_STALL = "ultracluster_job_stall_start_timestamp_seconds"
#: Mounts whose file system does not answer.
MOUNT_OUTAGE = "ultracluster_node_mount_outage"
# Alerts of a node that others inhibit: they are no cause, or nobody would be notified. With the labels of both.
_INHIBITED = (("GpuMissing", "GpuMetricImplausible", "cluster, instance"),)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def causes(alerts: Iterable[Alert]) -> list[dict[str, Any]]:
    """Return the recording rules, in the order in which they read each other."""
    critical = {alert.name: alert for alert in alerts if alert.severity is Severity.CRITICAL}
    ordered = [critical[name] for name in OF_ONE_CAUSE if name in critical]
    nodes = [_start(ordered), _first(), _cause(), _day()] if ordered else []
    # Those of nodes have lasted as long as their alert waits: one that comes and goes before that keeps nobody silent.
    ends = "|".join(alert.name for alert in ordered if alert.name in ENDS_A_JOB)
    jobs = [_of_nodes(ends)] if ends else []
    lost = f'{PROBLEM}{{problem="NodeLost"}} and {_ALERT} {PROBLEM_START}'
    jobs += [f"count by (cluster, job_id) ({lost})"] if "NodeLost" in critical else []
    # Not for longer than half a day: what nobody mends then, no job needs.
    recent = OUTAGE.replace(MOUNT_OUTAGE, f"({MOUNT_OUTAGE} unless {MOUNT_OUTAGE} offset 12h)")
    jobs += [recent] if "FileSystemUnavailable" in critical else []
    return [*nodes, *([{"record": JOB_CAUSE, "expr": " or ".join(jobs)}] if jobs else [])]


def _start(ordered: list[Alert]) -> dict[str, Any]:
    """Return when each alert began, a minute before it fires and a thousandth of a second apart in their order.

    So its cause is known when it fires. It is remembered for a quarter of an hour after the problem has ended, since
    one that flaps is the same; not if the problem ended before the alert fired.
    """
    names = "|".join(alert.name for alert in ordered)
    began = " or ".join(f"{_lasts(alert)} * 0 + time() + {place / 1000:g}" for place, alert in enumerate(ordered))
    known = f"last_over_time({PROBLEM_START}[5m])"
    return {
        "record": PROBLEM_START,
        "expr": f"{known} and {_ALERT} "
        f'last_over_time({PROBLEM}{{problem=~"{names}"}}[15m]) '
        f"unless {_ALERT} ({known} > time() - 90 unless {_ALERT} {PROBLEM}) "
        f"or max by ({_LABELS}) ({began})",
    }


def _lasts(alert: Alert) -> str:
    """Return an expression that holds now, and did at half and at the whole of the time before."""
    problem = f'{PROBLEM}{{problem="{alert.name}"}}'
    seconds = int(alert.for_[:-1]) * _SECONDS[alert.for_[-1]] - 60
    if seconds <= 0:
        return problem
    return f"({problem} and {problem} offset {seconds // 2}s and {problem} offset {seconds}s)"


#: Alerts whose cause is known, for as long as that one lasts.
_KNOWN = (
    f"(last_over_time({PROBLEM_CAUSE}[5m]) and {_ALERT} {PROBLEM_START} and on (cluster, instance, cause) "
    f'label_replace({PROBLEM_START}, "cause", "$1", "problem", "(.+)"))'
)
#: Alerts whose cause has ended.
_LEFT = f"({PROBLEM_START} and {_ALERT} last_over_time({PROBLEM_CAUSE}[5m]) unless {_ALERT} {_KNOWN})"


def _first() -> dict[str, Any]:
    """Return the first alert of each node within half an hour that has no cause itself, or whose cause has ended."""
    silent = "".join(
        f' unless {_ALERT} ({PROBLEM}{{problem="{name}"}} and on ({labels}) {PROBLEM}{{problem=~"{others}"}})'
        for name, others, labels in _INHIBITED
    )
    first = f"({PROBLEM_START} > time() - 1800 or {_LEFT}) unless {_ALERT} {_KNOWN}{silent}"
    return {
        "record": PROBLEM_FIRST,
        "expr": f'label_replace(bottomk by (cluster, instance) (1, {first}), "cause", "$1", "problem", "(.+)")',
    }


def _cause() -> dict[str, Any]:
    """Return the alerts that began within half an hour after the first one of the node, for as long as that one lasts.

    That is decided once, when an alert begins or its cause has ended. Two of one name are two faults.
    """
    begun = (
        f'(({PROBLEM_START}{{problem!="{OF_ONE_CAUSE[0]}",check!~"{_APART}"}} or '
        f'{PROBLEM_START}{{check=~"{_APART}"}} and on (cluster, instance) '
        f'{PROBLEM_FIRST}{{problem="HealthBreakerOpen"}}) > time() - 15 or {_LEFT})'
    )
    return {
        "record": PROBLEM_CAUSE,
        "expr": f"{_KNOWN} or {_ALERT} ({begun} > on (cluster, instance) group_left (cause) {PROBLEM_FIRST} unless on "
        f"(cluster, instance, problem, cause) {PROBLEM_FIRST}) * 0 + 1",
    }


def _day() -> dict[str, Any]:
    """Return when the last of those on the hardware began, within a day: what began at midnight is gone at the next."""
    begun = f'{PROBLEM_START}{{problem!="HealthBreakerOpen",check!~"{_APART}"}}'
    # An XID after another is one alert until the node has recovered.
    times = f"{begun} or ultracluster_node_xid_timestamp_seconds or last_over_time({PROBLEM_DAY}[5m])"
    return {"record": PROBLEM_DAY, "expr": f"max by (cluster, instance) ({times}) > time() - 86400"}


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
