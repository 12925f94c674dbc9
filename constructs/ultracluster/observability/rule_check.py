"""Whether rule files are what a workspace takes, and can be kept in."""

import re
from collections.abc import Iterator, Mapping

from ultracluster.hardware.prometheus import DEFINITION_BYTES, RULES

#: Labels that have a new value for each process, request or moment: a recording rule that keeps one makes series
#: without end, each of which is paid for and counts for two hours. A choice of ours.
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
_RECORD = re.compile(r"^\s*record:\s*[\"']?([^\s\"']+)", re.MULTILINE)
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
        found = _RULE.split(text)[1:]
        if not _GROUPS.search(text) or not found:
            yield f"{name} is no rule file: it needs groups with names and rules, as promtool check rules wants them"
            continue
        number += len(found)
        for rule in found:
            record = _RECORD.search(rule)
            kept = sorted(_kept(rule) & UNBOUNDED_LABELS)
            if record and kept:
                yield (
                    f"{name}: {record[1]} keeps the label {kept[0]}, whose values have no bound, so that its "
                    "series never stop growing in number; aggregate it away"
                )
    if number > RULES:
        yield f"there are {number:,} rules, and a workspace takes {RULES:,} unless its quota is raised"


def _kept(rule: str) -> set[str]:
    lists = (part for match in _KEPT.finditer(rule) for part in match.groups() if part)
    return {label.strip() for part in lists for label in part.split(",")}
