"""Boot script of a Slurm node, with all of its files."""

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ultracluster.boot import scripts
from ultracluster.boot._fstab import automount_unit, fstab_options
from ultracluster.boot._mounts import Mount
from ultracluster.boot._node_files import NodeBoot, NodeFile, tar

# "each script must be no larger than 2 MiB":
# https://docs.aws.amazon.com/pcs/latest/userguide/cng-node-lifecycle-actions-configure.html (read 2026-11-21)
LIMIT_BYTES = 2 * 1024 * 1024
# At most 20 arguments of 256 characters each: API_NodeLifecycleScript of AWS PCS, botocore 1.44.5 (read 2026-11-20)
_ARGUMENTS = 20
_ARGUMENT_LENGTH = 256
_FILE = re.compile(r"(/[^/]+)+")
_WORDS = re.compile(r"[^\s#]+", re.ASCII)


@dataclass(frozen=True, kw_only=True, slots=True)
class BootScript:
    """A boot script and its arguments.

    Args:
        text: Script. The same files, mounts and units give the same bytes.
        arguments: Device of each mount, which may be a CDK token.
    """

    text: str
    arguments: tuple[str, ...] = ()

    @property
    def sha256(self) -> str:
        """Checksum of the text, 64 hexadecimal digits."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def boot_script(*parts: NodeBoot, mounts: Sequence[Mount] = ()) -> BootScript:
    """Return one script with all files, mounts and units of a node.

    It writes the files of all parts, then /etc/fstab, then enables and starts the units in their order. It may run at
    every boot.

    Args:
        parts: Files and units. Further parts may be added, such as metrics exporters.
        mounts: Mounts, each mounted on first use.

    Raises:
        ValueError: If two files or two mounts have the same path, a path is not valid, a file holds a token of the
            CDK or a unit is named twice, or the script is larger than AWS PCS takes. All reasons at once.
    """
    files = [file for part in parts for file in part.files]
    units = [unit for part in parts for unit in part.units]
    problems = [*_file_problems(files), *_mount_problems(mounts), *_unit_problems(units)]
    if problems:
        raise ValueError("; ".join(problems))
    rows = (f"{mount.path} {mount.type} {fstab_options(mount)} {automount_unit(mount.path)}\n" for mount in mounts)
    tables = (
        NodeFile(path="/etc/ultracluster/boot-mounts", text="".join(rows)),
        NodeFile(path="/etc/ultracluster/boot-units", text="".join(f"{unit}\n" for unit in units)),
    )
    # Not compressed: another zlib would give other bytes, and another checksum replaces nodes.
    archive = base64.encodebytes(tar([*files, *tables])).decode()
    text = scripts.text("node-boot.sh") + "#FILES\n" + archive
    if len(text.encode()) > LIMIT_BYTES:
        raise ValueError(
            f"the boot of a node may be {LIMIT_BYTES:,} bytes, got {len(text.encode()):,}; bake what is large into the "
            "image, or fetch it from S3 at boot"
        )
    return BootScript(text=text, arguments=tuple(mount.device for mount in mounts))


def _file_problems(files: Sequence[NodeFile]) -> list[str]:
    paths = [file.path for file in files]
    problems = [f"two files are called {path}" for path in sorted(set(paths)) if paths.count(path) > 1]
    problems += [f"a file needs an absolute path, got {path!r}" for path in paths if not _FILE.fullmatch(path)]
    problems += [f"{path} climbs out of its directory" for path in paths if ".." in path.split("/")]
    # The checksum of the script is part of the template: what only a deployment knows is an argument.
    return problems + [f"{file.path} holds a token of the CDK" for file in files if "${Token[" in file.text]


def _mount_problems(mounts: Sequence[Mount]) -> list[str]:
    paths = [mount.path for mount in mounts]
    problems = [f"two mounts are at {path}" for path in sorted(set(paths)) if paths.count(path) > 1]
    problems += [
        f"a mount needs a directory of its own below /, got {path!r}"
        for path in paths
        if not path.startswith("/") or not path.strip("/") or not _WORDS.fullmatch(path)
    ]
    if len(mounts) > _ARGUMENTS:
        problems.append(f"a node can mount {_ARGUMENTS} file systems, got {len(mounts)}")
    return problems + [
        f"the device of {mount.path} may have {_ARGUMENT_LENGTH} characters, and no space: {mount.device!r}"
        for mount in mounts
        if "${Token[" not in mount.device
        and (len(mount.device) > _ARGUMENT_LENGTH or not _WORDS.fullmatch(mount.device))
    ]


def _unit_problems(units: Sequence[str]) -> list[str]:
    problems = [f"{unit} is there twice" for unit in sorted(set(units)) if units.count(unit) > 1]
    return problems + [
        f"{unit!r} is not a valid unit" for unit in units if not re.fullmatch(r"[\w:.\\@-]+", unit, re.ASCII)
    ]
