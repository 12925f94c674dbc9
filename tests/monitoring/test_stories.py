"""Stories of benign and broken clusters, in samples of exporters: stories/README.md."""

from pathlib import Path

import pytest

from support.stories import Story, play, stories, verdict
from ultracluster.monitoring.alerts import ALERTS

STORIES = list(stories())


@pytest.mark.parametrize("story", STORIES, ids=[story.name for story in STORIES])
def test_a_story_fires_its_alerts_and_no_others(story: Story) -> None:
    assert verdict(story, play(story)) == []


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
