"""The text of a template, JSON or YAML, as plain data: strictly, for a key that is lost in silence may be a policy."""

import json
import math
from collections.abc import Hashable
from typing import Any, NoReturn

import yaml  # type: ignore[import-untyped]  # no stubs

_OF_ENTRIES = ("Resources", "Parameters", "Mappings", "Conditions", "Outputs", "Rules", "Hooks")
#: Sections of a template.
SECTIONS = frozenset((*_OF_ENTRIES, "AWSTemplateFormatVersion", "Description", "Metadata", "Transform"))
# Deeper than any template; it keeps what walks a template from running out of stack.
MAX_DEPTH = 100
_TOO_DEEP = f"it is nested more than {MAX_DEPTH} levels deep"


class UnreadableError(ValueError):
    """The text is neither JSON nor YAML as CloudFormation reads it."""


def read(text: str) -> Any:
    """Read JSON, or YAML with CloudFormation's short tags (`!Ref`, `!Sub`, ...).

    Raises:
        UnreadableError: for what is neither, a repeated key in one mapping, YAML aliases, which CloudFormation
            does not take, and numbers that JSON does not have.
    """
    if not text.strip():
        raise UnreadableError("it is empty")
    content = _json_or_yaml(text)
    check_plain(content)
    return content


def check_plain(node: Any) -> None:
    """Raise UnreadableError for what JSON cannot hold, and what is nested deeper than any template."""
    level, depth = [node], 0
    while level:
        if depth > MAX_DEPTH:
            raise UnreadableError(_TOO_DEEP)
        below: list[Any] = []
        for item in level:
            if isinstance(item, str) or item is None:
                continue
            if isinstance(item, dict):
                if not all([isinstance(key, str) for key in item]):
                    raise UnreadableError("a key must be a text")
                below += item.values()
            elif isinstance(item, list):
                below += item
            elif not isinstance(item, int) and not (isinstance(item, float) and math.isfinite(item)):
                raise UnreadableError(f"{item!r:.60} is no value that JSON has")
        level, depth = below, depth + 1


def _json_or_yaml(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        no_json = str(error)
    except RecursionError:
        raise UnreadableError(_TOO_DEEP) from None
    except ValueError as error:  # a number of thousands of digits, a repeated key
        raise UnreadableError(str(error)) from None
    try:
        return _yaml(text)
    except UnreadableError:
        if text.lstrip().startswith(("{", "[")):  # JSON, or YAML in flow style, which is rare: JSON's message serves
            raise UnreadableError(f"it is no JSON: {no_json}") from None
        raise


def _yaml(text: str) -> Any:
    try:
        _look_ahead(text)
        return yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise UnreadableError(f"{where}{error.problem or error.context}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise UnreadableError(str(error)) from None


def _look_ahead(text: str) -> None:
    """Refuse aliases and depth before a tree is built: libyaml builds it on the stack of the process."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise UnreadableError(_TOO_DEEP)
        if isinstance(event, yaml.AliasEvent):
            line = event.start_mark.line + 1
            raise UnreadableError(f"line {line}: CloudFormation does not support YAML aliases; write the value out")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = sorted({key for key in keys if keys.count(key) > 1})
        raise UnreadableError(f"a key is repeated in one object: {', '.join(map(json.dumps, twice))}")
    return mapping


def _no_constant(name: str) -> NoReturn:
    raise UnreadableError(f"{name} is no JSON")


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # no stubs
    """YAML as CloudFormation reads it: short tags for intrinsics, dates left as strings, no aliases."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:
        """Make a mapping of a node, each key once and a text."""
        mapping: dict[Hashable, Any] = {}
        for key_node, value_node in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key_node, yaml.ScalarNode) and not isinstance(key, str):
                # As CloudFormation does: an account id is a key of a mapping, and a key is a text.
                key = key_node.value
            if not isinstance(key, str):
                raise _at(key_node.start_mark, "a key must be a text")
            if key in mapping:
                raise _at(key_node.start_mark, f"the key {json.dumps(key)} is repeated in one mapping")
            mapping[key] = self.construct_object(value_node, deep=True)
        return mapping


_Loader.yaml_implicit_resolvers = {
    first: [(tag, expression) for tag, expression in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _at(mark: Any, problem: str) -> Exception:
    error: Exception = yaml.constructor.ConstructorError(None, None, problem, mark)
    return error


def _short_tag(loader: Any, suffix: str, node: Any) -> dict[str, Any]:
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_mapping(node, deep=True)
    return {suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}": value}


def _mapping(loader: Any, node: Any) -> dict[Hashable, Any]:
    mapping: dict[Hashable, Any] = loader.construct_mapping(node)
    return mapping


_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)
_Loader.add_multi_constructor("!", _short_tag)
