"""Alerts, recording rules and Alertmanager configuration."""

from ultracluster.monitoring.alerts._alertmanager import (
    TOPIC_REGION,
    Receiver,
    alertmanager,
    amp_definition,
    pagerduty,
    sns,
)
from ultracluster.monitoring.alerts._all import ALERTS
from ultracluster.monitoring.alerts._rules import RUNBOOKS, rules

__all__ = [
    "ALERTS",
    "RUNBOOKS",
    "TOPIC_REGION",
    "Receiver",
    "alertmanager",
    "amp_definition",
    "pagerduty",
    "rules",
    "sns",
]
