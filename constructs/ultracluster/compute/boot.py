"""What a node does at its first boot."""

import json
import shlex
from collections.abc import Sequence

from ultracluster.planning.mounts import Mount

# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-add-user-data.html (read 2026-11-20): 16 KB before
# base64 encoding.
USER_DATA_LIMIT_BYTES = 16 * 1024

_BOUNDARY = "==ULTRACLUSTER=="


def user_data(*, mounts: Sequence[Mount] = ()) -> str:
    """The user data of a node as MIME multi-part text, which AWS PCS and EKS merge with their own.

    cloud-init writes the mounts to /etc/fstab, so they come back after a reboot. A mount that fails leaves the node up,
    with a mount point that nothing can be written to.

    Raises:
        ValueError: When the text is over EC2's limit of 16 KiB.
    """
    # JSON is YAML; it keeps tokens and odd characters in one piece.
    config: dict[str, list[str | list[str]]] = {"bootcmd": [], "mounts": [], "runcmd": []} if mounts else {}
    for mount in mounts:
        path = shlex.quote(mount.path)
        # An immutable mount point: while nothing is mounted on it, a write fails instead of filling the root volume.
        config["bootcmd"].append(f"mkdir -p {path} && {{ mountpoint -q {path} || chattr +i {path}; }}")
        config["mounts"].append([mount.device, mount.path, mount.type, mount.options, "0", "0"])
        # The automount that /etc/fstab asks for exists only after a reload: it mounts later what could not be by now.
        config["runcmd"].append(
            f"systemctl daemon-reload; mountpoint -q {path} || "
            f'systemctl start "$(systemd-escape -p --suffix=automount {path})"'
        )
        # A new file system belongs to root alone. An `if`, for cloud-init takes the last line's exit code as its own.
        config["runcmd"].append(
            f'if mountpoint -q {path} && [ "$(stat -c %U:%a {path})" = root:755 ]; then chmod 1777 {path}; fi'
        )
    text = "\n".join(
        [
            "MIME-Version: 1.0",
            f'Content-Type: multipart/mixed; boundary="{_BOUNDARY}"',
            "",
            f"--{_BOUNDARY}",
            'Content-Type: text/cloud-config; charset="us-ascii"',
            "",
            "#cloud-config",
            json.dumps(config, indent=1),
            "",
            f"--{_BOUNDARY}--",
            "",
        ]
    )
    if len(text.encode()) > USER_DATA_LIMIT_BYTES:
        raise ValueError(
            f"user data must be at most {USER_DATA_LIMIT_BYTES} bytes, got {len(text.encode())}; "
            "bake what is large into the image, or fetch it from S3 at boot"
        )
    return text
