"""Grafana JSON of a dashboard.

The tests read it with Grafana's own model, grafana-foundation-sdk.
"""

import itertools
import json
import string
from collections.abc import Iterator, Mapping
from typing import Any

from ultracluster.monitoring.dashboards import _cloudwatch as cloudwatch
from ultracluster.monitoring.dashboards._legend import legend
from ultracluster.monitoring.dashboards._spec import Dashboard, FsxQuery, Kind, LogsQuery, Panel, Query, Variable

_Json = dict[str, Any]
# Fields of every variable.
_VARIABLE: Mapping[str, Any] = {
    "allowCustomValue": True, "auto": False, "auto_count": 30, "auto_min": "10s", "includeAll": False, "multi": False,
    "skipUrlSync": False,
}  # fmt: skip
# Fields of a variable whose values a query returns: read when the time range changes, in natural order. 8 is the
# reverse order: VariableSort of grafana/grafana (packages/grafana-schema, read 2026-11-27).
_QUERY_VARIABLE: Mapping[str, Any] = {**_VARIABLE, "type": "query", "refresh": 2, "sort": 7}
_COLUMNS = 24
# The data source is a variable, so one JSON serves every workspace.
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_TAG = "ultracluster"
_LINK = {"asDropdown": False, "icon": "", "includeVars": False, "keepTime": True, "placement": "inControlsMenu",
         "tags": [], "targetBlank": False, "tooltip": ""}  # fmt: skip
# No value would have the color of the first step, green; no data is not healthy.
_NO_DATA = {
    "type": "special",
    "options": {"match": "null+nan", "result": {"text": "No data", "color": "#4a4d55", "index": 0}},
}
_OPTIONS: Mapping[Kind, _Json] = {
    "stat": {
        "colorMode": "value", "graphMode": "none", "justifyMode": "auto", "orientation": "auto",
        "percentChangeColorMode": "standard", "reduceOptions": {"calcs": ["lastNotNull"]}, "showPercentChange": False,
        "textMode": "auto", "wideLayout": True,
    },
    "timeseries": {"tooltip": {"mode": "multi", "sort": "desc"}},
    "table": {
        "cellHeight": "sm", "footer": {"countRows": False, "reducer": [], "show": False}, "frameIndex": 0,
        "showHeader": True, "showTypeIcons": False,
    },
    "state-timeline": {
        "alignValue": "left", "mergeValues": True, "perPage": 64, "rowHeight": 0.9,
        "showValue": "never", "tooltip": {"mode": "single", "sort": "asc"},
    },
    "logs": {
        "dedupStrategy": "none", "enableLogDetails": True, "prettifyLogMessage": False, "showCommonLabels": False,
        "showLabels": False, "showLogContextToggle": False, "showTime": True, "sortOrder": "Descending",
        "wrapLogMessage": True,
    },
}  # fmt: skip
_DRAWN: tuple[Kind, ...] = ("timeseries", "state-timeline")
_CUSTOM: Mapping[Kind, _Json] = {
    "timeseries": {"fillOpacity": 8, "lineWidth": 1, "showPoints": "never"},
    "table": {"align": "auto", "inspect": False},
    "state-timeline": {"fillOpacity": 70, "lineWidth": 0},
}


# Of Kubernetes, whose logs have names of nodes, and of jobs without the namespace before the slash: values that the
# dashboard does not show.
_NAMES: Mapping[str, Mapping[str, str]] = {
    "node": {
        "query": 'label_values(ultracluster_node_name_info{cluster=~"$cluster", instance="$node"}, node)',
        "regex": "",
    },
    "job": {
        "query": 'label_values(job:ultracluster_gpus:count{cluster=~"$cluster", job_id="$job"}, job_id)',
        "regex": "/(?:.*\\/)?(.*)/",
    },
}


