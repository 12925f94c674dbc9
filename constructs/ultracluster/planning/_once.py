"""Facts of a construct that never change, and that take several calls of Node to read."""

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any, Generic, TypeVar
from weakref import ref

_T = TypeVar("_T")


class Facts(Generic[_T]):
    """A fact of each object, until the object ends: by identity, as constructs of users may define `__eq__`."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[ref[Any], _T]] = {}

    def get(self, owner: object) -> _T | None:
        """Return the fact of an object, or None."""
        known = self._known.get(id(owner))
        return None if known is None else known[1]

    def set(self, owner: object, fact: _T) -> None:
        """Keep the fact of an object."""
        key = id(owner)
        with suppress(TypeError):  # It takes no weak reference.
            self._known[key] = (ref(owner, lambda _: self._known.pop(key, None)), fact)


def once(read: Callable[[Any], _T]) -> Callable[[Any], _T]:
    """Read a fact of each object once: every node group asks for those of the same subnets, stacks and roles."""
    known: Facts[tuple[_T]] = Facts()

    @wraps(read)
    def value(owner: Any) -> _T:
        if (fact := known.get(owner)) is None:
            fact = (read(owner),)
            known.set(owner, fact)
        return fact[0]

    return value
