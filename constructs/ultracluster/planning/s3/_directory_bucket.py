"""Directory buckets of S3 Express One Zone: names, zones, lifecycle.

Sources (read 2026-11-21), under https://docs.aws.amazon.com/AmazonS3/latest/userguide/:
directory-bucket-naming-rules.html, s3-express-Endpoints.html and directory-buckets-objects-lifecycle.html
"""

import re
from collections.abc import Iterator

from ultracluster.catalogue.ec2 import is_local_zone, region_of_zone
from ultracluster.catalogue.storage import s3
from ultracluster.rules import Message, error, warning

EXPRESS_BUCKET = error("express-bucket", "S3 limits the names of directory buckets, their zones and their lifecycle.")
_UNKNOWN_ZONE = warning("express-zone-unknown", "The zone is not known to have S3 Express One Zone.")
_OTHER_ZONE = warning("express-other-zone", "The directory bucket is in another zone than the nodes.")

_LONGEST = 63
_BASE = r"[a-z0-9]([a-z0-9-]*[a-z0-9])?"
_RESERVED = ("xn--", "sthree-", "amzn-s3-demo-")


def directory_bucket_name(base: str, zone: str) -> str:
    """Return the name of a directory bucket, which contains its zone id."""
    return f"{base}--{zone}--x-s3"


def check_directory_bucket(
    *, zone: str, base: str | None = None, expire_after_days: int | None = None
) -> list[Message]:
    """Return the errors of a directory bucket.

    Args:
        zone: Zone id, such as `use2-az1`.
        base: The name without its suffix, or None if CloudFormation generates it.
        expire_after_days: Days after which objects are deleted, or None.
    """
    problems = []
    if region_of_zone(zone) is None:
        problems.append(f"zone must be a zone id such as use2-az1, got {zone!r}")
    elif is_local_zone(zone):
        problems.append(
            f"{zone} is a Local Zone, where directory buckets keep data in a country and support no appends: "
            "name an Availability Zone"
        )
    if base is not None:
        name = directory_bucket_name(base, zone)
        if len(name) > _LONGEST:
            problems.append(
                f"a name has at most {_LONGEST} characters, suffix included, got {len(name)}: {name}; "
                f"shorten it by {len(name) - _LONGEST}"
            )
        if not re.fullmatch(_BASE, base) or base.startswith(_RESERVED):
            problems.append(
                f"a name consists of lower-case letters, digits and hyphens, has no hyphen at its ends, "
                f"and does not start with {', '.join(_RESERVED)}, got {base!r}; the suffix {name[len(base) :]} is added"
            )
    if expire_after_days is not None and expire_after_days < 1:
        problems.append(f"expire_after_days must be 1 or more, got {expire_after_days}")
    return [*map(EXPRESS_BUCKET, problems)]


def directory_bucket_warnings(*, zone: str, nodes_zone: str | None = None) -> Iterator[Message]:
    """Yield warnings about slow or unknown zones.

    Args:
        zone: Zone id of the bucket.
        nodes_zone: Zone id of the nodes, or None if not known.
    """
    if zone not in s3.EXPRESS_ZONES:
        known = sorted(known_zone for known_zone in s3.EXPRESS_ZONES if known_zone.split("-")[0] == zone.split("-")[0])
        yield _UNKNOWN_ZONE(
            f"S3 Express One Zone was not available in {zone} on 2026-11-21; in this Region: "
            f"{', '.join(known) or 'nowhere'}"
        )
    if nodes_zone not in (None, zone):
        yield _OTHER_ZONE(
            f"the bucket is in {zone} and the nodes are in {nodes_zone}: each request crosses zones, which removes "
            f"the benefit of Express; put the bucket into {nodes_zone}"
        )
