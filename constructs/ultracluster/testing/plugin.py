"""The pytest plugin: one option."""

from typing import Any

UPDATE = "--update-snapshots"

#: The session's answer, for `assert_matches_snapshot`, which is a plain function and sees no fixture.
update_snapshots = False


def pytest_addoption(parser: Any) -> None:
    """Add the option."""
    parser.addoption(UPDATE, action="store_true", help="write the snapshots of ultracluster.testing anew")


def pytest_configure(config: Any) -> None:
    """Note the option."""
    global update_snapshots
    update_snapshots = bool(config.getoption(UPDATE))
