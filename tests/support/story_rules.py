"""The rules that a story can change, and rules for several clusters in one run of promtool.

The other rules see the healthy cluster, for which one story plays all of them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any

from support import yaml12
from support.promql_needs import given, needs
from support.promql_parts import with_parts
from support.rule_tests import WORD
from ultracluster.monitoring.alerts import rules
from ultracluster.monitoring.alerts._promql import _TOKEN
from ultracluster.monitoring.names import (
    JOB_CAUSE,
    JOB_PROBLEM,
    PROBLEM,
    PROBLEM_CAUSE,
    PROBLEM_DAY,
    PROBLEM_FIRST,
    PROBLEM_START,
    UNNAMED_PROBLEM,
    UNOWNED_PROBLEM,
)

Rule = dict[str, Any]
Group = dict[str, Any]
# The healthy cluster has none.
_UNNAMED = {UNNAMED_PROBLEM, UNOWNED_PROBLEM}
PROBLEMS = {*_UNNAMED, PROBLEM, JOB_PROBLEM, JOB_CAUSE, PROBLEM_START, PROBLEM_FIRST, PROBLEM_CAUSE, PROBLEM_DAY}
# A reader of problems that does not say which, unless the other side of the operator does.
_ANY_PROBLEM = re.compile(
    rf'(?<!:)(?<!\bproblem, check, xid\) )(?:{PROBLEM}|{JOB_PROBLEM})\b(?![:_])(?!\{{[^}}]*\bproblem=~?")'
)
_CLOCK = re.compile(r"@|\b(?:time|timestamp|minute|hour|day_of_\w+|days_in_month|month|year)\s*\(")
_DURATION = re.compile(r"(\d+)(ms|[smhdwy])")
_MINUTES = {"ms": 1 / 60_000, "s": 1 / 60, "m": 1, "h": 60, "d": 1440, "w": 10_080, "y": 525_600}
# The rules of a cluster select its series alone.
_SELECTOR = re.compile(r'([a-zA-Z_:][\w:]*)\{cluster="llama"(?:, )?([^{}]*)\}')
_PROBLEM_LABEL = re.compile(r'\bproblem="([^"]*)"')


@lru_cache
def groups(expected: int, ends: int | None = None, *, parts: bool = True) -> tuple[Group, ...]:
    """Rule groups of a cluster whose group must have so many nodes, until a minute; with equal parts once."""
    group = ("llama", "train")
    end = {group: 1e9 if ends is None else 60.0 * ends}
    texts = rules(inventory={group: expected}, ends=end, cluster="llama").values()
    every = [group for text in texts for group in yaml12.load(text)["groups"]]
    if not parts:
        return tuple(every)
    return tuple(
        {**each, "rules": with_parts(each["rules"], f"part:{each['name'].replace('-', '_')}")} for each in every
    )


def reads(rule: Rule) -> frozenset[str]:
    """Return every name in an expression: metrics, and words that may be none."""
    return _names(rule["expr"])


@cache
def _names(expr: str) -> frozenset[str]:
    # Who reads those without a name says which.
    names = frozenset(WORD.findall(expr)) - _UNNAMED
    return names if _ANY_PROBLEM.search(expr) else names - {PROBLEM, JOB_PROBLEM}


def writes(rule: Rule) -> set[str]:
    """Return what others may read of a rule: its name, or which problem of a node it is."""
    name = name_of(rule)
    return {name, rule["labels"]["problem"]} if name in _UNNAMED else {name}


@dataclass(frozen=True, kw_only=True)
class Known:
    """Results of rules in the healthy cluster.

    Args:
        steady: Series that come to keep their value, by the name that a rule records: the values from minute 0 on, the
            last of which stays.
        idle: Beginnings of expressions that have no result, by the title of the rule.
        empty: Names that rules record, and problems, of which there is no series.
    """

    steady: Mapping[str, Mapping[str, tuple[float | None, ...]]] = field(default_factory=dict)
    idle: Mapping[str, str] = field(default_factory=dict)
    empty: frozenset[str] = frozenset()


@cache
def beginnings(expr: str) -> tuple[str, ...]:
    """Return the parts without which an expression has no result: up to each `and` and `unless`."""
    tokens = [match for match in _TOKEN.finditer(expr) if match.lastgroup]
    deep, result = 0, list[str]()
    for token in tokens:
        deep += (token[0] in ("(", "{", "[")) - (token[0] in (")", "}", "]"))
        if not deep and token[0] == "or":
            return ()
        if not deep and token[0] in ("and", "unless"):
            result.append(expr[: token.start()].rstrip())
    return tuple(result)


def name_of(rule: Rule) -> str:
    """Return what a rule records, or its alert."""
    return str(rule.get("record") or rule["alert"])


def title(rule: Rule) -> str:
    """Return the name of a rule, with the problem that it records."""
    return name_of(rule) + str(rule.get("labels", {}).get("problem", ""))


def identity(rule: Rule) -> tuple[str, str, str]:
    """Return what no two rules share."""
    return rule["expr"], name_of(rule), rule.get("labels", {}).get("problem", "")


def concerned(
    all_groups: Sequence[Group],
    changed: set[str],
    known: Sequence[Group],
    sampled: set[str],
    healthy: Known = Known(),
) -> list[Group]:
    """Return the groups with the rules that read what changed, what those read, and no others.

    Args:
        all_groups: Groups of the story.
        changed: Metrics of which a series differs from the healthy cluster's.
        known: Groups of the healthy cluster: a rule that is not among them has changed.
        sampled: Metrics with a sample, here or in the healthy cluster. A rule that gives no result in both is left out.
        healthy: What rules do in the healthy cluster. What is steady comes as samples, unless it changes.
    """
    before = {identity(rule) for group in known for rule in group["rules"]} if known is not all_groups else None
    kept = [rule for group in all_groups for rule in group["rules"]]
    other = [] if before is None else [rule for rule in kept if identity(rule) not in before]
    # Until none leaves: without the problems of the healthy cluster others give no result.
    while len(fewer := _concerned(giving(kept, sampled | healthy.steady.keys()), changed, other, healthy)) < len(kept):
        kept = fewer
    return only(all_groups, kept)


def _concerned(rules: Sequence[Rule], changed: set[str], other: Sequence[Rule], healthy: Known) -> list[Rule]:
    names, left = {*changed}, _without(rules, other)
    more = _without(rules, left)
    # Until no rule joins: a rule may stand before what it reads.
    while True:
        names = names.union(*(writes(rule) for rule in more))
        if not (more := [rule for rule in left if _decides(rule, healthy) & names]):
            break
        left = _without(left, more)
    read = set[str]().union(*(reads(rule) for rule in _without(rules, left)))
    # What a problem of the healthy cluster would read makes no difference, nor what is known.
    without = PROBLEMS | healthy.steady.keys() | healthy.idle.keys()
    unread = [rule for rule in left if name_of(rule) not in without]
    while more := [rule for rule in unread if writes(rule) & read]:
        unread, left = _without(unread, more), _without(left, more)
        read = read.union(*(reads(rule) for rule in more))
    return _without(rules, left)


def _decides(rule: Rule, healthy: Known) -> frozenset[str]:
    """Return what must change so that the result of a rule can."""
    beginning = healthy.idle.get(title(rule))
    return _names(beginning) if beginning else reads(rule)


def giving(rules: Sequence[Rule], sampled: set[str]) -> list[Rule]:
    """Return the rules that can give a result where these metrics alone have samples."""
    names, left = {*sampled}, [*rules]
    # Until no rule joins: a rule may stand before what it reads.
    while more := [rule for rule in left if any(needed <= names for needed in needs(rule["expr"]))]:
        left = _without(left, more)
        names = names.union(*(writes(rule) for rule in more))
    return _without(rules, left)


def unsettled(rules: Sequence[Rule], sampled: set[str], moving: set[str], healthy: Known, minutes: int) -> list[Rule]:
    """Return the rules whose result in the healthy cluster may still change.

    A rule that reads only what keeps its value, and does not look further back than to where that begins, goes on to
    give what it gives.

    Args:
        rules: Rules of that cluster.
        sampled: Metrics with a sample.
        moving: Those of them with values that change.
        healthy: What rules do in that cluster. No alert waits.
        minutes: For how long they have.
    """
    still = (sampled - moving) | healthy.steady.keys() | healthy.empty
    changing = moving.union(*map(writes, rules)) - still
    left = [
        rule
        for rule in rules
        if reads(rule) & changing
        or ("record" in rule and (identity(rule)[2] or name_of(rule)) not in still)
        or _CLOCK.search(rule["expr"])
        or sum(int(number) * _MINUTES[unit] for number, unit in _DURATION.findall(rule["expr"])) > minutes
    ]
    # What is empty stays so if its rule has settled. The story checks each minute that there are no problems.
    empty = healthy.empty.difference(*(writes(rule) for rule in left if name_of(rule) not in PROBLEMS))
    fewer = replace(healthy, empty=empty)
    return left if fewer == healthy else unsettled(rules, sampled, moving, fewer, minutes)


def shortened(groups: Sequence[Group], series: Iterable[str], minutes: int) -> list[Group]:
    """Return the groups without terms that give no result where these series alone have samples, for so long."""
    names = metrics(series).union(*(writes(rule) for group in groups for rule in group["rules"]))
    result = []
    for group in groups:
        texts = ((rule, given(rule["expr"], names, minutes)) for rule in group["rules"])
        rules = [{**rule, "expr": text} for rule, text in texts if text]
        result += [{**group, "rules": rules}] if rules else []
    return result


def only(groups: Sequence[Group], rules: Sequence[Rule]) -> list[Group]:
    """Return the groups with these rules alone, and none that is empty."""
    wanted = {*map(id, rules)}
    kept = [{**group, "rules": [rule for rule in group["rules"] if id(rule) in wanted]} for group in groups]
    return [group for group in kept if group["rules"]]


def _without(rules: Sequence[Rule], others: Sequence[Rule]) -> list[Rule]:
    gone = {*map(id, others)}
    return [rule for rule in rules if id(rule) not in gone]


def changed(values: Mapping[str, list[float | None]], healthy: Mapping[str, list[float | None]]) -> set[str]:
    """Return the metrics of which a series is not as in the healthy cluster."""
    return metrics(key for key in {*values, *healthy} if values.get(key) != healthy.get(key))


def metrics(series: Iterable[str]) -> set[str]:
    """Return the names of series."""
    return {key.partition("{")[0] for key in series}


def in_cluster(number: int, series: str) -> str:
    """Return a series of the one cluster as that of another one."""
    return series.replace('cluster="llama"', f'cluster="{number}"')


def of_clusters(each: Mapping[int, Rule], clusters: int, having: Mapping[str, Set[int]]) -> Iterator[Rule]:
    """Yield a rule of each cluster that it concerns if it names one, or one of all of them.

    Args:
        each: The rule of each cluster that it concerns.
        clusters: How many there are.
        having: Clusters in which a metric, or a problem, has series.
    """
    named = [number for number, rule in each.items() if "cluster" in rule.get("labels", {})]
    yield from ({**each[number], "labels": {**each[number]["labels"], "cluster": str(number)}} for number in named)
    if not each or named:
        return
    rule, *others = each.values()
    assert all(other == rule for other in others), rule
    # What it does not concern, another cluster need not have samples for: the rule must not see it.
    out = [number for number in range(clusters) if number not in each]
    # Prometheus looks for each that is named, and compiles a regular expression again in each evaluation.
    few, numbers = (("!=", "!~"), out) if len(out) < len(each) else (("=", "=~"), [*each])
    operator = few[len(numbers) > 1]
    matcher = f'cluster{operator}"{"|".join(map(str, numbers))}"'

    def selector(match: re.Match[str]) -> str:
        name, labels = match.groups()
        problem = _PROBLEM_LABEL.search(labels) if name in (PROBLEM, JOB_PROBLEM) else None
        apart = having.get(problem[1] if problem else name, set()) <= each.keys()
        inside = ", ".join([*[matcher] * (not apart), *[labels] * bool(labels)])
        return f"{name}{{{inside}}}" if inside else name

    expr = _SELECTOR.sub(selector, rule["expr"])
    assert "llama" not in expr, expr
    yield {**rule, "expr": expr}
