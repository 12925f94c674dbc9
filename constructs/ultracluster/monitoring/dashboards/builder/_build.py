"""Grafana JSON of a dashboard, written with Grafana's builders."""

import itertools
import json
import string
from collections.abc import Callable
from typing import Any

from grafana_foundation_sdk.builders import common, prometheus, stat, statetimeline, table, timeseries
from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import common as common_models
from grafana_foundation_sdk.models import dashboard as models
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from ultracluster.monitoring.dashboards.builder import _cloudwatch as cloudwatch
from ultracluster.monitoring.dashboards.builder._spec import Dashboard, FsxQuery, Panel, Query, Variable

# The data source is a variable, so one JSON serves every workspace.
_SOURCE = models.DataSourceRef(type_val="prometheus", uid="${datasource}")
_TAG = "ultracluster"
_GRAY = "#4a4d55"
_BUILDERS: dict[str, Callable[[], Any]] = {
    "stat": stat.Panel,
    "timeseries": timeseries.Panel,
    "table": table.Panel,
    "state-timeline": statetimeline.Panel,
}


def build(dashboard: Dashboard) -> str:
    """Return the JSON of a dashboard."""
    result = (
        builders.Dashboard(dashboard.title)
        .uid(dashboard.uid)
        .description(dashboard.about)
        .tags([_TAG])
        .timezone("browser")
        .time("now-3h", "now")
        .refresh("1m")
        .tooltip(models.DashboardCursorSync.CROSSHAIR)
        .editable()
        .link(
            builders.DashboardLink("Dashboards")
            .type(models.DashboardLinkType.DASHBOARDS)
            .tags([_TAG])
            .as_dropdown(True)
            .include_vars(True)
            .keep_time(True)
        )
    )
    for variable in _variables(dashboard):
        result = result.with_variable(variable)
    numbers = itertools.count(1)
    for title, panels in dashboard.rows.items():
        result = result.with_row(builders.Row(title).id(next(numbers)))
        for panel in panels:
            result = result.with_panel(_panel(panel).id(next(numbers)))
    text = json.dumps(result.build(), cls=JSONEncoder, sort_keys=True)
    return json.dumps(json.loads(text), indent=1, sort_keys=True) + "\n"


def _variables(dashboard: Dashboard) -> list[Any]:
    if dashboard.source == "cloudwatch":
        return cloudwatch.variables()
    chosen = builders.DatasourceVariable("datasource").label("Prometheus").type("prometheus")
    return [chosen, *map(_variable, dashboard.variables)]


