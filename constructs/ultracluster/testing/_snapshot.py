"""Snapshots of templates, with the update rules of this library."""

from pathlib import Path
from typing import TYPE_CHECKING

from cdk_rehearsal import snapshots
from ultracluster.testing._update_rules import UPDATE_RULES

if TYPE_CHECKING:
    # Not at run time: this package holds a pytest plugin, and not every run of pytest needs Node.
    from collections.abc import Mapping
    from typing import Any

    import aws_cdk as cdk
    from aws_cdk import assertions


def assert_matches_snapshot(subject: "cdk.Stack | assertions.Template | Mapping[str, Any]", path: str | Path) -> None:
    """Compare a stack, or a template, with the snapshot in a file.

    `pytest --update-snapshots` writes the file. A difference names each resource, its construct path, the old and new
    values, and what the deployment replaces; that needs the extra `cdk-ultracluster[guard]`.

    Args:
        subject: A stack, or its template.
        path: The snapshot, a JSON file, such as `Path(__file__).parent / "snapshots" / "network.json"`.

    Raises:
        AssertionError: If the template differs, with the difference, or if the file is missing.
    """
    __tracebackhide__ = True
    snapshots.assert_matches_snapshot(subject, path, update_rules=UPDATE_RULES)


def assert_app_matches_snapshot(app: "cdk.App | cdk.Stage", directory: str | Path) -> None:
    """Compare each stack of an app, nested ones and those of its stages included, with the snapshots of a directory.

    `pytest --update-snapshots` writes one file for each stack, and deletes those of stacks that are gone. A run of all
    tests reports the directories beside it whose app is gone.

    Args:
        app: The app, or a stage. It is synthesized.
        directory: Directory of the snapshots of this app alone.

    Raises:
        AssertionError: If a stack differs, with the difference, or if a snapshot is missing or has no stack.
    """
    __tracebackhide__ = True
    snapshots.assert_app_matches_snapshot(app, directory, update_rules=UPDATE_RULES)
