"""The rule files: recording rules and alerts, as Prometheus and AMP read them."""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from ultracluster.monitoring.alerts._alert import Alert
from ultracluster.monitoring.alerts._all import ALERTS, FAMILY_OF, WATCHDOG, runbook_path
from ultracluster.monitoring.alerts._causes import MOUNT_OUTAGE, causes
from ultracluster.monitoring.alerts._restricting import of_cluster
from ultracluster.monitoring.alerts._tuning import Tuning
from ultracluster.monitoring.collectors import block_yaml, name_problems
from ultracluster.monitoring.names import (
    CAPACITY_END,
    ENDING_NODES,
    EXPECTED_NODES,
    FAMILIES,
    JOB_INFO,
    JOB_PROBLEM,
    PROBLEM,
    UNNAMED_PROBLEM,
    UNOWNED_PROBLEM,
    Profile,
)
from ultracluster.planning import known
from ultracluster.rules import Refusal, error

#: AMP evaluates no more often.
#: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP_quotas.html (read 2026-11-21)
INTERVAL = "30s"
#: Address of the self-hosted Grafana, while its port is forwarded.
GRAFANA = "http://localhost:3000"
_GRAFANA = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~@%+-]+)*", re.ASCII)
_UID = re.compile(r"[A-Za-z0-9_-]{1,40}", re.ASCII)
# Seconds in which the nodes of a capacity that starts are launched and boot.
_BOOT = 900
_INVENTORY = error("metrics-inventory", "The expected number of nodes is the only sign of a node that never started.")
_RUNBOOKS_RULE = error("alerts-runbooks", "Alerts link to their runbooks.")
_RUNBOOKS = re.compile(r"(https://)?[A-Za-z0-9._~@%+-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~@%+-]+)*", re.ASCII)


def rules(
    profile: Profile = Profile.STANDARD,
    *,
    inventory: Mapping[tuple[str, str], int] | None = None,
    runbooks: str | None = None,
    cluster: str | None = None,
    tuning: Tuning | None = None,
    grafana: str = GRAFANA,
    data_source: str | None = None,
    starts: Mapping[tuple[str, str], float] | None = None,
    drains: Mapping[tuple[str, str], float] | None = None,
    ends: Mapping[tuple[str, str], float] | None = None,
) -> dict[str, str]:
    """Return the rule files by name: `recording.yaml` and `alerts.yaml`, each a namespace of AMP.

    Args:
        profile: Metrics profile. A rule whose metrics are not in it is left out.
        inventory: Expected nodes by cluster and node group. A lost node sends nothing, so the expected number
            must be written down. By default, no nodes are expected.
        runbooks: URL or path of the runbooks as files, without a slash at the end. By default, their dashboard in
            Grafana.
        cluster: Cluster that the rules read, so that several clusters can have rules in one workspace and
            nothing is evaluated twice. By default, the rules serve every cluster of the workspace.
        tuning: Alerts that are off or changed. By default, none.
        grafana: Address of Grafana, to which alerts link; it may be known at deployment only. By default, the
            forwarded port of the self-hosted server.
        data_source: Uid of the data source that a linked dashboard shows. By default, Grafana chooses it.
        starts: When the capacity of a group starts, in Unix time, by cluster and node group. Its nodes are expected a
            quarter of an hour later. By default, at once.
        drains: When the nodes of a group are drained before its end, in the same way. By default, never.
        ends: When the capacity of a group ends, in the same way. Then no nodes are expected. By default, never.

    Raises:
        Refusal: If a name is not a valid label, an expected number is below 0, or `runbooks` is not a
            valid address; all problems at once.
    """
    expected = inventory or {}
    starts, drains, ends = starts or {}, drains or {}, ends or {}
    names = [name for key in (*expected, *starts, *drains, *ends) for name in key]
    problems = name_problems(*names, *([] if cluster is None else [cluster]))
    problems += [
        _INVENTORY(f"{cluster}/{group}: {count} nodes expected; it must be a whole number, 0 or more")
        for (cluster, group), count in expected.items()
        if count < 0 or count != int(count)
    ]
    if runbooks is not None and not _RUNBOOKS.fullmatch(runbooks):
        text = f"runbooks must be an address that begins with https://, or a path, got {runbooks[:120]!r}"
        problems.append(_RUNBOOKS_RULE(text))
    if known(grafana) and not _GRAFANA.fullmatch(grafana):
        problems.append(_RUNBOOKS_RULE(f"grafana must be an address without a slash at the end, got {grafana[:120]!r}"))
    if data_source is not None and not _UID.fullmatch(data_source):
        text = f"data_source must be 1 to 40 letters, digits, hyphens and underscores, got {data_source[:120]!r}"
        problems.append(_RUNBOOKS_RULE(text))
    if problems:
        raise Refusal("", problems)
    chosen = (tuning or Tuning()).apply(alert for alert in ALERTS.values() if alert.profile <= profile)
    # Without the alert of the file system, those of its nodes are sent.
    left_out = set() if any(alert.name == "FileSystemUnavailable" for alert in chosen) else {MOUNT_OUTAGE}
    recording: dict[str, list[dict[str, Any]]] = {
        name: [
            {"record": metric.name, "expr": metric.promql}
            for metric in family
            if metric.profile <= profile and metric.name not in left_out
        ]
        for name, family in FAMILIES.items()
    }
    recording["inventory"] = [
        *(
            _of_group(EXPECTED_NODES, key, count, since=starts.get(key, -_BOOT) + _BOOT, until=ends.get(key))
            for key, count in sorted(expected.items())
        ),
        *(_of_group(ENDING_NODES, key, expected.get(key, 0), since=drain) for key, drain in sorted(drains.items())),
        *(_of_group(CAPACITY_END, key, end) for key, end in sorted(ends.items())),
    ]
    # AMP evaluates a group in order and groups at once: an alert sees the problem of the same moment.
    groups: dict[str, list[dict[str, Any]]] = {}
    for family, members in groupby(chosen, lambda alert: FAMILY_OF[alert.name]):
        alerts = [*members]
        recorded = [*(causes(chosen) if family == "job" else []), *_problems(alerts)]
        groups[f"alerts-{family}"] = [*recorded, *(_alert(alert, runbooks, grafana, data_source) for alert in alerts)]
    return {"recording.yaml": _file(recording, cluster), "alerts.yaml": _file(groups, cluster)}


