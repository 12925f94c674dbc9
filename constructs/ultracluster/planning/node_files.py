"""What is put on a node before it works: files, and the units of systemd among them that start at boot."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeFile:
    """A file that a node needs.

    Args:
        path: Where it stands.
        text: What it holds.
        mode: Its permissions, in octal.
    """

    path: str
    text: str
    mode: str


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeBoot:
    """What a node gets at its first boot and does at every one; see `boot_script`, or `compute.user_data`.

    Args:
        files: Written first.
        units: Units of systemd, enabled and started then, one after the other.
    """

    files: tuple[NodeFile, ...]
    units: tuple[str, ...]


def slurmd_drop_in(name: str, text: str) -> tuple[NodeFile, NodeFile]:
    """A drop-in for slurmd, whatever its unit is called.

    The installer of AWS PCS makes a unit for each release, `slurmd-25.11.service`; systemd reads the drop-ins of
    `slurmd-.service.d` for all of these, and of two files with one name it takes one.

    See: https://docs.aws.amazon.com/pcs/latest/userguide/working-with_ami_installers.html and
    https://www.freedesktop.org/software/systemd/man/latest/systemd.unit.html (read 2026-11-21)
    """
    one, two = (
        NodeFile(path=f"/etc/systemd/system/{unit}.service.d/{name}.conf", text=text, mode="0644")
        for unit in ("slurmd", "slurmd-")
    )
    return one, two


def without_comments(script: str) -> str:
    """A script without its lines of comment, a quarter of its length: user data is short of room."""
    first, *rest = script.splitlines(keepends=True)
    return first + "".join(line for line in rest if line.strip() and not line.lstrip().startswith("#"))


def mount_unit(path: str) -> str:
    """The name of the unit that systemd makes for a mount, such as `fsx.mount` for `/fsx`.

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
