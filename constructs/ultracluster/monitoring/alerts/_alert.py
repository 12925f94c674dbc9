"""Alerts, each with its rule, its message, its runbook, and what its threshold may be."""

import re
from copy import copy
from dataclasses import dataclass
from enum import StrEnum

from ultracluster.monitoring.names import JOB_PROBLEM, METRICS, NODE, PROBLEM, PROBLEM_CAUSE, Profile, reads
from ultracluster.rules import Refusal

#: Up to this many nodes, or jobs, of a cluster have an alert each. If more have the same problem, one alert more has
#: their number, and the names of the nodes. All alerts together stay below AMP's quota of 1,000 active alerts
#: (https://docs.aws.amazon.com/prometheus/latest/userguide/AMP_quotas.html, read 2026-11-26): a test adds them up.
MOST_NODES = 20
MOST_JOBS = 5
#: The same of alerts that are only shown.
MOST_SHOWN = 5
# The quota of 20 MB for all active alerts leaves 20 KB for each: a name has 20 bytes.
_NAMES = 500

#: Critical alerts of which one cause fires several on a node. Those that fire within half an hour after another one
#: have the label `cause`, and are not sent; of those that fire at once, the first of this order is sent. The first of
#: all has no cause and fires at once. The others wait a minute, in which theirs is found.
OF_ONE_CAUSE = (
    *("GpuXidFatal", "GpuXidReset", "NvswitchFatal", "GpuRecoveryRequired", "GpuRowRemapFailed", "GpuEccUncorrected"),
    *("NvlinkRecoveryFailed", "NodeLost", "FabricManagerDown", "AcceleratorUnhealthy", "HealthBreakerOpen"),
    *("NodeUnhealthy", "GpuMissing", "EfaDeviceMissing", "GpuHardwareSlowdown"),
)

DRAIN = (
    "Drain the node, unless its reason in `sinfo -R` begins with `ultracluster`: it drained itself, and with another "
    "reason nothing resumes or replaces it. `sudo -i scontrol update nodename=NODE state=drain reason=ALERT`, or "
    "`kubectl cordon NODE`."
)
REBOOT = (
    "When its jobs have ended, reboot the node: `sudo reboot` on a node of Slurm, or "
    "`aws ec2 reboot-instances --instance-ids INSTANCE` on EKS."
)
# A reset requires root and that no process uses the GPU, also none that monitors it as dcgm-exporter does:
# nvidia-smi(1), --gpu-reset. On EKS the device plugin and the container of the exporter use it.
RESET = (
    "Or reset the GPU under Slurm, without a reboot: `sudo systemctl stop ultracluster-metrics-dcgm`, "
    "`sudo nvidia-smi --gpu-reset -i INDEX`, `sudo systemctl start ultracluster-metrics-dcgm`."
)
FORGET = (
    "After a reset of the GPUs, on the node: `sudo ultracluster-health-check --forget-xids` under Slurm, `sudo mkdir "
    "-p /run/ultracluster/devices && date +%s | sudo tee /run/ultracluster/devices/xids-since` under Kubernetes."
)
UNTIL = "It stays until the node has booted, that was called, or the node is gone; seven days at most."
#: Rationale of a threshold without a published source.
JUDGEMENT = "Judgement, not published: adjust it to your cluster."
_INSTANCE = "{{ $labels.instance }}{{ if $labels.node }} ({{ $labels.node }}){{ end }}"
_OWNER = (
    "job {{ $labels.job_id }}{{ if $labels.account }} of {{ $labels.account }}"
    "{{ if $labels.user }}, {{ $labels.user }}{{ end }}{{ end }}"
)
#: Labels of a node, for `by`.
BY_NODE = ", ".join(NODE)


def _number(value: float) -> re.Pattern[str]:
    """Return the pattern of a comparison with a number."""
    return re.compile(rf"([<>]) {re.escape(f'{value:.12g}')}(?![\d.e])")


def of_instance(metric: str) -> str:
    """Return a metric of nodes of Kubernetes with the labels of the instance; without a collector, its name is all.

    A new instance may have the name of an earlier one, which is remembered for hours: the one that booted last counts.
    """
    boot = "ultracluster_node_boot_timestamp_seconds"
    # Few samples of a long time, because a rule reads them of all nodes twice a minute.
    booted = f"on (cluster, instance) group_left () ({boot} or max_over_time({boot}[3h:10m]))"
    last = (
        f"topk by (cluster, node) (1, ultracluster_node_name_info * {booted} or ultracluster_node_name_info) > bool 0"
    )
    return (
        f"{metric} * on (cluster, node) group_left (instance, instance_type, zone, group) ({last}) or "
        f'on (cluster, node) label_replace({metric}, "instance", "$1", "node", "(.+)")'
    )


