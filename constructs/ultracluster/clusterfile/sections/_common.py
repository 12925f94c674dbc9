"""Words of several sections: numbers, quantities, places, ids, ranges of addresses, settings."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from ipaddress import AddressValueError, IPv4Network, NetmaskValueError
from typing import Annotated, get_args

from pydantic import Field

from ultracluster.catalogue.ec2 import REGIONS, REPORTED, ZONE_ID, region_of_zone
from ultracluster.catalogue.ec2 import Architecture as ArchitectureWord
from ultracluster.catalogue.schedulers import pcs
from ultracluster.catalogue.storage import s3
from ultracluster.clusterfile import _quantities as q
from ultracluster.clusterfile._problems import shown
from ultracluster.clusterfile.sections import _word as w
from ultracluster.clusterfile.sections._word import Word
from ultracluster.planning import EMAIL
from ultracluster.planning.nodes import MOUNT, check_mount_path

Size = Annotated[q.Size, w.quantity(q.Size)]
Duration = Annotated[q.Duration, w.quantity(q.Duration)]
Throughput = Annotated[q.Throughput, w.quantity(q.Throughput)]
Count = Annotated[int, w.whole(example=64)]
Spare = Annotated[int, w.whole(0)]
COMPLIANCE = (
    "Frameworks of compliance for which the cluster has what costs money: a KMS key of all log groups; hipaa also "
    "detailed monitoring of single instances. Default: none."
)
SOFTWARE = (
    "Oldest versions of the software of nodes and container images, instead of those that the type of the nodes needs. "
    "driver-below is the oldest driver that is too new. What is older is reported; nothing is installed."
)
ACCEPT = (
    "Rules that are no concern: the id of each, and the reason. Warnings, and errors that rest on a fact with a date."
)
TAGS = (
    "Tags of every resource. Nodes have those of `nodes.NAME.tags`, `slurm.login.tags` and `kubernetes.system.tags`, "
    "whose edit replaces them."
)
TAGS_OF_NODES = (
    "Tags of the instances, their volumes and network interfaces. An edit replaces the {} nodes. Default: a name alone."
)
Compliance = w.Distinct[
    Annotated[str, w.choice(("hipaa", "nist-800-53", "pci-dss"), "a framework of compliance", example="hipaa")]
]
Flag = Annotated[bool, Word(w.flag, type="boolean")]

ORCHESTRATORS = ("slurm", "kubernetes", "hyperpod-slurm", "hyperpod-kubernetes")
REGION = re.compile(r"[a-z]{2}(-[a-z]+){1,2}-\d")
_ZONE_NAME = r"(?P<region>[a-z]{2}(-[a-z]+){1,2}-\d)([a-z]|-[a-z]{3}-\d[a-z])"
_ACCOUNT = r"\d{12}"
_SETTING = r"[A-Za-z][A-Za-z0-9]{1,60}"
_TAG_NAME = re.compile(r"[\w .:/=+\-@]{1,128}")
_TAG_VALUE = re.compile(r"[\w .:/=+\-@]{0,256}")


def region(value: object) -> str:
    """Parse a region; a zone is not one."""
    result = w.text(value, "a Region, such as us-east-2")
    if REGION.fullmatch(result):
        return result
    zone = re.fullmatch(_ZONE_NAME, result)
    if zone:
        raise ValueError(f"must be a Region, got the name of a zone, {shown(result)}; write region: {zone['region']}")
    if inside := region_of_zone(result):
        raise ValueError(
            f"must be a Region, got the id of a zone, {shown(result)}; write region: {inside} and zone: {result}"
        )
    hint = w.did_you_mean(result, sorted(REGIONS.values())).strip()
    raise ValueError(f"must be a Region, such as us-east-2, got {shown(result)}" + (f"; {hint}" if hint else ""))


def zone_id(value: object) -> str:
    """Parse the id of a zone; a zone's name is not one."""
    result = w.text(value, "the id of a zone, such as use2-az1")
    if ZONE_ID.fullmatch(result):
        return result
    named = re.fullmatch(_ZONE_NAME, result)
    where = named["region"] if named else "REGION"
    find = (
        f"find it with: aws ec2 describe-availability-zones --region {where} "
        "--query 'AvailabilityZones[].[ZoneName,ZoneId]' --output text"
    )
    if named:
        raise ValueError(
            f"must be the id of a zone, such as use2-az1, got the name {shown(result)}, which means another zone in "
            f"every account; {find}"
        )
    raise ValueError(f"must be the id of a zone, such as use2-az1, got {shown(result)}; {find}")


