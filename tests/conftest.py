"""The fixtures, in each process that runs tests."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Leave them out of the process that hands the tests to workers: they import the CDK, and start Node."""
    if config.getoption("dist", "no") == "no":
        config.pluginmanager.import_plugin("support.fixtures")
