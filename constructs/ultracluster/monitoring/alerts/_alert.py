"""Alerts, each with its rule, its message and its runbook."""

from dataclasses import dataclass
from enum import StrEnum

from ultracluster.monitoring.names import METRICS, NODE, PROBLEM, Profile, reads

#: Up to this many nodes of a cluster have an alert each; above it, one alert has their number. The alerts of
#: nodes at that limit, for every rule, stay below AMP's quota of 1,000 active alerts
#: (https://docs.aws.amazon.com/prometheus/latest/userguide/AMP_quotas.html, read 2026-11-21): a test adds them up.
MOST_NODES = 20

DRAIN = "Drain the node: `scontrol update nodename=NODE state=drain reason=ALERT`, or `kubectl cordon NODE`."
#: Rationale of a threshold without a published source.
JUDGEMENT = "Judgement, not published: adjust it to your cluster."
#: Labels of a node, for `by`.
BY_NODE = ", ".join(NODE)


class Severity(StrEnum):
    """Severity of an alert, and its route."""

    #: A job fails or will fail: page someone.
    CRITICAL = "critical"
    #: Handle in working hours.
    WARNING = "warning"
    #: Not sent: only shown in dashboards, to explain other alerts.
    INFO = "info"


@dataclass(frozen=True, kw_only=True, slots=True)
class Alert:
    """An alerting rule and its runbook.

    Args:
        name: In CamelCase.
        expr: PromQL over recorded metrics, with one series for each problem.
        summary: One line for the notification: a Go template with `$labels` and `$value`. It names the instance if each
            series is about one node.
        description: Meaning of the alert, for the runbook.
        diagnosis: Places to look at, a line each.
        actions: Remedies, a line each, in order.
        severity: Severity, which selects the receiver.
        for_: How long `expr` must hold before the alert fires, as a Prometheus duration.
        rationale: Source of the threshold.
    """

    name: str
    expr: str
    summary: str
    description: str
    diagnosis: tuple[str, ...]
    actions: tuple[str, ...]
    severity: Severity = Severity.WARNING
    for_: str = "0m"
    rationale: str = JUDGEMENT

    @property
    def per_node(self) -> bool:
        """True if each series is about one node.

        It is then recorded as `ultracluster_node_problem` too, and at most `MOST_NODES` nodes have an alert each.
        """
        return "$labels.instance" in self.summary

    @property
    def profile(self) -> Profile:
        """Smallest profile that has the metrics of `expr`."""
        return max((METRICS[name].profile for name in reads(self.expr) & METRICS.keys()), default=Profile.BASIC)

    @property
    def promql(self) -> str:
        """Expression of the alerting rule."""
        if not self.per_node:
            return self.expr
        problem = f'{PROBLEM}{{problem="{self.name}"}}'
        return (
            f"{problem} and on (cluster) count by (cluster) ({problem}) <= {MOST_NODES} "
            f"or count by (cluster) ({problem}) > {MOST_NODES}"
        )

    @property
    def message(self) -> str:
        """Summary for one node, or for many nodes together."""
        if not self.per_node:
            return self.summary
        return (
            f"{{{{ if $labels.instance }}}}{self.summary}{{{{ else }}}}{{{{ $value }}}} nodes: {self.name}{{{{ end }}}}"
        )

    @property
    def runbook(self) -> str:
        """Runbook as Markdown."""
        diagnosis = "\n".join(f"- {line}" for line in self.diagnosis)
        actions = "\n".join(f"{number}. {line}" for number, line in enumerate(self.actions, 1))
        wait = "at once" if self.for_ == "0m" else f"after {self.for_}"
        return (
            f"# {self.name}\n\n{self.severity.value.capitalize()}, {wait}.\n\n## Meaning\n\n{self.description}\n\n"
            f"## Diagnosis\n\n{diagnosis}\n\n## Actions\n\n{actions}\n\n## Threshold\n\n{self.rationale}\n\n"
            f"```promql\n{self.expr}\n```\n"
        )