class Severity(StrEnum):
    """Severity of an alert, and its route."""

    #: A job fails or will fail: page someone.
    CRITICAL = "critical"
    #: Handle in working hours.
    WARNING = "warning"
    #: Not sent: only shown in dashboards, to explain other alerts.
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Bounds:
    """Lowest and highest value that occurs, between which an alert can both fire and clear.

    No value is above the highest or below the lowest, so that a threshold there may never be passed: `Alert.never`.

    Args:
        low: Lowest value.
        high: Highest value.
        unit: Unit behind a value, such as ` °C`, or nothing.
        reason: Why there is no value beyond.
    """

    low: float
    high: float
    unit: str
    reason: str

    def __str__(self) -> str:
        """Return the bounds as the errors and the runbooks have them."""
        return f"{self.low:,.12g} to {self.high:,.12g}{self.unit}"


SHARE = Bounds(0, 1, "", "it is compared with a share")
MULTIPLE = Bounds(1, 100, "", "it is compared with a multiple of the usual value")
CELSIUS = Bounds(30, 120, " °C", "GPUs are warmer at work, and shut down below 120 °C")
NUMBER = Bounds(0, 1e9, "", "it is compared with a number of things")
SAMPLES = Bounds(0, 20, " samples", "dcgm-exporter has ten or twenty samples in five minutes")
PER_SECOND = Bounds(0, 1e9, " per second", "it is compared with a rate")


