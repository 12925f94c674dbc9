"""Users of all nodes from a directory, by sssd over LDAPS."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ultracluster.boot._node_files import (
    PROGRAM,
    NodeBoot,
    NodeFile,
    oneshot,
    program,
    slurmd_drop_in,
    timer,
    unit_file,
)

DirectoryKind = Literal["ldap", "managed-ad"]
_UNIT = "ultracluster-directory.service"
_CA = "/etc/ultracluster/directory-ca.pem"
# What differs: AD has SIDs instead of UIDs, which sssd maps to the same UIDs on every node, and keys in an attribute
# that its schema has. https://sssd.io/docs and man sssd-ldap, sssd 2.8 (read 2026-11-22)
_SCHEMAS = {
    "ldap": (
        "ldap_schema = rfc2307",
        "ldap_id_mapping = false",
        "ldap_user_ssh_public_key = sshPublicKey",
        "ldap_account_expire_policy = shadow",
    ),
    "managed-ad": (
        "ldap_schema = ad",
        "ldap_id_mapping = true",
        "ldap_user_ssh_public_key = altSecurityIdentities",
        "ldap_user_extra_attrs = altSecurityIdentities:altSecurityIdentities",
        "ldap_referrals = false",
        "ldap_account_expire_policy = ad",
    ),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Directory:
    """A directory of users.

    Args:
        kind: `ldap`, with POSIX accounts of RFC 2307, or `managed-ad`.
        servers: URIs, `ldaps://` only.
        base_dn: Where users and groups are searched.
        bind_dn: Who searches.
        secret: ARN of the secret with the password of `bind_dn`.
        certificates: Certificates of the authority of the servers, as PEM. Default: those that the image trusts.
        filter: LDAP filter of the users that may log in. Default: all that are not disabled or expired.
    """

    kind: DirectoryKind
    servers: Sequence[str]
    base_dn: str
    bind_dn: str
    secret: str
    certificates: str | None = None
    filter: str | None = None

    @property
    def access_order(self) -> str:
        """Checks of sssd at a login; without a filter, `filter` denies all users (man sssd-ldap, sssd 2.8)."""
        return "filter, expire" if self.filter else "expire"

    def configuration(self, homes: str) -> str:
        """Return sssd.conf without the line of the password, which belongs to its end."""
        lines = [
            "[sssd]",
            "services = nss, pam, ssh",
            "domains = directory",
            "",
            "[domain/directory]",
            "id_provider = ldap",
            "auth_provider = ldap",
            # A login with a key sends no password, so sssd checks whether the account is disabled or expired. It grants
            # access if the attribute is missing (man sssd-ldap, sssd 2.8, read 2026-11-27).
            "access_provider = ldap",
            f"ldap_access_order = {self.access_order}",
            *([f"ldap_access_filter = {self.filter}"] if self.filter else []),
            f"ldap_uri = {', '.join(self.servers)}",
            f"ldap_search_base = {self.base_dn}",
            "ldap_tls_reqcert = demand",
            *([f"ldap_tls_cacert = {_CA}"] if self.certificates else []),
            *_SCHEMAS[self.kind],
            # UIDs below are of the image and of services.
            "min_id = 2000",
            f"override_homedir = {homes}/%u",
            "default_shell = /bin/bash",
            "cache_credentials = true",
            f"ldap_default_bind_dn = {self.bind_dn}",
            "ldap_default_authtok_type = password",
        ]
        return "".join(f"{line}\n" for line in lines)


def directory_boot(directory: Directory, *, region: str, homes: str) -> NodeBoot:
    """Return the files and units that configure sssd before Slurm starts, and again every hour.

    Nodes whose image lacks sssd install `sssd-ldap`, `sssd-tools`, `libnss-sss` and `libpam-sss` at the first boot.
    """
    service = oneshot(
        "Users of the directory",
        unit=("Wants=network-online.target", "After=network-online.target remote-fs.target"),
        service=(f"ExecStart={PROGRAM}directory {directory.secret} {region}", "TimeoutStartSec=15min"),
    )
    files = [
        program("directory", comments=False, in_place=True),
        NodeFile(path="/etc/ultracluster/sssd.conf", text=directory.configuration(homes)),
        unit_file(_UNIT, service),
        unit_file("ultracluster-directory.timer", _TIMER),
        *slurmd_drop_in("ultracluster-directory", f"[Unit]\nWants={_UNIT}\nAfter={_UNIT}\n"),
    ]
    if directory.certificates:
        files.append(NodeFile(path=_CA, text=directory.certificates))
    return NodeBoot(files=tuple(files), units=(_UNIT, "ultracluster-directory.timer"))


_TIMER = timer(
    "Users of the directory, every hour", "OnActiveSec=1h", "OnUnitInactiveSec=1h", "RandomizedDelaySec=10min"
)
