"""A string that fits a schema's pattern, and the test whether one does."""

import re
import warnings
from collections.abc import Callable
from functools import lru_cache
from re import _constants as sre  # type: ignore[attr-defined]  # typeshed leaves out the parser of `re`
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import regex  # type: ignore[import-untyped]  # no stubs

# What Python's parser lacks and the schemas use: Unicode classes, as the ASCII part of them.
_UNICODE = {
    "L": "a-zA-Z",
    "Ll": "a-z",
    "Lu": "A-Z",
    "N": "0-9",
    "Nd": "0-9",
    "Z": " ",
    "Zs": " ",
    "S": "+",
    "P": "-",
}
_READABLE = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./: "
_CATEGORIES = {
    sre.CATEGORY_DIGIT: "0123456789",
    sre.CATEGORY_WORD: "abcdefghijklmnopqrstuvwxyz0123456789",
    sre.CATEGORY_SPACE: " ",
    sre.CATEGORY_NOT_SPACE: "abcdefghijklmnopqrstuvwxyz",
    sre.CATEGORY_NOT_WORD: "-",
    sre.CATEGORY_NOT_DIGIT: "abcdefghijklmnopqrstuvwxyz",
}
# A repetition with a low minimum still gets this many characters, so that generated ids differ from each other.
_PLENTY = 12


@lru_cache(maxsize=4096)
def compiled(pattern: str) -> Any | None:
    """Compile a schema's pattern; None for one that no engine here understands."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        try:
            return regex.compile(pattern)
        except regex.error:
            return None


def fits(value: str, schema: dict[str, Any]) -> bool:
    """Check that a string keeps the enum, pattern and length of its schema."""
    if "enum" in schema and value not in schema["enum"]:
        return False
    if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", 10**9):
        return False
    if "pattern" in schema:
        expression = compiled(schema["pattern"])
        return expression is None or expression.search(value) is not None
    return True


def generate(pattern: str, pick: Callable[[str], str]) -> str | None:
    """Return a string that a pattern describes, or None when the pattern uses what this does not understand.

    `pick` chooses from the characters that may stand next.
    """
    simple = re.sub(r"\\p\{(\w+)\}", lambda match: _UNICODE.get(match[1], "a-z"), pattern)
    # Inside brackets the class is right as it stands; outside, it needs brackets of its own.
    simple = re.sub(r"(?<![\[\w\-^\\.:/=+@ ])(a-zA-Z|a-z|0-9)(?=[*+?{]|$)", r"[\1]", simple)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            parsed = parser.parse(simple)
        return "".join(_walk(parsed, pick))
    except (re.error, RecursionError, KeyError, IndexError, OverflowError):
        return None


def _walk(nodes: Any, pick: Callable[[str], str]) -> list[str]:
    pieces: list[str] = []
    for op, argument in nodes:
        if op is sre.LITERAL:
            pieces.append(chr(argument))
        elif op is sre.NOT_LITERAL:
            pieces.append(pick(_READABLE.replace(chr(argument), "")))
        elif op is sre.ANY:
            pieces.append(pick(_CATEGORIES[sre.CATEGORY_WORD]))
        elif op is sre.IN:
            pieces.append(pick(_characters(argument)))
        elif op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            low, high, inner = argument
            single = len(inner) == 1 and inner[0][0] in (sre.IN, sre.ANY)
            for _ in range(min(max(low, _PLENTY), high) if single else low):
                pieces += _walk(inner, pick)
        elif op is sre.SUBPATTERN:
            pieces += _walk(argument[3], pick)
        elif op is sre.ATOMIC_GROUP:
            pieces += _walk(argument, pick)
        elif op is sre.BRANCH:
            pieces += _walk(max(argument[1], key=len), pick)
        # Anchors and look-arounds add no characters; the caller checks the result against the whole pattern.
    return pieces


def _characters(items: Any) -> str:
    characters, negated = "", False
    for op, argument in items:
        if op is sre.NEGATE:
            negated = True
        elif op is sre.LITERAL:
            characters += chr(argument)
        elif op is sre.RANGE:
            characters += "".join(chr(code) for code in range(argument[0], min(argument[1], argument[0] + 127) + 1))
        elif op is sre.CATEGORY:
            characters += _CATEGORIES[argument]
    allowed = [c for c in _READABLE if (c in characters) != negated]
    # Letters and digits where the class has any: an id of dots and slashes would be legal, and useless.
    return "".join(c for c in allowed if c.isalnum()) or "".join(allowed) or characters
