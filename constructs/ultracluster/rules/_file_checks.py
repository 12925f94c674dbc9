"""Checks of a cluster file by packages above `clusterfile`, such as the platform of Kubernetes."""

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

#: Returns the errors of a cluster file that has no others: `clusterfile.Problem`s of a `clusterfile.ClusterFile`.
FileCheck: TypeAlias = Callable[[Any], Iterable[Any]]
_SOURCES: list[Callable[[], Iterable[FileCheck]]] = []


def add_file_checks(source: Callable[[], Iterable[FileCheck]]) -> None:
    """Register checks of a cluster file.

    Args:
        source: Returns the checks. It is called when a file is read, so that it can import their packages then.
    """
    _SOURCES.append(source)


def file_checks() -> list[FileCheck]:
    """Return the registered checks."""
    return [check for source in _SOURCES for check in source()]
