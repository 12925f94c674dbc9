"""Ids of reservations, ARNs of reservation groups and of training plans, and their times."""

import re
from datetime import datetime

from ultracluster.planning import known

_RESERVATION_ID = r"cr-[0-9a-f]{17}"
_GROUP_ARN = r"arn:aws[a-z-]*:resource-groups:[a-z]{2}(-[a-z]+)+-\d:\d{12}:group/[\w.-]+(/[\w-]+)?"
_PLAN_ARN = r"arn:aws[a-z-]*:sagemaker:[a-z]{2}(-[a-z]+)+-\d:\d{12}:training-plan/[\w.-]+"


def check_reservation_id(text: str) -> list[str]:
    """Return the errors of an id of a Capacity Reservation."""
    form = "a reservation's id is cr- and 17 hexadecimal digits, as in cr-0123456789abcdef0"
    return [] if re.fullmatch(_RESERVATION_ID, text) else [f"{form}, got {text[:80]!r}"]


def check_group_arn(text: str) -> list[str]:
    """Return the errors of the ARN of a group of reservations."""
    form = "a group of reservations is a resource group: arn:aws:resource-groups:REGION:ACCOUNT:group/NAME"
    return [] if re.fullmatch(_GROUP_ARN, text, re.ASCII) else [f"{form}, got {text[:120]!r}"]


def check_training_plan_arn(text: str) -> list[str]:
    """Return the errors of the ARN of a training plan."""
    form = "a training plan is arn:aws:sagemaker:REGION:ACCOUNT:training-plan/NAME"
    return [] if re.fullmatch(_PLAN_ARN, text, re.ASCII) else [f"{form}, got {text[:120]!r}"]


def is_token(text: str) -> bool:
    """Report whether a text is a value of the CDK that is known later only: a token, or a placeholder."""
    return not known(text)


def check_times(starts: datetime | None, ends: datetime | None) -> list[str]:
    """Return the errors of a start and an end."""
    times = {"starts": starts, "ends": ends}
    wrong = {name: time for name, time in times.items() if time is not None and time.tzinfo is None}
    problems = [f"{name} must have a time zone, got {time.isoformat()}" for name, time in wrong.items()]
    if not wrong and starts is not None and ends is not None and starts >= ends:
        problems.append(f"starts must be before ends, got {starts.isoformat()} and {ends.isoformat()}")
    return problems
