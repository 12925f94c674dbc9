"""What a file system gives to the nodes that mount it: Slurm nodes a line of /etc/fstab, Kubernetes a static volume."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ultracluster.planning.arguments import shown

_NAME = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"


@dataclass(frozen=True, kw_only=True, slots=True)
class Mount:
    """A line of /etc/fstab, and what must run before it.

    Args:
        device: What is mounted, as the client names it; may be a token of the CDK.
        path: Where.
        type: File system type.
        options: Mount options, comma-separated.
        after: systemd units that must have run before, such as the one that sets EFA up for Lustre. Default: none.
    """

    device: str
    path: str
    type: str
    options: str
    after: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Volume:
    """A file system that is there already, as Kubernetes sees it: a persistent volume, and the claim for it.

    Args:
        name: Name of both; what is legal in Kubernetes: lower-case letters, digits and hyphens.
        driver: CSI driver.
        handle: Volume handle of the driver; may be a token of the CDK.
        attributes: Volume attributes of the driver.
        capacity_gib: Size that both say, in GiB. Kubernetes wants one, and file systems that grow ignore it.
        mount_options: Mount options.
    """

    name: str
    driver: str
    handle: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    capacity_gib: int = 1
    mount_options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the name, by https://kubernetes.io/docs/concepts/overview/working-with-objects/names (RFC 1123 label).

        Raises:
            ValueError: When Kubernetes would refuse it.
        """
        if not isinstance(self.name, str) or not re.fullmatch(_NAME, self.name, re.ASCII):
            raise ValueError(f"name has 1 to 63 lower-case letters, digits and inner hyphens, got {shown(self.name)}")

    def manifests(self, namespace: str = "default") -> list[dict[str, Any]]:
        """The two objects. The volume is retained when its claim goes: nothing of Kubernetes ever deletes data."""
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
    """A file system, made here or brought along, that nodes can mount."""

    def mount(self, path: str) -> Mount:
        """What a Slurm node needs to mount it at a path."""
        ...

    def volume(self, name: str) -> Volume:
        """What Kubernetes needs to mount it."""
        ...
