"""An existing EKS cluster that the nodes join."""

from typing import Annotated

from pydantic import Field

from ultracluster.clusterfile.sections import _common as t
from ultracluster.clusterfile.sections import _word as w
from ultracluster.clusterfile.sections._section import Section

ClusterName = Annotated[str, w.pattern(r"[0-9A-Za-z][0-9A-Za-z_-]{0,99}", "the name of an EKS cluster", "platform")]
ApiServer = Annotated[
    str,
    w.pattern(
        r"https://[A-Za-z0-9.-]{4,250}",
        "the address of the API server, https://...",
        "https://ABC.gr7.us-east-2.eks.amazonaws.com",
    ),
]
CertificateAuthority = Annotated[
    str,
    w.pattern(
        r"[A-Za-z0-9+/]{4,8000}={0,2}",
        "the base64 text that aws eks describe-cluster shows",
        "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t",
        example="the text that aws eks describe-cluster shows",
    ),
]


class ExistingCluster(Section):
    """An existing EKS cluster that the nodes join."""

    name: ClusterName = Field(description="Its name.")
    endpoint: ApiServer = Field(description="Address of its API server.")
    certificate_authority: CertificateAuthority = Field(description="Its certificate authority, in base64.")
    security_group: t.SecurityGroupId = Field(description="The security group that EKS created for it.")
