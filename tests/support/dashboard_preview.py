"""Draw a dashboard as a picture from a running Prometheus: a preview, not Grafana's own rendering.

`PYTHONPATH=tests python -m support.dashboard_preview URL FOLDER cluster=llama job=1 node=i-0` draws every dashboard
over the last minutes that Prometheus has. Places, colors, units and thresholds are the dashboard's; fonts are not.
"""

import json
import math
import re
import string
import sys
import time
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator
from PIL import Image

from support.dashboard_look import LINES, PALETTE, colour, name_of, natural, shown
from ultracluster.monitoring.dashboards import DASHBOARDS, Panel, Query
from ultracluster.monitoring.dashboards._build import places
from ultracluster.monitoring.dashboards._legend import legend
from ultracluster.monitoring.dashboards._spec import Dashboard

Series = dict[str, Any]
_DARK, _PANEL, _TEXT, _FAINT = "#111217", "#181b1f", "#ccccdc", "#6e7077"
_MINUTES = 15
_POINTS = 180
_ROWS = 24
_PIXELS, _COLOURS = 100, 256
# Of the legend below a panel: most names, columns that one of them takes, the inches of a line of them, and the part
# of the panel that Grafana gives a legend before it scrolls.
_NAMES, _COLUMNS, _LINE, _SHARE = 12, 4, 0.14, 0.35


