"""Schedules of EventBridge Scheduler: what it takes, and what would fail at the deployment."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracluster.planning.lustre import check_schedule


@pytest.mark.parametrize(
    "schedule",
    [
        "rate(1 days)",
        "rate(60 minutes)",
        "rate(1 hour)",
        "cron(0 3 * * ? *)",
        "cron(30 8 * * ? *)",
        "cron(15 10 ? * 6L 2022-2023)",
        "cron(1 * ? JAN,FEB,MAR MON-FRI *)",
        "cron(0 0 LW * ? 2026)",
        "cron(0 0 3W * ? *)",
        "cron(0 0 ? * 3#2 *)",
        "cron(0 0 1-15 * ? *)",
    ],
)
def test_what_aws_documents_is_taken(schedule: str) -> None:
    assert check_schedule(schedule) == []


@pytest.mark.parametrize(
    ("schedule", "says"),
    [
        ("0 3 * * *", "six fields"),
        ("cron(0 3 * * *)", "six fields"),
        ("rate(0 days)", "rate has a number"),
        ("rate(2 weeks)", "rate has a number"),
        ("cron(60 3 * * ? *)", "minutes must be 0 to 59"),
        ("cron(0 24 * * ? *)", "hours must be 0 to 23"),
        ("cron(0 3 * * * *)", "must be ?"),
        ("cron(0 3 ? * ? *)", "must be ?"),
        ("cron(0 3 1 13 ? *)", "month must be 1 to 12"),
        ("cron(0 3 ? * 8 *)", "day of week must be 1 to 7"),
        ("cron(0 3 ? * mon *)", "day of week must be"),
        ("cron(0 3 1 1 ? 1066)", "year must be 1970 to 2199"),
        ("cron(1-2-3 3 1 1 ? *)", "minutes must be"),
        ("cron(0/0 3 1 1 ? *)", "minutes must be"),
        ("rate(1 minute)", "once an hour at most"),
        ("rate(59 minutes)", "once an hour at most"),
        ("cron(* 3 * * ? *)", "once an hour at most"),
        ("cron(1/10 * ? JAN MON-FRI *)", "once an hour at most"),
        ("cron(0,30 3 * * ? *)", "once an hour at most"),
    ],
)
def test_what_no_clock_shows_is_refused(schedule: str, says: str) -> None:
    assert any(says in problem for problem in check_schedule(schedule)), check_schedule(schedule)


@given(st.integers(-5, 70), st.integers(-5, 30))
def test_a_time_of_day_is_taken_when_a_clock_shows_it(minute: int, hour: int) -> None:
    assert (check_schedule(f"cron({minute} {hour} * * ? *)") == []) == (0 <= minute <= 59 and 0 <= hour <= 23)


@given(st.text(max_size=60))
def test_any_text_is_judged(text: str) -> None:
    assert isinstance(check_schedule(f"cron({text})"), list)
