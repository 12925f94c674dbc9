"""Findings of cfn-lint; its rules are loaded once for all templates."""

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import Any

import cfnlint.context.context
import cfnlint.jsonschema.validators
from cfnlint.config import ConfigMixIn, ManualArgs
from cfnlint.decode.decode import decode_str
from cfnlint.match import Match
from cfnlint.runner import Runner

# It asks for the fields of two classes tens of thousands of times for a template, a tenth of its time.
cfnlint.context.context.fields = cfnlint.jsonschema.validators.fields = cache(fields)

_create = cfnlint.jsonschema.validators.create
_classes: dict[tuple[object, ...], Any] = {}


def _class_of(validators: Mapping[str, Any], function_filter: Any, fn_resolvers: Mapping[str, Any]) -> Any:
    """Return the class of a validator: it writes the same few dozen hundreds of times, another tenth of its time."""
    key = (repr(function_filter), *validators.items(), "", *fn_resolvers.items())
    if key not in _classes:
        _classes[key] = _create(validators=validators, function_filter=function_filter, fn_resolvers=fn_resolvers)
    return _classes[key]


cfnlint.jsonschema.validators.create = _class_of


def matches(template: str, region: str = "us-east-2") -> list[Match]:
    """All that it finds in the text of a template."""
    decoded, wrong = decode_str(template)
    return list(wrong) if decoded is None else list(_runner(region).validate_template(decoded))


def problems(template: str, region: str = "us-east-2") -> list[str]:
    """All that it finds, as text."""
    return list(_problems(template, region))


@cache
def _problems(template: str, region: str) -> tuple[str, ...]:
    # Several clusters have the same template of a stack.
    return tuple(f"{item.rule.id} {item.message}" for item in matches(template, region))


@cache
def _runner(region: str) -> Runner:
    return Runner(ConfigMixIn(**ManualArgs(regions=[region])))
