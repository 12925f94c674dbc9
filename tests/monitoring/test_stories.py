"""Stories of benign and broken clusters, in samples of exporters: stories/README.md."""

import json
from pathlib import Path

import pytest

from support import story_rules
from support.stories import TIMES, Story, after, play, stories, verdict
from ultracluster.monitoring.alerts import ALERTS

STORIES = list(stories())
CHANGING = [story for story in STORIES if story.changes]


@pytest.mark.parametrize("story", CHANGING, ids=[story.name for story in CHANGING])
def test_a_story_fires_its_alerts_and_no_others(story: Story) -> None:
    fired = play(story)
    assert verdict(story, fired) == []
    assert after(story, fired) == json.loads(TIMES.read_text())[story.name], (
        "python -m support.stories writes the times"
    )


def test_no_alert_fires_in_the_healthy_cluster_for_as_long_as_the_longest_story() -> None:
    # Any other story is played with the rules alone that it can change: the others do here what they do there.
    (healthy,) = [story for story in STORIES if not story.changes]
    assert healthy.minutes == max(story.minutes for story in STORIES)
    assert play(healthy) == {}


def test_rules_that_a_story_cannot_change_make_no_difference() -> None:
    story = next(story for story in STORIES if story.name == "a GPU falls off the bus")
    assert play(story) == play(story, whole=True) != {}


def test_a_story_keeps_the_rules_that_read_what_it_changes() -> None:
    groups: list[story_rules.Group] = [
        {"name": "a", "rules": [{"record": "x", "expr": "raw"}, {"record": "y", "expr": "other"}]},
        {"name": "b", "rules": [{"alert": "Rings", "expr": "x > 1 unless y"}, {"alert": "Apart", "expr": "y > 1"}]},
    ]
    (first, second) = story_rules.concerned(groups, {"raw"}, groups)
    assert first == groups[0]
    assert [rule["alert"] for rule in second["rules"]] == ["Rings"]
    assert story_rules.concerned(groups, {"none"}, groups) == []
    (changed,) = story_rules.concerned(groups, set(), [groups[0]])[1:]
    assert changed == groups[1]


def test_stories_have_names_of_their_own() -> None:
    names = [story.name for story in STORIES]
    assert sorted(names) == sorted(set(names))


def test_a_verdict_names_what_is_wrong() -> None:
    story = Story(name="", benign=True, minutes=30, changes=[{"at": 10}], rings={"NodeFlapping": 5},
                  after=frozenset({"NodeDiskFull"}))  # fmt: skip
    critical = next(name for name, alert in ALERTS.items() if alert.severity == "critical")
    problems = verdict(story, {critical: [3, 4], "NodeFlapping": [20], "NodeDiskFull": [29, 30]})
    assert problems == [
        f"{critical} fires from minute 3, and nobody wants it",
        "NodeDiskFull fires from minute 29, and nobody wants it",
        f"{critical} is critical and wakes somebody in minute 3",
        "NodeFlapping fires in minute 20; expected within 5 minutes of minute 10",
        "NodeDiskFull fires at the end",
    ]


def test_rejects_a_story_with_an_unknown_word(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path
    (folder / "x.yaml").write_text("- {story: x, kind: benign, minutes: 5, rings: {NoSuchAlert: 3}}\n")
    monkeypatch.setattr("support.stories.FOLDER", folder)
    with pytest.raises(ValueError, match="NoSuchAlert"):
        list(stories())
