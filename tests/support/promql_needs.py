"""Needs of an expression for a result, and the expression without terms that have none."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence, Set
from functools import cache, reduce
from typing import Generic, TypeVar

from support.rule_tests import WORD
from ultracluster.monitoring.alerts._promql import _AGGREGATIONS, _LEVELS, _TOKEN
from ultracluster.monitoring.names import JOB_PROBLEM, PROBLEM, UNNAMED_PROBLEM, UNOWNED_PROBLEM

#: Sets of names, of which all names of one set must have samples.
Needs = frozenset[frozenset[str]]
_NOTHING: Needs = frozenset({frozenset()})
_PROBLEMS = {UNNAMED_PROBLEM, UNOWNED_PROBLEM, PROBLEM, JOB_PROBLEM}
# They give a result without a sample.
_ALWAYS = {"absent", "absent_over_time", "scalar", "vector"}
_MATCHING = ("on", "ignoring", "group_left", "group_right", "by", "without")
_WHICH = re.compile(r'(?<=problem)=~?"([^"]*)"')
# No job starts before the clock does.
_AGE = re.compile(r"time\(\) - ultracluster_job_start_timestamp_seconds\{[^{}]*\}")
R = TypeVar("R")


@cache
def needs(expr: str) -> Needs:
    """Return what must have samples, whatever they are, so that a right expression can have a result."""
    return _Needs(expr).binary(0)


def given(expr: str, sampled: Set[str], minutes: int) -> str | None:
    """Return a right expression without the terms that have no result where these alone have samples, for so long.

    None if it has no result at all.
    """
    return _given(expr, frozenset(sampled & _words(expr)), 60 * minutes)


@cache
def _words(expr: str) -> frozenset[str]:
    return frozenset(WORD.findall(expr))


@cache
def _given(expr: str, sampled: frozenset[str], seconds: int) -> str | None:
    return _Given(expr, sampled, seconds).binary(0)


class _Expression(ABC, Generic[R]):
    """A recursive descent parser; each method returns the result of the part that it read."""

    def __init__(self, expr: str) -> None:
        matches = [match for match in _TOKEN.finditer(expr) if match.lastgroup]
        self._expr = expr
        self._spans = [match.span() for match in matches]
        self._tokens = [*(match[0] for match in matches), ""]
        self._at = 0

    @abstractmethod
    def _operation(self, left: R, operator: str, words: str, right: R) -> R: ...

    @abstractmethod
    def _call(self, name: str, arguments: Sequence[R], text: tuple[str, str, str]) -> R:
        """Return the result of a function; the text is that before its arguments, of all of it, and after them."""

    @abstractmethod
    def _selector(self, names: Sequence[str], text: str) -> R: ...

    @abstractmethod
    def _literal(self, text: str) -> R: ...

    @abstractmethod
    def _with(self, before: str, result: R, after: str) -> R:
        """Return the result with a sign, parentheses or a range."""

    def binary(self, level: int) -> R:
        if level == len(_LEVELS):
            return self._unary()
        left = self.binary(level + 1)
        while self._text in _LEVELS[level]:
            begin = self._at
            operator = self._next()
            if self._text == "bool":
                self._next()
            self._grouping()
            words = self._since(begin)
            left = self._operation(left, operator, words, self.binary(level + 1))
        return left

    @property
    def _text(self) -> str:
        return self._tokens[self._at]

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1]

    def _since(self, begin: int) -> str:
        return self._expr[self._spans[begin][0] : self._spans[self._at - 1][1]] if begin < self._at else ""

    def _until(self, end: str) -> None:
        self._at = self._tokens.index(end, self._at) + 1

    def _grouping(self) -> None:
        while self._text in _MATCHING:
            self._next()
            if self._text == "(":
                self._until(")")

    def _unary(self) -> R:
        begin = self._at
        while self._text in ("+", "-"):
            self._next()
        sign = self._since(begin)
        result = self._primary()
        begin = self._at
        while self._text in ("[", "offset"):
            if self._next() == "[":
                self._until("]")
            else:
                self._next()
        after = self._since(begin)
        return self._with(sign, result, f" {after}" if after.startswith("offset") else after)

    def _primary(self) -> R:
        begin = self._at
        word = self._next()
        if word == "(":
            result = self.binary(0)
            self._next()
            return self._with("(", result, ")")
        if not re.match("[a-zA-Z_]", word):
            return self._literal(word)
        if word in _AGGREGATIONS:
            self._grouping()
        if self._text != "(":
            if self._text == "{":
                self._until("}")
            text = self._since(begin)
            which = _WHICH.search(text) if word in _PROBLEMS else None
            return self._selector(which[1].split("|") if which else [word], text)
        before = self._expr[self._spans[begin][0] : self._spans[self._at][0]]
        self._next()
        arguments = []
        while self._text != ")":
            arguments.append(self.binary(0))
            if self._text == ",":
                self._next()
        self._next()
        end = self._at
        if word in _AGGREGATIONS:
            self._grouping()
        after = self._since(end)
        return self._call(word, arguments, (before, self._since(begin), f" {after}" if after else ""))


class _Needs(_Expression[Needs]):
    def _operation(self, left: Needs, operator: str, words: str, right: Needs) -> Needs:
        return left if operator == "unless" else _least(left | right) if operator == "or" else _both(left, right)

    def _call(self, name: str, arguments: Sequence[Needs], text: tuple[str, str, str]) -> Needs:
        return _NOTHING if name in _ALWAYS else reduce(_both, arguments, _NOTHING)

    def _selector(self, names: Sequence[str], text: str) -> Needs:
        return frozenset(frozenset({name}) for name in names)

    def _literal(self, text: str) -> Needs:
        return _NOTHING

    def _with(self, before: str, result: Needs, after: str) -> Needs:
        return result


class _Given(_Expression[str | None]):
    """A part without a result is None."""

    def __init__(self, expr: str, sampled: frozenset[str], seconds: int) -> None:
        super().__init__(expr)
        self._sampled = sampled
        self._seconds = seconds

    def _operation(self, left: str | None, operator: str, words: str, right: str | None) -> str | None:
        if left and right:
            too_old = operator == ">" and _AGE.fullmatch(left) and float(right) >= self._seconds
            return None if too_old else f"{left} {words} {right}"
        return left or right if operator == "or" else left if operator == "unless" else None

    def _call(self, name: str, arguments: Sequence[str | None], text: tuple[str, str, str]) -> str | None:
        before, whole, after = text
        if name in _ALWAYS:
            return whole
        given = [argument for argument in arguments if argument]
        return f"{before}({', '.join(given)}){after}" if len(given) == len(arguments) else None

    def _selector(self, names: Sequence[str], text: str) -> str | None:
        return text if self._sampled.intersection(names) else None

    def _literal(self, text: str) -> str:
        return text

    def _with(self, before: str, result: str | None, after: str) -> str | None:
        return result and f"{before}{result}{after}"


def _least(sets: Iterable[frozenset[str]]) -> Needs:
    every = frozenset(sets)
    return frozenset(names for names in every if not any(fewer < names for fewer in every))


def _both(left: Needs, right: Needs) -> Needs:
    return _least(names | others for names in left for others in right)
