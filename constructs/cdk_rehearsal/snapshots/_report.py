"""Text of a difference."""

import difflib
import json
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from itertools import islice
from typing import Any

from cdk_rehearsal.snapshots._changes import Change

_MOST_LINES = 200
_MOST_LINES_OF_ONE = 20
_LONGEST_VALUE = 160
_NO_SCHEMAS = 'To see which changes replace a resource: pip install "cdk-ultracluster[guard]"'


def describe(changes: Iterable[Change]) -> list[str]:
    lines = [line for change in changes for line in _lines(change)]
    if len(lines) > _MOST_LINES:
        lines = [*lines[:_MOST_LINES], f"... {len(lines) - _MOST_LINES} more lines"]
    return lines if find_spec("cfnlint") else [*lines, _NO_SCHEMAS]


def _lines(change: Change) -> Iterator[str]:
    whole = [pair for pair in change.differences if not pair[0] and None in pair[1:]]
    sign = "~" if not whole else "+" if whole[0][1] is None else "-"
    name = change.logical_id if change.section == "Resources" else f"{change.section}.{change.logical_id}"
    name = f"{change.stack}/{name}" if change.stack else name
    yield "  ".join(filter(None, [f"{sign} {name}", change.type, change.path]))
    for effect in change.effects:
        yield f"    {effect}"
    if whole and change.section == "Resources":
        return
    shown = (line for path, old, new in change.differences for line in _difference(path, old, new))
    yield from islice(shown, _MOST_LINES_OF_ONE)
    if rest := sum(1 for _ in shown):
        yield f"    ... {rest} more lines"


def _difference(path: str, old: Any, new: Any) -> Iterator[str]:
    if isinstance(old, str) and isinstance(new, str) and ("\n" in old or "\n" in new):
        yield f"    {path}:"
        lines = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=0)
        yield from (f"      {line[:_LONGEST_VALUE]}" for line in islice(lines, 2, None) if not line.startswith("@@"))
        return
    first, second = (_value(old), _value(new))
    if max(len(first), len(second)) > _LONGEST_VALUE:
        # Both from the first difference on, with a few characters before it.
        common = next((n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), 0)
        first, second = (_cut(text, max(common - 20, 0)) for text in (first, second))
    yield f"    {path}: {first} -> {second}" if path else f"    {first} -> {second}"


def _cut(text: str, start: int) -> str:
    end = start + _LONGEST_VALUE
    return f"{'...' if start else ''}{text[start:end]}{'...' if len(text) > end else ''}"


def _value(value: Any) -> str:
    return "not set" if value is None else json.dumps(value, sort_keys=True)
