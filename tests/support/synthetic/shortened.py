"""The same rules and routes on a faster clock: every time is divided, and nothing else is changed.

The evaluation every 30 s becomes one every 5 s. A window `[10m]` or `for: 10m` becomes 10 s and four scrapes more: a
machine that stands still for 15 seconds must not look like nodes that are silent, and what was longer than another is
still longer. Thresholds, names and expressions stay as they are.
"""

import re
from typing import Any

from support import yaml12

#: By what every time is divided.
FACTOR = 60
SCRAPE_S = 5
#: What every window and wait has more than its share.
MARGIN_S = 4 * SCRAPE_S
EVALUATION_S = 5
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_WINDOW = re.compile(r"(?<=\[)\d+[smhd](?=\])|(?<=offset )\d+[mh]")
# An offset in seconds is what an alert has waited for, two evaluations before it fires.
_WAITED = re.compile(r"(?<=offset )\d+s")


def seconds(text: str) -> int:
    """A time as Prometheus writes it, in seconds."""
    return int(text[:-1]) * _UNITS[text[-1]]


def shorter(text: str, *, more: int = 0) -> str:
    """A time, divided; at least a second."""
    return f"{max(round(seconds(text) / FACTOR), 1) + more}s"


def shortened_rules(text: str) -> dict[str, Any]:
    """Rule files on the fast clock."""
    result: dict[str, Any] = yaml12.load(text)
    for group in result["groups"]:
        group["interval"] = f"{EVALUATION_S}s"
        for rule in group["rules"]:
            rule["expr"] = _WINDOW.sub(lambda match: shorter(match[0], more=MARGIN_S), rule["expr"])
            rule["expr"] = _WAITED.sub(lambda match: shorter(match[0], more=MARGIN_S - 2 * EVALUATION_S), rule["expr"])
            if "for" in rule:
                rule["for"] = shorter(rule["for"], more=MARGIN_S)
    return result


def shortened_routes(text: str) -> dict[str, Any]:
    """Alertmanager's configuration on the fast clock."""
    result: dict[str, Any] = yaml12.load(text)
    for route in (result["route"], *result["route"]["routes"]):
        for key in ("group_wait", "group_interval", "repeat_interval"):
            if key in route:
                route[key] = shorter(route[key])
    return result
