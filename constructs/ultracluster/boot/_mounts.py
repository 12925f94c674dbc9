"""Mounts of file systems: a line of /etc/fstab on Slurm nodes, a static volume on Kubernetes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ultracluster.boot._names import check_label
from ultracluster.boot._node_files import mount_unit
from ultracluster.planning import check_fields
from ultracluster.planning.nodes import MOUNT_PATH
from ultracluster.rules import Message, Refusal


@dataclass(frozen=True, kw_only=True, slots=True)
class Mount:
    """A line of /etc/fstab, and the units that must run before it.

    Args:
        device: Device, as the client names it; may be a CDK token.
        path: Mount point.
        type: File system type.
        options: Mount options, comma-separated.
        after: systemd units that must run before, such as the one that sets up EFA for Lustre. By default, none.
    """

    device: str
    path: str
    type: str
    options: str
    after: tuple[str, ...] = ()

    @property
    def fstab_options(self) -> str:
        """Options of a mount on first use, with its order.

        Programs of other users do not run as root, and no file is a device: `suid` or `dev` in the options replace
        that. `noauto` keeps `mount -a`, which ignores the order of units, from mounting it; the automount unit does.

        See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/mount-fs-auto-mount-onreboot.html (read 2026-11-21)
        """
        required = ["nosuid", "nodev", *self.options.split(","), "_netdev", "noauto", "x-systemd.automount"]
        # An order only: where the unit fails, the mount may work, and its check shows whether it does.
        required += [f"x-systemd.after={unit}" for unit in self.after]
        return ",".join(dict.fromkeys(required))

    @property
    def automount_unit(self) -> str:
        """Unit that mounts on first use, such as `fsx.automount` for `/fsx`."""
        return mount_unit(self.path).removesuffix(".mount") + ".automount"


# Kubernetes requires a size, and no driver of a static volume reads it. It is constant, because a claim of a static
# volume cannot be resized: https://kubernetes.io/docs/concepts/storage/persistent-volumes (read 2026-11-22)
_NOMINAL_SIZE = {"storage": "1Ti"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Volume:
    """An existing file system in Kubernetes: a persistent volume and its claim.

    Args:
        name: Name of both, a valid Kubernetes name: lower-case letters, digits and hyphens.
        driver: CSI driver.
        handle: Volume handle of the driver; may be a token of the CDK.
        attributes: Volume attributes of the driver.
        mount_options: Mount options.
    """

    name: str
    driver: str
    handle: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    mount_options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Validate the name, an RFC 1123 label.

        Raises:
            ValueError: If Kubernetes would reject it.
        """
        check_fields(self)
        if problems := check_label("name", self.name):
            raise Refusal("", problems)

    def manifests(self, namespace: str = "default") -> list[dict[str, Any]]:
        """Return both objects. The volume is retained if its claim is deleted: Kubernetes never deletes data."""
        modes = ["ReadWriteMany"]
        volume = {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": self.name},
            "spec": {
                "accessModes": modes,
                "capacity": dict(_NOMINAL_SIZE),
                "csi": {"driver": self.driver, "volumeAttributes": dict(self.attributes), "volumeHandle": self.handle},
                "mountOptions": list(self.mount_options),
                "persistentVolumeReclaimPolicy": "Retain",
                "storageClassName": "",
                "volumeMode": "Filesystem",
            },
        }
        claim = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": self.name, "namespace": namespace},
            "spec": {
                "accessModes": modes,
                "resources": {"requests": dict(_NOMINAL_SIZE)},
                "storageClassName": "",
                "volumeName": self.name,
            },
        }
        return [volume, claim]


class Mountable(Protocol):
    """A file system that nodes can mount, created here or existing."""

    def mount(self, path: str) -> Mount:
        """Return the mount of a Slurm node at a path."""

    def volume(self, name: str) -> Volume:
        """Return the volume for Kubernetes."""


def check_mount_points(mounts: Sequence[Mount]) -> list[Message]:
    """Return the errors of the mount points of a node; empty if each is a directory of its own."""
    paths = [mount.path for mount in mounts]
    wrong = [path for path in paths if not path.startswith("/") or not path.strip("/")]
    return [
        *(MOUNT_PATH(f"two mounts are at {path}") for path in sorted(set(paths)) if paths.count(path) > 1),
        *(MOUNT_PATH(f"a mount needs a directory of its own below /, got {path!r}") for path in wrong),
    ]
