"""Mounts as lines of /etc/fstab and as systemd units."""

from ultracluster.boot._mounts import Mount
from ultracluster.boot._node_files import mount_unit


def fstab_options(mount: Mount) -> str:
    """Return the options of a mount on first use, with its order.

    `noauto` keeps `mount -a`, which ignores the order of units, from mounting it; the automount unit does.

    See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/mount-fs-auto-mount-onreboot.html (read 2026-11-21)
    """
    wanted = [*mount.options.split(","), "_netdev", "noauto", "x-systemd.automount"]
    # x-systemd.requires is After= too.
    wanted += [f"x-systemd.requires={unit}" for unit in mount.after]
    return ",".join(dict.fromkeys(wanted))


def automount_unit(path: str) -> str:
    """Return the unit that mounts on first use, such as `fsx.automount` for `/fsx`."""
    return mount_unit(path).removesuffix(".mount") + ".automount"
