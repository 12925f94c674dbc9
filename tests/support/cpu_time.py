"""Pytest plugin: the files of tests that take the most CPU time, with that of Node, shells and other programs."""

import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

_MOST = 40
_TICKS = os.sysconf("SC_CLK_TCK")


class CpuTime:
    """Seconds of each file, read where one file's tests end and another's begin."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._before = 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> Any:
        """Read the clock after the last test of a file in a row."""
        result = yield
        if nextitem is None or nextitem.path != item.path:
            self._read(item.nodeid.partition("::")[0])
        return result

    def pytest_collection_finish(self) -> None:
        """Count the time until here as the collection's."""
        self._read("collection")

    def _read(self, name: str) -> None:
        now = used()
        self.seconds[name] += now - self._before
        self._before = now

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Send what a worker of xdist has counted."""
        if (output := getattr(session.config, "workeroutput", None)) is not None:
            output["cpu_time"] = dict(self.seconds)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Add what a worker has counted."""
        for name, seconds in getattr(node, "workeroutput", {}).get("cpu_time", {}).items():
            self.seconds[name] += seconds

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the costliest."""
        if self.seconds:
            terminalreporter.section(f"{sum(self.seconds.values()):.0f} s of CPU time, most of it in")
            for name, seconds in sorted(self.seconds.items(), key=lambda item: -item[1])[:_MOST]:
                terminalreporter.line(f"{seconds:6.1f} s {name}")


def used() -> float:
    """Return CPU seconds of this process and of all that it has started, running ones included."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system + sum(map(_of, _children("self")))


def _of(pid: str) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(map(int, fields[11:15])) / _TICKS + sum(map(_of, _children(pid)))


def _children(pid: str) -> list[str]:
    files = Path(f"/proc/{pid}/task").glob("*/children")
    try:
        return [child for file in files for child in file.read_text().split()]
    except OSError:
        return []
