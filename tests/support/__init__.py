"""Helpers of the tests."""

from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
TESTS = ROOT / "tests"
EXAMPLES = sorted((ROOT / "examples").glob("*.yaml"))
GOLDEN = TESTS / "golden"
#: Environment in which rich writes for a terminal of 80 columns, without escape sequences.
TERMINAL = {"COLUMNS": "80", "TERM": "dumb", "TTY_COMPATIBLE": "1"}
