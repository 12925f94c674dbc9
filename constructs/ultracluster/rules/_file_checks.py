"""Checks of a cluster file by packages above `clusterfile`, such as the platform of Kubernetes."""

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

#: Yields the errors of a `clusterfile.ClusterFile`, as `clusterfile.Problem`s, until it reads a part that is not valid.
FileCheck: TypeAlias = Callable[[Any], Iterable[Any]]
_SOURCES: list[Callable[[Any], Iterable[FileCheck]]] = []


def add_file_checks(source: Callable[[Any], Iterable[FileCheck]]) -> None:
    """Register checks of a cluster file.

    Args:
        source: Returns the checks that a cluster file needs. It imports their packages, and no others.
    """
    _SOURCES.append(source)


def file_checks(cluster: Any) -> list[FileCheck]:
    """Return the registered checks of a cluster file."""
    return [check for source in _SOURCES for check in source(cluster)]
