"""Legend of a panel with series."""

import re
from typing import Any

from ultracluster.monitoring.dashboards._spec import FsxQuery, LogsQuery, Panel, Query


def legend(panel: Panel) -> dict[str, Any]:
    """Return Grafana's options of the legend of a time series or a state timeline.

    Of the highest or lowest few, it is a table with their last values, the highest or lowest first: Grafana scrolls
    what takes more than 35 % of a panel (VizLayout.tsx of grafana/grafana, read 2026-11-27).
    """
    # A row of a timeline has its name at its left.
    result = {"calcs": [], "displayMode": "list", "placement": "bottom", "showLegend": panel.kind == "timeseries"}
    ends = [end for query in panel.queries for end in _ends(query)]
    if not ends or panel.kind != "timeseries":
        return result
    # VizLegendTable.tsx compares with the title of the calculation, which is "Last *" for `lastNotNull`.
    return {**result, "calcs": ["lastNotNull"], "displayMode": "table", "sortBy": "Last *", "sortDesc": "top" in ends}


def _ends(query: Query | FsxQuery | LogsQuery) -> list[str]:
    """Return the ends that a query draws the first few of: `top`, `bottom`, both, or none."""
    if isinstance(query, Query):
        return re.findall(r"\b(top|bottom)k\(\d", query.expr)
    return ["top"] if isinstance(query, FsxQuery) and query.worst_of else []