def _of_group(
    record: str, key: tuple[str, str], value: float, *, since: float = 0, until: float | None = None
) -> dict[str, Any]:
    """Return the rule of a number of a node group, which has a series between two times only."""
    conditions = [f"vector(time()) >= {since:.0f}"] * (since > 0)
    conditions += [] if until is None else [f"vector(time()) < {until:.0f}"]
    cluster, group = key
    expr = " and ".join([f"vector({value:.0f})", *conditions])
    return {"record": record, "expr": expr, "labels": {"cluster": cluster, "group": group}}


def _problems(alerts: Sequence[Alert]) -> list[dict[str, Any]]:
    """Return the rules of the problems of nodes and jobs.

    Each is evaluated once. Then one rule adds the names of the nodes, and one the owners of the jobs, to all.
    """
    nodes = [alert.name for alert in alerts if alert.per_node]
    jobs = [alert.name for alert in alerts if alert.per_job]
    result = [
        {"record": record, "expr": alert.expr, "labels": {"problem": alert.name}}
        for alert in alerts
        for record in (*[UNNAMED_PROBLEM] * alert.per_node, *[UNOWNED_PROBLEM] * alert.per_job)
    ]
    if nodes:
        info = "ultracluster_node_name_info"
        if "NodeLost" in nodes:
            # It outlasts the name of the node, and without it would be another alert, and another message.
            info += f' or on (cluster, instance) last_over_time({PROBLEM}{{problem="NodeLost"}}[5m]) * 0 + 1'
        result.append({"record": PROBLEM, "expr": _named(UNNAMED_PROBLEM, nodes, "instance", ("node",), info)})
    if jobs:
        # Longer than a login node, which reports it, is away: another label is another alert.
        info = "last_over_time(ultracluster_job_info[1h])"
        result.append({"record": JOB_PROBLEM, "expr": _named(UNOWNED_PROBLEM, jobs, "job_id", JOB_INFO, info)})
    return result


def _named(record: str, names: Sequence[str], key: str, labels: Sequence[str], info: str) -> str:
    """Return the problems with labels of an info metric, as they are if it has none or they have the first label."""
    problems = f'problem=~"{"|".join(names)}"'
    joined = f"topk by (cluster, {key}) (1, {info})"
    return (
        f'{record}{{{problems}, {labels[0]}=""}} * on (cluster, {key}) group_left ({", ".join(labels)}) {joined} '
        f"or on (cluster, {key}, problem) {record}{{{problems}}}"
    )


def _alert(alert: Alert, runbooks: str | None, grafana: str, data_source: str | None) -> dict[str, Any]:
    rule: dict[str, Any] = {"alert": alert.name, "expr": alert.promql}
    if alert.for_ != "0m":
        rule["for"] = alert.for_
    shown = "" if data_source is None else f"&var-datasource={data_source}"
    return rule | {
        "labels": {"severity": alert.severity.value},
        "annotations": {
            "summary": alert.message,
            # Apart from the summary, which must stay if a ruler cannot query in a template.
            **({"nodes": alert.nodes} if alert.nodes else {}),
            **({"jobs": alert.jobs} if alert.jobs else {}),
            "runbook_url": f"{grafana}{runbook_path(alert.name)}"
            if runbooks is None
            else f"{runbooks}/{alert.name}.md",
            "dashboard_url": grafana + alert.dashboard + shown,
        },
    }


def _file(groups: Mapping[str, list[dict[str, Any]]], cluster: str | None) -> str:
    return block_yaml(
        {
            "groups": [
                {"name": name, "interval": INTERVAL, "rules": [_narrowed(rule, cluster) for rule in rules]}
                for name, rules in groups.items()
                if rules
            ]
        }
    )


def _narrowed(rule: dict[str, Any], cluster: str | None) -> dict[str, Any]:
    if cluster is None:
        return rule
    result = rule | {"expr": of_cluster(rule["expr"], cluster)}
    if rule.get("alert") == WATCHDOG:
        # It reads no metric that could have the label.
        result["labels"] = {"cluster": cluster, **rule["labels"]}
    return result
