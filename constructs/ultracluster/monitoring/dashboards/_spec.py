"""Dashboards as data, independent of Grafana's JSON."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Literal

Kind = Literal["stat", "timeseries", "table", "state-timeline", "logs", "text"]


@dataclass(frozen=True, slots=True)
class Query:
    """A PromQL expression.

    Args:
        expr: Expression. Grafana replaces `$cluster`, `$job`, `$node` and `$__rate_interval`.
        legend: Name of a series, such as `{{instance}}`.
    """

    expr: str
    legend: str = ""


@dataclass(frozen=True, slots=True)
class FsxQuery:
    """A metric of a file system in CloudWatch.

    Args:
        metric: Name in the namespace AWS/FSx.
        worst_of: Dimension whose ten highest are drawn, such as `FileServer`. Default: the file system as a whole.
        per_second: It is a sum, and shown for a second. Default: the highest value.
        dimensions: Further dimensions of the metric, with their values.
        legend: Name of the series.
    """

    metric: str
    worst_of: str | None = None
    per_second: bool = False
    dimensions: tuple[tuple[str, str], ...] = ()
    legend: str = ""


@dataclass(frozen=True, slots=True)
class LogsQuery:
    """A query of CloudWatch Logs Insights over the log group that the reader selected.

    Args:
        expression: Query. Grafana replaces `$node`, `$job` and `$search`.
    """

    expression: str


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel; `stat`, `series`, `table`, `timeline`, `log` and `text` create one.

    Args:
        title: Title, a few words.
        why: Meaning and response, shown behind the (i).
        queries: Queries. A table joins them on their labels.
        kind: Type of the panel.
        unit: Grafana's id of the unit: `percentunit`, `celsius`, `watt`, `binBps`, `s`, `short`, ...
        steps: Color from a value on, ascending; the first has None. Default: no threshold.
        words: Name and color of a value: for states.
        colors: Colors of series, by legend, where one is better than another. Default: the palette's, in turn.
        to: Dashboard that a row or series leads to, by its uid, and the label that it hands on.
        width: Of 24 columns.
        height: In rows of Grafana's grid.
        columns: Of a table: label or value name -> heading; everything else is hidden.
        matrix: Of a table: the labels of its rows and of its columns, coloured by value.
        least: Lowest value of the axis. Default: Grafana's choice.
        most: Highest value of the axis. Default: Grafana's choice.
        markdown: Content of a text, instead of queries.
    """

    title: str
    why: str
    queries: tuple[Query | FsxQuery | LogsQuery, ...]
    _: KW_ONLY
    kind: Kind
    unit: str = "short"
    steps: tuple[tuple[float | None, str], ...] = ()
    words: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    colours: Mapping[str, str] = field(default_factory=dict)
    to: tuple[str, str] | None = None
    width: int = 8
    height: int = 8
    columns: Mapping[str, str] = field(default_factory=dict)
    matrix: tuple[str, str] | None = None
    least: float | None = None
    most: float | None = None
    markdown: str = ""


#: Create a panel with one value of each series.
stat = partial(Panel, kind="stat", height=4)
#: Create a panel with time series.
series = partial(Panel, kind="timeseries")
#: Create a table.
table = partial(Panel, kind="table")
#: Create a panel with states over time.
timeline = partial(Panel, kind="state-timeline")
#: Create a panel with a text.
text = partial(Panel, kind="text", queries=())
#: Create a panel with lines of logs.
log = partial(Panel, kind="logs")


@dataclass(frozen=True, kw_only=True, slots=True)
class Variable:
    """A variable of a dashboard: the values of a label of a metric, a log group, or a text that the reader types."""

    name: str
    title: str
    metric: str = ""
    label: str = ""
    #: Instead of a metric: PromQL of series with the label, and with the label `shown` that the reader selects by.
    shown: str = ""
    #: Instead of a metric: the text until the reader types another.
    text: str = ""
    #: Instead of a metric: the prefix of the log groups that the reader selects from.
    log_groups: str = ""
    #: True if several values can be selected; all are, by default.
    several: bool = False
    #: True if the last in natural order is the first to select, such as the newest job.
    newest_first: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Dashboard:
    """A dashboard.

    Args:
        uid: Uid in URLs. It must never change.
        title: Title.
        about: Question that it answers, one sentence.
        variables: Variables after that of the data source.
        rows: Panels of each row, by its title.
        source: `prometheus` for `Query`, `cloudwatch` for `FsxQuery` and `LogsQuery`.
    """

    uid: str
    title: str
    about: str
    variables: tuple[Variable, ...]
    rows: Mapping[str, tuple[Panel, ...]]
    source: Literal["prometheus", "cloudwatch"] = "prometheus"
