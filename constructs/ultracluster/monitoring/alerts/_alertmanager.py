"""Alertmanager configuration: routes, grouping and inhibition."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ultracluster.catalogue.ec2 import partition_problem
from ultracluster.monitoring.alerts._alert import OF_ONE_CAUSE
from ultracluster.monitoring.alerts._strings import regex_problem
from ultracluster.monitoring.collectors import block_yaml
from ultracluster.rules import Refusal, error

#: Rule of topics in another region; `AlertTopic` has it, too.
TOPIC_REGION = error("alerts-topic-region", "Alarms and alert managers notify a topic of their own Region.")
_RECEIVER = error("alerts-receiver", "Warnings and critical alerts must have a receiver.")
#: A receiver's settings, as Alertmanager names them: `{"sns_configs": [...]}`.
Receiver = Mapping[str, Any]

_ROUTE = error("alerts-route", "Alertmanager must be able to read the matchers of a route.")
_MATCHER = re.compile(r'[a-zA-Z_]\w{0,63} ?(=|!=|=~|!~) ?"(?:[^"\\\n]|\\["\\n]){1,200}"', re.ASCII)

# CDK's token of a value that is known at deployment only.
_TOKEN = "${Token["
_SUBJECT = (
    "{{ .Status | toUpper }} {{ .CommonLabels.alertname }} {{ .CommonLabels.cluster }}"
    "{{ if gt (len .Alerts) 1 }} ({{ len .Alerts }}){{ end }}"
)
# An incident is about one node, job or file system: the summary of its first alert is its title.
_FIRST = "{{ range $number, $alert := .Alerts }}{{ if eq $number 0 }}{{ $alert.Annotations.NAME }}{{ end }}{{ end }}"
_INCIDENT = f"{{{{ .CommonLabels.alertname }}}} {{{{ .CommonLabels.cluster }}}}: {_FIRST.replace('NAME', 'summary')}"
# `alerts.grafana` is not set: nothing answers there until the reader forwards the port.
_OPEN = (
    '{{ if match "^http://localhost" (index .Alerts 0).Annotations.runbook_url }}\nTo open the links, read the output '
    "Dashboards of the stack {{ .CommonLabels.cluster }}-Observability: a command, or the address of Grafana.{{ end }}"
)
_LINKS = {name: _FIRST.replace("NAME", f"{name}_url") for name in ("dashboard", "runbook")}
_LINKS["runbook"] += _OPEN
_MESSAGE = (
    "{{ range .Alerts }}{{ .Status }}: {{ .Annotations.summary }}\n"
    "{{ if .Annotations.nodes }}{{ .Annotations.nodes }}\n{{ end }}"
    "{{ if .Annotations.jobs }}jobs: {{ .Annotations.jobs }}\n{{ end }}since {{ .StartsAt }}\n"
    "{{ .Annotations.runbook_url }}\n{{ .Annotations.dashboard_url }}\n\n{{ end }}" + _OPEN
)
_NODE, _JOB = ["cluster", "instance"], ["cluster", "job_id"]
#: Services that open an incident for each group of alerts, and the labels of a group.
_INCIDENTS = ("opsgenie_configs", "pagerduty_configs", "victorops_configs")
_OF_AN_INCIDENT = ["alertname", "cluster", "filesystem", "group", "instance", "job_id", "path"]
# A rack is one failure: its nodes are lost to a job, which waits for the first already.
_OF_A_JOB = [{"matchers": ['alertname="NodeLost"'], "group_by": ["alertname", "cluster", "job_id"]}]
#: Critical alerts that one cause fires on a job, in the order in which they fire: the first of them is sent. Those of a
#: node have a label: `PROBLEM_CAUSE`.
ORDER_OF_A_JOB = ("NcclRanksMissing", "JobHung", "JobStepStalled", "CheckpointStale")
_SENT = 'severity="critical"', 'cause=""'
_Inhibition = tuple[Sequence[str], Sequence[str], Sequence[str]]


def _inhibits(source: str, targets: str, equal: Sequence[str]) -> _Inhibition:
    """Return a rule, of sources about one node or job: that for many, or one not sent, inhibits nothing."""
    of_one = f'{equal[-1]}=~".+"'
    return [f'alertname=~"{source}"', 'severity!="info"', of_one], [f'alertname=~"{targets}"', of_one], equal


def _in_order(order: Sequence[str], equal: Sequence[str]) -> Iterator[_Inhibition]:
    """Yield rules by which each alert inhibits those after it. Two that inhibit each other would both be silent.

    A source to which the tuning gave another severity may be sent to nobody, and inhibits nothing. The alert for many
    inhibits that of the same many: `equal` is empty in both.
    """
    for place, name in enumerate(order[:-1], 1):
        yield [*_SENT, f'alertname="{name}"'], [f'alertname=~"{"|".join(order[place:])}"'], equal


# Source, target, equal labels.
_INHIBITIONS = (
    *_in_order(ORDER_OF_A_JOB, _JOB),
    ([*_SENT, 'alertname="NodeLost"', 'instance=~".+"'], ['severity!="critical"', 'instance=~".+"'], _NODE),
    _inhibits("GpuXidFatal", "GpuXidWatch|GpuEccCorrectedStorm|NvlinkErrors|PcieReplays|ExporterDown", _NODE),
    _inhibits("GpuXidReset|GpuRecoveryRequired", "GpuXidWatch|NvlinkErrors", _NODE),
    _inhibits("GpuMetricImplausible", "GpuMissing|GpuTemperatureHigh|GpuThermalThrottle|StragglerClock", _NODE),
    # Where DCGM sees no GPU at all, both fire, and the critical one is sent.
    ([*_SENT, 'alertname="GpuMissing"'], ['alertname="GpuMetricsUnrecognised"'], _NODE),
    _inhibits("EfaDeviceMissing", "EfaPathTrouble|EfaRetransmits", _NODE),
    _inhibits("GpuHardwareSlowdown", "StragglerClock|StragglerNccl|GpuThermalThrottle", _NODE),
    _inhibits("JobHung", "JobIdleGpus|JobSlow", _JOB),
    _inhibits("StragglerClock|StragglerEfa|StragglerNccl", "JobSlow", _JOB),
    ([*_SENT, 'alertname="FileSystemUnavailable"'], ['alertname="MountSlow"'], ["cluster", "path"]),
    (['alertname="NoNodes"'], ['alertname=~"NodesMissing|SlurmNodesDown|KubernetesNodeNotReady"'], ["cluster"]),
)  # fmt: skip


def sns(topic_arn: str, region: str) -> Receiver:
    """Return a receiver for an SNS topic. Its policy must allow `aps.amazonaws.com` to publish.

    Args:
        topic_arn: ARN of the topic, or a CDK token.
        region: Region of the topic.

    Raises:
        Refusal: If `topic_arn` is not the ARN of a topic in `region`.

    See: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-alertmanager-receiver-config.html (read 2026-11-21)
    """
    _check(topic_arn, "sns", "a topic")
    if topic_arn.startswith("arn:") and _TOKEN not in topic_arn + region and topic_arn.split(":")[3] != region:
        raise Refusal("", TOPIC_REGION(f"the topic {topic_arn} is not in {region}"))
    return {
        "sns_configs": [
            {
                "topic_arn": topic_arn,
                "sigv4": {"region": region},
                "send_resolved": True,
                "subject": _SUBJECT,
                "message": _MESSAGE,
            }
        ]
    }


def pagerduty(secret_arn: str, secret_key: str = "routing_key") -> Receiver:
    """Return a receiver for PagerDuty. AMP reads the routing key from a secret, which Alertmanager itself cannot.

    Args:
        secret_arn: ARN of the secret, or a CDK token. Its policy must allow `aps.amazonaws.com` to read it, and the
            policy of its customer managed KMS key must allow `kms:Decrypt`.
        secret_key: Key in the secret.

    Raises:
        Refusal: If `secret_arn` is not the ARN of a secret, or the key is empty.

    See: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-alertmanager-pagerduty-configure-alertmanager.html
    (read 2026-11-21)
    """
    _check(secret_arn, "secretsmanager", "a secret")
    if not secret_key.strip():
        raise Refusal("", "secret_key must name the key under which the secret has the routing key")
    key = {"aws_secrets_manager": {"secret_arn": secret_arn, "secret_key": secret_key}}
    settings = {"routing_key": key, "description": _INCIDENT, "details": _LINKS, "send_resolved": True}
    return {"pagerduty_configs": [settings]}


def _check(arn: str, service: str, what: str) -> None:
    if _TOKEN in arn:
        return
    parts = arn.split(":")
    if len(parts) < 6 or parts[0] != "arn" or parts[2] != service or not all(parts[3:6]):
        raise Refusal("", f"must be the ARN of {what}, arn:aws:{service}:REGION:ACCOUNT:..., got {arn[:120]!r}")
    if problem := partition_problem(arn):
        raise Refusal("", f"{arn} {problem}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Route:
    """Receiver of the alerts that match, before those of their severity.

    Args:
        matchers: Matchers of Alertmanager, such as `team="nlp"`; all must match.
        receiver: Receiver, as `sns` and `pagerduty` return it; `{}` is nobody.
        continue_: Also notify the receiver of the severity.

    Raises:
        Refusal: If there is no matcher, or one is not valid.
    """

    matchers: tuple[str, ...]
    receiver: Receiver
    continue_: bool = False

    def __post_init__(self) -> None:
        """Validate the matchers."""
        problems = [text for matcher in self.matchers if (text := route_problem(matcher))]
        if problems or not self.matchers:
            raise Refusal("", [_ROUTE(text) for text in problems or ["a route needs a matcher"]])


def alertmanager(
    *,
    warning: Receiver,
    critical: Receiver | None = None,
    watchdog: Receiver | None = None,
    routes: Sequence[Route] = (),
) -> str:
    """Return the configuration, as Alertmanager reads it.

    Args:
        warning: Receiver of warnings.
        critical: Receiver of critical alerts. By default, that of warnings.
        watchdog: Receiver of the alert that always fires, every five minutes, and that must alert when it stops. By
            default nobody, and then a broken alert pipeline goes unnoticed.
        routes: Receivers of other alerts, in this order. By default, the severity selects the receiver.

    Raises:
        Refusal: If a receiver has no target.
    """
    critical = critical or warning
    for name, receiver in (("warning", warning), ("critical", critical)):
        if not any(receiver.values()):
            text = f"the route for {name} alerts has no target; give it an SNS topic or PagerDuty"
            raise Refusal("", _RECEIVER(text))
    # Two evaluations: an alert that inhibits another may fire half a minute after it.
    soon = {"group_wait": "1m", "group_interval": "1m", "repeat_interval": "4h"}
    receivers = [
        # Sent at the first minute that is more than the interval after the last one was sent: the fifth.
        _Receivers("watchdog", watchdog or {}, ['alertname="Watchdog"'],
                   {"group_wait": "0s", "group_interval": "1m", "repeat_interval": "270s"}),
        # Alerts of a team may have a label of this name.
        _Receivers("nobody", {}, ['cause=~".+"', f'alertname=~"{"|".join(OF_ONE_CAUSE)}"']),
        *(
            _Receivers(f"route-{number}", route.receiver, route.matchers, {"continue": route.continue_})
            for number, route in enumerate(routes, 1)
        ),
        _Receivers("nobody", {}, ['severity="info"']),
        _Receivers("critical", critical, ['severity="critical"'], soon),
        _Receivers("warning", warning),
    ]  # fmt: skip
    return block_yaml(
        {
            "route": {
                "receiver": "nobody",
                "group_by": ["alertname", "cluster"],
                "group_wait": "30s",
                "group_interval": "5m",
                "repeat_interval": "12h",
                "routes": [route for item in receivers for route in item.routes()],
            },
            "inhibit_rules": [
                {"source_matchers": source, "target_matchers": target, "equal": equal}
                for source, target, equal in _INHIBITIONS
            ],
            "receivers": [
                {"name": name} | configurations
                for name, configurations in {name: to for item in receivers for name, to in item.named.items()}.items()
            ],
        }
    )


@dataclass(frozen=True, slots=True)
class _Receivers:
    """Receiver of the alerts that match, and how they are grouped.

    Alertmanager opens one incident for each group, and adds later alerts of the group to it without a notification
    (https://github.com/prometheus/alertmanager/issues/1587, read 2026-11-26). So an incident is about one node, job or
    file system. Messages are about all that fire the alert.
    """

    name: str
    receiver: Receiver
    matchers: Sequence[str] = ()
    timing: Mapping[str, Any] = field(default_factory=dict)

    @property
    def named(self) -> dict[str, dict[str, Any]]:
        """Return Alertmanager's receivers by name, that of incidents first."""
        incidents = {kind: to for kind, to in self.receiver.items() if kind in _INCIDENTS}
        others = {kind: to for kind, to in self.receiver.items() if kind not in _INCIDENTS}
        first = {f"{self.name}-incidents": incidents} if incidents else {}
        return {**first, **({self.name: others} if others or not incidents else {})}

    def routes(self) -> Iterator[dict[str, Any]]:
        """Yield its routes: one that is not the last continues."""
        *before, last = self.named
        for name in (*before, last):
            grouped = {"group_by": _OF_AN_INCIDENT, "routes": _OF_A_JOB} if name.endswith("-incidents") else {}
            matchers = {"matchers": list(self.matchers)} if self.matchers else {}
            yield {
                **matchers,
                "receiver": name,
                **grouped,
                **self.timing,
                **({} if name == last else {"continue": True}),
            }


def route_problem(matcher: str) -> str | None:
    """Return the error of a matcher of Alertmanager, or None."""
    if _MATCHER.fullmatch(matcher) is None:
        return f'a matcher must be LABEL="VALUE", or with !=, =~ or !~, got {matcher[:120]!r}'
    problem = regex_problem(matcher[matcher.index('"') :]) if "~" in matcher.partition('"')[0] else None
    return f"the matcher {matcher[:120]}: {problem}" if problem else None


def amp_definition(configuration: str) -> str:
    """Wrap the configuration for AMP; `amtool` reads it without the wrapper."""
    return "alertmanager_config: |\n" + "".join(f"  {line}\n" for line in configuration.splitlines())
