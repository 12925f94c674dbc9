"""Pytest plugin: a worker of xdist sends what the other side uses, two of six messages for a test that passes."""

import itertools
from typing import Any

import pytest

# A slower fixture is among the slowest that pytest prints.
_SECONDS = 1
# After this message, the other side ends a full line of dots with the percentage.
_EACH = 8


def install(config: pytest.Config) -> None:
    """Leave out the begin and most ends of tests, and the reports that only say that fixtures have passed."""
    (worker,) = (plugin for plugin in config.pluginmanager.get_plugins() if type(plugin).__name__ == "WorkerInteractor")
    send = worker.sendevent
    ends = itertools.count(1)

    def send_some(name: str, **values: Any) -> None:
        match name:
            case "testreport":
                if _says_nothing(values["data"]):
                    return
                # Half of the report, and nobody reads it.
                values["data"]["keywords"] = {}
            case "logfinish":
                if next(ends) % _EACH:
                    return
            case "logstart":
                return
        send(name, **values)

    worker.sendevent = send_some


def _says_nothing(report: dict[str, Any]) -> bool:
    passed = report["when"] != "call" and report["outcome"] == "passed"
    return passed and report["duration"] < _SECONDS and not report["sections"] and not report["user_properties"]
