"""Findings of cfn-lint; its rules are loaded once for all templates, and what takes most of its time is replaced."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any

import cfnlint.context.context
import cfnlint.jsonschema.validators
from cfnlint.config import ConfigMixIn, ManualArgs
from cfnlint.decode.decode import decode_str
from cfnlint.jsonschema._utils import Unset
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
        created = _create(validators=validators, function_filter=function_filter, fn_resolvers=fn_resolvers)
        created.evolve = _evolved
        _classes[key] = created
    return _classes[key]


def _evolved(before: Any, **changes: Any) -> Any:
    """A copy with other values: the same as its own, which asks for each field in turn, a fifth of its time."""
    result = object.__new__(type(before))
    vars(result).update(vars(before), **changes)
    return result


def _evolved_context(before: Any, **changes: Any) -> Any:
    if "ref_values" in changes:
        changes["ref_values"] = {**before.ref_values, **changes["ref_values"]}
    result = _evolved(before, **changes)
    if "resources" in changes:
        vars(result).pop("module_names", None)  # derived from them
    return result


def _supplement(rule: Any, validator: Any, keywords: Sequence[str], instance: Any, schema: Any) -> Iterator[Any]:
    """Run the rules that have a keyword: its own compares each keyword with those of all rules, a tenth of its time."""
    unmarked = validator.function_filter.evolve(add_cfn_lint_keyword=False)
    validator = validator.evolve(function_filter=unmarked)
    if "by_keyword" not in vars(rule):
        rule.by_keyword = defaultdict(list)
        for child in rule.child_rules.values():
            for keyword in child.keywords if child and child.id else ():
                rule.by_keyword[keyword].append(child)
    for keyword in keywords:
        for child in rule.by_keyword.get(keyword, ()):
            for error in child.validate(validator, keyword, instance, schema):
                if error.rule is None and isinstance(error.validator, Unset):
                    error.rule = child
                yield error


cfnlint.jsonschema.validators.create = _class_of
cfnlint.jsonschema.validators.CfnTemplateValidator.evolve = _evolved
cfnlint.context.context.Context.evolve = _evolved_context
cfnlint.context.context.Path.evolve = _evolved


def matches(template: str, region: str = "us-east-2") -> list[Match]:
    """All that it finds in the text of a template."""
    runner = _runner()
    runner.config = ConfigMixIn(**ManualArgs(regions=[region]))
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
    result = Runner(ConfigMixIn(**ManualArgs()))
    type(result.rules["E1101"]).cfnLint = _supplement
    return result
