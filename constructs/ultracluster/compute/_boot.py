"""User data of a node, for cloud-init at its first boot."""

import base64
import bz2
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from ultracluster.boot import Mount, NodeFile, check_mount_points, tar
from ultracluster.rules import TOKEN, Refusal, error

# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-add-user-data.html (read 2026-11-20): 16 KB before
# base64 encoding.
USER_DATA_LIMIT_BYTES = 16 * 1024
_SIZE = error("user-data-size", "EC2 limits user data to 16 KiB.")

#: Size that a token of the CDK counts for: CloudFormation resolves it to another text. The longest in a mount are DNS
#: names of FSx, of 56 bytes: fs- and 17 digits, `.fsx.`, a region of 14, `.amazonaws.com.cn`.
TOKEN_BYTES = 64
_TOKEN = re.compile(r"\$\{Token\[[^\]]*\]\}", re.ASCII)

_BOUNDARY = "==ULTRACLUSTER=="
_ARCHIVE = "/var/lib/ultracluster/boot.tar.bz2"


def user_data(
    *,
    mounts: Sequence[Mount] = (),
    files: Sequence[NodeFile] = (),
    units: Sequence[str] = (),
    enabled: Sequence[str] = (),
    node_configs: Sequence[Mapping[str, Any]] = (),
    commands: Sequence[str] = (),
) -> str:
    """Return the user data of a node as MIME multi-part text, which AWS PCS and EKS merge with their own.

    cloud-init writes the mounts to /etc/fstab, so they come back after a reboot. A mount that fails leaves the node up,
    with a mount point that nothing can be written to. A mount that comes after units of systemd waits for them;
    `boot.slurm_boot` gives the files and units that go with such mounts.

    Args:
        mounts: Mounts of the node.
        files: Files that are written before the mounts, in one compressed archive, because space is short.
        units: systemd units, of the files or of the image, that are enabled and started in this order.
        enabled: systemd units that are enabled only; other units start them.
        node_configs: Documents for nodeadm of EKS, each in a separate part.
        commands: Shell commands that run last, as root.

    Raises:
        ValueError: If two mounts have the same path, a path is not below `/`, the text exceeds EC2's limit of 16 KiB
            with `TOKEN_BYTES` for each token, or a file holds a token, which is resolved only after packing.
    """
    if problems := check_mount_points(mounts):
        raise Refusal("", problems)
    config: dict[str, list[str | list[str] | dict[str, str]]] = {}
    if files:
        config["write_files"] = [{"path": _ARCHIVE, "encoding": "b64", "content": _archive(tuple(files))}]
    if mounts:
        config |= {"bootcmd": [], "mounts": []}
    if mounts or files or units or enabled or commands:
        config["runcmd"] = []
    if files:
        # Python, which cloud-init runs on: small images have no program for this compression.
        config["runcmd"].append(f"python3 -m tarfile -e {_ARCHIVE} / && systemctl daemon-reload")
    late: list[str] = []
    if enabled:
        config["runcmd"].append(f"systemctl enable {' '.join(map(shlex.quote, enabled))}")
    for mount in mounts:
        path = shlex.quote(mount.path)
        # An immutable mount point: while nothing is mounted on it, a write fails instead of filling the root volume.
        # Not /home: cloud-init makes the image's own user in it later on.
        if mount.path != "/home":
            config["bootcmd"].append(f"mkdir -p {path} && {{ mountpoint -q {path} || chattr +i {path}; }}")
        # cloud-init mounts all of /etc/fstab at once, so mounts after units must wait.
        options = mount.fstab_options if mount.after else mount.options
        config["mounts"].append([mount.device, mount.path, mount.type, options, "0", "0"])
        if mount.after:
            config["runcmd"].append(f"systemctl start {shlex.quote(mount.automount_unit)}")
            # What mounts it on first use is a mount point too, and is no file system to open.
            late += _open(mount, f"findmnt -n -t {shlex.quote(mount.type)} {path} >/dev/null")
            continue
        # The automount that /etc/fstab requires exists only after a reload: it mounts later what could not be by now.
        config["runcmd"].append(
            f"systemctl daemon-reload; mountpoint -q {path} || "
            f'systemctl start "$(systemd-escape -p --suffix=automount {path})"'
        )
        config["runcmd"] += _open(mount, f"mountpoint -q {path}")
    if units:
        config["runcmd"].append(
            f"for unit in {' '.join(map(shlex.quote, units))}; do "
            'systemctl enable --now "$unit" || echo "$unit failed, see journalctl -u $unit" >&2; done'
        )
    if late or commands:
        config["runcmd"] += [*late, *commands]
    # cloud-init takes no empty list.
    config = {key: entries for key, entries in config.items() if entries}
    text = "\n".join(
        [
            "MIME-Version: 1.0",
            f'Content-Type: multipart/mixed; boundary="{_BOUNDARY}"',
            "",
            f"--{_BOUNDARY}",
            'Content-Type: text/cloud-config; charset="us-ascii"',
            "",
            "#cloud-config",
            # JSON is YAML; it keeps tokens and odd characters in one piece.
            json.dumps(config, indent=1),
            "",
            *(line for document in node_configs for line in _node_config(document)),
            f"--{_BOUNDARY}--",
            "",
        ]
    )
    size = len(_TOKEN.sub("x" * TOKEN_BYTES, text).encode())
    if size > USER_DATA_LIMIT_BYTES:
        message = f"user data must be at most {USER_DATA_LIMIT_BYTES} bytes, got {size}, with {TOKEN_BYTES} for a token"
        raise Refusal("", _SIZE(f"{message}; bake what is large into the image, or fetch it from S3 at boot"))
    return text


def _node_config(document: Mapping[str, Any]) -> list[str]:
    """Return a nodeadm document's part; see https://awslabs.github.io/amazon-eks-ami/nodeadm/ (read 2026-11-21)."""
    return [f"--{_BOUNDARY}", "Content-Type: application/node.eks.aws", "", "---", json.dumps(document, indent=1), ""]


def _open(mount: Mount, mounted: str) -> list[str]:
    """Return commands that open a new Lustre file system, owned by root, to every user. A /home stays as it is."""
    if mount.type != "lustre":
        return []
    path = shlex.quote(mount.path)
    # An `if`, for cloud-init takes the last line's exit code as its own.
    return [f'if {mounted} && [ "$(stat -c %U:%a {path})" = root:755 ]; then chmod 1777 {path}; fi']


@lru_cache(maxsize=16)
def _archive(files: tuple[NodeFile, ...]) -> str:
    """Return the archive of some files; equal node groups have the same."""
    if held := [file.path for file in files if "${Token[" in file.text]:
        raise Refusal("", TOKEN(f"files must not hold tokens of the CDK, got some in {', '.join(held)}"))
    # bzip2 has one implementation. Those of gzip differ between releases and systems, and other bytes replace nodes.
    return base64.b64encode(bz2.compress(tar(files))).decode()
