"""Replacements of the functions of cfn-lint that take most of its time, with the same results.

It validates a template as JSON Schema does, in a hundred thousand small steps, and copies what it knows for each. Of
the 300 rules, most validate parts of which a schema names them; it asks each of them about each resource all the same.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from importlib import import_module
from typing import Any

import cfnlint.context.context
import cfnlint.jsonschema.validators
from cfnlint.helpers import FUNCTIONS
from cfnlint.jsonschema._filter import FunctionFilter
from cfnlint.jsonschema._utils import Unset
from cfnlint.jsonschema.exceptions import UnknownType
from cfnlint.match import Match
from cfnlint.rules import CloudFormationLintRule
from cfnlint.rules._rules import Rules
from cfnlint.rules.jsonschema.Base import BaseJsonSchema
from cfnlint.schema.resolver import RefResolver
from cfnlint.template import Template

_create = cfnlint.jsonschema.validators.create
_regex: Any = import_module("regex._main")
_compile = _regex._compile
_run = Rules.run
_search_keys = Template._search_deep_keys
_resolver_of: Any = RefResolver.from_schema


@cache
def install() -> None:
    """Replace it in this process."""
    validators: Any = cfnlint.jsonschema.validators
    context: Any = cfnlint.context.context
    context.fields = validators.fields = cache(fields)
    validators.create = _class_of
    for kind in (context.Path, FunctionFilter):
        kind.evolve = _evolved
    _quick(validators.CfnTemplateValidator)
    context.Context.evolve = _evolved_context
    _regex._compile = _compiled
    replaced: list[tuple[Any, str, Any]] = [
        (BaseJsonSchema, "extend_validator", _extended),
        (RefResolver, "from_schema", _resolver),
        (Rules, "run", _run_rules),
        (Template, "_search_deep_keys", _search),
    ]
    for owner, name, value in replaced:
        setattr(owner, name, value)


_classes: dict[tuple[object, ...], Any] = {}


def _class_of(validators: Mapping[str, Any], function_filter: Any, fn_resolvers: Mapping[str, Any]) -> Any:
    """Return the class of a validator: cfn-lint writes the same few dozen hundreds of times."""
    key = (repr(function_filter), *validators.items(), "", *fn_resolvers.items())
    if key not in _classes:
        _classes[key] = _quick(
            _create(validators=validators, function_filter=function_filter, fn_resolvers=fn_resolvers)
        )
    return _classes[key]


def _quick(kind: Any) -> Any:
    kind.evolve, kind.descend, kind.is_type = _evolved, _descend, _is_type
    return kind


def _is_type(validator: Any, instance: Any, type: Any) -> Any:
    checker = validator._type_checker
    if type not in checker.type_checkers:
        raise UnknownType(type, instance, validator.schema)
    return checker.type_checkers[type](checker, instance)


def _evolved(before: Any, **changes: Any) -> Any:
    """A copy with other values: the same as its own, which asks for each field in turn."""
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


def _descend(
    before: Any, instance: Any, schema: Any, path: Any = None, schema_path: Any = None, property_path: Any = None
) -> Iterator[Any]:
    """Validate a part; cfn-lint copies the context even where the path is the same."""
    context = before.context
    if path is not None or property_path is not None:
        if property_path in FUNCTIONS or isinstance(property_path, int):
            raise ValueError(property_path)
        steps = (("path", path), ("cfn_path", property_path))
        at = context.path
        longer = {name: deque((*getattr(at, name), step)) for name, step in steps if step is not None}
        context = _evolved(context, path=_evolved(at, **longer))
    for error in _evolved(before, schema=schema, context=context).iter_errors(instance):
        if path is not None:
            error.path.appendleft(path)
        if schema_path is not None:
            error.schema_path.appendleft(schema_path)
        yield error


def _supplement(rule: Any, validator: Any, keywords: Sequence[str], instance: Any, schema: Any) -> Iterator[Any]:
    """Run the rules that have a keyword: cfn-lint compares each keyword with those of all rules."""
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


_resolvers: dict[int, tuple[Any, Any]] = {}


def _resolver(schema: Any, **options: Any) -> Any:
    """Return what resolves the references of a schema; a new one would look for its ids again."""
    if options:
        return _resolver_of(schema, **options)
    if id(schema) not in _resolvers:
        if len(_resolvers) > 1000:
            _resolvers.clear()  # most schemas are parts of which cfn-lint makes new ones
        # With the schema, so that no other gets its id.
        _resolvers[id(schema)] = schema, _resolver_of(schema)
    return _resolvers[id(schema)][1]


def _extended(rule: Any, validator: Any, schema: Any, context: Any, validators: Any = None) -> Any:
    """Return a validator with the keywords of a rule: its own creates an empty template for each, with a graph."""
    extended = validator.extend(validators={**rule._get_validators(), **(validators or {})})
    if "empty" not in vars(extended):
        extended.empty = extended(schema=True)
    return _evolved(extended.empty, schema=schema, cfn=validator.cfn, context=context, resolver=_resolver(schema))


_patterns: dict[tuple[Any, int], Any] = {}


def _compiled(pattern: Any, flags: int, ignore_unused: bool, options: dict[str, Any], keep: bool) -> Any:
    """Return a compiled pattern: to look for it in its own cache, the module asks for the locale."""
    if options or ignore_unused or not keep:
        return _compile(pattern, flags, ignore_unused, options, keep)
    if (pattern, flags) not in _patterns:
        _patterns[pattern, flags] = _compile(pattern, flags, ignore_unused, options, keep)
    return _patterns[pattern, flags]


def _search(template: Any, name: Any, node: Any, path: list[Any]) -> list[Any]:
    """Return the paths of a key, with what it has; its own copies the path for each key."""
    if not isinstance(name, str):
        return list(_search_keys(template, name, node, path))
    result: list[Any] = []
    _search_in(name, node, [*path], result)
    return result


def _search_in(name: str, node: Any, path: list[Any], result: list[Any]) -> None:
    mapping = isinstance(node, dict)
    for key, value in node.items() if mapping else enumerate(node) if isinstance(node, list) else ():
        if mapping and key == name:
            result.append([*path, key, value])
        if isinstance(value, (dict, list)):
            path.append(key)
            _search_in(name, value, path, result)
            path.pop()


def _run_rules(rules: Any, filename: Any, cfn: Any, config: Any) -> Iterator[Match]:
    """Run those rules alone that do something for a template or for a type of resources."""
    if "cfn-lint" in cfn.template.get("Metadata", {}):
        # It may enable and configure rules.
        yield from _run(rules, filename, cfn, config)
        return
    if "active" not in vars(rules):
        _prepare(rules, config)
    for _, rule in rules.active["initialize"]:
        rule.initialize(cfn)

    def check(id: str, function: Any, *arguments: Any) -> Iterator[Match]:
        result = rules.run_check(function, filename, id, config, rules.enabled, filename, cfn, *arguments)
        yield from rules._filter_matches(rules.enabled, result)

    for id, rule in rules.active["match"]:
        yield from check(id, rule.matchall)
    for name, resource in cfn.get_resources().items():
        kind, properties = resource.get("Type"), resource.get("Properties")
        if isinstance(kind, str) and isinstance(properties, dict):
            path = ["Resources", name, "Properties"]
            for id, rule in rules.active["match_resource_properties"]:
                if kind in rule.resource_property_types:
                    yield from check(id, rule.matchall_resource_properties, properties, kind, path)


def _prepare(rules: Any, config: Any) -> None:
    """Configure the rules, and find out which of them override a method of their base."""
    every = rules.data
    for id, rule in every.items():
        rule.configure(config.configure_rules.get(id, None), config.include_experimental)
    rules.enabled = {id for id in every if rules.is_rule_enabled(id, config)}
    for id, rule in every.items():
        for key in rule.child_rules.keys() & every.keys():
            rule.child_rules[key] = every[key]
        for parent in {*rule.parent_rules} & every.keys():
            every[parent].child_rules[id] = rule

    def overriding(name: str) -> list[tuple[str, Any]]:
        base = getattr(CloudFormationLintRule, name)
        return [(id, rule) for id, rule in every.items() if getattr(type(rule), name) is not base]

    # They run the two methods that rules override.
    assert not overriding("matchall")
    assert not overriding("matchall_resource_properties")
    # The class of a rule is that of its plugin, not of the module of this name.
    type(every["E1101"]).cfnLint = _supplement
    rules.active = {name: overriding(name) for name in ("initialize", "match", "match_resource_properties")}
