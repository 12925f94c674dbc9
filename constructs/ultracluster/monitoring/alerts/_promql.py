"""Syntax and types of a PromQL expression.

See: https://prometheus.io/docs/prometheus/latest/querying/basics/, .../operators/ and .../functions/ (read 2026-11-22).
The tests compare it with promtool.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from ultracluster.monitoring.alerts._strings import regex_problem, string_problem

_TOKEN = re.compile(
    r"""\s+|\#[^\n]*
    |(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`)
    |(?P<duration>(?:[0-9]+(?:ms|[smhdwy]))+)(?!\w)
    |(?P<number>0[xX][0-9a-fA-F]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|(?:[iI][nN][fF]|[nN][aA][nN])(?![\w:]))(?!\w)
    |(?P<word>[a-zA-Z_][a-zA-Z0-9_:]*)
    |(?P<sign>=~|!~|==|!=|<=|>=|[-+*/%^=<>(){}\[\],:@])""",
    re.VERBOSE,
)
# Arguments: v an instant vector, m a range vector, s a scalar, t a string; `?` is optional, `*` any number.
_BY_ARGUMENTS: Mapping[str, str] = {
    "v": "abs absent acos acosh asin asinh atan atanh ceil cos cosh deg exp floor histogram_avg histogram_count "
    "histogram_stddev histogram_stdvar histogram_sum ln log10 log2 rad scalar sgn sin sinh sort sort_desc sqrt tan "
    "tanh timestamp",
    "v?": "day_of_month day_of_week day_of_year days_in_month hour minute month year",
    "m": "absent_over_time avg_over_time changes count_over_time delta deriv idelta increase irate last_over_time "
    "max_over_time min_over_time present_over_time rate resets stddev_over_time stdvar_over_time sum_over_time",
    **{"": "time pi", "s": "vector", "vs": "clamp_max clamp_min", "vss": "clamp", "vs?": "round"},
    **{"sv": "histogram_quantile", "ssv": "histogram_fraction", "sm": "quantile_over_time", "ms": "predict_linear"},
    **{"mss": "holt_winters", "vttt*": "label_join", "vtttt": "label_replace"},
}
_FUNCTIONS = {name: arguments for arguments, names in _BY_ARGUMENTS.items() for name in names.split()}
_SCALARS = {"time", "pi", "scalar"}
_AGGREGATIONS = {"bottomk": "s", "count_values": "t", "quantile": "s", "topk": "s"} | dict.fromkeys(
    ("avg", "count", "group", "max", "min", "stddev", "stdvar", "sum"), ""
)
_LEVELS = (("or",), ("and", "unless"), ("==", "!=", "<=", "<", ">=", ">"), ("+", "-"), ("*", "/", "%", "atan2"), ("^",))
_LEVEL = {operator: level for level, operators in enumerate(_LEVELS) for operator in operators}
_NAMES = {"v": "an instant vector", "m": "a range vector, such as x[5m]", "s": "a number", "t": "a string"}


class PromqlError(ValueError):
    """An expression that Prometheus rejects."""


# Rules of clusters, and both sides of an update, have most expressions in common.
@lru_cache(maxsize=4096)
def check_promql(expression: str) -> frozenset[str]:
    """Check an expression of a rule, and return the names of the metrics that it reads.

    Raises:
        PromqlError: If Prometheus would reject it.
    """
    parser = _Parser(expression)
    kind = parser.binary(0)
    if parser.kind:
        parser.fail(f"unexpected {parser.text!r}")
    if kind not in "vs":
        raise PromqlError(f"a rule needs a number or an instant vector, got {_NAMES[kind]}")
    return frozenset(parser.metrics)


def promql_problem(expression: str) -> str:
    """Return why Prometheus rejects an expression of a rule, empty if it does not."""
    try:
        check_promql(expression)
    except PromqlError as error:
        return str(error)
    return ""


class _Parser:
    """A recursive descent parser; each method returns the type of what it read."""

    def __init__(self, expression: str) -> None:
        self.metrics: set[str] = set()
        self._tokens: list[tuple[str, str, int]] = []
        place = 0
        while place < len(expression):
            match = _TOKEN.match(expression, place)
            if match is None:
                raise PromqlError(f"column {place + 1}: unexpected {expression[place]!r}")
            if match.lastgroup == "string" and (problem := string_problem(match[0])):
                raise PromqlError(f"column {place + 1}: {problem}")
            if match.lastgroup:
                self._tokens.append((match.lastgroup, match[0], place + 1))
            place = match.end()
        self._tokens.append(("", "", len(expression) + 1))
        self._at = 0

    @property
    def kind(self) -> str:
        return self._tokens[self._at][0]

    @property
    def text(self) -> str:
        return self._tokens[self._at][1]

    def fail(self, message: str) -> None:
        raise PromqlError(f"column {self._tokens[self._at][2]}: {message}")

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1][1]

    def _takes(self, *texts: str) -> bool:
        matches = self.kind in ("sign", "word") and self.text.lower() in texts
        self._at += matches
        return matches

    def _needs(self, text: str) -> None:
        if not self._takes(text):
            self.fail(f"expected {text!r}, got {self.text!r}" if self.kind else f"expected {text!r}, got the end")

    def binary(self, level: int) -> str:
        if level == len(_LEVELS):
            return self._unary()
        left = self.binary(level + 1)
        while self.kind in ("sign", "word") and _LEVEL.get(self.text.lower()) == level:
            operator = self._next().lower()
            is_bool = self._takes("bool")
            if is_bool and level != 2:
                self.fail(f"bool is for comparisons, not for {operator}")
            matching = self._matching(operator)
            # A power is right associative.
            right = self.binary(level if operator == "^" else level + 1)
            left = self._combined(left, operator, right, is_bool, matching)
        return left

    def _combined(self, left: str, operator: str, right: str, is_bool: bool, matching: bool) -> str:
        if {left, right} - {"v", "s"}:
            self.fail(f"{operator} takes numbers and instant vectors, got {_NAMES[left]} and {_NAMES[right]}")
        if (_LEVEL[operator] < 2 or matching) and "s" in (left, right):
            self.fail(f"{operator} {'on labels ' if matching else ''}takes two instant vectors, got a number")
        if _LEVEL[operator] == 2 and left == right == "s" and not is_bool:
            self.fail(f"{operator} of two numbers needs bool")
        return "v" if "v" in (left, right) else "s"

    def _matching(self, operator: str) -> bool:
        if not self._takes("on", "ignoring"):
            return False
        self._labels()
        if self.text.lower() in ("group_left", "group_right"):
            if _LEVEL[operator] < 2:
                self.fail(f"no grouping is allowed for {operator}")
            self._next()
            if self.text == "(":
                self._labels()
        return True

    def _labels(self) -> None:
        self._needs("(")
        while not self._takes(")"):
            if self.kind != "word" or ":" in self.text:
                self.fail(f"expected a label, got {self.text!r}")
            self._next()
            if self.text != ")":
                self._needs(",")

    def _unary(self) -> str:
        if self._takes("+", "-"):
            kind = self.binary(len(_LEVELS) - 1)
            if kind not in "vs":
                self.fail(f"a sign takes a number or an instant vector, got {_NAMES[kind]}")
            return kind
        return self._modified(self._primary())

    def _modified(self, kind: str) -> str:
        while True:
            if self._takes("["):
                if kind != "v":
                    self.fail(f"a range needs an instant vector, got {_NAMES[kind]}")
                self._duration()
                if self._takes(":"):
                    if self.kind == "duration":
                        self._next()
                elif not self._selected:
                    self.fail("a range over an expression needs a step, such as [5m:]")
                self._needs("]")
                kind = "m"
            elif self._takes("offset"):
                self._takes("-")
                self._duration()
            elif self._takes("@"):
                if not self._takes("start", "end"):
                    self._takes("-", "+")
                    if self.kind != "number":
                        self.fail(f"expected a time, got {self.text!r}")
                    self._next()
                else:
                    self._needs("(")
                    self._needs(")")
            else:
                return kind
            if kind not in "vm":
                self.fail(f"a time is for metrics, got {_NAMES[kind]}")

    def _duration(self) -> None:
        if self.kind != "duration":
            self.fail(f"expected a duration such as 5m, got {self.text!r}")
        self._next()

    def _primary(self) -> str:
        self._selected = False
        if self.kind in ("number", "string", "duration"):
            if self.kind == "duration":
                self.fail(f"unexpected duration {self.text}")
            kind = "s" if self.kind == "number" else "t"
            self._next()
            return kind
        if self._takes("("):
            kind = self.binary(0)
            self._needs(")")
            self._selected = False
            return kind
        if self.kind == "word" or self.text == "{":
            return self._named()
        self.fail(f"unexpected {self.text!r}" if self.kind else "unexpected end")
        return ""

    def _named(self) -> str:
        name = self._next() if self.kind == "word" else ""
        lower = name.lower()
        if lower in _AGGREGATIONS and self.text.lower() in ("(", "by", "without"):
            grouped = self._grouping()
            self._arguments(lower, _AGGREGATIONS[lower] + "v")
            if not grouped:
                self._grouping()
            self._selected = False
            return "v"
        if self.text == "(":
            if name not in _FUNCTIONS:
                self._at -= 1
                self.fail(f"unknown function {name!r}")
            self._arguments(name, _FUNCTIONS[name])
            self._selected = False
            return "s" if name in _SCALARS else "v"
        if lower in _LEVEL or lower in ("by", "without", "on", "ignoring", "offset", "bool", "group_left"):
            self._at -= 1
            self.fail(f"unexpected {name!r}")
        self._selector(name)
        return "v"

    def _grouping(self) -> bool:
        if self._takes("by", "without"):
            self._labels()
            return True
        return False

    def _arguments(self, name: str, kinds: str) -> None:
        self._needs("(")
        given: list[str] = []
        while not self._takes(")"):
            given.append(self.binary(0))
            if self.text != ")":
                self._needs(",")
                if self.text == ")":
                    self.fail("unexpected ')'")
        most = [kind for kind in kinds if kind not in "?*"]
        least = len(most) - ("?" in kinds) - ("*" in kinds)
        if len(given) < least or (len(given) > len(most) and "*" not in kinds):
            self.fail(f"{name} takes {least or 'no'} argument{'s' if least != 1 else ''}, got {len(given)}")
        for index, kind in enumerate(given):
            requested = most[min(index, len(most) - 1)]
            if kind != requested:
                self.fail(f"{name} needs {_NAMES[requested]} as argument {index + 1}, got {_NAMES[kind]}")

    def _selector(self, name: str) -> None:
        matchers = 0
        if name:
            self.metrics.add(name)
        if self._takes("{"):
            while not self._takes("}"):
                if self.kind != "word" or ":" in self.text:
                    self.fail(f"expected a label, got {self.text!r}")
                self._next()
                if not self._takes("=", "!=", "=~", "!~"):
                    self.fail(f"expected =, !=, =~ or !~, got {self.text!r}")
                operator = self._tokens[self._at - 1][1]
                if self.kind != "string":
                    self.fail(f"expected a string, got {self.text!r}")
                if operator in ("=~", "!~") and (problem := regex_problem(self.text)):
                    self.fail(problem)
                value = self._next()[1:-1]
                matchers += value != "" if operator in ("=", "!=") else value not in (".*", "")
                if self.text != "}":
                    self._needs(",")
        if not name and not matchers:
            self.fail("a selector must have a name, or a matcher that an empty value does not match")
        self._selected = True