class Preview:
    """A Prometheus, and the choices at the top of each dashboard.

    Args:
        url: Of Prometheus, such as `http://127.0.0.1:9090`.
        chosen: Variable -> value; `.*` for one that is not here.
        minutes: How far back series go.
    """

    def __init__(self, url: str, *, chosen: dict[str, str], minutes: float = _MINUTES) -> None:
        self._url = url
        self._chosen, self._now = chosen, chosen
        self._end = time.time()
        self._start = self._end - minutes * 60

    def draw(self, dashboard: Dashboard, path: Path) -> None:
        """Write the picture of a dashboard."""
        rows = [(title, places(panels)) for title, panels in dashboard.rows.items()]
        height = sum(1.2 + max(y + panel.height for panel, _, y in laid) for _, laid in rows) + 1.5
        figure = pyplot.figure(figsize=(16, height * 0.42), facecolor=_DARK, dpi=_PIXELS)
        # Where several may be chosen, all are, as when a person opens it.
        self._now = {item.name: item.text or self._chosen[item.name] for item in dashboard.variables
                     if (item.text or item.name in self._chosen) and not item.several}  # fmt: skip
        chosen = "   ".join(f"{name}: {value}" for name, value in self._now.items())
        figure.text(0.008, 1 - 0.6 / height, dashboard.title, color=_TEXT, size=15, weight="bold", va="center")
        figure.text(0.992, 1 - 0.6 / height, chosen, color=_FAINT, size=9, va="center", ha="right")
        top = 1.5
        for title, laid in rows:
            figure.text(0.008, 1 - (top + 0.3) / height, title, color=_TEXT, size=11, va="center")
            for panel, x, y in laid:
                box = (
                    x / 24 + 0.004,
                    1 - (top + 1 + y + panel.height - 0.15) / height,
                    panel.width / 24 - 0.008,
                    (panel.height - 0.3) / height,
                )
                self._panel(figure, box, panel)
            top += 1.2 + max(y + panel.height for panel, _, y in laid)
        figure.savefig(path, facecolor=_DARK)
        pyplot.close(figure)
        with Image.open(path) as picture:
            smaller(picture.convert("RGB")).save(path, optimize=True)

    def _panel(self, figure: Any, box: tuple[float, float, float, float], panel: Panel) -> None:
        frame = figure.add_axes(box, facecolor=_PANEL)
        frame.set(xticks=[], yticks=[])
        for spine in frame.spines.values():
            spine.set_color("#2c3235")
        inches = box[3] * figure.get_figheight()
        frame.text(0.012 * 24 / panel.width, 1 - 0.16 / inches, panel.title, color=_TEXT, size=9, va="center",
                   transform=frame.transAxes)  # fmt: skip
        if panel.kind == "stat":
            self._stat(frame, panel)
        elif panel.matrix is not None:
            self._matrix(frame, panel, inches)
        elif panel.kind == "table":
            self._table(frame, panel, inches)
        else:
            states = panel.kind == "state-timeline"
            x, y, width, height = box
            top, bottom = 0.3 / figure.get_figheight(), 0.28 / figure.get_figheight()
            left = 0.21 if states else 0.035
            axes = figure.add_axes(
                (x + left, y + bottom, width - left - 0.014, height - top - bottom), facecolor=_PANEL
            )
            draw = self._timeline if states else self._lines
            draw(axes, panel)

    def _stat(self, frame: Axes, panel: Panel) -> None:
        result = [float(item["value"][1]) for item in self._instant(panel)]
        value = result[0] if result else None
        if value is not None and panel.steps:
            frame.set_facecolor(colour(value, panel.steps))
        text = "No data" if value is None else shown(value, panel.unit)
        frame.text(0.5, 0.4, text, color="white", size=19, ha="center", va="center", transform=frame.transAxes)

    def _table(self, frame: Axes, panel: Panel, inches: float) -> None:
        names = list(panel.columns)
        lines = [[row.get(name, "") for name in names] for row in self._rows(panel)]
        step, left = 0.2 / inches, 0.012 * 24 / panel.width
        room = int((inches - 0.6) / 0.2)
        for number, cells in enumerate([list(panel.columns.values()), *sorted(lines)[:room]]):
            for column, cell in enumerate(cells):
                frame.text(left + column / len(names), 1 - 0.4 / inches - number * step, cell, size=8, va="center",
                           color=_FAINT if number == 0 else _TEXT, transform=frame.transAxes)  # fmt: skip
        if not lines:
            frame.text(0.5, 0.4, "Nothing", color=_FAINT, size=11, ha="center", transform=frame.transAxes)

    def _rows(self, panel: Panel) -> list[dict[str, str]]:
        """Rows of a table: the results of its queries, joined on their labels."""
        rows: dict[frozenset[tuple[str, str]], dict[str, str]] = {}
        queries = _promql(panel)
        for letter, query in zip(string.ascii_uppercase, queries, strict=False):
            value = "Value" if len(queries) == 1 else f"Value #{letter}"
            for item in self._ask("query", query.expr, time=self._end):
                row = rows.setdefault(frozenset(item["metric"].items()), dict(item["metric"]))
                row[value] = shown(float(item["value"][1]), panel.unit)
        return list(rows.values())

    def _matrix(self, frame: Axes, panel: Panel, inches: float) -> None:
        assert panel.matrix is not None
        row, column = panel.matrix
        cells = {(item["metric"][row], item["metric"][column]): float(item["value"][1])
                 for item in self._instant(panel)}  # fmt: skip
        names = sorted({name for name, _ in cells}, key=natural)[: int((inches - 0.6) / 0.2)]
        heads = [row, *sorted({name for _, name in cells})]
        step, left = 0.2 / inches, 0.012 * 24 / panel.width
        # The rows' names, as wide as that of a node and its id.
        first = 0.16
        wide = (1 - first) / (len(heads) - 1)
        for number, name in enumerate(["", *names]):
            y = 1 - 0.4 / inches - number * step
            for place, head in enumerate(heads):
                x = first + (place - 1) * wide if place else left
                value = cells.get((name, head))
                cell = name if place == 0 else "" if value is None else shown(value, panel.unit)
                if value is not None:
                    frame.add_patch(Rectangle((x - 0.004, y - step / 2), 0.98 * wide, step * 0.92, lw=0,
                                              color=colour(value, panel.steps), transform=frame.transAxes))  # fmt: skip
                faint = number == 0 or place == 0
                frame.text(x, y, cell if number else head, size=8, va="center", color=_FAINT if faint else _TEXT,
                           transform=frame.transAxes)  # fmt: skip

    def _lines(self, axes: Axes, panel: Panel) -> None:
        drawn, options = self._range(panel), legend(panel)
        table, most = options["displayMode"] == "table", _NAMES if options["showLegend"] else 0
        if table:
            drawn.sort(key=lambda item: float(item[1][-1][1]), reverse=options["sortDesc"])
            most = int(axes.get_position().height * _figure(axes).get_figheight() * _SHARE / _LINE)
        for number, (name, points) in enumerate(drawn):
            line = LINES[panel.colours[name]] if name in panel.colours else PALETTE[number % len(PALETTE)]
            text = f"{name}: {shown(float(points[-1][1]), panel.unit)}" if table else name
            axes.plot(*self._broken(points), color=line, linewidth=0.9, label=text if number < most else None)
        axes.tick_params(colors=_FAINT, labelsize=7, length=0)
        axes.grid(visible=True, color="#2c3235", linewidth=0.5)
        axes.yaxis.set_major_formatter(lambda value, _: shown(value, panel.unit))
        low, high = axes.get_ylim()
        if high - low < abs(high) / 10:
            # What hardly moves is drawn flat.
            low, high = low - abs(high) / 20, high + abs(high) / 20
        elif low < 0 < high and max(-low, high) < 0.1:
            low, high = 0, 1
        if panel.least is not None:
            low, high = panel.least, high + (high - panel.least) / 20
        axes.set_ylim(low, high if panel.most is None else panel.most)
        axes.yaxis.set_major_locator(MaxNLocator(5, integer=panel.unit in ("none", "short") and high > 1))
        low, high = axes.get_ylim()
        for value, name in panel.steps:
            if value is not None and low <= value <= high:
                axes.axhline(value, color=colour(value, ((None, name),)), linewidth=0.8, linestyle="--")
        names = len(drawn) if most else 0
        self._finish(axes, names, nothing=not drawn, beside=1 if table else panel.width // _COLUMNS, most=most)

    def _timeline(self, axes: Axes, panel: Panel) -> None:
        rows = self._range(panel)[:_ROWS]
        gap = (self._end - self._start) / _POINTS / 60
        for number, (_, values) in enumerate(rows):
            for at, value in values:
                good = panel.words.get(int(float(value)), ("", "gray"))[1]
                axes.barh(number, gap, left=self._ago(at), height=0.8, color=colour(0, ((None, good),)))
        axes.set_yticks(range(len(rows)), [name for name, _ in rows], size=6)
        axes.tick_params(colors=_FAINT, labelsize=7, length=0)
        axes.set_ylim(-0.6, max(len(rows), 1) - 0.4)
        axes.tick_params(axis="y", colors=_TEXT)
        self._finish(axes, 0, nothing=not rows)

    def _finish(self, axes: Axes, number: int, *, nothing: bool, beside: int = 1, most: int = 0) -> None:
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.set_xlim(self._ago(self._start), 0)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g} min")
        if nothing:
            axes.set(yticks=[])
            axes.text(0.5, 0.5, "Nothing", color=_FAINT, size=11, ha="center", transform=axes.transAxes)
        elif number:
            lines = math.ceil(min(number, most) / beside) * _LINE + 0.08
            box, tall = axes.get_position(), _figure(axes).get_figheight()
            axes.set_position((box.x0, box.y0 + lines / tall, box.width, box.height - lines / tall))
            inches = box.height * tall - lines
            axes.legend(fontsize=6, labelcolor=_TEXT, edgecolor="none", framealpha=0, ncols=beside, borderpad=0,
                        handlelength=1.2, columnspacing=1, loc="upper left",
                        bbox_to_anchor=(-0.02, -0.22 / inches))  # fmt: skip
            if number > most:
                axes.text(1, -0.3 / inches, f"and {number - most} more", color=_FAINT, size=6, ha="right",
                          va="center", transform=axes.transAxes)  # fmt: skip

    def _broken(self, points: list[list[Any]]) -> tuple[list[float], list[float]]:
        """Times and values of a line, broken where there is nothing, as Grafana draws it."""
        times: list[float] = []
        values: list[float] = []
        for at, value in points:
            if times and self._ago(at) - times[-1] > 1.5 * (self._end - self._start) / _POINTS / 60:
                times.append(times[-1])
                values.append(math.nan)
            times.append(self._ago(at))
            values.append(float(value))
        return times, values

    def _ago(self, at: float) -> float:
        """Minutes before the end, negative."""
        return (at - self._end) / 60

    def _instant(self, panel: Panel) -> list[Series]:
        return [item for query in _promql(panel) for item in self._ask("query", query.expr, time=self._end)]

    def _range(self, panel: Panel) -> list[tuple[str, list[Any]]]:
        """Legend and points of each series."""
        when = {"start": self._start, "end": self._end, "step": (self._end - self._start) / _POINTS}
        return [
            (name_of(query.legend, item["metric"]), item["values"])
            for query in _promql(panel)
            for item in self._ask("query_range", query.expr, **when)
        ]

    def _ask(self, path: str, expression: str, **when: float) -> list[Series]:
        now = self._now | {"__range": f"{self._end - self._start:.0f}s"}
        filled = re.sub(r"\$(\w+)", lambda result: now.get(result.group(1), ".*"), expression)
        query = urllib.parse.urlencode({"query": filled, **when})
        with urllib.request.urlopen(f"{self._url}/api/v1/{path}?{query}", timeout=180) as answer:
            result: list[Series] = json.load(answer)["data"]["result"]
        return result


def smaller(picture: Image.Image) -> Image.Image:
    """The picture in a third of the bytes: few colors, among which are ours, however thin a line is."""
    expected = (_DARK, _PANEL, _TEXT, _FAINT, *PALETTE, *LINES.values())
    others = picture.quantize(_COLOURS - len(expected), Image.Quantize.MEDIANCUT).getpalette()
    assert others is not None
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for name in expected for part in bytes.fromhex(name[1:])] + others)
    return picture.quantize(palette=palette, dither=Image.Dither.NONE)


def _figure(axes: Axes) -> Figure:
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


def _promql(panel: Panel) -> list[Query]:
    return [query for query in panel.queries if isinstance(query, Query)]


def main(url: str, folder: str, *chosen: str) -> None:
    """Draw all dashboards."""
    preview = Preview(url, chosen=dict(item.split("=", 1) for item in chosen))
    Path(folder).mkdir(parents=True, exist_ok=True)
    for dashboard in DASHBOARDS:
        preview.draw(dashboard, Path(folder) / f"{dashboard.uid.removeprefix('ultracluster-')}.png")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
