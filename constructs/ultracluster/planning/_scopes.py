"""The stack and the path of a construct: Node takes two or three calls for each, and every node group asks."""

from functools import cache
from typing import Any, NamedTuple
from weakref import ref

from ultracluster.planning._once import Facts, once
from ultracluster.rules import Refusal


class _Place(NamedTuple):
    scope: ref[Any]
    id: str


_places: Facts[_Place] = Facts()


def remember(construct: Any, scope: Any, id: str) -> None:
    """Remember scope and id of a construct that is created."""
    _places.set(construct, _Place(ref(scope), id))


def stack_of(construct: Any) -> Any:
    """Return the stack of a construct.

    Raises:
        Refusal: If it is in no stack.
    """
    if (stack := stack_or_none(construct)) is None:
        raise Refusal(construct, "must be created in a stack, and its scope is in none")
    return stack


@once
def stack_or_none(construct: Any) -> Any:
    """Return the stack of a construct, or None."""
    if is_stack(construct):
        return construct
    if (place := _place(construct)) is not None:
        return stack_or_none(place[0])
    return next((each for each in reversed(construct.node.scopes) if is_stack(each)), None)


@once
def path_of(construct: Any) -> str:
    """Return the path of a construct, as its node has it."""
    # Node replaces separators in ids: src/construct.ts of https://github.com/aws/constructs, 10.8.1 (read 2026-11-28).
    if (place := _place(construct)) is None or not place[1].replace("-", "").isalnum():
        return str(construct.node.path)
    scope, id = place
    return f"{path_of(scope)}/{id}".lstrip("/")


def is_stack(construct: object) -> bool:
    """Return whether a construct is a stack."""
    owner: object = type(construct)
    return ("aws_cdk", "Stack") in _names(owner)


def _place(construct: Any) -> tuple[Any, str] | None:
    if (place := _places.get(construct)) is not None and (scope := place.scope()) is not None:
        return scope, place.id
    return None


@cache
def _names(owner: Any) -> list[tuple[str, str]]:
    # This package does not import the CDK, and a construct of a user may have the attributes of a stack.
    return [(base.__module__, base.__qualname__) for base in owner.__mro__]
