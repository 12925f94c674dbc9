"""Plugin for pytest: the option `--update-snapshots`, and the report of snapshots that no test uses."""

from pathlib import Path
from typing import Any

import pytest

from cdk_rehearsal.snapshots import _session as snapshots

_KEY = "cdk_rehearsal_snapshots"


def pytest_addoption(parser: Any) -> None:
    """Add the option."""
    parser.addoption(snapshots.UPDATE, action="store_true", help="write the snapshots, and delete those no test uses")


def pytest_configure(config: Any) -> None:
    """Begin a run."""
    snapshots.current = snapshots.Session(update=bool(config.getoption(snapshots.UPDATE)))


def pytest_deselected(items: Any) -> None:
    """Record that tests are left out."""
    if items:
        snapshots.current.complete = False


def pytest_runtest_logreport(report: Any) -> None:
    """Record that a test has not run to its end."""
    if not report.passed:
        snapshots.current.complete = False


def pytest_collectreport(report: Any) -> None:
    """Record that a file could not be collected."""
    if not report.passed:
        snapshots.current.complete = False


def pytest_sessionfinish(session: Any) -> None:
    """Send the used snapshots of a worker of pytest-xdist to its controller."""
    if hasattr(session.config, "workeroutput"):
        current = snapshots.current
        session.config.workeroutput[_KEY] = [[str(path) for path in paths] for paths in (current.used, current.apps)]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Collect the used snapshots of a worker of pytest-xdist."""
    output = getattr(node, "workeroutput", None)
    if output is None:
        snapshots.current.complete = False
    else:
        used, apps = output.get(_KEY, ((), ()))
        snapshots.current.used |= {Path(file) for file in used}
        snapshots.current.apps |= {Path(folder) for folder in apps}


def pytest_terminal_summary(terminalreporter: Any, config: Any) -> None:
    """Report snapshots that no test uses, or delete them."""
    directory = Path(config.invocation_params.dir)
    arguments = [directory / argument for argument in config.args if "::" not in argument]
    roots = [root for root in arguments if root.is_dir()]
    if folders := snapshots.current.stale_apps(roots):
        terminalreporter.section("directories of snapshots that no test uses; delete them")
        for folder in folders:
            terminalreporter.line(str(folder))
    stale = snapshots.current.stale(roots)
    if not stale:
        return
    if snapshots.current.update:
        for file in stale:
            file.unlink()
        terminalreporter.section("deleted snapshots, which no test used")
    else:
        terminalreporter.section(f"snapshots that no test uses; delete them with pytest {snapshots.UPDATE}")
    for file in stale:
        terminalreporter.line(str(file))