def build(dashboard: Dashboard, *, logs: str | None = None, by_name: bool = False) -> str:
    """Return the JSON of a dashboard.

    Args:
        dashboard: Dashboard.
        logs: Uid of the dashboard of the logs, which dashboards of a job or a node link to. Default: no link.
        by_name: True if the logs have the names of nodes and jobs in Kubernetes.
    """
    names = {variable.name for variable in dashboard.variables if not variable.several}
    in_links = [] if logs is None else sorted(_NAMES.keys() & names)
    panels: list[_Json] = []
    numbers, y = itertools.count(1), 0
    for title, row in dashboard.rows.items():
        panels.append(
            {"type": "row", "id": next(numbers), "title": title, "collapsed": False, "panels": []}
            | {"gridPos": {"x": 0, "y": y, "w": _COLUMNS, "h": 1}}
        )
        laid = places(row)
        panels += [
            {"id": next(numbers), "gridPos": {"x": x, "y": y + 1 + line, "w": panel.width, "h": panel.height}}
            | _panel(panel)
            for panel, x, line in laid
        ]
        y += 1 + max(line + panel.height for panel, _, line in laid)
    result = {
        "uid": dashboard.uid,
        "title": dashboard.title,
        "description": dashboard.about,
        "tags": [_TAG],
        "timezone": "browser",
        "time": {"from": "now-3h", "to": "now"},
        # Logs are billed by what a query searches.
        "refresh": "" if any(isinstance(query, LogsQuery) for query in _queries(dashboard)) else "1m",
        "graphTooltip": 1,
        "editable": True,
        "links": [
            {**_LINK, "title": "Dashboards", "type": "dashboards", "tags": [_TAG], "asDropdown": True}
            | {"includeVars": True},
            *(_logs_link(str(logs), name, f"{name}_name" if by_name else name) for name in in_links),
        ],
        "templating": {"list": [*_variables(dashboard), *map(_name_variable, in_links if by_name else ())]},
        "annotations": {},
        "fiscalYearStartMonth": 0,
        "schemaVersion": 42,
        "panels": panels,
    }
    return json.dumps(result, indent=1, sort_keys=True) + "\n"


def _queries(dashboard: Dashboard) -> Iterator[Query | FsxQuery | LogsQuery]:
    return (query for row in dashboard.rows.values() for panel in row for query in panel.queries)


def _logs_link(uid: str, name: str, variable: str) -> _Json:
    # Another cluster may have a job with the same number.
    url = f"/d/{uid}?var-cluster=${{cluster}}&var-{name}=${{{variable}}}"
    return {**_LINK, "title": f"Logs of the {name}", "type": "link", "url": url}


def _name_variable(name: str) -> _Json:
    query, regex = _NAMES[name]["query"], _NAMES[name]["regex"]
    return {
        **_QUERY_VARIABLE,
        "name": f"{name}_name",
        "hide": 2,
        "datasource": _SOURCE,
        "query": {"query": query, "refId": "variable"},
        "regex": regex,
    }


def places(panels: tuple[Panel, ...]) -> list[tuple[Panel, int, int]]:
    """Return each panel of a row with its column and line: side by side while there is room."""
    result, x, line, tallest = [], 0, 0, 0
    for panel in panels:
        if x + panel.width > _COLUMNS:
            x, line, tallest = 0, line + tallest, 0
        result.append((panel, x, line))
        x, tallest = x + panel.width, max(tallest, panel.height)
    return result


def _variables(dashboard: Dashboard) -> Iterator[_Json]:
    if dashboard.source == "cloudwatch":
        yield {**_VARIABLE, "type": "datasource", "name": "cloudwatch", "label": "CloudWatch", "query": "cloudwatch"}
        if any(isinstance(query, FsxQuery) for query in _queries(dashboard)):
            yield {**_QUERY_VARIABLE, **cloudwatch.FILE_SYSTEM}
    else:
        yield {**_VARIABLE, "type": "datasource", "name": "datasource", "label": "Prometheus", "query": "prometheus"}
    yield from map(_variable, dashboard.variables)


def _variable(variable: Variable) -> _Json:
    named = {"name": variable.name, "label": variable.title}
    if variable.text:
        current = {"selected": True, "text": variable.text, "value": variable.text}
        return {**_VARIABLE, **named, "type": "textbox", "query": variable.text, "current": current}
    if variable.log_groups:
        return {**_QUERY_VARIABLE, **named, **cloudwatch.log_group_variable(variable.log_groups)}
    # A choice narrows those after it: nodes of this cluster, not of every one.
    within = "" if variable.name == "cluster" else '{cluster=~"$cluster"}'
    query = f"label_values({variable.metric}{within}, {variable.label})"
    regex = {}
    if variable.shown:
        # Groups of these names: https://grafana.com/docs/grafana/latest/visualizations/dashboards/variables/add-template-variables/
        # (read 2026-11-26)
        query = f"query_result({variable.shown})"
        regex = {"regex": f'/{variable.label}="(?<value>[^"]+)|shown=" ?(?<text>[^"]+)/g'}
    several = {
        "multi": True, "includeAll": True, "allValue": ".*",
        "current": {"selected": True, "text": "All", "value": "$__all"},
    }  # fmt: skip
    return {
        **_QUERY_VARIABLE,
        **named,
        "datasource": _SOURCE,
        "query": {"query": query, "refId": "variable"},
        **regex,
        **({"sort": 8} if variable.newest_first else {}),
        **(several if variable.several else {}),
    }


