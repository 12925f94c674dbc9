"""Plug-in for `cdk_rehearsal`: updates that services reject, from the facts of the catalogue."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

_Properties = Mapping[str, Any]


def _file_system(old: _Properties, new: _Properties) -> dict[str, str]:
    # Imported on use: each pytest run loads this package, because it holds a pytest plugin.
    from ultracluster.planning.lustre import update_problems

    return update_problems(old, new)


#: Argument `update_rules` of `guard.compare`, `rehearse` and `LocalCloud`.
UPDATE_RULES: Mapping[str, tuple[Callable[[_Properties, _Properties], Mapping[str, str]], ...]] = MappingProxyType(
    {"AWS::FSx::FileSystem": (_file_system,)}
)
