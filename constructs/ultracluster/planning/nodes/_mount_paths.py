"""Paths of mounts."""

import re

from ultracluster.rules import Message, error

MOUNT_PATH = error("mount-path", "A mount has a short plain path of its own, and hides no directory of the system.")
#: Shape of a mount path: one to four directories of 32 plain characters at most, none of them hidden. The bounds
#: are ours: a path is repeated in user data, which holds 16 KiB.
MOUNT = re.compile(r"(/[A-Za-z0-9_][A-Za-z0-9._-]{0,31}){1,4}", re.ASCII)
# Directories of the system: a file system mounted over one breaks the node.
_SYSTEM_DIRECTORIES = frozenset(
    (
        *("bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "root", "run", "sbin", "snap"),
        *("sys", "usr", "var"),
    )
)
# What images, and the scripts of this library, keep there: /opt/amazon has EFA and NCCL's plugin, /opt/pytorch that of
# the Deep Learning AMI. The agent of Systems Manager runs from /snap on Ubuntu:
# https://docs.aws.amazon.com/systems-manager/latest/userguide/agent-install-ubuntu-64-snap.html (read 2026-11-27)
_KEPT = (
    *("/opt/amazon", "/opt/aws", "/opt/conda", "/opt/dlami", "/opt/nvidia", "/opt/pytorch", "/opt/slurm"),
    *("/opt/ultracluster", "/tmp", "/home/ubuntu", "/home/ec2-user"),
)


def check_mount_path(path: str, *, example: str, home: bool = False) -> list[Message]:
    """Return the errors of a mount point; empty if it is valid.

    Args:
        path: Directory to mount at.
        example: Valid path for the message, such as `/fsx`.
        home: It is for home directories, which may hide the image's `/home`.
    """
    shown = repr(path) if len(repr(path)) <= 60 else f"{repr(path)[:57]}..."
    if not isinstance(path, str) or not MOUNT.fullmatch(path):
        kind = f"must be a directory, such as {example}, of letters, digits, dots, hyphens and underscores"
        return [MOUNT_PATH(f"{kind}, at most four deep and 32 characters each, got {shown}")]
    top = path.split("/")[1]
    if home and path == "/home":
        return []
    kept = [directory for directory in _KEPT if f"{path}/".startswith(f"{directory}/")]
    kept += [f"/{top}"] if top in _SYSTEM_DIRECTORIES else []
    if path in (*kept, "/opt", "/home", "/mnt"):
        return [MOUNT_PATH(f"{shown} is a directory of the system, which a mount would hide; use one like {example}")]
    if kept:
        message = f"{shown} is in {kept[0]}, whose directories belong to the image of a node and to its programs"
        return [MOUNT_PATH(f"{message}; use one like {example}")]
    return []
