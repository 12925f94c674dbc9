"""Boot script of a Slurm node, with all of its files."""

import base64
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter

from ultracluster.boot import scripts
from ultracluster.boot._lifecycle_script import (
    LONGEST_SCRIPT_ARGUMENT,
    MOST_SCRIPT_ARGUMENTS,
    MOST_SCRIPT_BYTES,
    OWN_SCRIPTS,
    NodeScript,
)
from ultracluster.boot._mounts import Mount, check_mount_points
from ultracluster.boot._node_files import NodeBoot, NodeFile, tar
from ultracluster.planning.nodes import MOUNT_PATH, OnError
from ultracluster.rules import ARGUMENT, TOKEN, Message, Refusal, error

_PATH = r"(/[^/]+)+"
_SIZE = error("boot-script-size", "AWS PCS accepts boot scripts of at most 2 MiB.")
_ONCE = error("boot-script-once", "A node writes each file and starts each unit once.")
_FILE = error("boot-script-file", "A file of a node has an absolute path without steps upward.")
_ARGUMENT = error("boot-script-argument", "AWS PCS accepts at most 20 arguments, of 256 characters each.")
_WORDS = r"[^\s#]+"

_ROW = attrgetter("path", "text", "mode")
# Beside the name of the node group.
_MOST_MOUNTS = MOST_SCRIPT_ARGUMENTS - 1


@dataclass(frozen=True, kw_only=True, slots=True)
class BootScript:
    """A boot script and its arguments.

    Args:
        text: Script. The same files, mounts and units give the same bytes.
        arguments: Arguments, which may be CDK tokens: the node group, and the device of each mount.
        name: Name of the lifecycle script; each script of a node has another one.
        on_error: What AWS PCS does if the script fails; see `NodeScript`.
    """

    text: str
    arguments: tuple[str, ...] = ()
    name: str = f"{OWN_SCRIPTS}-boot"
    on_error: OnError = "TERMINATE"

    @property
    def sha256(self) -> str:
        """Checksum of the text, 64 hexadecimal digits."""
        return self.script.checksum

    @property
    def script(self) -> NodeScript:
        """Return the script as a lifecycle action, at every boot before slurmd starts."""
        return NodeScript(
            name=self.name,
            content=_content(self.text),
            arguments=self.arguments,
            on_error=self.on_error,
            every_boot=True,
        )


def boot_script(
    *parts: NodeBoot, mounts: Sequence[Mount] = (), node_group: str | None = None, on_error: OnError = "TERMINATE"
) -> BootScript:
    """Return one script with all files, mounts and units of a node.

    It writes the files of all parts, then /etc/fstab, then enables and starts the units in their order. It may run at
    every boot.

    Args:
        parts: Files and units. Further parts may be added, such as metrics exporters.
        mounts: Mounts, each mounted on first use.
        node_group: Name of the node group, which units read from `NODE_GROUP_FILE`. It is an argument of the script,
            so that equal node groups share one.
        on_error: See `BootScript`.

    Raises:
        ValueError: If two files or two mounts have the same path, a path is not valid, a file holds a token of the
            CDK or a unit is named twice, or the script is larger than AWS PCS takes. All reasons at once.
    """
    files = [file for part in parts for file in part.files]
    units = [unit for part in parts for unit in part.units]
    if problems := [*_file_problems(files), *_mount_problems(mounts), *_unit_problems(units)]:
        raise Refusal("", problems)
    rows = (f"{mount.path} {mount.type} {mount.fstab_options} {mount.automount_unit}\n" for mount in mounts)
    tables = (
        NodeFile(path="/etc/ultracluster/boot-mounts", text="".join(rows)),
        NodeFile(path="/etc/ultracluster/boot-units", text="".join(f"{unit}\n" for unit in units)),
    )
    text = _text(tuple(map(_ROW, (*files, *tables))))
    if len(text.encode()) > MOST_SCRIPT_BYTES:
        message = f"the boot of a node may be {MOST_SCRIPT_BYTES:,} bytes, got {len(text.encode()):,}"
        raise Refusal("", _SIZE(f"{message}; bake what is large into the image, or fetch it from S3 at boot"))
    named = () if node_group is None else (f"NODE_GROUP={node_group}",)
    return BootScript(text=text, arguments=(*named, *(mount.device for mount in mounts)), on_error=on_error)


# Equal node groups have the same files. As tuples, they are compared by C code.
@lru_cache(maxsize=16)
def _text(rows: tuple[tuple[str, str, str], ...]) -> str:
    """Return the script of some files: path, text and mode of each."""
    # Not compressed: another zlib would give other bytes, and another checksum replaces nodes.
    files = [NodeFile(path=path, text=text, mode=mode) for path, text, mode in rows]
    archive = base64.encodebytes(tar(files)).decode()
    return scripts.text("node-boot.sh") + "#FILES\n" + archive


@lru_cache(maxsize=16)
def _content(text: str) -> bytes:
    return text.encode()


def _file_problems(files: Sequence[NodeFile]) -> Iterator[Message]:
    paths = [file.path for file in files]
    yield from (_ONCE(f"two files are called {path}") for path in sorted(set(paths)) if paths.count(path) > 1)
    yield from (
        _FILE(f"a file needs an absolute path, got {path!r}") for path in paths if not re.fullmatch(_PATH, path)
    )
    yield from (_FILE(f"{path} climbs out of its directory") for path in paths if ".." in path.split("/"))
    # The checksum of the script is part of the template: a value that is known at deployment only is an argument.
    yield from (TOKEN(f"{file.path} holds a token of the CDK") for file in files if "${Token[" in file.text)


def _mount_problems(mounts: Sequence[Mount]) -> Iterator[Message]:
    yield from check_mount_points(mounts)
    for mount in mounts:
        if not re.fullmatch(_WORDS, mount.path, re.ASCII):
            yield MOUNT_PATH(f"the path of a mount cannot have spaces, got {mount.path!r}")
        longest = LONGEST_SCRIPT_ARGUMENT if "${Token[" not in mount.device else len(mount.device)
        if len(mount.device) > longest or not re.fullmatch(_WORDS, mount.device, re.ASCII):
            message = f"the device of {mount.path} may have {LONGEST_SCRIPT_ARGUMENT} characters, and no space"
            yield _ARGUMENT(f"{message}: {mount.device!r}")
    if len(mounts) > _MOST_MOUNTS:
        yield _ARGUMENT(f"a node can mount {_MOST_MOUNTS} file systems, got {len(mounts)}")


def _unit_problems(units: Sequence[str]) -> Iterator[Message]:
    yield from (_ONCE(f"{unit} is there twice") for unit in sorted(set(units)) if units.count(unit) > 1)
    valid = re.compile(r"[\w:.\\@-]+", re.ASCII)
    yield from (ARGUMENT(f"{unit!r} is not a valid unit") for unit in units if not valid.fullmatch(unit))
