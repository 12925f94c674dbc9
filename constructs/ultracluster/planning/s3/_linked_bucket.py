"""Rules for a bucket that is linked to a Lustre file system, read from its CloudFormation properties."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, get_args

from ultracluster.planning import as_list, check_fields, known
from ultracluster.rules import Message, Refusal, error

#: Purpose of a bucket.
Purpose = Literal["dataset", "checkpoints"]

#: Days for which an overwritten or deleted object is kept. Choices of this library: checkpoints are large and soon
#: superseded, the loss of a dataset is noticed later. Both are long enough to notice a mistake
#: on the Monday after a holiday.
OLD_VERSIONS_DAYS: Mapping[Purpose, int] = MappingProxyType({"dataset": 30, "checkpoints": 14})

#: Storage classes that are read in milliseconds, and cost less than S3 Standard.
TierClass = Literal["INTELLIGENT_TIERING", "GLACIER_IR"]

# FSx shows the names of such objects and fails when one is read, until it is restored by hand. See
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/importing-files-dra.html (read 2026-11-21); Mountpoint is the same:
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/mountpoint.html (read 2026-11-21).
_ASLEEP = frozenset({"GLACIER", "DEEP_ARCHIVE"})

# Conditions on the origin of a request. FSx's does not come from a VPC or an address of the account.
_ORIGINS = frozenset({"aws:sourcevpce", "aws:sourcevpc", "aws:sourceip", "aws:vpcsourceip"})

#: The role that FSx reaches the bucket with; the id of the file system follows. See
#: https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-service-linked-roles.html (read 2026-11-21).
ROLE_PREFIX = "AWSServiceRoleForFSxS3Access_"


_TIER = error("bucket-tier", "Objects move to storage classes that are read in milliseconds.")
_LINK = error(
    "association-bucket-properties",
    "A bucket of a data repository association must keep its objects readable, and allow FSx.",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Tier:
    """A cheaper storage class for older objects.

    Args:
        storage_class: INTELLIGENT_TIERING, or GLACIER_IR (Glacier Instant Retrieval: cheaper to keep, dearer to read,
            90 days at least). Both are read in milliseconds, so that a linked file system never notices.
        after_days: Days after which an object moves, from its creation on.

    Raises:
        Refusal: When the class is another, or the days are negative.
    """

    storage_class: TierClass
    after_days: int = 30

    def __post_init__(self) -> None:
        """Check both."""
        check_fields(self)
        if self.storage_class not in get_args(TierClass):
            why = "a linked file system and Mountpoint cannot read what must be restored first"
            text = f"storage_class must be {' or '.join(get_args(TierClass))}, got {self.storage_class!r}: {why}"
            raise Refusal("", _TIER(text))
        if self.after_days < 0:
            raise Refusal("", _TIER(f"after_days must be 0 or more, got {self.after_days}"))


def link_problems(
    properties: Mapping[str, Any],
    policy: Mapping[str, Any],
    *,
    prefix: str,
    imports: bool = False,
    account: str | None = None,
) -> list[Message]:
    """Return the properties of a bucket that would break its link to a Lustre file system.

    Args:
        properties: Properties of the AWS::S3::Bucket.
        policy: Its bucket policy.
        prefix: What is linked, without slashes at the ends; empty for the whole bucket.
        imports: Whether the link imports automatically.
        account: Account of the file system. Default: that of the bucket.
    """
    linked = f"{prefix}/" if prefix else ""
    problems = [*_lifecycle(properties, linked), *_archives(properties, linked), *_locked_out(policy, account)]
    if imports and properties.get("NotificationConfiguration"):
        problems.append(NOTIFICATIONS)
    return [*map(_LINK, problems)]


#: Reason why a bucket with automatic import has no notifications in the app.
NOTIFICATIONS = _LINK(
    "FSx keeps an event notification named FSx on a bucket that it imports from, and CloudFormation writes all "
    "notifications of a bucket at once: a deployment would wipe it out, and overlapping ones make the association "
    "MISCONFIGURED; remove the notifications (EventBridge included) of the bucket, or import_events of the association"
)


def _lifecycle(properties: Mapping[str, Any], linked: str) -> Iterator[str]:
    for index, rule in enumerate((properties.get("LifecycleConfiguration") or {}).get("Rules") or []):
        if rule.get("Status") != "Enabled" or not _touches(_prefix(rule), linked):
            continue
        name = f"lifecycle rule {rule.get('Id') or index + 1}"
        if "ExpirationInDays" in rule or "ExpirationDate" in rule:
            yield (
                f"{name} deletes objects that the file system shows: automatic import does not see it, and a file that "
                "was released is lost; let the rule expire non-current versions only, or delete in a job"
            )
        moves = [*(rule.get("Transitions") or []), *filter(None, [rule.get("Transition")])]
        asleep = sorted({move.get("StorageClass") for move in moves} & _ASLEEP)
        if asleep:
            yield (
                f"{name} moves objects to {', '.join(asleep)}, where the file system cannot read them until each is "
                f"restored; use {' or '.join(get_args(TierClass))}"
            )


def _archives(properties: Mapping[str, Any], linked: str) -> Iterator[str]:
    for configuration in properties.get("IntelligentTieringConfigurations") or []:
        tiers = sorted(str(tiering.get("AccessTier")) for tiering in configuration.get("Tierings") or [])
        if configuration.get("Status") == "Enabled" and tiers and _touches(_prefix(configuration), linked):
            yield (
                f"Intelligent-Tiering configuration {configuration.get('Id')} moves objects to {', '.join(tiers)}, "
                "where the file system cannot read them until each is restored; leave it out: the three automatic "
                "tiers suffice"
            )


def _locked_out(policy: Mapping[str, Any], account: str | None) -> Iterator[str]:
    for index, statement in enumerate(policy.get("Statement") or []):
        conditions = statement.get("Condition") or {}
        keys = {key.lower() for tests in conditions.values() for key in tests}
        exempt = ROLE_PREFIX in json.dumps(conditions)
        if statement.get("Effect") == "Deny" and keys & _ORIGINS and not exempt:
            yield (
                f"statement {statement.get('Sid') or index + 1} of the bucket policy denies by where a request comes "
                "from, and FSx comes from outside of every VPC: exempt its role with ArnNotLike aws:PrincipalArn "
                f"arn:aws:iam::ACCOUNT:role/aws-service-role/s3.data-source.lustre.fsx.amazonaws.com/{ROLE_PREFIX}*"
            )
        inside = {
            key.lower(): as_list(values)
            for operator, tests in conditions.items()
            for key, values in tests.items()
            if operator.startswith("StringNotEquals")
        }
        of_accounts = statement.get("Effect") == "Deny" and inside.keys() == {"aws:principalaccount"} and not exempt
        if of_accounts and account is not None and known(account) and account not in inside["aws:principalaccount"]:
            yield (
                f"statement {statement.get('Sid') or index + 1} of the bucket policy denies principals of {account}, "
                "the account of the file system, and so the role of FSx: add the account to those of the statement"
            )


def _prefix(rule: Mapping[str, Any]) -> str:
    return str(rule.get("Prefix") or "")


def _touches(first: str, second: str) -> bool:
    return first.startswith(second) or second.startswith(first)
