"""Report of a sweep as one HTML file: plots as inline SVG, and the Pareto table. It loads nothing."""

import json
from collections.abc import Callable, Iterable, Sequence
from html import escape
from math import ceil, floor, log10

from ultracluster.planning.workload import Candidate

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 1000, 420, 80, 50, 20, 180
# Okabe and Ito: distinct with every color vision. Their black is the color of the text: white on a dark page.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "currentColor", "#8a6d00", "#7a3e9d")
# A plot needs no more points than it has pixels.
_MOST_POINTS = 400
_STYLE = """
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;
max-width:960px;margin:2rem auto;padding:0 1rem}
.wide{overflow-x:auto}
svg{display:block;width:100%;min-width:700px;height:auto;color:CanvasText}
svg text{font:13px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:currentColor}
table{border-collapse:collapse;width:100%;font-size:14px}
th,td{padding:.25rem .5rem;text-align:right;border-bottom:1px solid #8884;white-space:nowrap}
th:first-child,td:first-child,td:last-child,th:last-child{text-align:left}
"""


def report(
    title: str, inputs: Sequence[tuple[str, str]], results: Sequence[Candidate], front: Sequence[Candidate]
) -> str:
    """Return the report."""
    types = list(dict.fromkeys(candidate.instance_type for candidate in results))
    has_price = any(candidate.dollars is not None for candidate in results)
    plots = [
        ("Days and GPU-hours", _plot(results, types, lambda c: c.gpu_hours, "GPU-hours", front)),
        ("MFU by number of GPUs", _plot(results, types, lambda c: c.mfu, "MFU", x_of=lambda c: c.gpus, x="GPUs")),
    ]
    if has_price:
        priced = [candidate for candidate in results if candidate.dollars is not None]
        cost = _plot(priced, types, lambda c: c.dollars or 1, "USD", [c for c in front if c.dollars is not None])
        plots.insert(1, ("Days and cost", cost))
    sections = "".join(f'<h2>{escape(heading)}</h2>\n<div class="wide">{svg}</div>\n' for heading, svg in plots)
    given = "".join(f"<li>{escape(name)}: {escape(value)}</li>" for name, value in inputs)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>\n<h1>{escape(title)}</h1>\n"
        f"<p>{len(results):,} candidates, of which {len(front):,} are not beaten in "
        f"{figures(results)}. "
        "A line joins those that no other beats in both figures of a plot.</p>\n"
        f"<ul>{given}</ul>\n{sections}<h2>Candidates that no other beats</h2>\n{_table(front, has_price)}\n"
        "</body></html>\n"
    )


def figures(candidates: Iterable[Candidate]) -> str:
    """Return what the candidates are compared by."""
    priced = any(candidate.dollars is not None for candidate in candidates)
    return "days, GPU-hours and cost" if priced else "days and GPU-hours"


def rows(candidates: Iterable[Candidate]) -> list[dict[str, object]]:
    """Return candidates as JSON values."""
    return [{**candidate._asdict(), "layout": str(candidate.layout)} for candidate in candidates]


def csv_text(candidates: Iterable[Candidate]) -> str:
    """Return candidates as CSV."""
    lines = [",".join(Candidate._fields)]
    for row in rows(candidates):
        lines.append(
            ",".join(json.dumps(v) if isinstance(v, str) else "" if v is None else f"{v}" for v in row.values())
        )
    return "\n".join(lines) + "\n"


def _table(front: Sequence[Candidate], has_price: bool) -> str:
    heads = ["type", "nodes", "GPUs", "days", "GPU-hours", *(["USD"] if has_price else []), "MFU", "goodput", "layout"]
    body = []
    for c in front:
        cost = [f"{c.dollars:,.0f}" if c.dollars is not None else "?"] if has_price else []
        cells = [c.instance_type, f"{c.nodes:,}", f"{c.gpus:,}", f"{c.days:,.1f}", f"{c.gpu_hours:,.0f}", *cost,
                 f"{c.mfu:.1%}", f"{c.goodput:.1%}", str(c.layout)]  # fmt: skip
        body.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    head = "".join(f"<th>{head}</th>" for head in heads)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table></div>'


