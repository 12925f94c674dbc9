"""Schedule expressions of EventBridge Scheduler, as release tasks have them: once an hour at most.

Files are released after whole days, and each task reads the metadata of all of them.

See: https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html (read 2026-11-21)
"""

import re

#: What a schedule looks like; `check_schedule` looks into it.
SCHEDULE = re.compile(r"cron\([^()]{11,200}\)|rate\([1-9][0-9]{0,4} (minute|hour|day)s?\)", re.ASCII)

_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
# Name, least and greatest number, words for the numbers from 1 on, and what stands for itself.
_FIELDS: tuple[tuple[str, int, int, tuple[str, ...], str], ...] = (
    ("minutes", 0, 59, (), ""),
    ("hours", 0, 23, (), ""),
    ("day of month", 1, 31, (), r"\?|L|LW|\d{1,2}W"),
    ("month", 1, 12, _MONTHS, ""),
    ("day of week", 1, 7, _DAYS, r"\?|L|[1-7]L|[1-7]#[1-5]"),
    ("year", 1970, 2199, (), ""),
)
_LEAST_MINUTES = 60
_OFTEN = "a release task runs once an hour at most, because files are released after whole days; run it once a day"


def check_schedule(schedule: str) -> list[str]:
    """Return the errors of a schedule expression."""
    fields = schedule.removeprefix("cron(").removesuffix(")").split()
    if not SCHEDULE.fullmatch(schedule) or (schedule.startswith("cron") and len(fields) != len(_FIELDS)):
        names = ", ".join(field[0] for field in _FIELDS)
        return [f"cron has six fields in brackets, {names}; rate has a number and minutes, hours or days"]
    if schedule.startswith("rate"):
        number, unit = schedule[len("rate(") : -1].split()
        return [_OFTEN] if unit.startswith("minute") and int(number) < _LEAST_MINUTES else []
    problems = [
        f"{name} must be {least} to {most}, with , - * / between and before numbers, got {field}"
        for field, (name, least, most, names, special) in zip(fields, _FIELDS, strict=True)
        if not all(_right(part, least, most, names, special) for part in field.split(","))
    ]
    if [fields[2], fields[4]].count("?") != 1:
        problems.append("one of day of month and day of week must be ?, and only one")
    if not problems and not fields[0].isdecimal():
        problems.append(_OFTEN)
    return problems


def _right(part: str, least: int, most: int, names: tuple[str, ...], special: str) -> bool:
    if special and re.fullmatch(special, part):
        return True
    whole, slash, step = part.partition("/")
    if slash and not (step.isdecimal() and 0 < int(step) <= most):
        return False
    ends = [_number(end, names) for end in whole.split("-")]
    return whole == "*" or (len(ends) <= 2 and all(least <= end <= most for end in ends))


def _number(word: str, names: tuple[str, ...]) -> int:
    if word in names:
        return names.index(word) + 1
    return int(word) if re.fullmatch(r"\d{1,4}", word, re.ASCII) else -1
