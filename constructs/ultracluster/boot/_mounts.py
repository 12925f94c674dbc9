"""Mounts of file systems: a line of /etc/fstab on Slurm nodes, a static volume on Kubernetes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ultracluster.planning import shown

_NAME = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Volume:
    """An existing file system in Kubernetes: a persistent volume and its claim.

    Args:
        name: Name of both, a valid Kubernetes name: lower-case letters, digits and hyphens.
        driver: CSI driver.
        handle: Volume handle of the driver; may be a token of the CDK.
        attributes: Volume attributes of the driver.
        capacity_gib: Size of both, in GiB. Kubernetes requires it; file systems that grow ignore it.
        mount_options: Mount options.
    """

    name: str
    driver: str
    handle: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    capacity_gib: int = 1
    mount_options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Validate the name, an RFC 1123 label.

        Raises:
            ValueError: If Kubernetes would reject it.
        """
        if not isinstance(self.name, str) or not re.fullmatch(_NAME, self.name, re.ASCII):
            raise ValueError(f"name has 1 to 63 lower-case letters, digits and inner hyphens, got {shown(self.name)}")

    def manifests(self, namespace: str = "default") -> list[dict[str, Any]]:
        """Return both objects. The volume is retained if its claim is deleted: Kubernetes never deletes data."""
        size = {"storage": f"{self.capacity_gib}Gi"}
        modes = ["ReadWriteMany"]
        volume = {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": self.name},
            "spec": {
                "accessModes": modes,
                "capacity": size,
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
                "resources": {"requests": size},
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
