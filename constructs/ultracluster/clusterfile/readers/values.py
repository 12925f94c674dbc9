"""The values of a cluster file, one reader each: a Python value from what YAML gave, or an error that helps."""

import re
from collections.abc import Callable
from ipaddress import AddressValueError, IPv4Network, NetmaskValueError

from ultracluster.clusterfile.problems import FieldProblems, Problem, shown
from ultracluster.clusterfile.readers.basic import did_you_mean, one_of, text
from ultracluster.hardware import pcs, zones
from ultracluster.planning import check_mount_path

ORCHESTRATORS = ("slurm", "kubernetes")
_PLANNED_ORCHESTRATORS = ("hyperpod-slurm", "hyperpod-kubernetes")
REGION = re.compile(r"[a-z]{2}(-[a-z]+){1,2}-\d")
_ZONE_NAME = re.compile(r"(?P<region>[a-z]{2}(-[a-z]+){1,2}-\d)([a-z]|-[a-z]{3}-\d[a-z])")
ACCOUNT = re.compile(r"\d{12}", re.ASCII)
# Ids of EC2 have 8 hexadecimal digits (old) or 17. https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/resource-ids.html
_EC2_ID = "[0-9a-f]{8}([0-9a-f]{9})?"
KEY_ARN = re.compile(
    r"arn:aws[a-z-]*:kms:(?P<region>[a-z0-9-]+):(?P<account>\d{12}):key/(mrk-[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})",
    re.ASCII,
)
_SETTING = re.compile(r"[A-Za-z][A-Za-z0-9]{1,60}", re.ASCII)
_TAG_TEXT = re.compile(r"[\w\s.:/=+\-@]*")


def name(value: object) -> str:
    """The name of a cluster."""
    found = text(value, "the cluster's name")
    # A text that is far too long stays wrong when it is cut, and readable.
    if problems := pcs.check_cluster_name(found[:60]):
        raise ValueError(problems[0])
    return found


def region(value: object) -> str:
    """A region; a zone is told from one."""
    found = text(value, "a region, such as us-east-2")
    if REGION.fullmatch(found):
        return found
    zone = _ZONE_NAME.fullmatch(found)
    if zone:
        raise ValueError(f"must be a region, got the name of a zone, {shown(found)}; write region: {zone['region']}")
    if inside := zones.region_of_zone(found):
        raise ValueError(
            f"must be a region, got the id of a zone, {shown(found)}; write region: {inside} and zone: {found}"
        )
    hint = did_you_mean(found, sorted(zones.REGIONS.values())).strip()
    raise ValueError(f"must be a region, such as us-east-2, got {shown(found)}" + (f"; {hint}" if hint else ""))


def zone_id(value: object) -> str:
    """The id of a zone; a zone's name is told from one."""
    found = text(value, "the id of a zone, such as use2-az1")
    if zones.ZONE_ID.fullmatch(found):
        return found
    named = _ZONE_NAME.fullmatch(found)
    where = named["region"] if named else "REGION"
    find = (
        f"find it with: aws ec2 describe-availability-zones --region {where} "
        "--query 'AvailabilityZones[].[ZoneName,ZoneId]' --output text"
    )
    if named:
        raise ValueError(
            f"must be the id of a zone, such as use2-az1, got the name {shown(found)}, which means another zone in "
            f"every account; {find}"
        )
    raise ValueError(f"must be the id of a zone, such as use2-az1, got {shown(found)}; {find}")


def account(value: object) -> str:
    """An account of 12 digits, whose leading zeros YAML may have eaten."""
    written = getattr(value, "text", None) if isinstance(value, int) else value
    if isinstance(written, str) and ACCOUNT.fullmatch(written):
        if isinstance(value, str) or not written.startswith("0"):
            return written
        raise ValueError(f'must be in quotes, for YAML drops the leading zero of {written}; write account: "{written}"')
    if isinstance(value, int) and not isinstance(value, bool):
        raise ValueError(
            f"must be an account of 12 digits, got {shown(value)}; one that begins with a zero is written in quotes: "
            f'account: "{str(value).zfill(12) if 0 < value < 10**11 else "012345678901"}"'
        )
    raise ValueError(f'must be an account of 12 digits in quotes, such as "123456789012", got {shown(value)}')


def orchestrator(value: object) -> str:
    """What hands out the nodes."""
    if isinstance(value, str) and value in _PLANNED_ORCHESTRATORS:
        raise ValueError(f"{value} is not built yet; this release deploys {' and '.join(ORCHESTRATORS)}")
    return one_of(value, ORCHESTRATORS, "the orchestrator")


