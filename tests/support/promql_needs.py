"""Metrics that an expression needs for a result."""

import re
from collections.abc import Iterable
from functools import cache, reduce

from ultracluster.monitoring.alerts._promql import _AGGREGATIONS, _LEVELS, _TOKEN
from ultracluster.monitoring.names import JOB_PROBLEM, PROBLEM

#: Sets of names, of which all names of one set must have samples.
Needs = frozenset[frozenset[str]]
_NOTHING: Needs = frozenset({frozenset()})
# They give a result without a sample.
_ALWAYS = {"absent", "absent_over_time", "scalar", "vector"}
_MATCHING = ("on", "ignoring", "group_left", "group_right", "by", "without")
_WHICH = re.compile(r'(?<=problem )=~? "([^"]*)"')


@cache
def needs(expr: str) -> Needs:
    """Return what must have samples, whatever they are, so that a right expression can have a result."""
    return _Expression(expr).binary(0)


def _least(sets: Iterable[frozenset[str]]) -> Needs:
    every = frozenset(sets)
    return frozenset(names for names in every if not any(fewer < names for fewer in every))


def _both(left: Needs, right: Needs) -> Needs:
    return _least(names | others for names in left for others in right)


class _Expression:
    """A recursive descent parser; each method returns what the part needs that it read."""

    def __init__(self, expr: str) -> None:
        self._tokens = [*(match[0] for match in _TOKEN.finditer(expr) if match.lastgroup), ""]
        self._at = 0

    @property
    def _text(self) -> str:
        return self._tokens[self._at]

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1]

    def _until(self, end: str) -> str:
        begin = self._at
        self._at = self._tokens.index(end, begin) + 1
        return " ".join(self._tokens[begin : self._at])

    def binary(self, level: int) -> Needs:
        if level == len(_LEVELS):
            return self._unary()
        left = self.binary(level + 1)
        while self._text in _LEVELS[level]:
            operator = self._next()
            if self._text == "bool":
                self._next()
            self._grouping()
            right = self.binary(level + 1)
            left = left if operator == "unless" else _least(left | right) if operator == "or" else _both(left, right)
        return left

    def _grouping(self) -> None:
        while self._text in _MATCHING:
            self._next()
            if self._text == "(":
                self._until(")")

    def _unary(self) -> Needs:
        while self._text in ("+", "-"):
            self._next()
        result = self._primary()
        while self._text in ("[", "offset"):
            if self._next() == "[":
                self._until("]")
            else:
                self._next()
        return result

    def _primary(self) -> Needs:
        word = self._next()
        if word == "(":
            result = self.binary(0)
            self._next()
            return result
        if not re.match("[a-zA-Z_]", word):
            return _NOTHING
        if word in _AGGREGATIONS:
            self._grouping()
        if self._text != "(":
            return self._selector(word)
        self._next()
        arguments = [_NOTHING]
        while self._text != ")":
            arguments.append(self.binary(0))
            if self._text == ",":
                self._next()
        self._next()
        if word in _AGGREGATIONS:
            self._grouping()
        return _NOTHING if word in _ALWAYS else reduce(_both, arguments)

    def _selector(self, name: str) -> Needs:
        matchers = self._until("}") if self._text == "{" else ""
        which = _WHICH.search(matchers) if name in (PROBLEM, JOB_PROBLEM) else None
        return frozenset(frozenset({read}) for read in (which[1].split("|") if which else [name]))
