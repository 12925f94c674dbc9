"""The journal: everything that the local cloud did to resources, in order."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from threading import Lock

from cdk_rehearsal.rehearsal._blueprint import Maker
from cdk_rehearsal.rehearsal._state import Resource


class Action(StrEnum):
    """Action on a resource."""

    CREATE = "create"
    IMPORT = "import"
    UPDATE = "update"
    REPLACE = "replace"
    DELETE = "delete"
    RETAIN = "retain"
    FAIL = "fail"


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One thing that happened.

    Args:
        action: What happened. `REPLACE` is the new resource; the old one follows as `DELETE` or `RETAIN`.
        stack: Name of the stack.
        logical_id: Of the resource in its template.
        type: `AWS::Service::Kind`.
        physical_id: What `Ref` gives, empty where none was created.
        maker: Who made it.
        detail: Changed properties, or why it failed.
    """

    action: Action
    stack: str
    logical_id: str
    type: str
    physical_id: str
    maker: Maker
    detail: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class StandIn:
    """Value that the rehearsal made up because only AWS, or the code of others, has the real value.

    Args:
        kind: `parameter` for a public SSM parameter, `custom resource` for a handler that was not run,
            `Grafana` for a workspace that a handler filled.
        name: Parameter name, `stack/logical id (type)`, or id of the workspace.
        value: What it gave.
    """

    kind: str
    name: str
    value: str


class Journal:
    """Entries, stand-ins and notes, added to from the server's threads and read by the runner and tests."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._entries: list[Entry] = []
        self._stand_ins: dict[tuple[str, str], StandIn] = {}
        self._notes: dict[str, None] = {}

    def __iter__(self) -> Iterator[Entry]:
        """Go through the entries in order."""
        return iter(self.entries())

    def add(self, entry: Entry) -> None:
        with self._lock:
            self._entries.append(entry)

    def record(self, action: Action, resource: Resource, detail: str = "") -> None:
        """Add an entry for a resource."""
        blueprint = resource.blueprint
        self.add(
            Entry(
                action=action,
                stack=blueprint.stack_name,
                logical_id=blueprint.logical_id,
                type=blueprint.type_name,
                physical_id=resource.physical_id,
                maker=resource.maker,
                detail=detail,
            )
        )

    def stand_in(self, stand_in: StandIn) -> None:
        """Write down a value that was made up; a repetition counts once."""
        with self._lock:
            self._stand_ins[stand_in.kind, stand_in.name] = stand_in

    def note(self, text: str) -> None:
        """Record a note for the report; a repetition counts once."""
        with self._lock:
            self._notes[text] = None

    def entries(self, *actions: Action) -> list[Entry]:
        """Return the entries, of the given actions only where any are given."""
        with self._lock:
            return [entry for entry in self._entries if not actions or entry.action in actions]

    @property
    def stand_ins(self) -> list[StandIn]:
        with self._lock:
            return list(self._stand_ins.values())

    @property
    def notes(self) -> list[str]:
        with self._lock:
            return list(self._notes)
