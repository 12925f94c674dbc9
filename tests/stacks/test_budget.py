"""The budget of a start and of a synthesis: figures that are the same on every machine, in benchmarks/budget.json."""

import json
import os
import subprocess
import sys

from support import ROOT, TESTS

# A limit that is further from its figure does not stop the next rise.
MOST_SLACK = 0.05


def test_figures_are_within_the_budget() -> None:
    path = os.pathsep.join(str(folder) for folder in (ROOT / "constructs", ROOT, TESTS))
    done = subprocess.run(
        [sys.executable, "-m", "support.figures"],
        cwd=TESTS,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    measured = json.loads(done.stdout)
    budget = json.loads((ROOT / "benchmarks" / "budget.json").read_text())
    assert set(measured) == set(budget)
    for name, figure in measured.items():
        limit, reason = budget[name]["limit"], budget[name]["reason"]
        assert figure <= limit, (
            f"{name}: {figure}, and the budget has {limit}: lower it, or raise both limit and reason"
        )
        assert figure >= limit * (1 - MOST_SLACK) - 1, f"{name}: {figure}; lower the limit of {limit} in the budget"
        assert len(reason) > 20, f"{name}: the reason is missing"
