"""Requirements of Amazon Managed Prometheus on its documents. Sources were read on 2026-11-24."""

import re
from collections.abc import Generator, Iterator, Mapping
from functools import lru_cache
from typing import Any

import yaml  # type: ignore[import-untyped]  # no stubs

from cdk_rehearsal.registry._rule_values import text_at

# libyaml's parser is thirty times as fast as PyYAML's own, which a build without libyaml has alone.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CLOSING = {")": "(", "]": "[", "}": "{"}
_QUOTED = re.compile(r"""#.*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`""")


def rule_groups(properties: Mapping[str, Any]) -> Iterator[str]:
    """Check the structure of rule groups, and the brackets of their expressions."""
    # https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-ruler-rulesfile.html
    text = text_at(properties, "Data")
    yield from _group_problems(text) if text is not None else ()


@lru_cache(maxsize=64)
def _group_problems(text: str) -> tuple[str, ...]:
    """Return the problems of a file of rules: a comparison reads the same files on both sides."""
    return tuple(_problems_of_groups(text))


def _problems_of_groups(text: str) -> Iterator[str]:
    document = yield from _document(text, "Data", "groups")
    groups: Any = document.get("groups") if document else None
    names = [group.get("name") for group in groups if isinstance(group, dict)] if isinstance(groups, list) else []
    for twice in sorted({name for name in names if isinstance(name, str) and names.count(name) > 1}):
        yield f"#/Data: two groups have the name {twice}"
    for group in groups if isinstance(groups, list) else ():
        name = group.get("name") if isinstance(group, dict) else None
        rules = group.get("rules") if isinstance(group, dict) else None
        if not isinstance(name, str) or not isinstance(rules, list):
            yield f"#/Data: a group needs a name and rules, got {str(group)[:60]}"
            continue
        for rule in rules:
            if not isinstance(rule, dict) or ("record" in rule) == ("alert" in rule) or "expr" not in rule:
                yield f"#/Data: a rule of {name} needs expr and either record or alert, got {str(rule)[:60]}"
            elif not _balanced(str(rule["expr"])):
                yield f"#/Data: {rule.get('record', rule.get('alert'))} in {name}: brackets of expr do not match"


def alert_manager(properties: Mapping[str, Any]) -> Iterator[str]:
    """Check that the definition of an alert manager has its configuration."""
    # https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-alertmanager-config.html
    text = text_at(properties, "AlertManagerDefinition")
    if text is None:
        return
    document = yield from _document(text, "AlertManagerDefinition", "alertmanager_config")
    try:
        config = yaml.load(str(document["alertmanager_config"]), Loader=_LOADER) if document else None
    except yaml.YAMLError as error:
        yield f"#/AlertManagerDefinition: alertmanager_config is not valid YAML: {str(error).splitlines()[0]}"
        return
    if not isinstance(config, dict):
        return
    receivers = {row.get("name"): row for row in config.get("receivers") or () if isinstance(row, dict)}
    for name, row in receivers.items():
        for kind in row.keys() - {"name", "sns_configs", "pagerduty_configs"}:
            yield f"#/AlertManagerDefinition: the receiver {name} has {kind}; the service supports SNS and PagerDuty"
    routes = [config.get("route")]
    if not isinstance(routes[0], dict) or not routes[0].get("receiver"):
        yield "#/AlertManagerDefinition: the first route needs a receiver"
    while routes:
        route = routes.pop()
        if not isinstance(route, dict):
            continue
        if (name := route.get("receiver")) is not None and name not in receivers:
            yield f"#/AlertManagerDefinition: a route names the receiver {name}, which is not there"
        below = route.get("routes")
        routes += below if isinstance(below, list) else []


def _document(text: str, name: str, key: str) -> Generator[str, None, dict[str, Any] | None]:
    try:
        document = yaml.load(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        yield f"#/{name}: not valid YAML: {str(error).splitlines()[0]}"
        return None
    if not isinstance(document, dict) or not document.get(key):
        yield f"#/{name}: needs the key {key}"
        return None
    return document


def _balanced(expression: str) -> bool:
    opened: list[str] = []
    for letter in _QUOTED.sub("", expression):
        if letter in _CLOSING.values():
            opened.append(letter)
        elif letter in _CLOSING and (not opened or opened.pop() != _CLOSING[letter]):
            return False
    return not opened
