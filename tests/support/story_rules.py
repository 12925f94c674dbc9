"""The rules that a story can change: the others see the healthy cluster, for which one story plays all of them."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

import yaml  # type: ignore[import-untyped]  # no stubs

from support.rule_tests import WORD
from ultracluster.monitoring.alerts import rules
from ultracluster.monitoring.names import JOB_CAUSE, JOB_PROBLEM, PROBLEM, PROBLEM_CAUSE, PROBLEM_START

Rule = dict[str, Any]
Group = dict[str, Any]
# The healthy cluster has none.
_PROBLEMS = {PROBLEM, JOB_PROBLEM, JOB_CAUSE, PROBLEM_START, PROBLEM_CAUSE}
# A reader of problems that does not say which.
_ANY_PROBLEM = re.compile(rf'(?:{PROBLEM}|{JOB_PROBLEM})\b(?!\{{[^}}]*\bproblem=~?")')


@lru_cache
def groups(expected: int, ends: int | None = None) -> tuple[Group, ...]:
    """Rule groups of a cluster whose group must have so many nodes, until a minute."""
    group = ("llama", "train")
    end = {group: 1e9 if ends is None else 60.0 * ends}
    texts = rules(inventory={group: expected}, ends=end, cluster="llama").values()
    return tuple(group for text in texts for group in yaml.load(text.encode(), yaml.CSafeLoader)["groups"])


def reads(rule: Rule) -> frozenset[str]:
    """Return every name in an expression: metrics, and words that may be none."""
    return _names(rule["expr"])


@cache
def _names(expr: str) -> frozenset[str]:
    names = frozenset(WORD.findall(expr))
    return names if _ANY_PROBLEM.search(expr) else names - {PROBLEM, JOB_PROBLEM}


def writes(rule: Rule) -> set[str]:
    """Return what others may read of a rule: its name, or which problem of a node it is."""
    name = rule.get("record") or rule["alert"]
    return {name, rule["labels"]["problem"]} if name in (PROBLEM, JOB_PROBLEM) else {name}


def concerned(all_groups: Sequence[Group], changed: set[str], known: Sequence[Group]) -> list[Group]:
    """Return the groups with the rules that read what changed, what those read, and no others.

    Args:
        all_groups: Groups of the story.
        changed: Metrics of which a series differs from the healthy cluster's.
        known: Groups of the healthy cluster: a rule that is not among them has changed.
    """
    before = {json.dumps(rule) for group in known for rule in group["rules"]} if known is not all_groups else None
    left = [rule for group in all_groups for rule in group["rules"]]
    more = [] if before is None else [rule for rule in left if json.dumps(rule) not in before]
    names = {*changed}
    # Until no rule joins: a rule may stand before what it reads.
    while True:
        names = names.union(*(writes(rule) for rule in more))
        left = [rule for rule in left if rule not in more]
        if not (more := [rule for rule in left if reads(rule) & names]):
            break
    read: set[str] = set().union(*(reads(rule) for group in all_groups for rule in group["rules"] if rule not in left))
    # What a problem of the healthy cluster would read makes no difference.
    problems = [rule for rule in left if rule.get("record") in _PROBLEMS]
    left = [rule for rule in left if rule not in problems]
    while more := [rule for rule in left if writes(rule) & read]:
        left = [rule for rule in left if rule not in more]
        read = read.union(*(reads(rule) for rule in more))
    unread = {id(rule) for rule in left} | {id(rule) for rule in problems}
    kept = [{**group, "rules": [rule for rule in group["rules"] if id(rule) not in unread]} for group in all_groups]
    return [group for group in kept if group["rules"]]


def changed(values: Mapping[str, list[float | None]], healthy: Mapping[str, list[float | None]]) -> set[str]:
    """Return the metrics of which a series is not as in the healthy cluster."""
    different = {key for key in {*values, *healthy} if values.get(key) != healthy.get(key)}
    return {key.partition("{")[0] for key in different}
