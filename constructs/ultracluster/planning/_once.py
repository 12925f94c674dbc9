"""Facts of a construct that never change, and that take several calls of Node to read."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

_T = TypeVar("_T")


def once(read: Callable[[Any], _T]) -> Callable[[Any], _T]:
    """Read a fact of each object once: every node group asks for those of the same subnets, stacks and roles."""
    known: WeakKeyDictionary[Any, _T] = WeakKeyDictionary()

    @wraps(read)
    def value(owner: Any) -> _T:
        try:
            if owner not in known:
                known[owner] = read(owner)
            return known[owner]
        except TypeError:  # It has no hash, or takes no weak reference.
            return read(owner)

    return value