def _account(value: object) -> str:
    """Parse an account of 12 digits, whose leading zeros YAML may have dropped."""
    digits = getattr(value, "text", None) if isinstance(value, int) else value
    if isinstance(digits, str) and re.fullmatch(_ACCOUNT, digits, re.ASCII):
        if isinstance(value, str) or not digits.startswith("0"):
            return digits
        raise ValueError(f'must be in quotes, for YAML drops the leading zero of {digits}; write account: "{digits}"')
    if isinstance(value, int) and not isinstance(value, bool):
        raise ValueError(
            f"must be an account of 12 digits, got {shown(value)}; one that begins with a zero is written in quotes: "
            f'account: "{str(value).zfill(12) if 0 < value < 10**11 else "012345678901"}"'
        )
    raise ValueError(f'must be an account of 12 digits in quotes, such as "123456789012", got {shown(value)}')


_SERVICES = {
    "eks": "kubernetes",
    "k8s": "kubernetes",
    "pcs": "slurm",
    "hyperpod": "hyperpod-slurm or hyperpod-kubernetes",
}


def orchestrator(value: object) -> str:
    """Parse the orchestrator."""
    near = _SERVICES.get(value.lower()) if isinstance(value, str) else None
    if near:
        allowed = ", ".join(ORCHESTRATORS)
        raise ValueError(f"the orchestrator is one of {allowed}, got {shown(value)}; did you mean {near}?")
    return w.one_of(value, ORCHESTRATORS, "the orchestrator")


def cidr(value: object) -> IPv4Network:
    """Parse a range of addresses."""
    what = "a range of IPv4 addresses, such as 10.0.0.0/16"
    result = w.text(value, what)
    try:
        if "/" not in result:
            raise ValueError(f"must be {what}, got {shown(result)}, which has no prefix length")
        return IPv4Network(result)
    except (AddressValueError, NetmaskValueError):
        raise ValueError(f"must be {what}, got {shown(result)}") from None
    except ValueError as error:
        if "host bits" not in str(error):
            raise
        begins = IPv4Network(result, strict=False)
        raise ValueError(
            f"must be {what}, got {shown(result)}, where no range begins; did you mean {begins}?"
        ) from None


def key_arn(value: object) -> str:
    """Parse the ARN of a KMS key."""
    try:
        return str(_KEY_ARN.parse(value))
    except ValueError as error:
        alias = isinstance(value, str) and "alias/" in value
        hint = "; aws kms describe-key --key-id ALIAS shows the ARN of an alias's key" if alias else ""
        raise ValueError(f"{error}{hint}") from None


def _reason(value: object) -> str:
    if isinstance(value, str) and value.strip():
        return value
    raise ValueError(f"needs the reason why the rule is no concern, got {shown(value)}")


def architecture(value: object) -> str:
    """Parse the architecture of a CPU, in EC2's words."""
    others = {"amd64": "x86_64", "x64": "x86_64", "x86-64": "x86_64", "aarch64": "arm64", "arm": "arm64"}
    if isinstance(value, str) and value.lower() in others:
        raise ValueError(f"an architecture is x86_64 or arm64, got {shown(value)}; write {others[value.lower()]}")
    return w.one_of(value, get_args(ArchitectureWord), "an architecture")


def mount_path(example: str, *, home: bool = False) -> Word:
    """Create the word of the directory where nodes mount a file system."""
    return w.checked(
        partial(check_mount_path, example=example, home=home), f"a directory, such as {example}", MOUNT, example
    )


def bucket_name(keys: str, check: Callable[[str], Sequence[str]]) -> Word:
    """Create the word of the name of an existing bucket; an error writes its parts into the text `keys`."""

    def parse(value: object) -> str:
        bucket = w.text(value, "the name of a bucket, such as my-datasets")
        name, _, prefix = bucket.removeprefix("s3://").partition("/")
        if name != bucket:
            remedy = (keys if prefix else keys.partition(" and ")[0]).format(name=name, prefix=prefix)
            raise ValueError(f"must be the name of a bucket alone, got {shown(bucket)}; write {remedy}"[:300])
        if problems := check(bucket[:80]):
            raise ValueError(problems[0])
        return bucket

    return w.parsed(parse, s3.BUCKET_NAME, "my-datasets")


