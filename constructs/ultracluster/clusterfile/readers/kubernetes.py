"""The values of the section `kubernetes`, one reader each."""

import re
from ipaddress import IPv4Network
from typing import Literal

from ultracluster.clusterfile.problems import FieldProblems, Problem, shown
from ultracluster.clusterfile.readers.basic import matching, one_of
from ultracluster.clusterfile.readers.values import cidr
from ultracluster.hardware import eks

PRIVATE, OPEN = "private", "open-to-the-world"
#: Who reaches the API server beside the VPC: nobody, everybody, or some ranges of addresses.
Endpoint = Literal["private", "open-to-the-world"] | tuple[IPv4Network, ...]

SCHEDULERS = ("kueue", "volcano", "kai")
EFA_WAYS = ("device-plugin", "dranet")
GPU_WAYS = ("device-plugin", "gpu-operator", "dra-driver")

PRINCIPAL = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:(role|user)/[A-Za-z0-9+=,.@_/-]{1,512}", re.ASCII)
API_SERVER = re.compile(r"https://[A-Za-z0-9.-]{4,250}", re.ASCII)
BASE64 = re.compile(r"[A-Za-z0-9+/]{4,8000}={0,2}", re.ASCII)
CLUSTER_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,99}", re.ASCII)
# https://kubernetes.io/docs/concepts/overview/working-with-objects/names/ (read 2026-11-21)
DNS_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)
ADD_ON = re.compile(r"[a-z0-9][a-z0-9_-]{1,98}", re.ASCII)
# Numbers have no zeros before them, and Helm takes no version that has: https://semver.org (read 2026-11-21)
_NUMBERS = r"(0|[1-9]\d{0,8})(\.(0|[1-9]\d{0,8})){2}"
_WORDS = r"[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*"
# https://docs.aws.amazon.com/eks/latest/userguide/managing-add-ons.html (read 2026-11-21)
ADD_ON_VERSION = re.compile(rf"v{_NUMBERS}-eksbuild\.[1-9]\d{{0,8}}|default", re.ASCII)
CHART_VERSION = re.compile(rf"v?{_NUMBERS}(-{_WORDS})?(\+{_WORDS})?", re.ASCII)


def version(value: object) -> str:
    """A version of Kubernetes, in quotes or not."""
    # 1.35 without quotes is a number in YAML; how it was written is what is meant.
    written = getattr(value, "text", value) if isinstance(value, float) else value
    if not isinstance(written, str) or not re.fullmatch(r"\d\.\d{1,3}", written, re.ASCII):
        raise ValueError(f'must be a version of Kubernetes, such as "{eks.DEFAULT_VERSION}", got {shown(value)}')
    if problems := eks.check_version(written):
        raise ValueError(problems[0])
    return written


def endpoint(value: object) -> Endpoint:
    """Who reaches the API server beside the VPC."""
    if value == PRIVATE:
        return "private"
    if value == OPEN:
        return "open-to-the-world"
    forms = f"{PRIVATE}, a list of ranges that reach it too, as in [203.0.113.0/24], or {OPEN}"
    if isinstance(value, str):
        raise ValueError(f"must be {forms}; got {shown(value)}")
    if not isinstance(value, list) or not value:
        raise ValueError(f"must be {forms}; got {'an empty list' if value == [] else shown(value)}")
    read: list[IPv4Network] = []
    wrong: list[Problem] = []
    for index, item in enumerate(value):
        try:
            found = cidr(item)
        except ValueError as error:
            wrong.append(Problem(path=(index,), message=str(error)))
            continue
        if reason := eks.check_public_range(found):
            message = f"{reason}; name the ranges that you come from, or write endpoint: {OPEN}"
            wrong.append(Problem(path=(index,), message=message))
        read.append(found)
    if wrong:
        raise FieldProblems(wrong)
    if len(read) > eks.PUBLIC_RANGES:
        raise ValueError(
            f"EKS takes {eks.PUBLIC_RANGES} ranges at most, got {len(read)}; join neighbours into wider ones"
        )
    return tuple(read)


def write_endpoint(value: Endpoint) -> str | list[str]:
    """What the file says."""
    return value if isinstance(value, str) else [str(one) for one in value]


def principal(value: object) -> str:
    """The ARN of a role or user."""
    return matching(value, PRINCIPAL, "the ARN of an IAM role or user, arn:aws:iam::ACCOUNT:role/NAME")


def principals(value: object) -> tuple[str, ...]:
    """ARNs of roles and users."""
    if not isinstance(value, list):
        raise ValueError(f"must be a list of ARNs of IAM roles or users, got {shown(value)}")
    wrong, read = [], []
    for index, item in enumerate(value):
        try:
            read.append(principal(item))
        except ValueError as error:
            wrong.append(Problem(path=(index,), message=str(error)))
    if wrong:
        raise FieldProblems(wrong)
    return tuple(dict.fromkeys(read))


def cluster_name(value: object) -> str:
    """The name of a cluster that is there already."""
    return matching(value, CLUSTER_NAME, "the name of an EKS cluster")


def api_server(value: object) -> str:
    """The address of an API server."""
    return matching(value, API_SERVER, "the address of the API server, https://...")


def certificate_authority(value: object) -> str:
    """The certificate authority of a cluster, as EKS shows it."""
    return matching(value, BASE64, "the base64 text that aws eks describe-cluster shows")


def team_name(value: object) -> str:
    """The name of a team, which is a namespace."""
    return matching(str(value), DNS_LABEL, "lower-case letters, digits and hyphens, as a namespace is called")


def scaling_tier(value: object) -> str:
    """A tier of the control plane."""
    return one_of(value, eks.SCALING_TIERS, "a scaling tier of the control plane")


def add_ons(value: object) -> dict[str, str]:
    """Versions of EKS add-ons by name."""
    return _versions(value, ADD_ON, ADD_ON_VERSION, "{coredns: v1.12.4-eksbuild.1}", "v1.12.4-eksbuild.1, or default")


def charts(value: object) -> dict[str, str]:
    """Versions of charts by the name of their release."""
    return _versions(value, ADD_ON, CHART_VERSION, "{kueue: 0.19.2}", "0.19.2")


def _versions(
    value: object, names: re.Pattern[str], versions: re.Pattern[str], example: str, one: str
) -> dict[str, str]:
    if not isinstance(value, dict):
        raise ValueError(f"must be a mapping of names to versions, as in {example}, got {shown(value)}")
    wrong = []
    for key, found in value.items():
        if not names.fullmatch(key):
            wrong.append(Problem(path=(key,), at_key=True, message=f"must be a name as in {example}, got {shown(key)}"))
        elif not isinstance(found, str) or not versions.fullmatch(found):
            wrong.append(Problem(path=(key,), message=f"must be a version, such as {one}, got {shown(found)}"))
    if wrong:
        raise FieldProblems(wrong)
    return dict(value)
