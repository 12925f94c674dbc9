"""File systems that an Auto Scaling group mounts."""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Protocol, cast

from aws_cdk import aws_ec2 as ec2

from ultracluster.boot import Mountable
from ultracluster.planning import shown
from ultracluster.rules import Refusal, error

_NESTED = error("mounts-nested", "A mount hides what is mounted below its path before it.")
_LUSTRE_PATH = "/fsx"


class MountableFileSystem(Mountable, Protocol):
    """A file system that nodes mount, and that adds the security group rules for them."""

    def allow_clients(self, clients: ec2.ISecurityGroup, *, subnets: Sequence[ec2.ISubnet] = ()) -> None:
        """Allow clients to mount it; raise a ValueError if EFA does not reach their subnets."""


def read_mounts(value: object) -> dict[str, MountableFileSystem]:
    """Return file systems by path, sorted, of a mapping or of a Lustre file system alone.

    Raises:
        Refusal: If a value is not a file system, or a path is below another.
    """
    if value is None:
        return {}
    if hasattr(value, "allow_clients") and hasattr(value, "mount_name"):
        value = {_LUSTRE_PATH: value}
    if not isinstance(value, Mapping):
        raise Refusal("", f"mounts must map paths to file systems, such as {{'/fsx': lustre}}, got {shown(value)}")
    errors = [
        _wrong(path, file_system) for path, file_system in value.items() if not hasattr(file_system, "allow_clients")
    ]
    paths = {str(path): PurePosixPath(str(path)) for path in value}
    errors += [
        _NESTED(f"mounts must have paths beside each other, got {inner!r} below {outer!r}: a mount hides the other")
        for outer in paths
        for inner in paths
        if inner != outer and (paths[outer] in paths[inner].parents or (outer < inner and paths[outer] == paths[inner]))
    ]
    if errors:
        raise Refusal("", errors)
    return cast(dict[str, MountableFileSystem], dict(sorted(value.items())))


def _wrong(path: object, value: object) -> str:
    sentence = f"mounts[{path!r}] must be a file system such as storage.LustreFileSystem, got {shown(value)}"
    if not hasattr(value, "mount_name"):
        return sentence
    return (
        f"{sentence}: import an aws_fsx file system with storage.LustreFileSystem.from_lustre_file_system_attributes("
        "file_system_id=..., mount_name=..., security_group=...)"
    )
