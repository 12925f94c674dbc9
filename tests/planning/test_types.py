"""Types of arguments, checked at run time."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from ipaddress import IPv4Network
from typing import Any, Literal, NamedTuple, Protocol

import pytest
from jsii._reference_map import InterfaceDynamicProxy
from pydantic import ConfigDict, TypeAdapter, ValidationError

from ultracluster.planning._types import _checkable, _fits, type_errors

PROXY: Any = InterfaceDynamicProxy
STRICT = ConfigDict(strict=True, arbitrary_types_allowed=True)


class Subnet(Protocol):
    @property
    def subnet_id(self) -> str: ...


class Remote:
    """As jsii represents an object in Node."""

    @property
    def subnet_id(self) -> str:
        raise AssertionError("a call to Node")


def create(*, subnet: Subnet) -> None:
    """Take an interface."""


def test_an_interface_is_checked_without_reading_a_property() -> None:
    assert type_errors(create, {"subnet": PROXY([object(), Remote()])}) == []


def test_a_proxy_of_other_interfaces_is_refused() -> None:
    (error,) = type_errors(create, {"subnet": PROXY([object()])})
    assert "Subnet" in str(error)


class Word(StrEnum):
    A = "a"


class Pair(NamedTuple):
    left: int
    right: str


HINTS: tuple[Any, ...] = (
    *(Any, None, bool, bytes, float, int, str, IPv4Network, Pair, Word, Callable[[], int], list[int], dict[str, int]),
    *(Sequence[int], Sequence[str], Sequence[Pair], Mapping[str, int], Mapping[str, Sequence[int]]),
    *(tuple[int, ...], tuple[int, str], tuple[()], int | None, str | Sequence[str] | None, Literal["a", "b"] | None),
)
VALUES: tuple[object, ...] = (
    *(None, True, 0, 1.5, "", "a", "\ud800", b"a", Word.A, IPv4Network("10.0.0.0/8"), Pair(1, "a"), object(), int, len),
    *([], [1], [True], ["a"], ["\ud800"], [None], (), (1,), (1, "a"), {1}, {"a": 1}, {"a": "b"}, {1: 1}, {"a": [1]}),
    *([Pair(1, "a")], [Pair("x", 1)], Pair("x", 1)),  # type: ignore[arg-type]
)


@pytest.mark.parametrize("hint", HINTS, ids=str)
def test_what_fits_without_pydantic_is_what_pydantic_accepts(hint: Any) -> None:
    adapter = TypeAdapter(_checkable(hint), config=STRICT)
    for value in filter(lambda value: _fits(hint, value), VALUES):
        try:
            adapter.validate_python(value)
        except ValidationError as error:
            raise AssertionError(f"{value!r} as {hint}") from error


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (str, "a"),
        (int, 1),
        (int | None, None),
        (Sequence[str], ["a"]),
        (Mapping[str, int], {"a": 1}),
        (tuple[int, ...], (1,)),
    ],
)
def test_usual_arguments_fit_without_pydantic(hint: Any, value: object) -> None:
    assert _fits(hint, value)
