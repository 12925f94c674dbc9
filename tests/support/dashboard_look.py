"""Grafana's colors, units and names of series, as far as the dashboards use them."""

import re
from collections.abc import Mapping

#: Grafana's classic palette.
PALETTE = ("#73bf69", "#f2cc0c", "#5794f2", "#ff9830", "#f2495c", "#8ab8ff", "#b877d9", "#96d98d", "#ffb357", "#fade2a")
#: Grafana's colors of lines by name, in its dark theme.
LINES = {"green": "#73bf69", "light-green": "#96d98d", "blue": "#5794f2", "light-blue": "#8ab8ff",
         "dark-blue": "#1f60c4", "purple": "#b877d9", "yellow": "#fade2a", "orange": "#ff9830",
         "light-red": "#ff7383", "red": "#f2495c",
         "dark-red": "#c4162a"}  # fmt: skip
_COLOURS = {"green": "#1a7f4b", "orange": "#d97a1c", "red": "#c4162a", "gray": "#4a4d55"}
_SUFFIXES = {"watt": "W", "watth": "Wh", "hertz": "Hz", "bytes": "B", "Bps": "B/s", "pps": "p/s", "cps": "/s", "h": "h"}
_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_TIMES = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def colour(value: float, steps: tuple[tuple[float | None, str], ...]) -> str:
    """The color of a value: that of the last step that it reaches."""
    name = [name for least, name in steps if least is None or value >= least][-1]
    return _COLOURS.get(name) or LINES[name]


def shown(value: float, unit: str) -> str:
    """A value in its unit, in few characters."""
    if unit == "percentunit":
        return f"{value:.1%}".replace(".0%", "%")
    if unit == "celsius":
        return f"{value:.0f} °C"
    if unit == "GBs":
        return f"{value:.4g} GB/s"
    if unit == "s":
        for seconds, name in _TIMES:
            if abs(value) >= seconds:
                return f"{value / seconds:,.3g} {name}" if value < 1000 * seconds else f"{value / seconds:,.0f} {name}"
        return f"{value * 1000:.3g} ms"
    if unit == "none":
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    for size, prefix in _PREFIXES:
        if abs(value) >= size:
            return f"{value / size:.3g} {prefix}{_SUFFIXES.get(unit, '')}"
    return f"{value:.3g} {_SUFFIXES.get(unit, '')}".rstrip()


def name_of(legend: str, labels: Mapping[str, str]) -> str:
    """The name of a series: the legend with its labels."""
    return re.sub(r"\{\{(\w+)\}\}", lambda result: labels.get(result[1], ""), legend)


def natural(name: str) -> list[str]:
    """The key of Grafana's natural order, in which 2 is before 10."""
    return [part.zfill(20) for part in re.split(r"(\d+)", name)]
