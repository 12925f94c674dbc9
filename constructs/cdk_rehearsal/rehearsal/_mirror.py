"""A mirror of an app's directory.

The CDK CLI writes cdk.context.json where it runs, and what the local cloud answers to look-ups must not get into the
user's tree.
"""

import contextlib
import shutil
from pathlib import Path

_CONTEXT = "cdk.context.json"
_OUTPUT = "cdk.out"


def mirror(app: Path, scratch: Path) -> Path:
    """Make a directory in `scratch` that looks like `app`, of symbolic links; the CLI may write into it.

    The directories above it are mirrored too, so that relative paths with ".." and node_modules further up work.

    Returns:
        The mirrored app directory.
    """
    app = app.resolve()
    there = scratch / "mirror"
    there.mkdir()
    here = Path(app.anchor)
    for part in app.relative_to(here).parts:
        _link(here, there, except_for=part)
        here, there = here / part, there / part
        there.mkdir()
    _link(here, there, except_for=_OUTPUT)
    return there


def _link(source: Path, target: Path, *, except_for: str) -> None:
    # The app cannot use a directory above it that may not be listed.
    with contextlib.suppress(PermissionError):
        for entry in source.iterdir():
            if entry.name == _CONTEXT:
                shutil.copyfile(entry, target / entry.name)
            elif entry.name != except_for:
                (target / entry.name).symlink_to(entry)