def _panel(panel: Panel) -> _Json:
    if panel.kind == "text":
        options = {"mode": "markdown", "content": panel.markdown}
        return {"type": "text", "title": panel.title, "options": options, "repeatDirection": "h", "transparent": False}
    result: _Json = {
        "type": panel.kind,
        "title": panel.title,
        "description": panel.why,
        "datasource": _SOURCE if isinstance(panel.queries[0], Query) else cloudwatch.SOURCE,
        "fieldConfig": {"defaults": _defaults(panel), "overrides": [_colour(*pair) for pair in panel.colours.items()]},
        "options": {**_OPTIONS[panel.kind], **({"legend": legend(panel)} if panel.kind in _DRAWN else {})},
        "targets": [
            target
            for ref, query in zip(string.ascii_uppercase, panel.queries, strict=False)
            for target in _targets(query, panel, ref)
        ],
        "repeatDirection": "h",
        "transparent": False,
    }
    if panel.kind == "stat" and panel.steps:
        result["options"]["colorMode"] = "background"
    if panel.matrix is not None:
        rows, columns = panel.matrix
        grouped = {"rowField": rows, "columnField": columns, "valueField": "Value", "emptyValue": "null"}
        result["transformations"] = [{"id": "groupingToMatrix", "options": grouped}]
    elif panel.kind == "table":
        organize = {
            "includeByName": {name: True for name in panel.columns},
            "indexByName": {name: index for index, name in enumerate(panel.columns)},
            "renameByName": dict(panel.columns),
        }
        result["transformations"] = [{"id": "merge", "options": {}}, {"id": "organize", "options": organize}]
    return result


def _defaults(panel: Panel) -> _Json:
    result: _Json = {"unit": panel.unit}
    if panel.kind in _CUSTOM:
        result["custom"] = dict(_CUSTOM[panel.kind])
    if panel.matrix is not None:
        result["custom"] |= {"cellOptions": {"type": "color-background", "mode": "basic"}}
    if panel.least is not None:
        result["min"] = panel.least
    if panel.most is not None:
        result["max"] = panel.most
    if panel.steps:
        steps = [{"value": value, "color": colour} for value, colour in panel.steps]
        result["thresholds"] = {"mode": "absolute", "steps": steps}
        if panel.kind == "timeseries":
            result["custom"]["thresholdsStyle"] = {"mode": "dashed"}
    if panel.kind == "stat":
        result["mappings"] = [_NO_DATA]
    elif panel.words:
        words = {
            str(value): {"text": text, "color": colour, "index": index}
            for index, (value, (text, colour)) in enumerate(panel.words.items())
        }
        result["mappings"] = [{"type": "value", "options": words}]
    if panel.to is not None:
        result["links"] = [_link(panel, *panel.to)]
    return result


def _targets(query: Query | FsxQuery | LogsQuery, panel: Panel, ref: str) -> list[_Json]:
    if isinstance(query, FsxQuery):
        return cloudwatch.targets(query, ref)
    if isinstance(query, LogsQuery):
        return [cloudwatch.logs_target(query, ref)]
    instant = panel.kind in ("table", "stat")
    result: _Json = {"refId": ref, "datasource": _SOURCE, "expr": query.expr, "instant": instant, "range": not instant}
    if query.legend:
        result["legendFormat"] = query.legend
    if panel.kind == "table":
        result["format"] = "table"
    return [result]


def _colour(name: str, colour: str) -> _Json:
    value = {"mode": "fixed", "fixedColor": colour}
    return {"matcher": {"id": "byName", "options": name}, "properties": [{"id": "color", "value": value}]}


def _link(panel: Panel, uid: str, label: str) -> _Json:
    variable = {"job_id": "job", "instance": "node"}.get(label, label)
    what = "network node" if label.startswith("network_node") else variable
    # A row of a table has no labels: they are its columns, under their headings.
    value = f'__data.fields["{panel.columns[label]}"]' if panel.kind == "table" else f"__field.labels.{label}"
    url = f"/d/{uid}?${{datasource:queryparam}}&${{cluster:queryparam}}&var-{variable}=${{{value}}}"
    return {**_LINK, "title": f"Open {what}", "type": "link", "url": url}
