"""The wheel of this checkout: what users install."""

import fcntl
import os
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

from hatchling.builders.wheel import WheelBuilder

from support import ROOT


@dataclass(frozen=True, kw_only=True, slots=True)
class Wheel:
    """A wheel, and the directory that it is installed into."""

    file: Path
    installed: Path

    @property
    def names(self) -> list[str]:
        with zipfile.ZipFile(self.file) as archive:
            return archive.namelist()

    @property
    def metadata(self) -> str:
        (file,) = self.installed.glob("*.dist-info/METADATA")
        return file.read_text(encoding="utf-8")

    def run(self, *command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run Python, or a program of its environment, with the library of the wheel.

        Raises:
            AssertionError: When the command fails, with what it printed.
        """
        environment = os.environ | {"PYTHONPATH": str(self.installed)}
        result = "import ultracluster, sys; sys.exit(not ultracluster.__file__.startswith(sys.argv[1]))"
        check = [sys.executable, "-c", result, str(self.installed)]
        assert subprocess.run(check, cwd=cwd, env=environment).returncode == 0, "not the library of the wheel"
        program = Path(sys.executable).parent / command[0]
        done = subprocess.run([program, *command[1:]], cwd=cwd, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
        return done


def build(directory: Path) -> Wheel:
    """Build the wheel, and install it with pip, where no other process has. Its dependencies are those of this one."""
    directory.mkdir(exist_ok=True)
    installed = directory / "installed"
    with (directory / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not installed.exists():
            (file,) = WheelBuilder(str(ROOT)).build(directory=str(directory))
            pip = [sys.executable, "-m", "pip", "install", "-qq", "--no-deps", "--no-index", "--target", str(installed)]
            subprocess.run([*pip, file], check=True)
    (wheel,) = directory.glob("*.whl")
    return Wheel(file=wheel, installed=installed)
