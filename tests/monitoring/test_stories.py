"""Stories of benign and broken clusters, in samples of exporters: stories/README.md."""

import json
import math
from collections.abc import Mapping
from pathlib import Path

import pytest

from support import story_batches, story_rules
from support.promql_needs import given, needs
from support.promql_parts import with_parts
from support.rule_tests import WORD
from support.stories import (
    TIMES,
    Played,
    Story,
    after,
    concerned,
    healthy_rules,
    play,
    recorded_samples,
    stories,
    verdict,
)
from support.story_runs import STALE, encoded
from ultracluster.monitoring.alerts import ALERTS
from ultracluster.monitoring.names import PROBLEM, UNNAMED_PROBLEM

STORIES = list(stories())
CHANGING = [story for story in STORIES if story.changes]


@pytest.mark.parametrize("story", CHANGING, ids=[story.name for story in CHANGING])
def test_a_story_fires_its_alerts_and_no_others(story: Story) -> None:
    played = story_batches.played(story)
    assert verdict(story, played) == []
    assert after(story, played) == json.loads(TIMES.read_text())[story.name], (
        "python -m support.stories writes the times"
    )


def test_no_alert_fires_in_the_healthy_cluster_for_as_long_as_the_longest_story() -> None:
    # Any other story is played with the rules alone that it can change: the others do here what they do there.
    (healthy,) = [story for story in STORIES if not story.changes]
    assert healthy.minutes == max(story.minutes for story in STORIES)
    assert story_batches.played(healthy).fired == {}


def test_rules_that_a_story_cannot_change_make_no_difference() -> None:
    story = next(story for story in STORIES if story.name == "a GPU falls off the bus")
    played = play(story)
    assert played == play(story, whole=True)
    assert played.fired


def test_stories_side_by_side_fire_what_each_of_them_fires_alone() -> None:
    batch = [story for story in STORIES if story.name in ("a GPU falls off the bus", "the loss becomes NaN")]
    for story, firing in zip(batch, story_batches.play(batch), strict=True):
        alone = play(story).firing
        assert alone
        assert {minute: sorted(map(str, alerts)) for minute, alerts in firing.items() if alerts} == {
            minute: sorted(map(str, alerts)) for minute, alerts in alone.items()
        }


def test_a_story_keeps_the_rules_that_read_what_it_changes() -> None:
    groups: list[story_rules.Group] = [
        {"name": "a", "rules": [{"record": "x", "expr": "raw"}, {"record": "y", "expr": "other"}]},
        {"name": "b", "rules": [{"alert": "Rings", "expr": "x > 1 unless y"}, {"alert": "Apart", "expr": "y > 1"}]},
    ]
    (first, second) = story_rules.concerned(groups, {"raw"}, groups, {"raw", "other"})
    assert first == groups[0]
    assert [rule["alert"] for rule in second["rules"]] == ["Rings"]
    assert story_rules.concerned(groups, {"none"}, groups, {"raw", "other"}) == []
    (changed,) = story_rules.concerned(groups, set(), [groups[0]], {"raw", "other"})[1:]
    assert changed == groups[1]


@pytest.mark.parametrize(
    ("expr", "needed"),
    [
        ("a * 2 > bool 1", [{"a"}]),
        ('a - on (x) group_left (y) b{z="("}', [{"a", "b"}]),
        ("a or b and c unless d", [{"a"}, {"b", "c"}]),
        ("a and (a or b)", [{"a"}]),
        ("sum by (x) (rate(a[5m] offset 1h)) / max(b) without (y)", [{"a", "b"}]),
        ("max_over_time((a or b)[1h:1m]) + -c", [{"a", "c"}, {"b", "c"}]),
        ('topk(3, label_replace(a, "x", "$1", "y", "(.+)"))', [{"a"}]),
        ("absent(a) or vector(time()) * scalar(b)", [set[str]()]),
        ('ultracluster_node_problem{cluster="llama", problem=~"A|B"} * 0', [{"A"}, {"B"}]),
        ("ultracluster_node_problem", [{"ultracluster_node_problem"}]),
    ],
)
def test_what_an_expression_needs_for_a_result(expr: str, needed: list[set[str]]) -> None:
    assert needs(expr) == {frozenset(names) for names in needed}


