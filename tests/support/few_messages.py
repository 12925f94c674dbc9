"""Pytest plugin: a worker of xdist sends what the other side uses, three of six messages for a test that passes."""

from typing import Any

import pytest

# A slower fixture is among the slowest that pytest prints.
_SECONDS = 1


def install(config: pytest.Config) -> None:
    """Leave out the begin of a test, and the reports that only say that its fixtures have passed."""
    (worker,) = (plugin for plugin in config.pluginmanager.get_plugins() if type(plugin).__name__ == "WorkerInteractor")
    send = worker.sendevent

    def send_some(name: str, **values: Any) -> None:
        if name != "logstart" and not (name == "testreport" and _says_nothing(values["data"])):
            send(name, **values)

    worker.sendevent = send_some


def _says_nothing(report: dict[str, Any]) -> bool:
    passed = report["when"] != "call" and report["outcome"] == "passed"
    return passed and report["duration"] < _SECONDS and not report["sections"] and not report["user_properties"]
