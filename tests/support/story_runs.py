"""Runs of promtool for stories: samples and rules, and the alerts that fire."""

import json
import math
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from support import story_rules
from support.rule_tests import PROMTOOL

#: A series that its exporter no longer writes, or whose exporter does not answer, ends with a stale marker.
STALE = -1e300
LABELS = re.compile(r'(\w+)="([^"]*)"')


def read_by(
    rules: Sequence[story_rules.Rule], values: Mapping[str, list[float | None]]
) -> dict[str, list[float | None]]:
    """Return the samples that one of the rules reads."""
    read = frozenset[str]().union(*map(story_rules.reads, rules))
    return {key: numbers for key, numbers in values.items() if key.partition("{")[0] in read}


def evaluate(
    groups: Sequence[story_rules.Group],
    values: Mapping[str, list[float | None]],
    minutes: int,
    more: str = "",
    last: str = "",
) -> dict[int, list[dict[str, str]]]:
    """Return the labels of the alerts that fire in each minute.

    Args:
        groups: Rules.
        values: Samples. What no rule reads is left out.
        minutes: How long.
        more: PromQL of other series to return, after the alerts.
        last: The same in the last minute.
    """
    query = 'ALERTS{alertstate="firing", alertname!="Watchdog"}' + more
    queries = [*((query, minute) for minute in range(minutes)), (query + last, minutes)]
    firing: dict[int, list[dict[str, str]]] = {}
    for minute, printed in answers(groups, values, queries).items():
        every = [dict(LABELS.findall(labels)) for labels in re.findall(r"\{([^{}]*)\}", printed)]
        firing[minute] = [{"alertname": labels.get("problem", ""), **labels} for labels in every]
    return dict(sorted(firing.items()))


def answers(
    groups: Sequence[story_rules.Group], values: Mapping[str, list[float | None]], queries: Sequence[tuple[str, int]]
) -> dict[int, str]:
    """Return what promtool prints for each query, by its minute."""
    # Nobody reads the texts of an alert: promtool would make them every minute.
    groups = [
        {**group, "rules": [{key: rule[key] for key in rule if key != "annotations"} for rule in group["rules"]]}
        for group in groups
    ]
    values = read_by([rule for group in groups for rule in group["rules"]], values)
    # As one series: promtool adds the next to a copy of the text of those before it.
    series = "\n".join(f"{key} {encoded(tuple(numbers))}" for key, numbers in values.items())
    test = {
        "interval": "1m",
        "input_series": [{"series": series}],
        "promql_expr_test": [{"expr": query, "eval_time": f"{minute}m"} for query, minute in queries],
    }
    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / "rules.yaml").write_text(json.dumps({"groups": groups}))
        path = Path(directory) / "test.yaml"
        # The slowest order: each group reads what those before it recorded a minute ago. promtool's own is by chance.
        order = [group["name"] for group in reversed(groups)]
        file = {"rule_files": ["rules.yaml"], "group_eval_order": order, "evaluation_interval": "1m", "tests": [test]}
        path.write_text(json.dumps(file))
        done = subprocess.run(["promtool", "test", "rules", path], capture_output=True, text=True, env=PROMTOOL)
    output = done.stdout + done.stderr
    assert done.returncode == 0 or "got:" in output, output
    # Nothing is expected, so promtool prints what it got.
    return {
        _minutes(time): printed
        for time, printed in re.findall(r"time: (\w+),\s+exp: ?[^\n]*\s+got: ?([^\n]*(?:\n(?! +expr:)[^\n]*)*)", output)
    }


def _minutes(text: str) -> int:
    parts = re.findall(r"(\d+)([dhms])", text)
    return sum(int(number) * {"d": 1440, "h": 60, "m": 1, "s": 0}[unit] for number, unit in parts)


@lru_cache(maxsize=10_000)
def encoded(numbers: tuple[float | None, ...]) -> str:
    """Return the values as promtool reads them, runs of equal or evenly growing values together.

    promtool makes one text of all series again for each, so it must be short.
    """
    words: list[str] = []
    start = 0
    while start < len(numbers):
        value, end = numbers[start], start + 1
        if value is None:
            while end < len(numbers) and numbers[end] is None:
                end += 1
            words.append(f"_x{end - start}")
        elif value == STALE or not math.isfinite(value):
            # promtool has no repetition of them.
            words.append("stale" if value == STALE else f"{value}".replace("nan", "NaN").replace("inf", "Inf"))
        else:
            after = numbers[end] if end < len(numbers) else None
            step = 0.0 if after is None or not math.isfinite(after) else float(f"{after - value:.15g}")
            # promtool adds the step again and again.
            reached = value + step
            while end < len(numbers) and numbers[end] == reached:
                end, reached = end + 1, reached + step
            # Two that differ may begin a run of the second.
            end = start + 1 if step and end < start + 3 else end
            grows = f"{step:+.15g}" if step else ""
            words.append(f"{value:.15g}" + (f"{grows}x{end - start - 1}" if end > start + 1 else ""))
        start = end
    return " ".join(words)
