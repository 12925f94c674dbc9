"""Helpers of the tests."""

from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
TESTS = ROOT / "tests"
EXAMPLES = sorted((ROOT / "examples").glob("*.yaml"))
GOLDEN = TESTS / "golden"
