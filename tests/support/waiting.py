"""Waits for what a test is about, instead of a time in which it should have come."""

import time
from collections.abc import Callable

# Only a failure takes that long: a machine with other work for all its cores has minutes.
PATIENCE_SECONDS = 600


def wait_until(what: str, result: Callable[[], bool], *, every: float = 0.1, detail: Callable[[], str] = str) -> None:
    """Wait until something is true.

    Args:
        what: What is waited for, as a failure says it.
        result: Whether it has come.
        every: Seconds between two looks.
        detail: What explains a failure.

    Raises:
        AssertionError: When it has not come within the patience.
    """
    end = time.monotonic() + PATIENCE_SECONDS
    while not result():
        assert time.monotonic() < end, f"not within {PATIENCE_SECONDS} s: {what}\n{detail()}"
        time.sleep(every)
