"""The values of the storage section, one reader each."""

import re

from ultracluster.clusterfile.problems import FieldProblems, Problem, shown
from ultracluster.clusterfile.quantities import Size
from ultracluster.clusterfile.readers.basic import did_you_mean, matching, one_of, text
from ultracluster.hardware import lustre, repositories
from ultracluster.hardware.lustre_intelligent_tiering import READ_CACHE_MODES
from ultracluster.planning import check_mount_path, paths
from ultracluster.planning.associations import bucket_problems
from ultracluster.planning.schedules import check_schedule
from ultracluster.planning.slurm_boot import BUNDLE_URL, SHA256

# Every path of a mount, and the whole file system.
LINK_PATH = re.compile(f"{paths.MOUNT.pattern}|/", re.ASCII)

# All that FSx knows, https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html
# and API_CreateFileSystem.html (read 2026-11-21).
DEPLOYMENT_TYPES = ("PERSISTENT_2", "SCRATCH_2", "PERSISTENT_1", "SCRATCH_1")
STORAGE_TYPES = ("SSD", "INTELLIGENT_TIERING", "HDD")
#: How the read cache is sized; USER_PROVISIONED is what a size means.
READ_CACHES = tuple(mode for mode in READ_CACHE_MODES if mode != "USER_PROVISIONED")

_MAINTENANCE = re.compile(r"[1-7]:([01]\d|2[0-3]):[0-5]\d", re.ASCII)
_MOUNT_NAME = re.compile(r"[A-Za-z0-9_-]{1,8}", re.ASCII)


def maintenance(value: object) -> str:
    """When FSx may patch a file system."""
    return matching(
        value, _MAINTENANCE, 'a day and time in UTC, d:HH:MM with 1 for Monday, in quotes, such as "7:03:00"'
    )


def read_cache(value: object) -> Size | str:
    """The read cache of Intelligent-Tiering: its size, or how it is sized."""
    if isinstance(value, str) and value in READ_CACHES:
        return value
    written = isinstance(value, str) and value.strip()[:1].isdecimal()
    if written or (isinstance(value, int | float) and not isinstance(value, bool)):
        return Size.parse(value)
    hint = did_you_mean(value, READ_CACHES).strip() if isinstance(value, str) else ""
    raise ValueError(
        f"must be a size, such as 10 TiB, {' or '.join(READ_CACHES)}, got {shown(value)}"
        + (f"; {hint}" if hint else "")
    )


def lustre_version(value: object) -> str:
    """A version of Lustre, in quotes or not."""
    # 2.15 without quotes is a number in YAML; how it was written is what is meant.
    written = getattr(value, "text", value) if isinstance(value, float) else value
    return one_of(written, lustre.VERSIONS, "a version of Lustre that FSx runs")


def lustre_mount_name(value: object) -> str:
    """The name that clients of a Lustre file system mount."""
    return matching(
        value, _MOUNT_NAME, "the LustreMountName of a file system, 1 to 8 letters, digits, hyphens and underscores"
    )


def bundle_url(value: object) -> str:
    """Where nodes fetch the tool that sets EFA up for Lustre."""
    return matching(
        value,
        BUNDLE_URL,
        "an https:// or s3:// address of letters, digits and ./_~:@?=&+-, with a bucket and a key for s3://",
    )


def sha256(value: object) -> str:
    """A checksum."""
    what = "a SHA-256 checksum, 64 hexadecimal digits in lower case, as sha256sum prints it"
    return matching(value, SHA256, what)


def link_path(value: object) -> str:
    """The directory of a file system that is linked to S3."""
    what = "a directory of the file system, as seen from its own root, such as /data; / is all of it"
    found = text(value, what)
    if LINK_PATH.fullmatch(found):
        return found
    raise ValueError(
        f"must be {what}; of letters, digits, dots, hyphens and underscores, no slash at the end, got {shown(found)}"
    )


def linked_bucket(value: object) -> str:
    """The name of a bucket that a file system is linked to."""
    found = text(value, "the name of a bucket, such as my-datasets")
    name, _, prefix = found.removeprefix("s3://").partition("/")
    if name != found:
        way_out = f"bucket: {name}" + (f" and prefix: {prefix}" if prefix else "")
        raise ValueError(f"must be the name of a bucket alone, got {shown(found)}; write {way_out}"[:300])
    if problems := bucket_problems(found[:80]):
        raise ValueError(problems[0])
    return found


def prefix(value: object) -> str:
    """The part of a bucket that is linked."""
    return text(value, "a prefix of the bucket, such as tokens")


def events(value: object) -> tuple[str, ...]:
    """What moves by itself between a file system and S3."""
    if not isinstance(value, list):
        raise ValueError(
            f"must be a list of {', '.join(repositories.EVENTS)}, as in [NEW, CHANGED], got {shown(value)}"
        )
    wrong: list[Problem] = []
    read: list[str] = []
    for index, word in enumerate(value):
        try:
            read.append(one_of(word, repositories.EVENTS, "an event"))
        except ValueError as error:
            wrong.append(Problem(path=(index,), message=str(error)))
        else:
            if word in read[:-1]:
                wrong.append(Problem(path=(index,), message=f"{word} is there twice; remove one"))
    if wrong:
        raise FieldProblems(wrong)
    return tuple(read)


def schedule(value: object) -> str:
    """When something is done again and again."""
    what = 'a schedule of EventBridge Scheduler in UTC, such as "cron(0 3 * * ? *)" or rate(2 days)'
    found = text(value, what)
    if problems := check_schedule(found):
        raise ValueError(f"must be {what}, got {shown(found)}; {'; '.join(problems)}"[:600])
    return found


def home_path(value: object) -> str:
    """Where nodes mount home directories."""
    found = text(value, "a directory, such as /home")
    if problems := check_mount_path(found, example="/home", home=True):
        raise ValueError(problems[0])
    return found
