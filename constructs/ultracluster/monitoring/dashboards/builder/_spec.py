"""Dashboards as data, independent of Grafana's JSON."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["stat", "timeseries", "table", "state-timeline"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    """One PromQL expression.

    Args:
        expr: The expression; `$cluster`, `$job`, `$node` and `$__rate_interval` are Grafana's to fill in.
        legend: How a series is named, such as `{{instance}}`.
    """

    expr: str
    legend: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class FsxQuery:
    """A metric of a file system in CloudWatch.

    Args:
        metric: Its name in the namespace AWS/FSx.
        worst_of: Dimension whose ten highest are drawn, such as `FileServer`. Default: the file system as a whole.
        per_second: It is a sum, and shown for a second. Default: the highest value.
        dimensions: Further dimensions that the metric has, with their values.
        legend: How it is named.
    """

    metric: str
    worst_of: str | None = None
    per_second: bool = False
    dimensions: tuple[tuple[str, str], ...] = ()
    legend: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Panel:
    """One panel.

    Args:
        title: What it shows, in a few words.
        why: What a person reads off it, and what to do then. Shown behind the (i).
        queries: What it draws. A table joins them on their labels.
        fsx: What it draws instead, of CloudWatch.
        unit: Grafana's id of the unit: `percentunit`, `celsius`, `watt`, `binBps`, `s`, `short`, ...
        steps: Colour from a value on, ascending; the first has None. Default: no threshold.
        words: What a value is called, with its colour: for states.
        colours: Colours of series, by legend, where one is better than another. Default: the palette's, in turn.
        to: Dashboard that a row or series leads to, by its uid, and the label that it hands on.
        width: Of 24 columns.
        height: In rows of Grafana's grid.
        columns: Of a table: label or value name -> heading; everything else is hidden.
    """

    kind: Kind
    title: str
    why: str
    queries: tuple[Query, ...] = ()
    fsx: tuple[FsxQuery, ...] = ()
    unit: str = "short"
    steps: tuple[tuple[float | None, str], ...] = ()
    words: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    colours: Mapping[str, str] = field(default_factory=dict)
    to: tuple[str, str] | None = None
    width: int = 8
    height: int = 8
    columns: Mapping[str, str] = field(default_factory=dict)
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """Panels under a heading."""

    title: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Variable:
    """A choice at the top of the dashboard: the values of a label of a metric."""

    name: str
    title: str
    metric: str
    label: str
    #: Whether several may be chosen, and all are at first.
    several: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Dashboard:
    """A dashboard.

    Args:
        uid: Its name in addresses; stays as it is for good.
        title: What a person calls it.
        about: One sentence on what question it answers.
        variables: The choices at its top, after the data source's.
        rows: What it shows.
        source: Where it asks: Prometheus with `Query`, CloudWatch with `FsxQuery`.
    """

    uid: str
    title: str
    about: str
    variables: tuple[Variable, ...]
    rows: tuple[Row, ...]
    source: Literal["prometheus", "cloudwatch"] = "prometheus"
