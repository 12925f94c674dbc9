"""Alerts, recording rules and Alertmanager configuration."""

from ultracluster.monitoring.alerts._alertmanager import (
    TOPIC_REGION,
    Receiver,
    Route,
    alertmanager,
    amp_definition,
    pagerduty,
    route_problem,
    sns,
)
from ultracluster.monitoring.alerts._all import ALERTS, RUNBOOKS
from ultracluster.monitoring.alerts._promql import promql_problem
from ultracluster.monitoring.alerts._rule_check import RULE_FILE, rule_problems, rules_quota_problems
from ultracluster.monitoring.alerts._rules import GRAFANA, rules
from ultracluster.monitoring.alerts._tuning import Tuning, tuning_problems

__all__ = [
    "ALERTS",
    "GRAFANA",
    "RULE_FILE",
    "RUNBOOKS",
    "TOPIC_REGION",
    "Receiver",
    "Route",
    "Tuning",
    "alertmanager",
    "amp_definition",
    "pagerduty",
    "promql_problem",
    "route_problem",
    "rule_problems",
    "rules",
    "rules_quota_problems",
    "sns",
    "tuning_problems",
]
