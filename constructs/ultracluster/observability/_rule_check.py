"""Validation of rule files."""

import re
from collections.abc import Iterator, Mapping

from ultracluster.catalogue.monitoring import DEFINITION_BYTES, RULES

#: Labels that have a new value for each process, request or moment: a recording rule that keeps one makes series
#: without end, each of which is paid for and counts for two hours. A choice of this library.
UNBOUNDED_LABELS = frozenset(
    {
        *("comm_id", "container_id", "pid", "pod_uid", "request_id", "session_id", "span_id", "tid", "time"),
        *("timestamp", "trace_id", "url"),
    }
)
_NAME = re.compile(r"[0-9A-Za-z][-.0-9A-Z_a-z]{0,63}", re.ASCII)
# Read as text: a reader of YAML would take longer than all the rest of a synthesis.
_GROUPS = re.compile(r"^groups:", re.MULTILINE)
_RULE = re.compile(r"^\s*-\s+(?=(?:record|alert|expr|labels|for):)", re.MULTILINE)
_RECORD = re.compile(r"^\s*record:\s*[\"']?([^\s\"'#][^\n\"'#]*?)[\"']?\s*(?:#.*)?$", re.MULTILINE)
_ALERT = re.compile(r"^\s*alert:\s*[\"']?([^\s\"'][^\n]*)", re.MULTILINE)
_EXPRESSION = re.compile(r"^\s*expr:\s*(?:[|>][-+]?\s*\n\s*)?(?![\"']{2}\s*$)\S", re.MULTILINE)
_GROUP = re.compile(r"^\s*-?\s*name:\s*[\"']?([^\s\"']+)", re.MULTILINE)
_LABELS = re.compile(
    r"^(?P<indent>[ \t]*)labels:[ \t]*(?:\{(?P<flow>[^}]*)\}|\n(?P<block>(?:(?P=indent)[ \t]+[^\n]*\n?)+))",
    re.MULTILINE,
)
_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_METRIC = re.compile(r"[A-Za-z_:][A-Za-z0-9_:]*", re.ASCII)
_TAB = re.compile(r"^ *\t", re.MULTILINE)
_KEPT = re.compile(r"\bby\s*\(([^)]*)\)|\bgroup_(?:left|right)\s*\(([^)]*)\)")


def rule_problems(rules: Mapping[str, str]) -> Iterator[str]:
    """Everything that is wrong with rule files, by the name of their namespace."""
    number = 0
    for name, text in rules.items():
        if not _NAME.fullmatch(name):
            yield f"{name!r} is no name of a namespace: letters, digits, dots, hyphens and underscores, 64 at most"
        size = len(text.encode())
        if size > DEFINITION_BYTES:
            yield f"{name} has {size:,} bytes, and a namespace takes {DEFINITION_BYTES:,}"
            continue
        parts = _RULE.split(text)[1:]
        if not _GROUPS.search(text) or not parts:
            yield f"{name} is no rule file: it needs groups with names and rules, as promtool check rules wants them"
            continue
        number += len(parts)
        yield from _form_problems(name, text, parts)
        for rule in parts:
            record = _RECORD.search(rule)
            kept = sorted(_kept(rule) & UNBOUNDED_LABELS)
            if record and kept:
                yield (
                    f"{name}: {record[1]} keeps the label {kept[0]}, whose values have no bound, so that its "
                    "series never stop growing in number; aggregate it away"
                )
    if number > RULES:
        yield f"there are {number:,} rules, and a workspace takes {RULES:,} unless its quota is raised"


def _form_problems(name: str, text: str, rules: list[str]) -> Iterator[str]:
    """Yield the problems for which Prometheus rejects a file, except those of PromQL."""
    if _TAB.search(text):
        yield f"{name} is indented with tabs, which YAML does not take"
    groups = _GROUP.findall(text)
    for group in sorted({group for group in groups if groups.count(group) > 1}):
        yield f"{name} has the group {group} twice"
    for index, rule in enumerate(rules, 1):
        record, alert = _RECORD.search(rule), _ALERT.search(rule)
        called = record[1] if record else alert[1].strip("\"' ") if alert else f"rule {index}"
        if bool(record) == bool(alert):
            yield f"{name}: {called} must have one of record and alert, with a name"
        elif record and not _METRIC.fullmatch(record[1]):
            yield f"{name}: {record[1]!r} is no name of a metric: letters, digits, underscores and colons"
        if not _EXPRESSION.search(rule):
            yield f"{name}: {called} has no expr"
        for label in _labels(rule):
            if label == "__name__" or (record and label == "alertname") or not _LABEL.fullmatch(label):
                yield f"{name}: {called} has the label {label!r}: letters, digits and underscores, and not __name__"


def _labels(rule: str) -> list[str]:
    match = _LABELS.search(rule)
    if match is None:
        return []
    if match["flow"] is not None:
        parts = match["flow"].split(",")
    else:
        # Those of the first depth: what is deeper belongs to a text of several lines.
        lines = match["block"].splitlines()
        depth = len(lines[0]) - len(lines[0].lstrip())
        parts = [line for line in lines if len(line) - len(line.lstrip()) == depth]
    return [part.partition(":")[0].strip("\"' ") for part in parts if ":" in part]


def _kept(rule: str) -> set[str]:
    lists = (part for match in _KEPT.finditer(rule) for part in match.groups() if part)
    return {label.strip() for part in lists for label in part.split(",")}