@pytest.mark.parametrize(
    ("expr", "sampled", "rest"),
    [
        ("a or b * c", "a", "a"),
        ("a * b or on (x) c", "c", "c"),
        ("a unless on (x) b or c and d", "acd", "a or c and d"),
        ("a * b or c unless a", "bc", "c"),
        ('(a or b{z=")"}) * 2 > bool -c', "bc", '(b{z=")"}) * 2 > bool -c'),
        ("sum by (x) (rate(a[5m]) or b offset 1h) / max(c) without (y)", "ab", None),
        ("sum by (x) (rate(a[5m]) or b offset 1h)", "b", "sum by (x) (b offset 1h)"),
        ("max_over_time((a or b)[1h:1m])", "a", "max_over_time((a)[1h:1m])"),
        ("absent(a) or vector(time()) * scalar(b)", "c", "absent(a) or vector(time()) * scalar(b)"),
        (
            'x or ultracluster_node_problem{cluster="llama", problem=~"a|b"} * 0',
            "a",
            'ultracluster_node_problem{cluster="llama", problem=~"a|b"} * 0',
        ),
        ('x or ultracluster_node_problem{cluster="llama", problem=~"a|b"} * 0', "x", "x"),
        # No job is older than the run.
        *(
            (f"a and on (x) time() - ultracluster_job_start_timestamp_seconds{{y='z'}} > {least} or b", "ab", rest)
            for least, rest in (
                (3600, "b"),
                (3599, "a and on (x) time() - ultracluster_job_start_timestamp_seconds{y='z'} > 3599 or b"),
            )
        ),
        ("(a and on (x) time() - ultracluster_job_start_timestamp_seconds{y='z'} > 1e9) * 2", "a", None),
    ],
)
def test_terms_without_a_result_are_left_out(expr: str, sampled: str, rest: str | None) -> None:
    assert given(expr, {*sampled, "ultracluster_job_start_timestamp_seconds"}, 60) == rest


def test_an_expression_of_which_everything_has_samples_stays_as_it_is() -> None:
    for parts in (True, False):
        for rule in (rule for group in story_rules.groups(4, parts=parts) for rule in group["rules"]):
            assert given(rule["expr"], {*WORD.findall(rule["expr"])}, 10**9) == rule["expr"]


def test_a_rule_without_what_it_needs_is_left_out_with_those_that_need_it() -> None:
    rules = [
        {"record": "late", "expr": "early or late"},
        {"record": "early", "expr": "raw unless none"},
        {"record": "itself", "expr": "last_over_time(itself[5m])"},
        {"alert": "Rings", "expr": "late * none"},
    ]
    assert story_rules.giving(rules, {"raw"}) == rules[:2]


def test_rules_with_parts_are_the_rules() -> None:
    whole, parted = story_rules.groups(4, parts=False), story_rules.groups(4)
    for group, others in zip(whole, parted, strict=True):
        parts: dict[str, str] = {}
        rules = []
        for rule in others["rules"]:
            expr = rule["expr"]
            # A later one may have an earlier one.
            for name in reversed(parts):
                expr = expr.replace(f'({name}{{cluster="llama"}})', f"({parts[name]})")
            if rule.get("record", "").startswith("part:"):
                parts[rule["record"]] = expr
            else:
                rules.append({**rule, "expr": expr})
        assert rules == group["rules"]
    assert sum(len(group["rules"]) for group in parted) > sum(len(group["rules"]) for group in whole) + 30


def test_a_part_is_evaluated_again_after_what_it_reads() -> None:
    part = '(first{cluster="llama"} > 1 and second{cluster="llama"} > 2)'
    rules = [
        {"record": "a", "expr": f"{part} * x or {part}"},
        {"record": "first", "expr": f"{part} + 1"},
        {"record": "b", "expr": f"max_over_time({part}[5m:1m])"},
        {"record": "c", "expr": f"{part} / {part}"},
    ]
    assert [rule["record"] for rule in with_parts(rules, "p")] == ["p:2", "a", "first", "b", "p:1", "c"]


