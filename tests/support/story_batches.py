"""Stories side by side, as clusters of one run of promtool.

A quarter of the time that a rule takes for one is there without a series. So stories of about the same length are
played together, once in a run of the tests: the processes of the run share what fired. A rule reads the clusters that
it concerns alone.
"""

import fcntl
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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

# promtool goes on to evaluate the rules of a story that is over: the longest lasts at most twice as long as the others.
_MOST = 32


def played(story: Story) -> Played:
    """Return the alerts that fire in a story, from whichever test and process asks for it first."""
    folder = templates.folder() / "stories"
    folder.mkdir(exist_ok=True)
    number, names = next((number, names) for number, names in enumerate(_batches()) if story.name in names)
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
    read = [read_by(rules, series) for rules, series in zip(concerning, samples, strict=True)]
    having: dict[str, set[int]] = {}
    for number, (rules, series) in enumerate(zip(concerning, read, strict=True)):
        for name in story_rules.metrics(series).union(*map(story_rules.writes, rules)):
            having.setdefault(name, set()).add(number)
    groups = []
    for same in zip(*(rule_groups(story) for story in batch), strict=True):
        rules = [
            rule
            for rule_of_each in zip(*(group["rules"] for group in same), strict=True)
            for rule in story_rules.of_clusters(
                {n: rule for n, rule in enumerate(rule_of_each) if id(rule) in wanted[n]}, len(batch), having
            )
        ]
        groups += [{**same[0], "rules": rules}] if rules else []
    values = {
        story_rules.in_cluster(number, key): numbers
        for number, series in enumerate(read)
        for key, numbers in series.items()
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
def _batches() -> list[list[str]]:
    """Put stories of about the same length together, the longest first."""
    known = _stories()
    batches: list[list[str]] = []
    for name in sorted(known, key=lambda name: -known[name].minutes):
        if not batches or len(batches[-1]) == _MOST or 2 * known[name].minutes < known[batches[-1][0]].minutes:
            batches.append([])
        batches[-1].append(name)
    return batches


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Another process that makes the file is waited for."""
    with file.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
