"""Validation of arguments. A value that only a deployment knows is accepted."""

import re
from collections.abc import Iterator

import aws_cdk as cdk

from ultracluster.catalogue.ec2 import partition_problem

# https://docs.aws.amazon.com/grafana/latest/APIReference/API_CreateWorkspace.html (read 2026-11-21)
GRAFANA_NAME = re.compile(r"[a-zA-Z0-9._~-]{1,255}", re.ASCII)
GRAFANA_ID = re.compile(r"g-[0-9a-f]{10}", re.ASCII)
WORKSPACE_ID = re.compile(r"ws-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_REGION = re.compile(r"[a-z]{2,4}(-[a-z]+)+-\d", re.ASCII)
HTTPS_URL = re.compile(r"https://[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*(:\d{1,5})?(/[\x21-\x7e]*)?", re.ASCII)
_ARN = re.compile(
    r"arn:aws[a-z-]*:(?P<service>[a-z]+):(?P<region>[a-z0-9-]+):(?P<account>\d{12}):(?P<rest>.+)", re.ASCII
)


def known(value: str) -> bool:
    """Return whether a text is known at synthesis."""
    return not cdk.Token.is_unresolved(value)


def text_problem(what: str, value: str, pattern: re.Pattern[str], form: str) -> Iterator[str]:
    """Yield the problem of a text that a pattern does not match.

    Args:
        what: Name of the argument.
        value: The text.
        pattern: Must match the whole text.
        form: Description of a valid text.
    """
    if known(value) and not pattern.fullmatch(value):
        yield f"{what} must be {form}, got {value[:120]!r}"


def arn_problem(what: str, arn: str, form: str) -> Iterator[str]:
    """Yield the problem of an ARN: service, resource or partition.

    Args:
        what: Name of the argument.
        arn: The ARN.
        form: As people write it: `arn:aws:aps:REGION:ACCOUNT:workspace/ws-...`.
    """
    if not known(arn):
        return
    match = _ARN.fullmatch(arn)
    _, _, service, _, _, rest = form.split(":", 5)
    kind = rest.partition("/")[0] + "/" if "/" in rest else ""
    if match is None or match["service"] != service or not match["rest"].startswith(kind):
        yield f"{what} must be an ARN such as {form}, got {arn[:120]!r}"
    elif wrong := partition_problem(arn):
        yield f"{what} {wrong}"


def region_problem(what: str, region: str | None) -> Iterator[str]:
    """Yield the problem of the name of a region, if there is one."""
    if region is not None:
        yield from text_problem(what, region, _REGION, "a region such as us-east-2")