def seconds(low: float, high: float, reason: str) -> Bounds:
    """Return bounds in seconds."""
    return Bounds(low, high, " seconds", reason)


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
        threshold: The number of `expr` that `Tuning.thresholds` may replace. It is in it once. By default, none.
        bounds: Values that the threshold may have.
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
    threshold: float | None = None
    bounds: Bounds | None = None

    def __post_init__(self) -> None:
        """Validate that the threshold is in the expression once, and has bounds."""
        if (self.threshold is None) != (self.bounds is None):
            raise Refusal(self.name, "give both of threshold and bounds, or neither")
        if self.threshold is not None and len(_number(self.threshold).findall(self.expr)) != 1:
            raise Refusal(self.name, f"expr must have the threshold {self.threshold:g} once")

    def with_threshold(self, value: float) -> "Alert":
        """Return the alert with another threshold."""
        assert self.threshold is not None
        expr = _number(self.threshold).sub(lambda match: f"{match[1]} {value:.12g}", self.expr)
        # Not `replace`, which validates again: another comparison of the rule may have the same number.
        alert = copy(self)
        object.__setattr__(alert, "expr", expr)
        object.__setattr__(alert, "threshold", value)
        return alert

    def never(self, value: float) -> str | None:
        """Return the comparison with a threshold that is the bound which no value passes, or None."""
        assert self.threshold is not None
        assert self.bounds is not None
        [comparison] = _number(self.threshold).findall(self.expr)
        last = self.bounds.high if comparison == ">" else self.bounds.low
        return f"{comparison} {value:.12g}" if value == last else None

    @property
    def per_node(self) -> bool:
        """True if each series is about one node.

        It is then recorded as `ultracluster_node_problem` too.
        """
        return "$labels.instance" in self.summary

    @property
    def profile(self) -> Profile:
        """Smallest profile that has the metrics of `expr`."""
        return max((METRICS[name].profile for name in reads(self.expr) & METRICS.keys()), default=Profile.BASIC)

    @property
    def per_job(self) -> bool:
        """True if each series is about one job."""
        return "$labels.job_id" in self.summary and not self.per_node

    @property
    def of_one_cause(self) -> bool:
        """True if another critical alert of the node may have been sent for the same cause."""
        return self.name in OF_ONE_CAUSE[1:] and self.severity is Severity.CRITICAL

    @property
    def promql(self) -> str:
        """Expression of the alerting rule."""
        if not self.per_node and not self.per_job:
            return self.expr
        problem = f'{PROBLEM if self.per_node else JOB_PROBLEM}{{problem="{self.name}"}}'
        # Of equal values, `topk` keeps the first: the same nodes have their alert from one evaluation to the next.
        most = self._most
        if not self.of_one_cause:
            return f"{problem} and topk by (cluster) ({most}, {problem} * 0) or count by (cluster) ({problem}) > {most}"
        on = "on (cluster, instance, check, xid)"
        cause = f'{PROBLEM_CAUSE}{{problem="{self.name}"}}'
        sent = f"{problem} unless {on} {cause}"
        return (
            f"({problem} * {on} group_left (cause) {cause} or {on} {problem}) and ignoring (cause) topk by (cluster) "
            f"({most}, ({sent}) * 0 + 1 or {problem} * 0) or count by (cluster) ({sent}) > {most}"
        )

    @property
    def message(self) -> str:
        """Summary for one node or job, or for many of them together."""
        if not self.per_node and not self.per_job:
            return self.summary
        label, many = ("instance", "nodes") if self.per_node else ("job_id", "jobs")
        # Operators identify a node by its name in Slurm or Kubernetes.
        summary = self.summary.replace("{{ $labels.instance }}", _INSTANCE)
        if self.per_job:
            summary = summary.replace("job {{ $labels.job_id }}", _OWNER)
        return (
            f"{{{{ if $labels.{label} }}}}{summary}{{{{ else }}}}{self.name}: {{{{ $value }}}} {many}, of which "
            f"{self._most} have an alert each{{{{ end }}}}"
        )

    @property
    def _most(self) -> int:
        if self.severity is Severity.INFO:
            return MOST_SHOWN
        return MOST_NODES if self.per_node else MOST_JOBS

    @property
    def nodes(self) -> str:
        """Names of the nodes, in the alert for many of them together: a Go template, empty in the others."""
        if not self.per_node:
            return ""
        problem = f"{PROBLEM}{{problem='{self.name}',cluster=%q}}"
        return (
            f"{{{{ if not $labels.instance }}}}{{{{ range query (printf `topk({_NAMES},count by (node,instance) "
            f"({problem}))` $labels.cluster) | sortByLabel `node` }}}}{{{{ or .Labels.node .Labels.instance }}}} "
            "{{ end }}{{ end }}"
        )

    @property
    def jobs(self) -> str:
        """Jobs of the node, in a critical alert that names none: a Go template.

        Not a label: on a node that jobs share, it would be another alert, and another message, with each of them.
        """
        if not self.per_node or self.severity is not Severity.CRITICAL or "$labels.job_id" in self.summary:
            return ""
        info = "node_job:ultracluster_gpu_job_info:max{cluster=%q,instance=%q}"
        return (
            f"{{{{ range query (printf `{info}` $labels.cluster $labels.instance) | sortByLabel `job_id` }}}}"
            "{{ .Labels.job_id }} {{ end }}"
        )

    @property
    def dashboard(self) -> str:
        """Path of the dashboard to look at, below the address of Grafana: a Go template."""
        if self.per_node:
            return "/d/ultracluster-node?var-cluster={{ $labels.cluster }}&var-node={{ $labels.instance }}"
        if self.per_job:
            return "/d/ultracluster-job?var-cluster={{ $labels.cluster }}&var-job={{ $labels.job_id }}"
        board = "inference" if "$labels.model_name" in self.summary else "fleet"
        return f"/d/ultracluster-{board}?var-cluster={{{{ $labels.cluster }}}}"

    @property
    def runbook(self) -> str:
        """Runbook as Markdown."""
        diagnosis = "\n".join(f"- {line}" for line in self.diagnosis)
        actions = "\n".join(f"{number}. {line}" for number, line in enumerate(self.actions, 1))
        wait = "at once" if self.for_ == "0m" else f"after {self.for_}"
        tunable = (
            ""
            if self.threshold is None
            else "\n\nIn the cluster file: "
            f"`observability: {{alerts: {{thresholds: {{{self.name}: {self.threshold:.12g}}}}}}}`, from {self.bounds}."
        )
        return (
            f"# {self.name}\n\n{self.severity.value.capitalize()}, {wait}.\n\n## Meaning\n\n{self.description}\n\n"
            f"## Diagnosis\n\n{diagnosis}\n\n## Actions\n\n{actions}\n\n## Threshold\n\n{self.rationale}{tunable}\n\n"
            f"```promql\n{self.expr}\n```\n"
        )
