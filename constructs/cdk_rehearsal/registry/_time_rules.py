"""Requirements on schedules and alarms beyond the registry schema. Sources were read on 2026-11-22 and 2026-11-26."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from cdk_rehearsal.registry._rule_values import number_at, text_at

_MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
_DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
# Name, least, most, names for numbers, further forms.
_FIELDS: tuple[tuple[str, int, int, list[str], str], ...] = (
    ("minutes", 0, 59, [], r"(?!)"),
    ("hours", 0, 23, [], r"(?!)"),
    ("day of month", 1, 31, [], r"\?|L|LW|L-\d{1,2}|\d{1,2}W"),
    ("month", 1, 12, _MONTHS, r"(?!)"),
    ("day of week", 1, 7, _DAYS, r"\?|L|[1-7]L|([1-7]|[A-Z]{3})#[1-5]"),
    ("year", 1970, 2199, [], r"(?!)"),
)


def schedule(properties: Mapping[str, Any]) -> Iterator[str]:
    """Check the expression of a schedule."""
    # https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html
    text = text_at(properties, "ScheduleExpression")
    if text is None:
        return
    if match := re.fullmatch(r"cron\((.*)\)", text):
        fields = match[1].split()
        if len(fields) != 6:
            yield f"#/ScheduleExpression: cron has 6 fields, got {len(fields)}"
        elif (fields[2] == "?") == (fields[4] == "?"):
            yield "#/ScheduleExpression: one of day of month and day of week must be ?"
        else:
            for field, (name, least, most, names, more) in zip(fields, _FIELDS, strict=True):
                if not all(_fits(part, least, most, names, more) for part in field.upper().split(",")):
                    yield f"#/ScheduleExpression: {name} of cron must be {least} to {most}, got {field}"
    elif match := re.fullmatch(r"rate\((\d+) (minute|hour|day)(s?)\)", text):
        if (int(match[1]) == 1) == bool(match[3]):
            yield f"#/ScheduleExpression: write rate({match[1]} {match[2]}{'' if match[3] else 's'})"
    elif not re.fullmatch(r"at\(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\)", text):
        yield f"#/ScheduleExpression: must be cron(...), rate(...) or at(...), got {text}"


def _fits(part: str, least: int, most: int, names: list[str], more: str) -> bool:
    """Return True if a part of a field of cron is valid: `*`, `5`, `2-6`, `0/15`, or a form of its field."""
    # https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html
    value, slash, step = part.partition("/")
    if slash and not re.fullmatch(r"[1-9]\d{0,4}", step):
        return False
    if value == "*" or (not slash and re.fullmatch(more, value)):
        return True
    ends = [str(names.index(end) + 1) if end in names else end for end in value.split("-")]
    return len(ends) <= 2 and all(end.isdecimal() and least <= int(end) <= most for end in ends)


def alarm(properties: Mapping[str, Any]) -> Iterator[str]:
    """Check the periods of an alarm."""
    # https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
    period, periods = number_at(properties, "Period"), number_at(properties, "EvaluationPeriods")
    if period is not None and period not in (10, 20, 30) and (period < 60 or period % 60):
        yield f"#/Period: 10, 20, 30 or a multiple of 60 seconds, got {period}"
    if period and periods and period * periods > (604_800 if period >= 3600 else 86_400):
        yield f"#/EvaluationPeriods: {periods} periods of {period} s are longer than CloudWatch evaluates"
