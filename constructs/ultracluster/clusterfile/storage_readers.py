"""The values of the storage section, one reader each."""

import re

from ultracluster.clusterfile.basic_readers import text
from ultracluster.clusterfile.problems import shown
from ultracluster.planning import check_mount_path

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


def home_path(value: object) -> str:
    """Where nodes mount home directories."""
    found = text(value, "a directory, such as /home")
    if problems := check_mount_path(found, example="/home", home=True):
        raise ValueError(problems[0])
    return found