def _plot(
    results: Sequence[Candidate],
    types: Sequence[str],
    y_of: Callable[[Candidate], float],
    y: str,
    front: Sequence[Candidate] = (),
    *,
    x_of: Callable[[Candidate], float] = lambda candidate: candidate.days,
    x: str = "days",
) -> str:
    """Return a scatter plot with a logarithmic x axis and a color for each type.

    With a front, the y axis is logarithmic too, and a line joins the candidates that none beats in x and y.
    """
    if not results:
        return "<p>No candidate fits.</p>"
    logarithmic = bool(front)
    xs, ys = [x_of(c) for c in results], [y_of(c) for c in results]
    x_low, x_high = _decades(min(xs), max(xs))
    y_low, y_high = _decades(min(ys), max(ys)) if logarithmic else (0.0, ceil(max(ys) * 10) / 10)

    def across(value: float) -> float:
        return _LEFT + (log10(value) - x_low) / (x_high - x_low) * (_WIDTH - _LEFT - _RIGHT)

    def up(value: float) -> float:
        place = log10(value) if logarithmic else value
        return _HEIGHT - _BOTTOM - (place - y_low) / (y_high - y_low) * (_HEIGHT - _BOTTOM - _TOP)

    parts = [*_axes(x, y, (x_low, x_high), (y_low, y_high), across, up, logarithmic)]
    radius = 4 if len(results) <= _MOST_POINTS else 2
    for number, name in enumerate(types):
        colour = _COLOURS[number % len(_COLOURS)]
        of_type = [c for c in results if c.instance_type == name]
        dots = "".join(
            f'<circle cx="{across(x_of(c)):.1f}" cy="{up(y_of(c)):.1f}" r="{radius}"/>'
            for c in of_type[:: max(1, len(of_type) // _MOST_POINTS)]
        )
        parts.append(f'<g fill="{colour}" fill-opacity=".7"><title>{escape(name)}</title>{dots}</g>')
        row = _TOP + 14 + 16 * number
        parts.append(f'<rect x="{_WIDTH - _RIGHT + 12}" y="{row - 9}" width="10" height="10" fill="{colour}"/>')
        parts.append(f'<text x="{_WIDTH - _RIGHT + 28}" y="{row}">{escape(name)}</text>')
    line = " ".join(f"{across(x_of(c)):.1f},{up(y_of(c)):.1f}" for c in _lowest(front, x_of, y_of))
    if line:
        parts.append(f'<polyline points="{line}" fill="none" stroke="currentColor" stroke-width="1.5"/>')
    label = f"{y} by {x}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )


def _lowest(
    front: Sequence[Candidate], x_of: Callable[[Candidate], float], y_of: Callable[[Candidate], float]
) -> list[Candidate]:
    """Return the candidates that none beats in both figures; others of the front are there for a third figure."""
    kept: list[Candidate] = []
    for candidate in sorted(front, key=lambda c: (x_of(c), y_of(c))):
        if not kept or y_of(candidate) < y_of(kept[-1]):
            kept.append(candidate)
    return kept


def _decades(low: float, high: float) -> tuple[float, float]:
    """Return exponents of the first and the last tick: tenths of a decade around the values."""
    bottom, top = floor(log10(low) * 10) / 10, ceil(log10(high) * 10) / 10
    return (bottom, top) if top > bottom else (bottom - 0.5, top + 0.5)


def _axes(
    x: str,
    y: str,
    x_range: tuple[float, float],
    y_range: tuple[float, float],
    across: Callable[[float], float],
    up: Callable[[float], float],
    logarithmic: bool,
) -> list[str]:
    grid, floor_ = [], _HEIGHT - _BOTTOM
    for value in _ticks(*x_range):
        place = across(value)
        grid.append(f'<path d="M{place:.1f} {_TOP}V{floor_}" stroke="currentColor" stroke-opacity=".2"/>')
        grid.append(f'<text x="{place:.1f}" y="{floor_ + 18}" text-anchor="middle">{_short(value)}</text>')
    values = _ticks(*y_range) if logarithmic else [step / 10 for step in range(int(y_range[1] * 10) + 1)]
    for value in values:
        place = up(value)
        grid.append(f'<path d="M{_LEFT} {place:.1f}H{_WIDTH - _RIGHT}" stroke="currentColor" stroke-opacity=".2"/>')
        grid.append(f'<text x="{_LEFT - 6}" y="{place + 4:.1f}" text-anchor="end">{_short(value)}</text>')
    grid.append(
        f'<text x="{(_WIDTH + _LEFT - _RIGHT) / 2:g}" y="{_HEIGHT - 10}" text-anchor="middle">{escape(x)}</text>'
    )
    grid.append(
        f'<text x="14" y="{_HEIGHT / 2}" transform="rotate(-90 14 {_HEIGHT / 2})" text-anchor="middle">{y}</text>'
    )
    return grid


def _short(value: float) -> str:
    """Return the label of a tick, such as 20 k or 1 B: ten digits do not fit beside the axis."""
    for size, unit in ((1e12, " T"), (1e9, " B"), (1e6, " M"), (1e4, " k")):
        if value >= size * 0.999:
            return f"{value / (1e3 if unit == ' k' else size):g}{unit}"
    return f"{value:,.4g}"


def _ticks(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 of each decade in the range, or powers of ten alone if it has many."""
    steps = (1, 2, 5) if high - low <= 4 else (1,)
    values = [step * 10.0**decade for decade in range(floor(low), ceil(high) + 1) for step in steps]
    return [value for value in values if low - 1e-9 <= log10(value) <= high + 1e-9]
