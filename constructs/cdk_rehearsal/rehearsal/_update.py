"""Update step of a rehearsal: an edit of the app's input."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Edit:
    """Edited input of an app.

    Args:
        context: CDK context of the edited app; it replaces the values of the deployed one.
        description: What was edited, as a clause: "the node group extra was added to the cluster file".
    """

    context: Mapping[str, str]
    description: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Update:
    """Plug-in for the update step. The edit must add a resource, and must not replace or delete one that holds data.

    Args:
        name: Name of the edit in the report.
        edit: Takes a scratch directory, writes the edited input there, and returns the edit. It raises
            RehearsalError if no edit is possible.
    """

    name: str
    edit: Callable[[Path], Edit]
