"""Argo CD, run by Amazon EKS, which applies the platform from a Git repository."""

from typing import Annotated

from pydantic import Field

from ultracluster.clusterfile.sections import _common as t
from ultracluster.clusterfile.sections import _word as w
from ultracluster.clusterfile.sections._section import Section

# https://docs.aws.amazon.com/singlesignon/latest/APIReference/API_InstanceMetadata.html (read 2026-11-25)
InstanceArn = Annotated[
    str,
    w.pattern(
        r"arn:aws[a-z-]*:sso:::instance/(sso)?ins-[A-Za-z0-9.-]{16}",
        "the ARN of an instance of IAM Identity Center, arn:aws:sso:::instance/ssoins-...",
        "arn:aws:sso:::instance/ssoins-0123456789abcdef",
    ),
]
# https://docs.aws.amazon.com/singlesignon/latest/IdentityStoreAPIReference/API_Group.html (read 2026-11-25)
GroupId = Annotated[
    str,
    w.pattern(
        r"([0-9a-f]{10}-)?[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
        "the id of a group of IAM Identity Center",
        "906749b5-c0a1-70b4-1b2c-0123456789ab",
    ),
]
Repository = Annotated[
    str,
    w.pattern(
        r"https://[A-Za-z0-9.-]{1,250}(/[A-Za-z0-9._~-]{1,100}){1,10}",
        "the https:// address of a Git repository",
        "https://github.com/acme/clusters.git",
    ),
]
Directory = Annotated[
    str,
    w.pattern(
        r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}(/[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}){0,8}",
        "a directory of the repository, without .. and without / at its ends",
        "clusters/orca",
    ),
]
Revision = Annotated[
    str, w.pattern(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,199}", "a branch, a tag or a commit of the repository", "main")
]


class ArgoCd(Section):
    """Argo CD, run by Amazon EKS, which applies the platform from a Git repository."""

    identity_center: InstanceArn = Field(description="Instance of IAM Identity Center, with which people sign in.")
    admins: w.Several[GroupId] = Field(description="Groups of IAM Identity Center that administer Argo CD.")
    repository: Repository = Field(description="Git repository with the rendered files.")
    path: Directory | None = Field(
        default=None, description="Directory of the files in it. Default: the name of the cluster."
    )
    revision: Revision = Field(default="main", description="Branch, tag or commit.")
    region: t.Region | None = Field(
        default=None, description="Region of IAM Identity Center. Default: that of the cluster."
    )
