"""Runbooks of the alerts, which the alerts link to."""

from ultracluster.monitoring.alerts import ALERTS
from ultracluster.monitoring.alerts import RUNBOOKS as UID
from ultracluster.monitoring.dashboards._spec import Dashboard, text

RUNBOOKS = Dashboard(
    uid=UID,
    title="Runbooks",
    about="What does an alert mean, and what is to be done?",
    variables=(),
    rows={
        "Alerts": tuple(
            text(alert.name, "", markdown=alert.runbook.partition("\n\n")[2], width=12, height=16)
            for alert in ALERTS.values()
        )
    },
)
