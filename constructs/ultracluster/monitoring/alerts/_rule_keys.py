"""Keys and values of rule files, as Prometheus decodes them: strictly.

See: https://github.com/prometheus/prometheus/blob/main/model/rulefmt/rulefmt.go, `RuleGroup`, `Rule` and
`Rule.Validate`; https://github.com/prometheus/common/blob/main/model/time.go, `ParseDuration` (both read 2026-11-26)
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ultracluster.rules import nearest

_FILE = ("groups",)
_GROUP = ("name", "interval", "query_offset", "limit", "rules", "labels")
_RULE = ("record", "alert", "expr", "for", "keep_firing_for", "labels", "annotations")
_DURATIONS = ("interval", "query_offset", "for", "keep_firing_for")
_OF_ALERTS = ("for", "keep_firing_for", "annotations")
# Each unit at most once, the longest first.
_DURATION = re.compile(r"0|(?=.)" + "".join(rf"([0-9]+{unit})?" for unit in ("y", "w", "d", "h", "m", "s", "ms")))

_NOTHING = re.compile(r"(0\w*)+")


def file_key_problems(document: Any) -> Iterator[str]:
    """Yield the problems of a document, except those of the rules in it."""
    if not isinstance(document, Mapping):
        return
    yield from _unknown(document, _FILE, "a rule file")
    groups = document.get("groups")
    for number, group in enumerate(groups if isinstance(groups, list) else (), 1):
        if not isinstance(group, Mapping):
            yield f"group {number} is {group!r}; write a group with a name and rules"
            continue
        called = f"group {group.get('name') or number}"
        if not group.get("name"):
            yield f"{called} has no name"
        yield from (f"{called} {text}" for text in (*_unknown(group, _GROUP, "a group"), *_values(group)))
        limit = group.get("limit")
        if limit is not None and type(limit) is not int:
            yield f"{called} has limit: {limit}; write a whole number of series or alerts, or 0 for no limit"
        rules = group.get("rules")
        if not isinstance(rules, list | None):
            yield f"{called} has rules: {rules!r}; write a list of rules"
        for index, rule in enumerate(rules if isinstance(rules, list) else (), 1):
            if not isinstance(rule, Mapping):
                yield f"{called}: rule {index} is {rule!r}; write a rule with record or alert, and expr"


def rule_key_problems(rule: Mapping[str, Any]) -> Iterator[str]:
    """Yield the problems of the keys and values of a rule, without its name."""
    yield from _unknown(rule, _RULE, "a rule")
    yield from _values(rule)
    if rule.get("record"):
        for key in _OF_ALERTS:
            if rule.get(key) and not _NOTHING.fullmatch(str(rule[key])):
                yield f"has {key}, which alerts have, and it records; remove it"
        return
    for key in ("labels", "annotations"):
        texts = rule.get(key)
        for name, text in texts.items() if isinstance(texts, Mapping) else ():
            if "{{" in re.sub(r"\{\{.*?\}\}", "", str(text), flags=re.DOTALL):
                yield f"has {key}: {{{name}: ...}} with a template that does not end: {{{{ without }}}}"


def _values(keys: Mapping[str, Any]) -> Iterator[str]:
    for key in _DURATIONS:
        if keys.get(key) is not None and not _DURATION.fullmatch(str(keys[key])):
            yield f"has {key}: {keys[key]}; write a duration such as 10m"
    for key in ("labels", "annotations"):
        texts = keys.get(key)
        if texts is not None and not isinstance(texts, Mapping):
            yield f"has {key}: {texts!r}; write names with texts, as in {key}: {{team: nlp}}"
            continue
        for name, text in (texts or {}).items():
            if isinstance(text, Mapping | list):
                yield f"has {key}: {{{name}: ...}} with a list or keys in place of a text; write it in quotes"


def _unknown(keys: Mapping[str, Any], known: tuple[str, ...], what: str) -> Iterator[str]:
    for key in keys:
        if key not in known:
            near = nearest(str(key), known, 0.6)  # `for` is short
            hint = f"did you mean {near}?" if near else f"{what} has {', '.join(known)}"
            yield f"has the key {key}, which Prometheus rejects; {hint}"
