"""A small image of this machine's Python, in place of one with PyTorch: what the layers of images need, and no more."""

import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from support import ROOT

_PROGRAMS = ("bash", "mktemp")
_LEFT_OUT = (
    "__pycache__",
    "EXTERNALLY-MANAGED",
    "site-packages",
    "test",
    "tests",
    "idlelib",
    "*tkinter*",
    "ensurepip",
    "pydoc_data",
    "lib2to3",
    "_test*",
)
#: Parts of the layer of the agent's image, which `make test-packages` downloads.
WHEELS = ROOT / ".venv-hyperpod" / "wheels"


def write_base(directory: Path) -> None:
    """Write a directory from which a builder makes the image."""
    root = directory / "root"
    stdlib = Path(sysconfig.get_path("stdlib", vars={"installed_base": sys.base_prefix}))
    _copy_tree(stdlib, root)
    pip = next((ROOT / ".venv").glob("lib/*/site-packages/pip"))
    shutil.copytree(pip, _within(root, stdlib) / "site-packages" / "pip", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(WHEELS, root / "wheels")
    python = Path(sys.base_prefix, "bin", f"python3.{sys.version_info.minor}")
    programs = [Path(shutil.which(name) or name).resolve() for name in _PROGRAMS]
    extensions = [path for path in stdlib.glob("lib-dynload/*.so") if _within(root, path).exists()]
    for library in _libraries([python, *programs, *extensions]):
        place = _within(root, library)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, place)
    (root / "usr/bin").mkdir(parents=True, exist_ok=True)
    (root / "tmp").mkdir()
    for name, program in (*zip(_PROGRAMS, programs, strict=True), ("python3", python)):
        shutil.copy(program, root / "usr/bin" / name)
    # Builders copy each layer several times, and compress it: symbols are half of it.
    files = [*(path for path in root.glob("**/*.so*") if path.is_file()), *(root / "usr/bin").iterdir()]
    subprocess.run(["strip", "--strip-unneeded", *files], check=True)
    # Debian's Python reads dist-packages only.
    paths = f"PYTHONHOME={sys.base_prefix} PYTHONPATH={stdlib}/site-packages"
    environment = f"PATH=/usr/bin {paths} PIP_NO_INDEX=1 PIP_FIND_LINKS=/wheels"
    (directory / "Containerfile").write_text(f"FROM scratch\nCOPY root /\nENV {environment}\n")


def _within(root: Path, path: Path) -> Path:
    return root / path.relative_to("/")


def _copy_tree(source: Path, root: Path) -> None:
    shutil.copytree(source, _within(root, source), ignore=shutil.ignore_patterns(*_LEFT_OUT, "config-*"))


def _libraries(files: list[Path]) -> set[Path]:
    listed = subprocess.run(["ldd", *files], capture_output=True, text=True, check=False).stdout
    return {Path(path) for path in re.findall(r"^\s.*?(/\S+) \(0x", listed, re.MULTILINE)}
