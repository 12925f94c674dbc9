"""Mounts and volumes of home directories, as the guides of FSx for OpenZFS, EFS and S3 Files specify them.

Every mount is hard: a write waits for the server and is never lost. It is tried on first use and not at boot, so that
a node comes up without its home, and mounts it as soon as it is there.
"""

from ultracluster.boot._mounts import Mount, Volume
from ultracluster.boot._nfs_boot import NFS_CLIENT_UNIT
from ultracluster.planning.home import CONNECTIONS_PER_CLIENT
from ultracluster.planning.nodes import MOUNT_PATH, check_mount_path
from ultracluster.rules import Refusal

# _netdev: after the network. nofail: the boot does not wait. x-systemd.automount: mounted by the first that looks, and
# tried again by the next one. See https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/mounting-volumes.html,
# https://docs.aws.amazon.com/efs/latest/ug/mounting-fs-nfs-mount-settings.html and
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-files-mounting.html (read 2026-11-21)
_AT_BOOT = ("_netdev", "nofail", "x-systemd.automount")
# 1 MiB a request; 60 seconds before one is repeated, for ever. The same pages.
_PATIENT = ("hard", "timeo=600", "retrans=2")
_MIB = 1_048_576


def openzfs_mount(*, dns_name: str, volume_path: str, path: str, transfer_bytes: int) -> Mount:
    """Return the mount of an FSx for OpenZFS volume, by NFS 4.2 with the NFS client. Nitro instances encrypt it.

    Args:
        dns_name: DNS name of the file system; may be a token.
        volume_path: Path of the volume, such as `/fsx/home`.
        path: Mount point on the node.
        transfer_bytes: Largest transfer of the server; see `OpenZfsSize.transfer_bytes`.

    See: https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/performance.html (read 2026-11-21)
    """
    options = (*_openzfs_options(transfer_bytes), *_AT_BOOT)
    return Mount(
        device=f"{dns_name}:{volume_path}",
        path=_checked(path),
        type="nfs",
        options=",".join(options),
        after=(NFS_CLIENT_UNIT,),
    )


def openzfs_volume(*, name: str, volume_id: str, dns_name: str, volume_path: str, transfer_bytes: int) -> Volume:
    """Return the volume for Kubernetes, with the driver of the add-on `aws-fsx-openzfs-csi-driver`.

    See: https://github.com/kubernetes-sigs/aws-fsx-openzfs-csi-driver/tree/main/examples/kubernetes/static-provisioning
    (read 2026-11-21)
    """
    return Volume(
        name=name,
        driver="fsx.openzfs.csi.aws.com",
        handle=volume_id,
        attributes={"DNSName": dns_name, "ResourceType": "volume", "VolumePath": volume_path.removeprefix("/")},
        mount_options=_openzfs_options(transfer_bytes),
    )


def efs_mount(*, file_system_id: str, dns_name: str, path: str, tls: bool) -> Mount:
    """Return the mount of an EFS file system.

    Args:
        file_system_id: Id of the file system; may be a token.
        dns_name: DNS name of the file system; may be a token.
        path: Mount point on the node.
        tls: Over TLS, which the client amazon-efs-utils adds; its mount helper sets the NFS options. Otherwise in
            clear, with the NFS client alone. EFS has no nconnect.

    See: https://docs.aws.amazon.com/efs/latest/ug/mounting-fs-nfs-mount-settings.html and
    https://docs.aws.amazon.com/efs/latest/ug/mount-fs-auto-mount-update-fstab.html (read 2026-11-21)
    """
    if tls:
        options: tuple[str, ...] = ("tls", "noresvport", *_AT_BOOT)
        return Mount(device=f"{file_system_id}:/", path=_checked(path), type="efs", options=",".join(options))
    options = ("nfsvers=4.1", f"rsize={_MIB}", f"wsize={_MIB}", *_PATIENT, "noresvport", *_AT_BOOT)
    return Mount(
        device=f"{dns_name}:/",
        path=_checked(path),
        type="nfs4",
        options=",".join(options),
        after=(NFS_CLIENT_UNIT,),
    )


def nfs_mount(*, server: str, export: str, path: str) -> Mount:
    """Return the mount of a server that supports NFS 4.1, such as FSx for ONTAP, in clear with the NFS client."""
    options = ",".join(("nfsvers=4.1", *_PATIENT, *_AT_BOOT))
    return Mount(
        device=f"{server}:{export}", path=_checked(path), type="nfs4", options=options, after=(NFS_CLIENT_UNIT,)
    )


def efs_volume(*, name: str, file_system_id: str, tls: bool) -> Volume:
    """Return the volume for Kubernetes; the driver `aws-efs-csi-driver` includes amazon-efs-utils.

    See: https://github.com/kubernetes-sigs/aws-efs-csi-driver/tree/master/examples/kubernetes/efs/encryption_in_transit
    (read 2026-11-21)
    """
    attributes = {"encryptInTransit": "true" if tls else "false"}
    return Volume(name=name, driver="efs.csi.aws.com", handle=file_system_id, attributes=attributes)


def s3_files_mount(*, file_system_id: str, path: str) -> Mount:
    """Return the mount of an S3 Files file system: over TLS, with the node's role and amazon-efs-utils 3.0 or newer.

    See: https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-files-mounting.html (read 2026-11-21)
    """
    return Mount(device=f"{file_system_id}:/", path=_checked(path), type="s3files", options=",".join(_AT_BOOT))


def s3_files_volume(*, name: str, file_system_id: str) -> Volume:
    """Return the volume for Kubernetes, with `aws-efs-csi-driver` 3.0 or newer.

    See: https://github.com/kubernetes-sigs/aws-efs-csi-driver/tree/master/examples/kubernetes/s3files/static_provisioning
    (read 2026-11-21)
    """
    return Volume(name=name, driver="efs.csi.aws.com", handle=f"s3files:{file_system_id}")


def _openzfs_options(transfer_bytes: int) -> tuple[str, ...]:
    sizes = (f"rsize={transfer_bytes}", f"wsize={transfer_bytes}")
    return ("nfsvers=4.2", f"nconnect={CONNECTIONS_PER_CLIENT}", *sizes, *_PATIENT)


def _checked(path: str) -> str:
    if problems := check_mount_path(path, example="/home", home=True):
        raise Refusal("", MOUNT_PATH(f"path {problems[0]}"))
    return path
