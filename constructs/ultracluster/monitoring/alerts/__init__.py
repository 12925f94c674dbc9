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
from ultracluster.monitoring.alerts._tuning import Tuning, tuning_problems

__all__ = [
    "ALERTS",
    "RUNBOOKS",
    "TOPIC_REGION",
    "Receiver",
    "Tuning",
    "alertmanager",
    "amp_definition",
    "pagerduty",
    "rules",
    "sns",
    "tuning_problems",
]
