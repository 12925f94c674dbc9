"""Stories side by side, as clusters of one run of promtool.

A quarter of the time that a rule takes for one is there without a series. So stories that change the same are played
together, once in a run of the tests: the processes of the run share what fired. A rule reads the clusters that it
concerns alone.
"""

import fcntl
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from support import story_rules, templates
from support.stories import (
    Played,
    Story,
    concerned,
    problem_query,
    recorded_samples,
    rule_groups,
    sent,
    stories,
    unsteady_query,
)
from support.story_runs import evaluate, read_by

Identity = tuple[str, str, str]
_MOST = 32


@dataclass
class _Batch:
    """Stories, the rules that one of them concerns, and the minutes of the longest."""

    names: list[str] = field(default_factory=list)
    rules: set[Identity] = field(default_factory=set)
    minutes: int = 0
    each: int = 0
    alone: int = 0

    def cost(self, rules: frozenset[Identity] = frozenset(), minutes: int = 0) -> float:
        """Return how often rules are evaluated, or would be with another story.

        That of a story which is over takes a fifteenth: promtool finds its series, and that they have ended.
        """
        longest = max(self.minutes, minutes)
        over = (self.each + len(rules)) * longest - self.alone - len(rules) * minutes
        return len(self.rules | rules) * longest + over / 15

    def add(self, name: str, rules: frozenset[Identity], minutes: int) -> None:
        self.names.append(name)
        self.rules |= rules
        self.minutes = max(self.minutes, minutes)
        self.each += len(rules)
        self.alone += len(rules) * minutes


def played(story: Story) -> Played:
    """Return the alerts that fire in a story, from whichever test and process asks for it first."""
    folder = templates.folder() / "stories"
    folder.mkdir(exist_ok=True)
    number, names = next((number, names) for number, names in enumerate(_batches(folder)) if story.name in names)
    file = folder / f"{number}.json"
    with _locked(file):
        if not file.exists():
            known = _stories()
            file.write_text(json.dumps(dict(zip(names, play([known[name] for name in names]), strict=True))))
    firing = json.loads(file.read_text())[story.name]
    return Played({int(minute): alerts for minute, alerts in firing.items()})


def play(batch: Sequence[Story]) -> list[dict[int, list[dict[str, str]]]]:
    """Return the alerts that fire in each story."""
    minutes = max(story.minutes for story in batch)
    each = [concerned(story) for story in batch]
    samples = [{**sent(story), **recorded_samples(story, groups)} for story, groups in zip(batch, each, strict=True)]
    concerning = [[rule for group in groups for rule in group["rules"]] for groups in each]
    wanted = [{*map(id, rules)} for rules in concerning]
    groups = []
    for same in zip(*(rule_groups(story) for story in batch), strict=True):
        rules = [
            rule
            for rule_of_each in zip(*(group["rules"] for group in same), strict=True)
            for rule in story_rules.of_clusters(
                {n: rule for n, rule in enumerate(rule_of_each) if id(rule) in wanted[n]}, len(batch)
            )
        ]
        groups += [{**same[0], "rules": rules}] if rules else []
    values = {
        story_rules.in_cluster(number, key): numbers
        for number, (rules, series) in enumerate(zip(concerning, samples, strict=True))
        for key, numbers in read_by(rules, series).items()
    }
    more = "".join(problem_query(story, str(number)) for number, story in enumerate(batch))
    # The healthy cluster's is the longest.
    last = "".join(unsteady_query(story, str(number)) for number, story in enumerate(batch))
    firing = evaluate(story_rules.shortened(groups, values, minutes), values, minutes, more, last)
    return [
        {
            minute: [{**labels, "cluster": "llama"} for labels in alerts if labels["cluster"] == str(number)]
            for minute, alerts in firing.items()
            if minute <= story.minutes
        }
        for number, story in enumerate(batch)
    ]


@cache
def _stories() -> dict[str, Story]:
    return {story.name: story for story in stories()}


@cache
def _batches(folder: Path) -> list[list[str]]:
    file = folder / "batches.json"
    with _locked(file):
        if not file.exists():
            file.write_text(json.dumps(_together()))
    return list(json.loads(file.read_text()))


def _together() -> list[list[str]]:
    """Put each story where it costs least, the longest first."""
    known = _stories()
    rules = {
        name: frozenset(story_rules.identity(rule) for group in concerned(story) for rule in group["rules"])
        for name, story in known.items()
    }
    batches: list[_Batch] = []
    for name in sorted(rules, key=lambda name: (-known[name].minutes, -len(rules[name]))):
        more = (rules[name], known[name].minutes)
        candidates = [_Batch(), *(batch for batch in batches if len(batch.names) < _MOST)]
        best = min(candidates, key=lambda batch: batch.cost(*more) - batch.cost())
        batches += [] if best.names else [best]
        best.add(name, *more)
    return [batch.names for batch in batches]


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Another process that makes the file is waited for."""
    with file.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