def _variable(variable: Variable) -> builders.QueryVariable:
    # A choice narrows those after it: nodes of this cluster, not of every one.
    within = "" if variable.name == "cluster" else '{cluster=~"$cluster"}'
    result = (
        builders.QueryVariable(variable.name)
        .label(variable.title)
        .datasource(_SOURCE)
        .query({"query": f"label_values({variable.metric}{within}, {variable.label})", "refId": "variable"})
        .refresh(models.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(models.VariableSort.NATURAL_ASC)
        .multi(variable.several)
        .include_all(variable.several)
    )
    if variable.several:
        result = result.all_value(".*").current(models.VariableOption(selected=True, text="All", value="$__all"))
    return result


def _panel(panel: Panel) -> Any:
    result = (
        _BUILDERS[panel.kind]()
        .title(panel.title)
        .description(panel.why)
        .datasource(cloudwatch.SOURCE if isinstance(panel.queries[0], FsxQuery) else _SOURCE)
        .unit(panel.unit)
        .span(panel.width)
        .height(panel.height)
    )
    if panel.least is not None:
        result = result.min(panel.least)
    if panel.most is not None:
        result = result.max(panel.most)
    if panel.steps:
        steps = [models.Threshold(value=value, color=colour) for value, colour in panel.steps]
        result = result.thresholds(builders.ThresholdsConfig().mode(models.ThresholdsMode.ABSOLUTE).steps(steps))
    if panel.words:
        result = result.mappings([_words(panel)])
    for name, colour in panel.colours.items():
        fixed = {"mode": "fixed", "fixedColor": colour}
        result = result.override_by_name(name, [models.DynamicConfigValue(id_val="color", value=fixed)])
    if panel.to is not None:
        result = result.data_links([_link(panel, *panel.to)])
    for ref, query in zip(string.ascii_uppercase, panel.queries, strict=False):
        for target in cloudwatch.targets(query, ref) if isinstance(query, FsxQuery) else [_query(query, panel, ref)]:
            result = result.with_target(target)
    return _LOOKS[panel.kind](result, panel)


def _query(query: Query, panel: Panel, ref: str) -> prometheus.Dataquery:
    result = prometheus.Dataquery().expr(query.expr).ref_id(ref).datasource(_SOURCE)
    if query.legend:
        result = result.legend_format(query.legend)
    if panel.kind == "table":
        return result.instant().format(PromQueryFormat.TABLE)
    if panel.kind == "stat":
        return result.instant()
    return result.range()


def _words(panel: Panel) -> models.ValueMap:
    return models.ValueMap(
        options={
            str(value): models.ValueMappingResult(text=text, color=colour, index=index)
            for index, (value, (text, colour)) in enumerate(panel.words.items())
        }
    )


def _link(panel: Panel, uid: str, label: str) -> builders.DashboardLink:
    handed = {"job_id": "job", "instance": "node"}.get(label, label)
    # A row of a table has no labels: they are its columns, under their headings.
    value = f'__data.fields["{panel.columns[label]}"]' if panel.kind == "table" else f"__field.labels.{label}"
    url = f"/d/{uid}?${{datasource:queryparam}}&${{cluster:queryparam}}&var-{handed}=${{{value}}}"
    return builders.DashboardLink(f"Open {handed}").url(url).keep_time(True)


def _stat(result: Any, panel: Panel) -> Any:
    reduce = common.ReduceDataOptions().calcs(["lastNotNull"])
    mode = common_models.BigValueColorMode.BACKGROUND if panel.steps else common_models.BigValueColorMode.VALUE
    # No value would have the colour of the first step, green; no data is not healthy.
    nothing = models.ValueMappingResult(text="No data", color=_GRAY, index=0)
    options = models.DashboardSpecialValueMapOptions(match=models.SpecialValueMatch.NULL_AND_NAN, result=nothing)
    result = result.mappings([models.SpecialValueMap(options=options)])
    return result.reduce_options(reduce).color_mode(mode).graph_mode(common_models.BigValueGraphMode.NONE)


def _series(result: Any, panel: Panel) -> Any:
    result = result.fill_opacity(8).line_width(1).show_points(common_models.VisibilityMode.NEVER)
    result = result.tooltip(
        common.VizTooltipOptions().mode(common_models.TooltipDisplayMode.MULTI).sort(common_models.SortOrder.DESCENDING)
    )
    if panel.steps:
        lines = common.GraphThresholdsStyleConfig().mode(common_models.GraphThresholdsStyleMode.DASHED)
        result = result.thresholds_style(lines)
    return result


def _table(result: Any, panel: Panel) -> Any:
    columns = list(panel.columns)
    result = result.with_transformation(models.DataTransformerConfig(id_val="merge", options={}))
    return result.with_transformation(
        models.DataTransformerConfig(
            id_val="organize",
            options={
                "includeByName": {name: True for name in columns},
                "indexByName": {name: index for index, name in enumerate(columns)},
                "renameByName": dict(panel.columns),
            },
        )
    )


def _timeline(result: Any, panel: Panel) -> Any:
    never = common_models.VisibilityMode.NEVER
    return result.show_value(never).row_height(0.9).merge_values(True).per_page(64)


_LOOKS: dict[str, Callable[[Any, Panel], Any]] = {
    "stat": _stat,
    "timeseries": _series,
    "table": _table,
    "state-timeline": _timeline,
}
