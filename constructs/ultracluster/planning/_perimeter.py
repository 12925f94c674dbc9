"""A data perimeter: the accounts, or the organization, that data and requests may not leave."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from ultracluster.planning._texts import known
from ultracluster.rules import Message, shared

#: Id of an organization: https://docs.aws.amazon.com/organizations/latest/APIReference/API_Organization.html, and its
#: model in botocore 1.44.5 (read 2026-11-23).
ORGANIZATION = re.compile(r"o-[a-z0-9]{10,32}", re.ASCII)
_ACCOUNT = r"\d{12}"
_PERIMETER = shared("perimeter")


def perimeter_problems(members: Sequence[str]) -> Iterator[Message]:
    """Yield the problems of a perimeter: the id of one organization, or accounts.

    Args:
        members: The perimeter. Empty: the account of the stack.
    """
    valid = [known(each) and bool(ORGANIZATION.fullmatch(each)) for each in members]
    if any(valid) and len(members) > 1:
        text = f"perimeter must be one organization, or accounts, got {', '.join(members)[:120]}"
        yield _PERIMETER(text)
    for each, is_organization in zip(members, valid, strict=True):
        if known(each) and not is_organization and not re.fullmatch(_ACCOUNT, each, re.ASCII):
            text = (
                f"perimeter must be an organization such as o-a1b2c3d4e5, or accounts of 12 digits, got {each[:60]!r}"
            )
            yield _PERIMETER(text)


def perimeter_condition(
    members: Sequence[str], account: str, of: Literal["Principal", "Resource"]
) -> dict[str, str | list[str]]:
    """Return the condition keys of requests by, or to, members of a perimeter.

    See: https://docs.aws.amazon.com/IAM/latest/UserGuide/access_policies_data-perimeters.html (read 2026-11-23)
    """
    if len(members) == 1 and ORGANIZATION.fullmatch(members[0]):
        return {f"aws:{of}OrgID": members[0]}
    return {f"aws:{of}Account": [account, *(each for each in members if each != account)]}