def one_line(value: object) -> str:
    """Parse a value of a setting; a number is read as it was written."""
    result = w.written(value)
    if not isinstance(result, str) or not result or "\n" in result:
        raise ValueError(f"must be a text on one line, got {shown(value)}")
    return result


def _tag_name(value: object) -> str:
    name = w.matching(value, _TAG_NAME, "1 to 128 letters, digits, spaces and _.:/=+-@")
    if name.lower().startswith("aws:"):
        raise ValueError("names that begin with aws: are AWS's own; choose another one")
    return name


Name = Annotated[str, w.checked(pcs.check_cluster_name, "the cluster's name", pcs.CLUSTER_NAME, "llama", longest=60)]
Region = Annotated[str, w.parsed(region, REGION, "us-east-2")]
ZoneId = Annotated[str, w.parsed(zone_id, ZONE_ID, "use2-az1")]
Account = Annotated[
    str,
    Word(
        _account,
        anyOf=[
            {"type": "string", "pattern": "^[0-9]{12}$"},
            {"type": "integer", "minimum": 10**11, "maximum": 10**12 - 1},
        ],
        examples=["123456789012"],
    ),
]
Orchestrator = Annotated[str, Word(orchestrator, enum=list(ORCHESTRATORS), example=ORCHESTRATORS[0])]
BaseFile = Annotated[str, w.parsed(lambda value: w.text(value, "a cluster file, such as base.yaml"), "^.+$")]
Architecture = Annotated[ArchitectureWord, Word(architecture, enum=list(get_args(ArchitectureWord)))]
FileSystemId = Annotated[str, w.ec2_id("fs", "the id of a file system")]
SecurityGroupId = Annotated[str, w.ec2_id("sg", "the id of a security group")]
VpcId = Annotated[str, w.ec2_id("vpc", "the id of a VPC")]
SubnetId = Annotated[str, w.ec2_id("subnet", "the id of a subnet")]
Cidr = Annotated[IPv4Network, w.parsed(cidr, r"^[0-9]{1,3}(\.[0-9]{1,3}){3}/[0-9]{1,2}$", "10.0.0.0/16")]
_KEY_ARN = w.arn(
    "kms",
    "key/(mrk-[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})",
    "the ARN of a KMS key",
    "key/ID",
    "key/01234567-89ab-cdef-0123-456789abcdef",
)
KeyArn = Annotated[str, Word(key_arn, **_KEY_ARN.schema)]
SecretArn = Annotated[
    str,
    w.arn(
        "secretsmanager",
        "secret:[A-Za-z0-9/_+=.@-]{1,519}",
        "the ARN of a secret, and not its content",
        "secret:NAME",
        "secret:my-secret-AbCdEf",
    ),
]
TopicArn = Annotated[str, w.arn("sns", "[A-Za-z0-9_-]{1,256}", "the ARN of an SNS topic", "NAME", "oncall")]
Email = Annotated[str, w.pattern(EMAIL, "a mail address, as in oncall@example.com", "oncall@example.com")]
MountPath = Annotated[str, mount_path("/fsx")]
HomePath = Annotated[str, mount_path("/home", home=True)]
SettingName = Annotated[str, w.pattern(_SETTING, "a setting of Slurm, a word such as Prolog", "Prolog")]
OneLine = Annotated[str, Word(one_line, type=["string", "number"], example="...")]
Settings = dict[SettingName, OneLine]
TagName = Annotated[str, w.parsed(_tag_name, _TAG_NAME, "team")]
TagValue = Annotated[str, w.pattern(_TAG_VALUE, "a text of 0 to 256 letters, digits, spaces and _.:/=+-@", "research")]
# 50 in all, of these characters: https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_Tag.html
# (read 2026-11-21); this library and the CDK add a few.
Tags = Annotated[dict[TagName, TagValue], Field(max_length=40)]
SoftwareName = Annotated[str, w.choice(REPORTED, "a part of the software", example="nccl")]
Version = Annotated[str, w.pattern(r"[0-9][0-9a-z.-]{0,30}", 'a version in quotes, as in "2.31"', "2.31")]
Reason = Annotated[str, Word(_reason, type="string", minLength=1, example="raised to 20000")]
