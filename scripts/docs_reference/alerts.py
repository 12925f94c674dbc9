"""Generate the reference of alerts and dashboards, and the runbooks."""

from pathlib import Path

from docs_reference.markdown import GENERATED, page, table
from ultracluster.catalogue.monitoring import XIDS, XidPolicy
from ultracluster.catalogue.monitoring._xid_generations import NVLINK5_HARMLESS, GpuGeneration, xid_policy
from ultracluster.monitoring.alerts import ALERTS
from ultracluster.monitoring.dashboards import CLOUDWATCH_DASHBOARDS, DASHBOARDS, Dashboard

_IMAGES = Path(__file__).parents[2] / "docs" / "images" / "dashboards"
_ALERTS = """Every alert, with its severity and its [runbook](../runbooks/README.md), which has the expression.
`critical` and `warning` are sent, `info` is for dashboards. `for`: how long the condition must hold, changed by
`pending-period`. Threshold: the number that `thresholds` changes; empty if a fact of the hardware or no number decides.
[Monitoring](../guides/monitoring.md#send-alerts) covers routing and silences."""
_GPUS = {
    GpuGeneration.AMPERE: "A100",
    GpuGeneration.HOPPER: "H100, H200",
    GpuGeneration.BLACKWELL: "B200, B300",
    GpuGeneration.GRACE_BLACKWELL: "GB200, GB300",
}
_HARMLESS = " and ".join(f"{code} with sub-code {sub}" for code, sub in NVLINK5_HARMLESS)
_XIDS = f"""What rules and node checks do with an error code of NVIDIA's driver. `fatal`: the node is restarted or
replaced. `reset`: it is drained until the GPU is reset. `watch`: a warning. `application`: the fault of a program. A
code that NVIDIA does not list for a generation is not in its column; should the driver report it all the same, it has
the policy of the others. [Sources](facts.md): NVIDIA's Xid catalogue (updated 2026-09-09, read 2026-11-25) and AWS's
health check.

XIDs 144 to 150 of Blackwell are watched by their number. [GpuRecoveryRequired](../runbooks/GpuRecoveryRequired.md) and
the node checks read more from the kernel log: the recovery action of XID 154, and else the sub-code. One that the
driver calls fatal needs a reset, except {_HARMLESS}: a peer or the host took the link down."""
_DASHBOARDS = """Every dashboard, with its question and its panels.
[Monitoring](../guides/monitoring.md#open-the-dashboards)
covers how to open them. Each panel explains in its (i) what to read and what to do. The pictures are
previews by a renderer of this project, not by Grafana; their data are three minutes of a synthetic cluster,
so that panels about days, or about faults that it does not have, are empty."""


def alerts_page() -> str:
    """Page with all alerts, and the policies for XIDs."""
    return page("Alerts", _ALERTS, _alert_table(), f"## XIDs by generation of GPUs\n\n{_XIDS}\n\n{_xids()}")


def _xids() -> str:
    rows = [(str(policy), *(_codes(policy, generation) for generation in GpuGeneration)) for policy in XidPolicy]
    return table(("policy", *(_GPUS[generation] for generation in GpuGeneration)), rows)


def _codes(policy: XidPolicy, generation: GpuGeneration) -> str:
    """Codes with the policy on the generation, ranges as such."""
    runs: list[list[int]] = []
    for code in XIDS:
        if xid_policy(code, generation) is policy:
            if runs and runs[-1][-1] == code - 1:
                runs[-1].append(code)
            else:
                runs.append([code])
    words = [
        str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" if len(run) > 2 else f"{run[0]}, {run[1]}"
        for run in runs
    ]
    return ", ".join(words)


def runbook_pages() -> dict[str, str]:
    """Runbooks and their index, by path below docs."""
    index = "# Runbooks\n\nEach alert has a page, named after it. [Alerts](../reference/alerts.md) lists them.\n"
    runbooks = {f"runbooks/{alert.name}.md": alert.runbook for alert in ALERTS.values()}
    return {"runbooks/README.md": f"{GENERATED}\n\n{index}", **runbooks}


def _alert_table() -> str:
    rows = (
        (
            f"[{alert.name}](../runbooks/{alert.name}.md)",
            str(alert.severity),
            alert.for_,
            "" if alert.threshold is None else f"{alert.threshold:,g}",
            alert.description.split(". ")[0].rstrip("."),
        )
        for alert in ALERTS.values()
    )
    return table(("alert", "severity", "for", "threshold", "meaning"), rows)


def dashboards_page() -> str:
    """Page with all dashboards, their rows and their pictures."""
    return page("Dashboards", _DASHBOARDS, *(_dashboard(one) for one in (*DASHBOARDS, *CLOUDWATCH_DASHBOARDS)))


def _dashboard(dashboard: Dashboard) -> str:
    rows = [(title, ", ".join(panel.title for panel in panels)) for title, panels in dashboard.rows.items()]
    return f"## {dashboard.title}\n\n{dashboard.about}\n\n{table(('row', 'panels'), rows)}{_picture(dashboard)}"


def _picture(dashboard: Dashboard) -> str:
    name = dashboard.uid.removeprefix("ultracluster-")
    return f"\n\n![{dashboard.title}](../images/dashboards/{name}.png)" if (_IMAGES / f"{name}.png").exists() else ""
