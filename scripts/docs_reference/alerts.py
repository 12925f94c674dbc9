"""Generate the reference of alerts and dashboards, and the runbooks."""

from pathlib import Path

from docs_reference.markdown import GENERATED, page, table
from ultracluster.monitoring.alerts import ALERTS
from ultracluster.monitoring.dashboards import CLOUDWATCH_DASHBOARDS, DASHBOARDS, Dashboard

_IMAGES = Path(__file__).parents[2] / "docs" / "images" / "dashboards"
_ALERTS = """Every alert, with its severity and its [runbook](../runbooks/README.md). `critical` and `warning` are sent,
`info` is for dashboards. [Monitoring](../guides/monitoring.md#send-alerts) covers routing and silences."""
_DASHBOARDS = """Every dashboard, with its question and its panels.
[Monitoring](../guides/monitoring.md#open-the-dashboards)
covers how to open them. Each panel explains in its (i) what to read and what to do. The pictures are
previews by a renderer of this project, not by Grafana; their data come from a synthetic cluster."""


def alerts_page() -> str:
    """Page with all alerts."""
    return page("Alerts", _ALERTS, _alert_table("../runbooks/"))


def runbook_pages() -> dict[str, str]:
    """Runbooks and their index, by path below docs."""
    index = f"# Runbooks\n\nA page for each alert, named after it.\n\n{_alert_table('')}\n"
    runbooks = {f"runbooks/{alert.name}.md": alert.runbook for alert in ALERTS.values()}
    return {"runbooks/README.md": f"{GENERATED}\n\n{index}", **runbooks}


def _alert_table(folder: str) -> str:
    rows = (
        (f"[{alert.name}]({folder}{alert.name}.md)", str(alert.severity), alert.description.split(". ")[0].rstrip("."))
        for alert in ALERTS.values()
    )
    return table(("alert", "severity", "meaning"), rows)


def dashboards_page() -> str:
    """Page with all dashboards, their rows and their pictures."""
    return page("Dashboards", _DASHBOARDS, *(_dashboard(one) for one in (*DASHBOARDS, *CLOUDWATCH_DASHBOARDS)))


def _dashboard(dashboard: Dashboard) -> str:
    rows = [(title, ", ".join(panel.title for panel in panels)) for title, panels in dashboard.rows.items()]
    return f"## {dashboard.title}\n\n{dashboard.about}\n\n{table(('row', 'panels'), rows)}{_picture(dashboard)}"


def _picture(dashboard: Dashboard) -> str:
    name = dashboard.uid.removeprefix("ultracluster-")
    return f"\n\n![{dashboard.title}](../images/dashboards/{name}.png)" if (_IMAGES / f"{name}.png").exists() else ""
