"""Types of arguments, checked at run time."""

from typing import Any, Protocol

from jsii._reference_map import InterfaceDynamicProxy

from ultracluster.planning._types import type_errors

PROXY: Any = InterfaceDynamicProxy


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
