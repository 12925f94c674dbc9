"""Access to an EKS cluster: public ranges of its endpoint, and administrators."""

import re
from collections.abc import Sequence
from ipaddress import IPv4Network

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster.catalogue.schedulers import eks as facts
from ultracluster.clusterfile import PublicAccess
from ultracluster.planning import known
from ultracluster.rules import ARGUMENT, Message, error, shared
from ultracluster.security import readable

_ANYWHERE = error("eks-public-access", "An API server is public for wide ranges only where that is intended.")
_SERVICE_CIDR = shared("kubernetes-service-cidr")
_RANGES = error("eks-public-access-limit", "EKS accepts a limited number of public access CIDRs.")
_PRINCIPAL = re.compile(r"arn:[a-z-]+:iam::\d{12}:(role|user)/\S+")


def public_access_problems(cidrs: Sequence[str], *, anywhere: bool) -> list[Message]:
    """Return what is wrong with ranges of public access, as far as it is known at synthesis."""
    if cdk.Token.is_unresolved(list(cidrs)):
        return []
    problems = []
    for cidr in cidrs:
        if not known(cidr):
            continue
        try:
            problem = facts.check_public_range(IPv4Network(cidr))
        except ValueError:
            problems.append(ARGUMENT(f"public_access_cidrs must hold IPv4 ranges such as 203.0.113.0/24, got {cidr!r}"))
            continue
        if problem is not None and not anywhere:
            remedy = "narrow the range, or pass allow_public_access_from_anywhere=True"
            problems.append(_ANYWHERE(f"public_access_cidrs: {problem}; {remedy}"))
    if len(cidrs) > facts.PUBLIC_RANGES:
        message = f"public_access_cidrs must hold at most {facts.PUBLIC_RANGES} ranges, got {len(cidrs)}"
        problems.append(_RANGES(message))
    return problems


def service_range_problems(cidr: str) -> list[Message]:
    """Return what is wrong with the range of Services."""
    try:
        return [_SERVICE_CIDR(f"service_cidr {problem}") for problem in facts.check_service_range(IPv4Network(cidr))]
    except ValueError:
        return [_SERVICE_CIDR(f"service_cidr must be an IPv4 range such as {facts.SERVICE_CIDR}, got {cidr!r}")]


def admin_problems(admins: Sequence[str | iam.IRole | iam.IUser]) -> list[str]:
    """Return what is wrong with administrators, as far as it is known at synthesis."""
    return [
        f"admins must hold IAM roles, users or their ARNs, got {admin!r}"
        for admin in admins
        if isinstance(admin, str) and not is_role_or_user(admin)
    ]


def is_role_or_user(arn: str) -> bool:
    """Report whether an ARN is that of an IAM role or user; a token may be."""
    return not known(arn) or _PRINCIPAL.fullmatch(arn) is not None


def admin_arn(admin: str | iam.IRole | iam.IUser) -> str:
    """Return the ARN of an administrator."""
    if isinstance(admin, str):
        return admin
    # Interfaces of jsii do not support isinstance.
    arn: str = admin.role_arn if hasattr(admin, "role_arn") else admin.user_arn
    return arn


def admin_id(scope: Construct, arn: str) -> str:
    """Return an id for an access entry that comes from its principal, and not from its position in a list."""
    if not known(arn):
        return re.sub(r"[^A-Za-z0-9.]+", "-", str(readable(scope, arn))).strip("-")
    return arn.split(":", 4)[4].replace("/", "~").replace(":", "~")


def public_access_ranges(access: PublicAccess) -> list[str]:
    """Return the ranges of public access of a cluster file."""
    return ["0.0.0.0/0"] if isinstance(access, str) else [str(range) for range in access]


def kubeconfig_command(region: str, name: str, admins: Sequence[str]) -> str:
    """Return the command that adds a cluster to the kubeconfig, with the first role that may administer it."""
    role = next((f" --role-arn {admin}" for admin in admins if ":role/" in admin), "")
    return f"aws eks update-kubeconfig --region {region} --name {name}{role}"
