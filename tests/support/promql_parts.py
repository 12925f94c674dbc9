"""Rules whose equal parts are rules of their own: promtool evaluates each part once, and prints it once."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from support.rule_tests import WORD
from ultracluster.monitoring.alerts._promql import _TOKEN

Rule = dict[str, Any]
# Before parentheses with an expression; after other words they have arguments or labels.
_OPERATORS = {"or", "and", "unless", "bool"}
# A time of its own.
_AT = {"[", "offset", "@"}
# Of a shorter one, the rule is as long.
_LEAST = 40


def with_parts(rules: list[Rule], prefix: str) -> list[Rule]:
    """Return the rules of a group with their parts, each before the first rule that has it."""
    number = 0
    while shared := max(_shared(rules), key=lambda item: (len(item[0]), item), default=None):
        part, first, last = shared
        number += 1
        name = f"{prefix}:{number}"
        rest = [
            {**rule, "expr": rule["expr"].replace(part, f'({name}{{cluster="llama"}})')}
            for rule in rules[first : last + 1]
        ]
        rules = [*rules[:first], {"record": name, "expr": part[1:-1]}, *rest, *rules[last + 1 :]]
    return rules


def _shared(rules: list[Rule]) -> Iterator[tuple[str, int, int]]:
    """Yield parts that are there more than once, each with the first and the last rule between which it is the same."""
    places: dict[str, list[int]] = {}
    for place, rule in enumerate(rules):
        for part in _parts(rule["expr"]):
            places.setdefault(part, []).append(place)
    for part, having in places.items():
        read = {*WORD.findall(part)}
        run: list[int] = []
        for place in [*having, len(rules)]:
            # A rule from which it reads has another result then.
            if run and (place == len(rules) or any(read & _written(rule) for rule in rules[run[0] : place])):
                if len(run) > 1 and _whole(part, run, rules):
                    yield part, run[0], run[-1]
                run = []
            run.append(place)


def _written(rule: Rule) -> set[str]:
    return {rule.get("record") or rule["alert"]}


def _whole(part: str, run: list[int], rules: list[Rule]) -> bool:
    """Return whether nothing else in the rules reads the same."""
    texts = [str(rule["expr"]) for rule in rules[run[0] : run[-1] + 1]]
    return sum(text.count(part) for text in texts) == len(run)


@cache
def _parts(expr: str) -> tuple[str, ...]:
    """Return the expressions in parentheses that have the time of the rule and read metrics."""
    tokens = [match for match in _TOKEN.finditer(expr) if match.lastgroup]
    texts = [match[0] for match in tokens]
    result: list[str] = []
    open_at: list[int] = []
    for place, text in enumerate(texts):
        if text == "(":
            open_at.append(place)
        elif text == ")":
            begin = open_at.pop()
            inside = expr[tokens[begin].start() : tokens[place].end()]
            if texts[place + 1 : place + 2] and texts[place + 1] in _AT:
                # Nor have those inside of it.
                result = [part for part in result if part not in inside]
            elif _is_part(texts, begin, place) and len(inside) >= _LEAST:
                result.append(inside)
    return tuple(result)


def _is_part(texts: list[str], begin: int, end: int) -> bool:
    before = texts[begin - 1] if begin else ""
    deep = 0
    for text in texts[begin + 1 : end]:
        deep += (text in ("(", "{")) - (text in (")", "}"))
        if text == "," and not deep:
            return False
    is_argument = before[:1].isalpha() and before not in _OPERATORS
    inside = texts[begin:end]
    # Of one selector, a part would be the same again.
    return not is_argument and "{" in inside and inside.index("}") < len(inside) - 1 and "scalar" not in inside
