"""Snapshots that a run of pytest compares: the option that writes them, and files that no test uses."""

import json
from collections.abc import Collection, Iterable
from pathlib import Path

UPDATE = "--update-snapshots"


class Session:
    """State of one run. A plain function such as `assert_matches_snapshot` has no fixtures.

    Args:
        update: Whether to write snapshots instead of comparing them.
    """

    def __init__(self, *, update: bool = False) -> None:
        self.update = update
        self.used: set[Path] = set()
        #: Directories of apps.
        self.apps: set[Path] = set()
        #: False after a test that failed, or was skipped or deselected: it may use snapshots.
        self.complete = True

    def stale(self, roots: Collection[Path]) -> list[Path]:
        """Return the snapshots in directories of used ones that no test uses."""
        folders = {file.parent for file in self.used if self._has_run(file, roots)}
        return sorted(file for folder in folders for file in unused(folder, self.used))

    def stale_apps(self, roots: Collection[Path]) -> list[Path]:
        """Return the directories of snapshots beside those of apps that no test uses: their app is gone."""
        parents = {app.parent for app in self.apps if self._has_run(app.parent, roots)}
        folders = {folder for parent in parents for folder in parent.iterdir() if folder.is_dir()}
        return sorted(folder for folder in folders - {file.parent for file in self.used} if unused(folder, ()))

    def _has_run(self, path: Path, roots: Collection[Path]) -> bool:
        return self.complete and any(path.is_relative_to(root.resolve()) for root in roots)


current = Session()


def unused(folder: Path, used: Iterable[Path]) -> list[Path]:
    """Return the snapshots of a directory that are not among the used ones."""
    return sorted(file for file in folder.glob("*.json") if file not in set(used) and is_snapshot(file))


def is_snapshot(file: Path) -> bool:
    """Return whether a file is a template as `assert_matches_snapshot` writes it."""
    try:
        text = file.read_text(encoding="utf-8")
        body = json.loads(text)
    except (OSError, ValueError):
        return False
    return isinstance(body, dict) and isinstance(body.get("Resources"), dict) and text == serialise(body)


def serialise(body: object) -> str:
    return json.dumps(body, indent=1, sort_keys=True) + "\n"
