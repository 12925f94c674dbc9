"""Changes of the alerts of a cluster: which are off, and thresholds, severities and durations."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ultracluster.monitoring.alerts._alert import SHARE, Alert, Severity
from ultracluster.monitoring.alerts._all import ALERTS
from ultracluster.rules import Message, Refusal, error, nearest

ALERT_NAME = error("alert-name", "Only alerts of the library can be switched off or changed.")
ALERT_THRESHOLD = error(
    "alert-threshold", "Some alerts compare with no number or with a fact, and no value beyond its bounds occurs."
)
_VALUE = error("alert-value", "Prometheus and Alertmanager must be able to read what an alert is changed to.")
#: Prometheus' own form of a duration, in one unit.
DURATION = re.compile(r"[0-9]{1,7}[smhd]", re.ASCII)


@dataclass(frozen=True, kw_only=True, slots=True)
class Tuning:
    """Changes of the alerts of a cluster, by the name of the alert.

    Args:
        off: Alerts that are not created.
        severity: Severity, which selects the receiver: `critical`, `warning` or `info`.
        thresholds: Number that replaces `Alert.threshold`, in the unit of the expression.
        pending_period: How long the expression must hold before the alert fires, such as `20m`.

    Raises:
        Refusal: If an alert does not exist or has no threshold, or a severity or duration is not valid; all at once.
    """

    off: tuple[str, ...] = ()
    severity: Mapping[str, str] = field(default_factory=dict)
    thresholds: Mapping[str, float] = field(default_factory=dict)
    pending_period: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Validate names and values."""
        if problems := [message for _, _, message in tuning_problems(asdict(self))]:
            raise Refusal("", problems)

    def apply(self, alerts: Iterable[Alert]) -> list[Alert]:
        """Return the alerts that are on, changed."""
        return [self._changed(alert) for alert in alerts if alert.name not in self.off]

    def _changed(self, alert: Alert) -> Alert:
        changed = replace(
            alert,
            severity=Severity(self.severity.get(alert.name, alert.severity)),
            for_=self.pending_period.get(alert.name, alert.for_),
        )
        limit = self.thresholds.get(alert.name)
        return changed if limit is None else changed.with_threshold(limit)


def tuning_problems(changes: Mapping[str, Any]) -> Iterator[tuple[str, str, Message]]:
    """Yield the problems of the arguments of a `Tuning`, each with the argument and the name of the alert."""
    for key, named in changes.items():
        for name in named:
            if name not in ALERTS:
                near = nearest(name, ALERTS)
                hint = f"did you mean {near}?" if near else "docs/reference/alerts.md lists them"
                yield key, name, ALERT_NAME(f"there is no alert {name!r}; {hint}")
            elif problem := _problem(key, name, named):
                yield key, name, problem


def _problem(key: str, name: str, named: Mapping[str, Any]) -> Message | None:
    alert = ALERTS[name]
    bounds = alert.bounds
    if key == "thresholds" and bounds is None:
        return ALERT_THRESHOLD(f"{name} has no threshold to change; switch it off, or change its pending period")
    if key == "thresholds" and bounds:
        value = named[name]
        never = alert.never(value)
        # NaN is not within bounds either.
        if never or not bounds.low <= value <= bounds.high:
            share = bounds is SHARE and 1 < value <= 100
            hint = f"; write {value / 100:.12g} for {value:.12g} %" if share else ""
            hint = f"; `{never}` is never true" if never else hint
            return ALERT_THRESHOLD(f"the threshold of {name} must be {bounds}, got {value:.12g}: {bounds.reason}{hint}")
    if key == "severity" and named[name] not in set(Severity):
        return _VALUE(f"the severity of {name} must be one of {', '.join(Severity)}, got {named[name]!r}")
    if key == "pending_period" and not DURATION.fullmatch(named[name]):
        return _VALUE(f"the pending period of {name} must be a number and s, m, h or d, got {named[name]!r}")
    return None