def controller_size(value: object) -> str:
    """A size of the controller."""
    return one_of(value, tuple(pcs.SIZES), "a size of AWS PCS")


def slurm_version(value: object) -> str:
    """A version of Slurm, in quotes or not."""
    # 25.11 without quotes is a number in YAML; how it was written is what is meant.
    written = getattr(value, "text", value) if isinstance(value, float) else value
    if isinstance(written, str) and written in pcs.ENDED_SLURM_VERSIONS:
        raise ValueError(
            f"AWS PCS ended Slurm {written} on {pcs.ENDED_SLURM_VERSIONS[written]}; take one of "
            f"{', '.join(pcs.SLURM_VERSIONS)}"
        )
    return one_of(written, pcs.SLURM_VERSIONS, "a version of Slurm that AWS PCS runs")


def slurm_settings(value: object) -> dict[str, str]:
    """Settings of slurm.conf by name; a number is read as it was written."""
    if not isinstance(value, dict):
        raise ValueError(f"must be a mapping of names to values, as in {{Prolog: /fsx/prolog.sh}}, got {shown(value)}")
    wrong, read = [], {}
    for key, found in value.items():
        written = getattr(found, "text", found) if isinstance(found, int | float) else found
        if not _SETTING.fullmatch(key):
            message = f"a setting of slurm.conf is a word, such as Prolog, got {shown(key)}"
            wrong.append(Problem(path=(key,), at_key=True, message=message))
        elif not isinstance(written, str) or not written or "\n" in written:
            wrong.append(Problem(path=(key,), message=f"must be a text on one line, got {shown(found)}"))
        else:
            read[key] = written
    if wrong:
        raise FieldProblems(wrong)
    return read


def cidr(value: object) -> IPv4Network:
    """A range of addresses."""
    what = "a range of IPv4 addresses, such as 10.0.0.0/16"
    found = text(value, what)
    try:
        if "/" not in found:
            raise ValueError(f"must be {what}, got {shown(found)}, which has no prefix length")
        return IPv4Network(found)
    except (AddressValueError, NetmaskValueError):
        raise ValueError(f"must be {what}, got {shown(found)}") from None
    except ValueError as error:
        if "host bits" not in str(error):
            raise
        begins = IPv4Network(found, strict=False)
        raise ValueError(f"must be {what}, got {shown(found)}, where no range begins; did you mean {begins}?") from None


def ec2_id(prefix: str, what: str) -> Callable[[object], str]:
    """The reader of an id of EC2."""
    pattern = re.compile(f"{prefix}-{_EC2_ID}")

    def read(value: object) -> str:
        found = text(value, what)
        if pattern.fullmatch(found):
            return found
        raise ValueError(f"must be {what}, {prefix}- and 17 hexadecimal digits, got {shown(found)}")

    return read


def key_arn(value: object) -> str:
    """The ARN of a KMS key."""
    what = "the ARN of a KMS key, arn:aws:kms:REGION:ACCOUNT:key/ID"
    found = text(value, what)
    if KEY_ARN.fullmatch(found):
        return found
    alias = "; aws kms describe-key --key-id ALIAS shows the ARN of an alias's key" if "alias/" in found else ""
    raise ValueError(f"must be {what}, got {shown(found)}{alias}")


def mount_path(value: object) -> str:
    """Where nodes mount a file system."""
    found = text(value, "a directory, such as /fsx")
    if problems := check_mount_path(found, example="/fsx"):
        raise ValueError(problems[0])
    return found


def tags(value: object) -> dict[str, str]:
    """Tags of all resources."""
    if not isinstance(value, dict):
        raise ValueError(f"must be a mapping of names to texts, got {shown(value)}")
    wrong = [
        Problem(path=(key,), message=problem) for key, word in value.items() if (problem := _tag_problem(key, word))
    ]
    if wrong:
        raise FieldProblems(wrong)
    # 50 in all, of these characters: https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_Tag.html
    # (read 2026-11-21); we and CDK add a few.
    if len(value) > 40:
        raise ValueError(f"a resource takes 50 tags, of which 40 are yours, got {len(value)}")
    return dict(value)


def _tag_problem(key: str, word: object) -> str | None:
    if not isinstance(word, str):
        return f"a tag's value must be a text, got {shown(word)}; put it in quotes"
    if key.lower().startswith("aws:"):
        return "names that begin with aws: are AWS's own; choose another one"
    for what, found, least, most in (("name", key, 1, 128), ("value", word, 0, 256)):
        if not least <= len(found) <= most or not _TAG_TEXT.fullmatch(found):
            return f"a tag's {what} has {least} to {most} letters, digits, spaces and _.:/=+-@, got {shown(found)}"
    return None
