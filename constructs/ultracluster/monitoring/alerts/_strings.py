"""Strings and regular expressions as Prometheus and Alertmanager read them: those of Go.

See: https://go.dev/ref/spec#String_literals and https://github.com/google/re2/wiki/Syntax (read 2026-11-24).
"""

import re

_ESCAPE = (
    r"""\\(?:[abfnrtv\\]|[0-7]{3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|(?=(?P<quote>['"]))(?P=quote))"""
)
_CHARACTER = re.compile(rf"{_ESCAPE}|(?P<plain>[^\\])", re.DOTALL)
# Letters and numbers after a backslash that Go lacks, and groups that it lacks.
_UNKNOWN = re.compile(r"\\[1-9ceghijkloqruyGHIJKLMNOPRTUVXYZ]|\(\?(?:[=!>#(]|<[=!]|P[=>])")
# What Go has and Python lacks, as something that Python has: characters, classes, names and flags of groups.
_AS_PYTHON = (
    (re.compile(r"\\Q.*?(?:\\E|$)", re.DOTALL), "x"),
    (re.compile(r"\\(?:[pP](?:\{\w+\}|\w)|x\{[0-9A-Fa-f]+\}|.)", re.DOTALL), "x"),
    (re.compile(r"\[:\^?\w+:\]"), "x"),
    (re.compile(r"\[\^?\]?[^\]]*\]"), "x"),
    (re.compile(r"\(\?P?<\w+>|\(\?[imsU-]*:"), "("),
    (re.compile(r"\(\?[imsU-]+\)"), ""),
)
_POSSESSIVE = re.compile(r"[*+?}]\+")


def string_problem(literal: str) -> str | None:
    r"""Return the error of a literal in its quotes, such as `"a\.b"`, or None."""
    if literal[0] == "`":
        return None
    body, place = literal[1:-1], 0
    while place < len(body):
        match = _CHARACTER.match(body, place)
        if match is None or match["quote"] not in (None, literal[0]):
            return f"\\{body[place + 1]} is no escape in a string; write \\\\{body[place + 1]}, or quote it with `"
        place = match.end()
    return None


def regex_problem(literal: str) -> str | None:
    """Return the error of the regular expression in a literal that has no `string_problem`, or None."""
    text = literal[1:-1] if literal[0] == "`" else literal[1:-1].replace("\\\\", "\\")
    # A backslash before a backslash is a character.
    if unknown := _UNKNOWN.search(text.replace("\\\\", "xx")):
        return f"{text!r} is no regular expression of RE2, which has no {unknown[0]}"
    for pattern, replacement in _AS_PYTHON:
        text = pattern.sub(replacement, text)
    try:
        re.compile(text)
    except re.error as error:
        return f"{literal[1:-1]!r} is no regular expression: {error.msg}"
    if _POSSESSIVE.search(text):
        return f"{literal[1:-1]!r} is no regular expression of RE2: multiple repeat"
    return None
