"""What an alert is."""

from dataclasses import dataclass
from enum import StrEnum

from ultracluster.metrics.fleet_names import PROBLEM
from ultracluster.metrics.metric import Profile

#: So many nodes of a cluster have an alert of their own; more of them have one together, which says how many. Each
#: alert of a node's at that limit, for every alert that there is, stays below AMP's 1,000 active alerts
#: (https://docs.aws.amazon.com/prometheus/latest/userguide/AMP_quotas.html, read 2026-11-21): a test does the sum.
MOST_NODES = 20


class Severity(StrEnum):
    """How loud an alert is."""

    #: A job is hurt, or will be: somebody is called.
    CRITICAL = "critical"
    #: To be looked at in working hours.
    WARNING = "warning"
    #: Sent to nobody; it stands in the dashboards and explains others.
    INFO = "info"


@dataclass(frozen=True, kw_only=True, slots=True)
class Alert:
    """An alert, and the page that says what to do.

    Args:
        name: In CamelCase.
        severity: How loud it is.
        expression: PromQL over metrics of ours; it gives one series for each thing that is wrong.
        wait: For how long that has to be so, as Prometheus writes times.
        summary: What is wrong, in one line; a Go template with `$labels` and `$value`.
        means: What it means, for the page.
        look: Where to look, a line each.
        act: What to do, a line each.
        basis: Where the threshold comes from.
        of_a_node: Whether each series is a node's. Then it is also recorded as `node:problem:number`, and at most
            `MOST_NODES` of them are alerts of their own.
        profile: The smallest profile whose metrics it needs.
    """

    name: str
    severity: Severity
    expression: str
    summary: str
    means: str
    look: tuple[str, ...]
    act: tuple[str, ...]
    basis: str
    wait: str = "0m"
    of_a_node: bool = True
    profile: Profile = Profile.BASIC

    @property
    def promql(self) -> str:
        """The alerting rule's expression."""
        if not self.of_a_node:
            return self.expression
        found = f'{PROBLEM}{{problem="{self.name}"}}'
        return (
            f"{found} and on (cluster) count by (cluster) ({found}) <= {MOST_NODES} "
            f"or count by (cluster) ({found}) > {MOST_NODES}"
        )

    @property
    def message(self) -> str:
        """The summary, whichever of the two it is for."""
        if not self.of_a_node:
            return self.summary
        return (
            f"{{{{ if $labels.instance }}}}{self.summary}{{{{ else }}}}{{{{ $value }}}} nodes: {self.name}{{{{ end }}}}"
        )

    @property
    def page(self) -> str:
        """The runbook."""
        look = "\n".join(f"- {line}" for line in self.look)
        act = "\n".join(f"{number}. {line}" for number, line in enumerate(self.act, 1))
        wait = "at once" if self.wait == "0m" else f"after {self.wait}"
        return (
            f"# {self.name}\n\n{self.severity.value.capitalize()}, {wait}.\n\n## What it means\n\n{self.means}\n\n"
            f"## Look at\n\n{look}\n\n## Do\n\n{act}\n\n## Why this threshold\n\n{self.basis}\n\n"
            f"```promql\n{self.expression}\n```\n"
        )
