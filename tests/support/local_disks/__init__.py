"""A node that is made of files, for scripts that handle disks: the commands they run are a stand-in, beside this."""

import os
import shutil
import subprocess
from pathlib import Path

STAND_IN = Path(__file__).parent / "stand-in"
STOOD_IN = (
    *("lsblk", "blkid", "findmnt", "mountpoint", "mount", "mkfs.xfs", "mdadm", "systemctl", "udevadm", "chattr"),
    "dnf",
)
# Nothing else is on the path: a script under test cannot reach a disk of the machine that tests it.
REAL = (
    *("awk", "basename", "bash", "cat", "chmod", "cp", "dirname", "env", "flock", "grep", "ln", "mkdir", "mv", "rm"),
    *("sed", "sort", "tail", "touch", "wc", "xargs"),
)
INSTANCE_STORE = "Amazon EC2 NVMe Instance Storage"
EBS = "Amazon Elastic Block Store"
PATH = "/scratch"


class Node:
    """A node: its root directory, its disks, its units."""

    def __init__(self, directory: Path, *, disks: int, program: str) -> None:
        self.root = directory / "root"
        self.bin = directory / "bin"
        self.state = directory / "state"
        self.program = directory / "program"
        for created in (self.root, self.bin, *(self.state / name for name in ("dev", "alias", "units", "registry"))):
            created.mkdir(parents=True)
        for command in STOOD_IN:
            (self.bin / command).symlink_to(STAND_IN)
        for command in REAL:
            result = shutil.which(command)
            assert result, command
            (self.bin / command).symlink_to(result)
        self.program.write_text(program)
        self.program.chmod(0o755)
        for empty in ("mounts", "calls", "formatted", "bad"):
            (self.state / empty).touch()
        # The root volume comes first, and device names follow no order.
        self.add("nvme0n1", EBS, "PTTYPE=gpt")
        self.disks = [f"nvme{number}n1" for number in range(1, disks + 1)]
        for disk in self.disks:
            self.add(disk, INSTANCE_STORE)

    def add(self, disk: str, model: str, *signature: str) -> None:
        """Attach a disk."""
        created = self.state / "dev" / disk
        created.mkdir()
        (created / "type").write_text("disk\n")
        (created / "model").write_text(f"{model}\n")
        self.hold(disk, *signature)

    def hold(self, disk: str, *signature: str) -> None:
        """Make a disk hold something: the lines that blkid exports for it."""
        (self.state / "dev" / disk / "signature").write_text("".join(f"{line}\n" for line in signature))

    def lose(self, disk: str) -> None:
        """Take a disk away."""
        shutil.rmtree(self.state / "dev" / disk)

    def mount(self, device: str, where: str, *, root: str = "/") -> None:
        """Mount something, as an image does."""
        (self.root / where.removeprefix("/")).mkdir(parents=True, exist_ok=True)
        with (self.state / "mounts").open("a") as mounts:
            mounts.write(f"{device} {root} {self.root}{where} noatime\n")

    def stripe(self, name: str, kind: str, held: str, signature: str) -> None:
        """A stripe over all disks, as an image makes it."""
        created = self.state / "dev" / name
        created.mkdir()
        (created / "type").write_text(f"{kind}\n")
        (created / "over").write_text("".join(f"{disk}\n" for disk in self.disks))
        for disk in self.disks:
            self.hold(disk, held)
        self.hold(name, signature)

    def unit(self, name: str, *marks: str) -> None:
        """A unit of systemd: `enabled`, `active`, or both."""
        (self.state / "units" / name).mkdir(exist_ok=True)
        for mark in marks:
            (self.state / "units" / name / mark).touch()

    def reboot(self, *, assembled: bool = True) -> None:
        """Mounts and /run go, what disks hold stays; udev assembles arrays, or does not."""
        (self.state / "mounts").write_text("")
        shutil.rmtree(self.root / "run", ignore_errors=True)
        for active in self.state.glob("units/*/active"):
            active.unlink()
        if not assembled:
            (self.state / "stopped").mkdir(exist_ok=True)
            shutil.move(self.state / "dev" / "md127", self.state / "stopped" / "md127")

    def stop_and_start(self) -> None:
        """A reboot after which every instance-store disk is empty."""
        self.reboot()
        for device in (self.state / "dev").iterdir():
            if (device / "over").exists():
                shutil.rmtree(device)
            elif (device / "model").read_text().strip() == INSTANCE_STORE:
                self.hold(device.name)
        # The contents of the volume are in plain directories.
        shutil.rmtree(self.root / PATH.removeprefix("/"), ignore_errors=True)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the program as systemd does."""
        environment = {"PATH": str(self.bin), "ULTRACLUSTER_ROOT": str(self.root), "STAND_IN_STATE": str(self.state)}
        done = subprocess.run([self.program, *arguments], env=environment, capture_output=True, text=True, timeout=180)
        assert "does not know" not in done.stderr, done.stderr
        return done

    @property
    def health(self) -> str:
        """Content of the state file."""
        return (self.root / "run/ultracluster/health/local-scratch").read_text()

    @property
    def mounts(self) -> dict[str, tuple[str, str]]:
        """Mounts by path: the device, and its directory."""
        lines = [line.split() for line in (self.state / "mounts").read_text().splitlines()]
        assert len(lines) == len({target for _, _, target, _ in lines}), f"mounted twice: {lines}"
        return {target.removeprefix(str(self.root)): (source, root) for source, root, target, _ in lines}

    @property
    def formatted(self) -> list[str]:
        """Devices that were formatted, in order."""
        return (self.state / "formatted").read_text().split()

    def calls(self, command: str) -> list[str]:
        """Arguments of a command's calls."""
        lines = (self.state / "calls").read_text().replace(str(self.root), "").splitlines()
        return [line for line in lines if line.split()[0] == command]

    def holds(self, device: str) -> str:
        """Content of a device."""
        return (self.state / "dev" / device / "signature").read_text()

    def mode(self, path: str) -> int:
        """Permissions of a directory."""
        return os.stat(self.root / path.removeprefix("/")).st_mode & 0o7777
