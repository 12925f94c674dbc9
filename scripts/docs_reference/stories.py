"""Generate the table of stories: what happens in a cluster, and which alerts fire."""

import json
from pathlib import Path
from typing import Any

from docs_reference.markdown import page, table
from support import yaml12
from ultracluster.monitoring.alerts import ALERTS
from ultracluster.monitoring.alerts._all import WATCHDOG

_FOLDER = Path(__file__).parents[2] / "tests" / "monitoring" / "stories"
_ABOUT = """What happens in a cluster, and which alerts fire. Each story is a test: `promtool` plays samples of
exporters through the rules of a cluster, minute by minute. In a benign story no critical alert may fire, and no other
alert than those of its row. In a broken story, the alert manager may send one critical alert at most: one cause, one
message. `fired after` has the minutes from the first change, as the test measured them."""


def stories_page() -> str:
    """Page with all stories, by topic."""
    files = {path.stem: yaml12.load(path.read_text()) for path in sorted(_FOLDER.glob("*.yaml"))}
    times = json.loads((_FOLDER / "times.json").read_text())
    sections = (
        f"## {name.capitalize()}\n\n{table(_HEADER, (_row(story, times[story['story']]) for story in stories))}"
        for name, stories in files.items()
    )
    return page("Stories", _ABOUT, *sections, _untold(times))


def _untold(times: dict[str, dict[str, int]]) -> str:
    fired = {alert for story in times.values() for alert in story}
    # It fires in all of them.
    untold = ", ".join(_link(alert) for alert in ALERTS if alert not in fired | {WATCHDOG})
    return untold and f"## Alerts without a story\n\nTests of their own play samples for each of these: {untold}."


_HEADER = ("story", "kind", "must fire", "within", "may fire too", "fired after")


def _row(story: dict[str, Any], times: dict[str, int]) -> tuple[str, ...]:
    rings = story.get("rings", {})
    return (
        story["story"],
        story["kind"],
        ", ".join(map(_link, rings)),
        ", ".join(f"{minutes} min" for minutes in rings.values()),
        ", ".join(map(_link, story.get("also", ()))),
        ", ".join(f"{alert} {minutes} min" for alert, minutes in times.items()),
    )


def _link(alert: str) -> str:
    return f"[{alert}](../runbooks/{alert}.md)"