def test_what_a_rule_records_in_the_healthy_cluster_comes_as_samples_if_a_story_does_not_change_it() -> None:
    story = next(story for story in STORIES if story.name == "the loss becomes NaN")
    groups = concerned(story)
    recorded = {rule.get("record") for group in groups for rule in group["rules"]}
    samples = recorded_samples(story, groups)
    names = story_rules.metrics(samples)
    # Read by a group that is evaluated before the one that records it, and by one after it.
    late, early = "ultracluster_job_info", "ultracluster_job_start_timestamp_seconds"
    assert {late, early} <= names
    assert recorded.isdisjoint(names | {"ultracluster_gpu_job_info"})
    values = {key.partition("{")[0]: numbers for key, numbers in samples.items()}
    assert values[late] == [None, *[1] * story.minutes]
    assert values[early] == [None, *[60] * story.minutes]


def test_what_the_healthy_cluster_does_not_do_after_all_fires_in_its_story(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "ultracluster_job_step" not in healthy_rules().steady
    healthy = Story(name="", benign=True, minutes=17, changes=[])
    known = story_rules.Known(
        steady={"ultracluster_job_step": {}}, idle={"NodeLost": 'up{cluster="llama", job="dcgm"} == 1'}
    )
    monkeypatch.setattr("support.stories.healthy_rules", lambda: known)
    firing = play(healthy).firing
    # From the time on when no alert waits for what a start lacks.
    assert {minute: len(alerts) for minute, alerts in firing.items()} == {16: 4, 17: 5}
    assert {"alertname": "", "cluster": "llama", "job_id": "7"} in firing[17]


def test_a_rule_whose_beginning_a_story_does_not_change_is_left_out() -> None:
    groups: list[story_rules.Group] = [
        {
            "name": "a",
            "rules": [{"alert": "Rings", "expr": "rare > 1 unless raw"}, {"alert": "Also", "expr": "raw > 1"}],
        }
    ]
    assert story_rules.beginnings("a > 1 and on (x) (b or c) unless d") == ("a > 1", "a > 1 and on (x) (b or c)")
    assert story_rules.beginnings("a and b or c") == ()
    healthy = story_rules.Known(idle={"Rings": "rare > 1"})
    for changed, alerts in ({"raw"}, ["Also"]), ({"raw", "rare"}, ["Rings", "Also"]):
        (group,) = story_rules.concerned(groups, changed, groups, {"raw", "rare"}, healthy)
        assert [rule["alert"] for rule in group["rules"]] == alerts


def test_rules_that_read_what_keeps_its_value_have_settled() -> None:
    def rule(expr: str, name: str) -> story_rules.Rule:
        return {"record": name, "expr": expr}

    settled = [
        rule("max_over_time(still[20m:1m] offset 6m) / steady", "steady"),
        rule("none > 1", "none"),
        {"alert": "Rings", "expr": "still > 1 unless on (x) none"},
        # The story of the healthy cluster checks each minute that it has no problem.
        {"alert": "GpuHot", "expr": f'{PROBLEM}{{problem="GpuHot"}} > 1'},
    ]
    moving = [
        rule("rate(moves[5m])", "steady"),
        rule("still offset 28m", "late"),
        rule("still > late", "later"),
        rule("still * on () time()", "steady"),
        rule("still @ start()", "steady"),
        rule("last_over_time(still[7m]) + later", "steady"),
        {"alert": "RingsLater", "expr": "later > 1"},
        # From some minute on: what reads it looks back to before it.
        rule("still > 0", "begins"),
        rule("still > 1", UNNAMED_PROBLEM) | {"labels": {"problem": "GpuMissing"}},
        rule("still offset 28m", UNNAMED_PROBLEM) | {"labels": {"problem": "GpuHot"}},
    ]
    settled.append(rule("still > 2", UNNAMED_PROBLEM) | {"labels": {"problem": "GpuLost"}})
    known = story_rules.Known(steady={"steady": {}}, empty=frozenset({"none", "late", "later", "GpuLost", "GpuHot"}))
    rules = [*settled, *moving]
    assert story_rules.unsettled(rules, {"still", "moves"}, {"moves"}, known, 27) == moving


def test_a_rule_of_some_clusters_names_them_where_others_have_what_it_reads() -> None:
    rule = {"record": "a", "expr": 'b{cluster="llama", c="d"} * x{cluster="llama"}'}
    having = {"b": {*range(5)}, "x": {0, 1}}
    assert [
        [each["expr"] for each in story_rules.of_clusters(dict.fromkeys(numbers, rule), 5, having)]
        for numbers in ([], [3], [0, 3], [0, 1, 4], [0, 1, 2, 3], range(5))
    ] == [
        [],
        ['b{cluster="3", c="d"} * x{cluster="3"}'],
        ['b{cluster=~"0|3", c="d"} * x{cluster=~"0|3"}'],
        ['b{cluster!~"2|3", c="d"} * x'],
        ['b{cluster!="4", c="d"} * x'],
        ['b{c="d"} * x'],
    ]
    rule = {"record": "a", "expr": f'{PROBLEM}{{cluster="llama", problem="p"}} or {PROBLEM}{{cluster="llama"}}'}
    having = {PROBLEM: {0, 1}, "p": {0}}
    (each,) = story_rules.of_clusters({0: rule}, 3, having)
    assert each["expr"] == f'{PROBLEM}{{problem="p"}} or {PROBLEM}{{cluster="0"}}'


def test_stories_have_names_of_their_own() -> None:
    names = [story.name for story in STORIES]
    assert sorted(names) == sorted(set(names))


def test_a_verdict_names_what_is_wrong() -> None:
    story = Story(name="", benign=True, minutes=30, changes=[{"at": 10}], rings={"NodeFlapping": 5},
                  after=frozenset({"NodeDiskFull"}))  # fmt: skip
    critical, other = [name for name, alert in ALERTS.items() if alert.severity == "critical"][:2]
    minutes = {critical: [3, 4], other: [3, 4], "NodeFlapping": [20], "NodeDiskFull": [29, 30]}
    problems = verdict(story, played(minutes))
    assert problems == [
        f"{critical} fires from minute 3, and nobody wants it",
        f"{other} fires from minute 3, and nobody wants it",
        "NodeDiskFull fires from minute 29, and nobody wants it",
        f"{critical} is critical and wakes somebody in minute 3",
        f"{other} is critical and wakes somebody in minute 3",
        "NodeFlapping fires in minute 20; expected within 5 minutes of minute 10",
        f"one cause wakes somebody 2 times: {critical}, {other}",
        "NodeDiskFull fires at the end",
    ]


def played(minutes: Mapping[str, list[int]], **labels: str) -> Played:
    """Return alerts that fire in these minutes."""
    return Played(
        {
            minute: [
                {"alertname": name, "severity": ALERTS[name].severity.value, **labels}
                for name, when in minutes.items()
                if minute in when
            ]
            for minute in range(60)
        }
    )


def test_a_critical_alert_is_sent_once_it_has_waited_if_it_has_no_cause_and_is_not_inhibited() -> None:
    minutes = {"NcclRanksMissing": [5, 6, 7], "JobHung": [6, 7], "NodeLost": [3], "GpuTemperatureHigh": [3, 4]}
    # The alert for many jobs has no job_id, and inhibits that of the same many.
    for of_a_job in ({"cluster": "llama", "job_id": "7"}, {"cluster": "llama"}):
        assert played(minutes, **of_a_job).pages == {"NcclRanksMissing": 6}
    of_a_node = {"cluster": "llama", "instance": "i-1"}
    assert played({"GpuMissing": [5, 6]}, **of_a_node).pages == {"GpuMissing": 6}
    assert played({"GpuMissing": [5, 6]}, **of_a_node, cause="GpuXidFatal").pages == {}


def test_rejects_a_story_with_an_unknown_word(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path
    (folder / "x.yaml").write_text("- {story: x, kind: benign, minutes: 5, rings: {NoSuchAlert: 3}}\n")
    monkeypatch.setattr("support.stories.FOLDER", folder)
    with pytest.raises(ValueError, match="NoSuchAlert"):
        list(stories())


def test_rejects_a_story_with_a_key_twice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("- {story: x, kind: benign, minutes: 5, minutes: 6}\n")
    monkeypatch.setattr("support.stories.FOLDER", tmp_path)
    with pytest.raises(ValueError, match="key is there twice"):
        list(stories())


def test_runs_of_values_are_written_as_promtool_adds_them() -> None:
    numbers = (None, None, 1.0, 1.0, 1.0, 2.0, 3.5, 5.0, 6.5, STALE, STALE, math.nan, 0.1, 0.2, 7e12, 7e12)
    assert encoded(numbers) == "_x2 1x2 2+1.5x3 stale stale NaN 0.1 0.2 7000000000000x1"
    # Adding it again and again, promtool would come to another number.
    assert encoded(tuple(0.1 * number for number in range(7))) == "0+0.1x5 0.6"
