"""A node that is made of files, for the scripts of its boot: the commands they run are a stand-in, beside this."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from ultracluster.boot import scripts, without_comments

STAND_IN = Path(__file__).parent / "stand-in"
# A file for each program: bash parses what a call needs.
PROGRAMS = STAND_IN.with_name("programs")
CLOCK = Path(__file__).parent / "clock"
AWS_TOOL = Path(__file__).parent / "setup.sh"
STOOD_IN = (
    *("lnetctl", "lctl", "lustre_rmmod", "modprobe", "modinfo", "stat", "dd", "systemctl", "curl", "aws", "ip"),
    *("pgrep", "hostname", "nproc", "chattr", "findmnt", "mount"),
    *("nvidia-smi", "journalctl", "pkill", "ipcrm", "mknod"),
)
# Nothing else is on the path: a script under test cannot reach this machine's mounts or modules.
REAL = (
    *("awk", "base64", "basename", "bash", "cat", "chmod", "chown", "cmp", "cp", "cut", "env", "find", "flock"),
    *("grep", "head", "install", "ls", "mkdir", "mktemp"),
    *(
        "mv",
        "paste",
        "python3",
        "readlink",
        "realpath",
        "rm",
        "rmdir",
        "sed",
        "sha256sum",
        "sleep",
        "sort",
        "tail",
        "tar",
    ),
    *("timeout", "touch", "tr", "uname"),
)
SLURM = "/opt/aws/pcs/scheduler/slurm-25.11"
ADDRESS = "10.1.1.61"


class Node:
    """A node: its root directory, its EFA devices, its Slurm."""

    def __init__(self, directory: Path, *, efa: int = 8) -> None:
        self.root = directory / "root"
        self.bin = directory / "bin"
        self.state = directory / "state"
        for created in (self.root, self.bin, self.state):
            created.mkdir(parents=True)
        for folder in ("lnet", "metadata", "units", "slurm", "store", "real"):
            (self.state / folder).mkdir()
        (self.state / "programs").symlink_to(PROGRAMS)
        for command in STOOD_IN:
            (self.bin / command).symlink_to(STAND_IN)
        for command in REAL:
            (self.bin / command).symlink_to(_found(command))
        for command in ("stat", "dd", "sleep"):
            (self.state / "real" / command).symlink_to(_found(command))
        for empty in ("calls", "hang", "mountable", "errors", "refused"):
            (self.state / empty).touch()
        self.says("metadata/instance-type", "p5en.48xlarge")
        self.says("metadata/local-ipv4", ADDRESS)
        self.says("address", ADDRESS)
        self.says("hostname", "ip-10-1-1-61.us-east-2.compute.internal")
        self.says("cpus", "192")
        self.file("/proc/self/mountinfo", "29 1 259:1 / / rw,relatime shared:1 - xfs /dev/nvme0n1p1 rw\n")
        self.file("/proc/meminfo", "MemTotal:       2113534976 kB\nMemFree:        2100000000 kB\n")
        devices, driver = self.root / "sys/class/infiniband", self.root / "sys/bus/pci/drivers/efa"
        if efa:
            devices.mkdir(parents=True)
            driver.mkdir(parents=True)
        for number in range(efa):
            device = devices / f"rdmap{number:02}s0"
            device.mkdir()
            (device / "device").mkdir()
            (device / "device/driver").symlink_to(driver)

    def says(self, name: str, text: str = "") -> None:
        """Write a file of the stand-in's state."""
        path = self.state / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")

    def forgets(self, name: str) -> None:
        """Remove a file of the stand-in's state."""
        (self.state / name).unlink()

    def file(self, path: str, text: str) -> Path:
        """Write a file of the node."""
        created = self.root / path.removeprefix("/")
        created.parent.mkdir(parents=True, exist_ok=True)
        created.write_text(text)
        return created

    def read(self, path: str) -> str:
        """Read a file of the node."""
        return (self.root / path.removeprefix("/")).read_text()

    def with_aws_tool(self) -> None:
        """Put AWS's tool into the image."""
        self.file("/opt/ultracluster/configure-efa-fsx-lustre-client/setup.sh", AWS_TOOL.read_text())

    def should_mount(self, *lines: str) -> None:
        """Add a mount with path, type and EFA flag, mounted on first use."""
        self.file("/etc/ultracluster/mounts", "".join(f"{line}\n" for line in lines))
        for path, kind, _ in map(str.split, lines):
            (self.root / path.removeprefix("/")).mkdir(parents=True, exist_ok=True)
            with (self.state / "mountable").open("a") as mountable:
                mountable.write(f"{path} {'nfs4' if kind == 'nfs' else kind}\n")

    def unmount(self, path: str) -> None:
        """Take a mount away, and what would bring it back."""
        for file in (self.root / "proc/self/mountinfo", self.state / "mountable"):
            file.write_text("".join(line for line in file.read_text().splitlines(True) if f"{path} " not in line))

    def with_slurm(self, name: str = "train-1", *, options: str = "", addresses: str = ADDRESS) -> None:
        """Run slurmd, as AWS PCS does, and let a controller know the node."""
        self.says("units/slurmd.service/pid", "4711")
        words = ["slurmd", "--systemd", "--conf-server=10.1.0.9:6817", *options.split()]
        self.file("/proc/4711/cmdline", "".join(f"{word}\0" for word in words))
        (self.root / "proc/4711/exe").symlink_to(f"{SLURM}/sbin/slurmd")
        self.file(f"{SLURM}/bin/scontrol", "").unlink()
        (self.root / SLURM.removeprefix("/") / "bin/scontrol").symlink_to(STAND_IN)
        self.slurm_node(name, address=addresses, host="ip-10-1-1-61")

    def slurm_node(self, name: str, *, address: str, host: str, state: str = "IDLE+CLOUD", reason: str = "") -> None:
        """A node that the controller knows."""
        self.says(f"slurm/{name}", f"NodeAddr={address}\nNodeHostName={host}\nState={state}\nReason={reason}")

    def slurm(self, name: str = "train-1") -> dict[str, str]:
        """Slurm's record of a node."""
        lines = (self.state / "slurm" / name).read_text().split("\n")
        return dict(line.split("=", 1) for line in lines if "=" in line)

    def reboot(self) -> None:
        """/run and the modules go, with what they held; what stands on the disk stays."""
        for gone in (self.root / "run", self.root / "sys/module", self.state / "lnet"):
            shutil.rmtree(gone, ignore_errors=True)
        (self.state / "lnet").mkdir()
        self.file("/proc/self/mountinfo", "29 1 259:1 / / rw,relatime shared:1 - xfs /dev/nvme0n1p1 rw\n")

    @property
    def environment(self) -> dict[str, str]:
        """Variables of every program of the node."""
        return {
            "PATH": str(self.bin),
            "ULTRACLUSTER_ROOT": str(self.root),
            "STAND_IN_STATE": str(self.state),
            "BASH_ENV": str(CLOCK),
            # A stand-in answers at last, however busy the machine is.
            "ULTRACLUSTER_CHECK_LIMIT": "300",
            "ULTRACLUSTER_SETTLE": "0",
        }

    def run(self, script: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a script as a node gets it, as systemd does."""
        program = self.file(f"/usr/local/sbin/{script}", without_comments(scripts.text(f"{script}.sh")))
        return self.start(program, *arguments, **environment)

    def start(self, program: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the node."""
        program.chmod(0o755)
        done = subprocess.run(
            [program, *arguments], env=self.environment | more, capture_output=True, text=True, timeout=600
        )
        assert "does not know:" not in done.stderr + done.stdout, done.stderr
        return done

    def health(self, name: str) -> str:
        """Content of a health file."""
        return self.read(f"/run/ultracluster/health/{name}")

    def calls(self, command: str) -> list[str]:
        """Arguments of a command's calls."""
        lines = (self.state / "calls").read_text().replace(str(self.root), "").splitlines()
        return [line for line in lines if line.split()[0] == command]

    @property
    def interfaces(self) -> list[str]:
        """The EFA interfaces that LNet has."""
        return sorted(path.name for path in (self.state / "lnet").glob("efa/*"))


@cache
def _found(command: str) -> str:
    result = shutil.which(command, path=f"/usr/bin:/bin:{os.environ['PATH']}")
    assert result, command
    return result
