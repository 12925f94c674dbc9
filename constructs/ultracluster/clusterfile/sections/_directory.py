"""The section `slurm.directory`."""

from typing import TYPE_CHECKING, Annotated

from pydantic import ConfigDict, Field

from ultracluster.clusterfile._problems import shown
from ultracluster.clusterfile.sections import _common as t
from ultracluster.clusterfile.sections import _word as w
from ultracluster.clusterfile.sections._section import Section
from ultracluster.planning.nodes import CERTIFICATES, DN, LDAPS_URI, is_ldap_filter

if TYPE_CHECKING:
    from ultracluster.boot import Directory as NodeDirectory

_SERVER = "an address that begins with ldaps://, as passwords are sent over TLS only"
Server = Annotated[str, w.pattern(LDAPS_URI, _SERVER, "ldaps://ldap.example.com")]
Dn = Annotated[str, w.pattern(DN, "a distinguished name on one line, such as dc=example,dc=com", "dc=example,dc=com")]
Certificates = Annotated[
    str,
    w.pattern(
        CERTIFICATES,
        "1 to 20 certificates as PEM, as in a block that begins with certificates: | and holds no private key",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
        example="...",
    ),
]


def _filter(value: object) -> str:
    if isinstance(value, str) and is_ldap_filter(value):
        return value
    form = "an LDAP filter with all its parentheses, as in (memberOf=cn=hpc,ou=groups,dc=example,dc=com)"
    raise ValueError(f"must be {form}, got {shown(value)}")


Filter = Annotated[str, w.parsed(_filter, r"^\(.+\)$", "(memberOf=cn=hpc,ou=groups,dc=example,dc=com)")]


class Directory(Section):
    """A directory that the nodes reach over LDAPS."""

    servers: w.Several[Server] = Field(description="URIs of its servers, ldaps:// only, the first one preferred.")
    base_dn: Dn = Field(description="Where users and groups are searched.")
    bind_dn: Dn = Field(description="Distinguished name with which nodes search; it needs to read only.")
    secret: t.SecretArn = Field(
        description="Full ARN, with its suffix, of a secret whose content is the password of `bind-dn`."
    )
    key: t.KeyArn | None = Field(default=None, description="KMS key of the secret. Default: aws/secretsmanager.")
    certificates: Certificates | None = Field(
        default=None,
        description="Certificates of the authority of the servers, as PEM. Default: those that the image trusts.",
    )
    filter: Filter | None = Field(
        default=None,
        description="LDAP filter of the users that may log in. Default: all that are not disabled or expired.",
    )


class Directories(Section):
    """Users of all nodes from one directory."""

    model_config = ConfigDict(
        json_schema_extra={"allOf": [{"oneOf": [{"required": ["managed-ad"]}, {"required": ["ldap"]}]}]}
    )

    managed_ad: Directory | None = Field(
        default=None, description="AWS Managed Microsoft AD with LDAPS, or another Active Directory."
    )
    ldap: Directory | None = Field(default=None, description="A directory with POSIX accounts of RFC 2307.")

    @property
    def one(self) -> Directory:
        """The directory of the file."""
        section = self.managed_ad or self.ldap
        assert section is not None
        return section

    @property
    def for_nodes(self) -> "NodeDirectory":
        """The directory as nodes configure it."""
        from ultracluster.boot import Directory as NodeDirectory

        section = self.one
        return NodeDirectory(
            kind="managed-ad" if self.managed_ad else "ldap",
            servers=section.servers,
            base_dn=section.base_dn,
            bind_dn=section.bind_dn,
            secret=section.secret,
            certificates=section.certificates,
            filter=section.filter,
        )
