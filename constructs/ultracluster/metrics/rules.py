"""The rule files: recording rules and alerts, as Prometheus and AMP read them."""

import re
from collections.abc import Mapping
from typing import Any

from ultracluster.metrics.alert import Alert
from ultracluster.metrics.alerts import ALERTS, WATCHDOG
from ultracluster.metrics.fleet_names import EXPECTED_NODES, PROBLEM
from ultracluster.metrics.metric import Profile
from ultracluster.metrics.names import FAMILIES
from ultracluster.metrics.restricting import of_cluster
from ultracluster.metrics.text import block_yaml, name_problems

#: AMP evaluates no more often.
#: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP_quotas.html (read 2026-11-21)
INTERVAL = "30s"
#: Where the runbooks stand in the repository.
RUNBOOKS = "docs/runbooks"
_RUNBOOKS = re.compile(r"(https://)?[A-Za-z0-9._~@%+-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~@%+-]+)*", re.ASCII)


def rules(
    profile: Profile = Profile.STANDARD,
    *,
    inventory: Mapping[tuple[str, str], int] | None = None,
    runbooks: str = RUNBOOKS,
    cluster: str | None = None,
) -> dict[str, str]:
    """The rule files by name: `recording.yaml` and `alerts.yaml`, each a namespace of AMP.

    Args:
        profile: How much is collected: without what a rule reads, there is no rule.
        inventory: Cluster and node group -> how many nodes there should be. A dead node sends nothing, not even that it
            is dead, so who should be there has to be written down. Default: nothing is expected.
        runbooks: Where the runbooks stand, an address or a path, without the slash at the end.
        cluster: The one cluster that they read and tell of, so that several can bring theirs to one workspace and
            nothing is evaluated twice. Default: they serve every cluster of the workspace, and only one may bring them.

    Raises:
        ValueError: When a name is not fit for a label, or fewer than 0 nodes are expected, or runbooks stand at no
            address; all at once.
    """
    expected = inventory or {}
    names = [name for key in expected for name in key]
    problems = name_problems(*names, *([] if cluster is None else [cluster]))
    problems += [
        f"{cluster}/{group}: {count} nodes expected; it must be a whole number, 0 or more"
        for (cluster, group), count in expected.items()
        if count < 0 or count != int(count)
    ]
    if not _RUNBOOKS.fullmatch(runbooks):
        problems.append(f"runbooks must be an address that begins with https://, or a path, got {runbooks[:120]!r}")
    if problems:
        raise ValueError("; ".join(problems))
    recording: dict[str, list[dict[str, Any]]] = {
        name: [{"record": metric.name, "expr": metric.promql} for metric in family if metric.profile <= profile]
        for name, family in FAMILIES.items()
    }
    recording["inventory"] = [
        {"record": EXPECTED_NODES, "expr": f"vector({count})", "labels": {"cluster": cluster, "group": group}}
        for (cluster, group), count in sorted(expected.items())
    ]
    chosen = [alert for alert in ALERTS.values() if alert.profile <= profile]
    found = [_problem(alert) for alert in chosen if alert.of_a_node]
    return {
        "recording.yaml": _file(recording, cluster),
        # One group: it is evaluated in order, so an alert sees the problem of the same moment.
        "alerts.yaml": _file({"alerts": [*found, *(_alert(alert, runbooks) for alert in chosen)]}, cluster),
    }


def _problem(alert: Alert) -> dict[str, Any]:
    return {"record": PROBLEM, "expr": alert.expression, "labels": {"problem": alert.name}}


def _alert(alert: Alert, runbooks: str) -> dict[str, Any]:
    rule: dict[str, Any] = {"alert": alert.name, "expr": alert.promql}
    if alert.wait != "0m":
        rule["for"] = alert.wait
    return rule | {
        "labels": {"severity": alert.severity.value},
        "annotations": {"summary": alert.message, "runbook_url": f"{runbooks}/{alert.name}.md"},
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
    found = rule | {"expr": of_cluster(rule["expr"], cluster)}
    if rule.get("alert") == WATCHDOG:
        # It reads nothing that could have the label.
        found["labels"] = {"cluster": cluster, **rule["labels"]}
    return found
