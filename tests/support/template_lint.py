"""Findings of cfn-lint, whose rules are loaded once for all templates; `quick_cfn_lint` halves its time."""

import json
from functools import cache
from typing import Any

from cfnlint.config import ConfigMixIn, ManualArgs
from cfnlint.decode.decode import decode_str
from cfnlint.decode.mark import Mark
from cfnlint.decode.node import dict_node, list_node, str_node
from cfnlint.match import Match
from cfnlint.runner import Runner

from support import quick_cfn_lint

quick_cfn_lint.install()

_NOWHERE = Mark(0, 0)


def matches(template: str, region: str = "us-east-2") -> list[Match]:
    """All that it finds in the text of a template."""
    runner = _runner()
    runner.config = ConfigMixIn(**ManualArgs(regions=[region]))
    # Its own reader notes the line of each word, a tenth of its time, and only what it finds has one.
    decoded = _decoded(template)
    if decoded is not None and not list(runner.validate_template(decoded)):
        return []
    decoded, wrong = decode_str(template)
    return list(wrong) if decoded is None else list(runner.validate_template(decoded))


def problems(template: str, region: str = "us-east-2") -> list[str]:
    """All that it finds, as text."""
    return list(_problems(template, region))


@cache
def _problems(template: str, region: str) -> tuple[str, ...]:
    # Several clusters have the same template of a stack.
    return tuple(f"{item.rule.id} {item.message}" for item in matches(template, region))


@cache
def _runner() -> Runner:
    return Runner(ConfigMixIn(**ManualArgs()))


def _decoded(template: str) -> Any:
    """Return the template without lines, or None if it is not plain JSON."""
    try:
        return json.loads(template, object_pairs_hook=_mapping)
    except ValueError:
        return None


def _mapping(pairs: list[tuple[str, Any]]) -> Any:
    result = {_node(key): _node(value) for key, value in pairs}
    if len(result) < len(pairs):
        raise ValueError("a key is there twice")
    return dict_node(result, _NOWHERE, _NOWHERE)


def _node(value: Any) -> Any:
    if isinstance(value, str):
        return str_node(value, _NOWHERE, _NOWHERE)
    if isinstance(value, list):
        return list_node([_node(item) for item in value], _NOWHERE, _NOWHERE)
    return value
