"""Clients of home file systems, by file system type and operating system.

The release notes of AWS's sample images for PCS list no client for EFS:
https://docs.aws.amazon.com/pcs/latest/userguide/ami-release-notes.html (read 2026-11-21)
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

OperatingSystem = Literal["al2023", "ubuntu"]

# https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/getting-started.html, step 2 (read 2026-11-21): AL2023 brings
# nfs-utils along.
_NFS = {
    "al2023": "rpm -q nfs-utils || dnf install -y nfs-utils",
    "ubuntu": "dpkg -s nfs-common || { apt-get update && apt-get install -y nfs-common; }",
}
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-files-prereq-policies.html (read 2026-11-21): Ubuntu has no
# package of it, AWS's installer fetches one from amazon-efs-utils.aws.com.
_EFS_UTILS = {
    "al2023": "rpm -q amazon-efs-utils || dnf install -y amazon-efs-utils",
    "ubuntu": "dpkg -s amazon-efs-utils || "
    "curl -fsS https://amazon-efs-utils.aws.com/efs-utils-installer.sh | sh -s -- --install",
}

_INSTALL: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {"nfs": _NFS, "nfs4": _NFS, "efs": _EFS_UTILS, "s3files": _EFS_UTILS}
)


def client_install(mount_type: str, system: OperatingSystem) -> str:
    """Return the shell command for root that installs the client of a file system type, if it is missing.

    Args:
        mount_type: The type in /etc/fstab: `nfs`, `nfs4`, `efs` or `s3files`.
        system: Operating system of the node's image.

    Raises:
        ValueError: If the type is another one.
    """
    if mount_type not in _INSTALL:
        raise ValueError(f"the type must be one of {', '.join(_INSTALL)}, got {mount_type!r}")
    return _INSTALL[mount_type][system]
