"""Files and systemd units of a node."""

import io
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from ultracluster.boot import scripts

#: Path of the programs of the library on a node, without their names.
PROGRAM = "/usr/local/sbin/ultracluster-"
#: Order of a unit that uses the network.
AFTER_NETWORK = ("Wants=network-online.target", "After=network-online.target")
#: File with the name of the node group, as systemd reads it: NODE_GROUP=NAME.
NODE_GROUP_FILE = "/etc/ultracluster/node-group"


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeFile:
    """A file of a node.

    Args:
        path: Absolute path.
        text: Content.
        mode: Permissions, in octal.
        in_place: True if the file may change under a running job: Slurm nodes fetch it, and its changes, from S3.
            Default: False; it is part of the boot script, whose change replaces nodes.
    """

    path: str
    text: str
    mode: str = "0644"
    in_place: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeBoot:
    """Files and units of a node; see `boot_script`, or `compute.user_data`.

    Args:
        files: Files, written first.
        units: systemd units, then enabled and started in this order.
    """

    files: tuple[NodeFile, ...]
    units: tuple[str, ...]


def shell(files: Sequence[NodeFile], commands: Sequence[str]) -> str:
    """Return lines of bash that write files, and then run commands."""
    lines = []
    for file in files:
        lines += [f"cat >{shlex.quote(file.path)} <<'ULTRACLUSTER_END'", file.text + "ULTRACLUSTER_END"]
        lines.append(f"chmod {file.mode} {shlex.quote(file.path)}")
    return "\n".join([*lines, *commands]) + "\n"


def tar(files: Sequence[NodeFile]) -> bytes:
    """Return files as a tar archive, with the same bytes on every machine: no clock, no owner."""
    import tarfile

    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for file in files:
            member = tarfile.TarInfo(file.path.lstrip("/"))
            member.mode = int(file.mode, 8)
            member.size = len(file.text.encode())
            archive.addfile(member, io.BytesIO(file.text.encode()))
    return packed.getvalue()


def program(name: str, *, comments: bool = True, in_place: bool = False) -> NodeFile:
    """Return a script of the library as a program of a node; see `PROGRAM`."""
    text = scripts.text(f"{name}.sh")
    text = text if comments else without_comments(text)
    return NodeFile(path=PROGRAM + name, text=text, mode="0755", in_place=in_place)


def unit_file(name: str, text: str) -> NodeFile:
    """Return a file of systemd."""
    return NodeFile(path=f"/etc/systemd/system/{name}", text=text)


def oneshot(
    description: str, *, unit: Sequence[str] = (), service: Sequence[str], wanted_by: str = "multi-user.target"
) -> str:
    """Return the text of a systemd service that runs once, with further lines of its sections."""
    head, body = ("\n".join(lines) for lines in ([f"Description={description}", *unit], ["Type=oneshot", *service]))
    return f"[Unit]\n{head}\n\n[Service]\n{body}\n\n[Install]\nWantedBy={wanted_by}\n"


def timer(description: str, *times: str) -> str:
    """Return the text of a systemd timer."""
    lines = "\n".join(times)
    return f"[Unit]\nDescription={description}\n\n[Timer]\n{lines}\n\n[Install]\nWantedBy=timers.target\n"


def slurmd_drop_in(name: str, text: str) -> tuple[NodeFile, NodeFile]:
    """Return the drop-in files for slurmd under any unit name.

    The installer of AWS PCS makes a unit for each release, `slurmd-25.11.service`; systemd reads the drop-ins of
    `slurmd-.service.d` for all of these, and of two files with one name it takes one.

    See: https://docs.aws.amazon.com/pcs/latest/userguide/working-with_ami_installers.html and
    https://www.freedesktop.org/software/systemd/man/latest/systemd.unit.html (read 2026-11-21)
    """
    shared, versioned = (unit_file(f"{unit}.service.d/{name}.conf", text) for unit in ("slurmd", "slurmd-"))
    return shared, versioned


@cache
def without_comments(script: str) -> str:
    """Return a script without comment lines, a quarter of its length: user data is limited."""
    first, *rest = script.splitlines(keepends=True)
    return first + "".join(line for line in rest if line.strip() and not line.lstrip().startswith("#"))


def mount_unit(path: str) -> str:
    """Return the systemd unit of a mount, such as `fsx.mount` for `/fsx`.

    See: https://www.freedesktop.org/software/systemd/man/latest/systemd.unit.html, "String Escaping" (read 2026-11-21)
    """
    plain = path.strip("/")
    escaped = "".join(
        "-" if letter == "/" else letter if letter.isascii() and (letter.isalnum() or letter in ":_.") else _hex(letter)
        for letter in plain
    )
    return (_hex(".") + escaped[1:] if escaped.startswith(".") else escaped or "-") + ".mount"


def _hex(letter: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in letter.encode())
