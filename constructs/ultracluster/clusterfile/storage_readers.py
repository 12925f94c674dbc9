"""The values of the storage section, one reader each."""

import re

from ultracluster.clusterfile.basic_readers import text
from ultracluster.clusterfile.problems import shown
from ultracluster.planning.slurm_boot import BUNDLE_URL, SHA256

_MAINTENANCE = re.compile(r"[1-7]:([01]\d|2[0-3]):[0-5]\d", re.ASCII)
_MOUNT_NAME = re.compile(r"[A-Za-z0-9_-]{1,8}", re.ASCII)


def maintenance(value: object) -> str:
    """When FSx may patch a file system."""
    what = 'a day and time in UTC, d:HH:MM with 1 for Monday, in quotes, such as "7:03:00"'
    found = text(value, what)
    if _MAINTENANCE.fullmatch(found):
        return found
    raise ValueError(f"must be {what}, got {shown(found)}")


def lustre_mount_name(value: object) -> str:
    """The name that clients of a Lustre file system mount."""
    what = "the LustreMountName of a file system, 1 to 8 letters, digits, hyphens and underscores"
    found = text(value, what)
    if _MOUNT_NAME.fullmatch(found):
        return found
    raise ValueError(f"must be {what}, got {shown(found)}")


def bundle_url(value: object) -> str:
    """Where nodes fetch the tool that sets EFA up for Lustre."""
    what = "an https:// or s3:// address of letters, digits and ./_~:@?=&+-"
    found = text(value, what)
    if BUNDLE_URL.fullmatch(found):
        return found
    raise ValueError(f"must be {what}, got {shown(found)}")


def sha256(value: object) -> str:
    """A checksum."""
    what = "a SHA-256 checksum, 64 hexadecimal digits in lower case, as sha256sum prints it"
    found = text(value, what)
    if SHA256.fullmatch(found):
        return found
    raise ValueError(f"must be {what}, got {shown(found)}")
