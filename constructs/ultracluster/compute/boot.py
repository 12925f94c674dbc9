"""What a node does at its first boot."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-add-user-data.html (read 2026-11-20): 16 KB before
# base64 encoding.
USER_DATA_LIMIT_BYTES = 16 * 1024

_BOUNDARY = "==ULTRACLUSTER=="


@dataclass(frozen=True, kw_only=True, slots=True)
class Mount:
    """A line of /etc/fstab.

    Args:
        device: What is mounted, as the client names it.
        path: Where.
        type: File system type.
        options: Mount options, comma-separated.
    """

    device: str
    path: str
    type: str
    options: str


def user_data(*, mounts: Sequence[Mount] = ()) -> str:
    """The user data of a node as MIME multi-part text, which AWS PCS and EKS merge with their own.

    cloud-init writes the mounts to /etc/fstab, so they come back after a reboot.

    Raises:
        ValueError: When the text is over EC2's limit of 16 KiB.
    """
    # JSON is YAML; it keeps tokens and odd characters in one piece.
    config = {"mounts": [[m.device, m.path, m.type, m.options, "0", "0"] for m in mounts]} if mounts else {}
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
