"""Plug-ins for `cdk_rehearsal`: updates that services reject, and updates that nodes take over in place."""

import re
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


def _node_scripts(old: _Properties, new: _Properties) -> dict[str, str]:
    from ultracluster.boot import UPDATE_MINUTES, node_scripts_parameter

    name = old.get("Name")
    if not isinstance(name, str) or not re.fullmatch(node_scripts_parameter("[^/]+"), name):
        return {}
    if old.get("Value") == new.get("Value"):
        return {}
    return {"Value": f"all nodes have its checks and collectors within {UPDATE_MINUTES} minutes; none is replaced"}


#: Argument `in_place` of `guard.compare`.
IN_PLACE: Mapping[str, tuple[Callable[[_Properties, _Properties], Mapping[str, str]], ...]] = MappingProxyType(
    {"AWS::SSM::Parameter": (_node_scripts,)}
)
