"""Mounts of FSx for Lustre: lines of /etc/fstab, and volumes of Kubernetes."""

from ultracluster.boot import LUSTRE_EFA_UNIT, Mount, Volume, check_mount_path

# Waits for the network, never blocks the boot, and mounts on first use. See
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/mount-fs-auto-mount-onreboot.html (read 2026-11-20).
MOUNT_OPTIONS = ",".join(
    [
        "defaults",
        "noatime",
        "flock",
        "_netdev",
        "nofail",
        "x-systemd.automount",
        "x-systemd.requires=systemd-networkd-wait-online.service",
    ]
)
# https://github.com/kubernetes-sigs/aws-fsx-csi-driver, v1.9.0 (read 2026-11-20)
_CSI_DRIVER = "fsx.csi.aws.com"


def lustre_mount(device: str, path: str, *, efa: bool, relatime: bool = False) -> Mount:
    """Return a line of /etc/fstab.

    Args:
        device: `DNS@tcp:/MOUNTNAME`. The address says tcp with EFA too.
        path: Mount path.
        efa: Whether the file system was created with EFA: a unit then configures the client before the mount.
        relatime: Whether reading a file counts as access, as a release of cold data requires.

    Raises:
        ValueError: If the path is not a plain directory, or is a directory of the system.
    """
    if problems := check_mount_path(path, example="/fsx"):
        raise ValueError(f"path {problems[0]}")
    options = MOUNT_OPTIONS.replace("noatime", access_times(relatime))
    after = (LUSTRE_EFA_UNIT,) if efa else ()
    return Mount(device=device, path=path, type="lustre", options=options, after=after)


def access_times(relatime: bool) -> str:
    """Return the mount option that determines whether reading a file counts as access."""
    return "relatime" if relatime else "noatime"


def lustre_volume(
    name: str, *, file_system_id: str, dns_name: str, mount_name: str, capacity_gib: int, relatime: bool = False
) -> Volume:
    """Return a static volume of the CSI driver of FSx for Lustre."""
    return Volume(
        name=name,
        driver=_CSI_DRIVER,
        handle=file_system_id,
        attributes={"dnsname": dns_name, "mountname": mount_name},
        capacity_gib=capacity_gib,
        mount_options=("flock", access_times(relatime)),
    )
