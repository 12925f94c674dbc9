"""A mount as a line of /etc/fstab has it, and as systemd mounts it."""

from ultracluster.planning.mounts import Mount
from ultracluster.planning.node_files import mount_unit


def fstab_options(mount: Mount) -> str:
    """The options of a mount that is made on first use, after what comes before it.

    `noauto` keeps `mount -a`, which knows no order of units, from mounting it; the automount takes its place.

    See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/mount-fs-auto-mount-onreboot.html (read 2026-11-21)
    """
    wanted = [*mount.options.split(","), "_netdev", "noauto", "x-systemd.automount"]
    # x-systemd.requires is After= too.
    wanted += [f"x-systemd.requires={unit}" for unit in mount.after]
    return ",".join(dict.fromkeys(wanted))


def automount_unit(path: str) -> str:
    """The unit that mounts on first use, such as `fsx.automount` for `/fsx`."""
    return mount_unit(path).removesuffix(".mount") + ".automount"
