"""Rule tests with promtool."""

import json
import os
import re
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from support import yaml12
from support.alert_cases import Series
from ultracluster.monitoring.alerts import ALERTS, rules
from ultracluster.monitoring.names import JOB_PROBLEM, PROBLEM, UNNAMED_PROBLEM, UNOWNED_PROBLEM, Profile

INVENTORY = {("llama", "train"): 3}
# promtool lives for a second: it need not collect its garbage every few milliseconds, on all cores. Nobody reads where
# it takes its memory.
PROMTOOL = {**os.environ, "GOGC": "800", "GOMAXPROCS": "1", "GOMEMLIMIT": "2GiB", "GODEBUG": "memprofilerate=0"}
# The names of all problems.
_NAMED = {None, UNNAMED_PROBLEM, UNOWNED_PROBLEM}
WORD = re.compile(r"[a-zA-Z_][a-zA-Z0-9_:]*")


def all_rules(profile: Profile = Profile.STANDARD) -> list[dict[str, Any]]:
    """As a cluster brings them: of that cluster alone."""
    return list(_rules(profile))


@cache
def _rules(profile: Profile) -> tuple[dict[str, Any], ...]:
    files = rules(profile, inventory=INVENTORY, cluster="llama").values()
    return tuple(rule for text in files for group in yaml12.load(text)["groups"] for rule in group["rules"])


def needed(name: str, among: Sequence[dict[str, Any]] | None = None) -> list[dict[str, Any]]:
    """The rules that an alert is made of, as they are: with all of them each test would take seconds."""
    wanted, result = {name}, []
    for rule in reversed(all_rules() if among is None else among):
        words = set(WORD.findall(rule["expr"]))
        if rule.get("record") in (PROBLEM, JOB_PROBLEM):
            # It names all problems of its group.
            if wanted & words & ALERTS.keys():
                wanted |= words - ALERTS.keys()
                result.append(rule)
        elif {rule.get("alert"), rule.get("record"), rule.get("labels", {}).get("problem")} - _NAMED & wanted:
            wanted |= words - _NAMED
            result.append(rule)
    return result[::-1]


def written(directory: Path, name: str) -> None:
    """The rules of an alert, as one group: recording rules stand before what reads them in the whole as well."""
    (directory / "rules.yaml").write_text(json.dumps({"groups": [{"name": "one", "rules": needed(name)}]}))


def firing_test(name: str, series: Series, answers: list[tuple[int, bool]], cluster: str = "llama") -> dict[str, Any]:
    query = f'count(ALERTS{{alertname="{name}", alertstate="firing", cluster="{cluster}"}}) > bool 0'
    return {
        "interval": "1m",
        "input_series": [{"series": key, "values": values} for key, values in series.items()],
        "promql_expr_test": [
            {"expr": query, "eval_time": f"{minute}m", "exp_samples": [{"labels": "{}", "value": 1}] if fires else []}
            for minute, fires in answers
        ],
    }


def promtool(
    directory: Path, tests: list[dict[str, Any]], files: tuple[str, ...] = ("rules.yaml",), **settings: Any
) -> None:
    file = directory / "tests.yaml"
    file.write_text(json.dumps({"rule_files": files, "evaluation_interval": "1m", "tests": tests} | settings))
    done = subprocess.run(["promtool", "test", "rules", file], capture_output=True, text=True, env=PROMTOOL)
    assert done.returncode == 0, done.stdout + done.stderr
