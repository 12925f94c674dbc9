"""Arguments of another type than asked for, told in words before they end as an error of Python's own."""

import types
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from numbers import Real
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

_SHOWN = 60
_PLAIN = (str, int, float, list, tuple, dict, type(None))


def wrong_fields(value: Any) -> list[str]:
    """Give what is wrong with the types of a dataclass's fields; nothing when they are right."""
    hints = _hints(value.__class__)
    return wrong_arguments(hints, {field.name: getattr(value, field.name) for field in fields(value)})


def wrong_arguments(hints: Mapping[str, Any], given: Mapping[str, object]) -> list[str]:
    """Give what is wrong with the types of arguments; nothing when they are right.

    Args:
        hints: The type of each argument, as `typing.get_type_hints` gives it.
        given: The arguments.
    """
    return [
        f"{name} must be {' or '.join(_words(hints[name]))}, got {shown(value)}"
        for name, value in given.items()
        if name in hints and not _fits(value, hints[name])
    ]


def shown(value: object) -> str:
    """Give a value as a person reads it, shortened."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def refuse_wrong_fields(value: Any) -> None:
    """Raise a ValueError when a field of a dataclass has another type than asked for."""
    if problems := wrong_fields(value):
        raise ValueError("; ".join(problems))


@cache
def _hints(of: Hashable) -> dict[str, Any]:
    return get_type_hints(of)


def _options(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def _fits(value: object, hint: Any) -> bool:
    return any(_is(value, one) for one in _options(hint))


def _is(value: object, hint: Any) -> bool:
    if hint in (bool, type(None)):
        return isinstance(value, hint)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if hint is float:
        return isinstance(value, Real) and not isinstance(value, bool)
    if hint is str or get_origin(hint) is Literal:
        return isinstance(value, str)
    if get_origin(hint) in (tuple, Sequence):
        listed = isinstance(value, Sequence) and not isinstance(value, str)
        return listed and all(_fits(item, get_args(hint)[0]) for item in value)  # type: ignore[attr-defined]
    if isinstance(hint, type) and (is_dataclass(hint) or issubclass(hint, Enum)):
        return isinstance(value, hint)
    # An interface of the CDK, which Python cannot ask about; a plain value is none.
    return not isinstance(value, _PLAIN)


def _words(hint: Any) -> list[str]:
    known = {bool: "True or False", int: "a whole number", float: "a number", str: "a text", type(None): "None"}
    found = []
    for one in _options(hint):
        if get_origin(one) in (tuple, Sequence):
            found.append(f"a list, each item {' or '.join(_words(get_args(one)[0]))}")
        elif get_origin(one) is Literal:
            found.append(f"one of {', '.join(map(str, get_args(one)))}")
        else:
            found.append(known.get(one) or f"of type {getattr(one, '__name__', one)}")
    return found
