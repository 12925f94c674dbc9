"""Generate the reference of the programs that nodes and jobs run, from their first comments."""

import re
from functools import cache
from pathlib import Path

from docs_reference.markdown import page, table

_LIBRARY = Path(__file__).parents[2] / "constructs" / "ultracluster"
_ABOUT = """Shell scripts and programs of nodes and jobs, each with its purpose and the modules below
`constructs/ultracluster` that install or include it. No script mounts anything: file systems are in `/etc/fstab`,
written by `boot/_mounts.py` and `boot/_home_mounts.py`.
[Node health](../operations/node-health.md#boot) has the order at boot."""
_FOLDERS = {
    "boot/scripts": "Programs of nodes, and of jobs if the name begins with `ultracluster`",
    "workloads/slurm": "Parts of job files for Slurm",
    "workloads/kubernetes": "Programs of checks on Kubernetes",
    "workloads/loads": "Parts of jobs on both",
}


def programs_page() -> str:
    """Page with a table for each folder."""
    sections = []
    for folder, title in _FOLDERS.items():
        paths = sorted(path for path in (_LIBRARY / folder).glob("*") if path.suffix in (".sh", ".py"))
        rows = [(f"`{path.name}`", _purpose(path), _used_by(path)) for path in paths if path.stem != "__init__"]
        if rows:
            sections.append(f"## `{folder}`\n\n{title}.\n\n{table(('program', 'purpose', 'used by'), rows)}")
    return page("Programs of nodes and jobs", _ABOUT, *sections)


def _purpose(path: Path) -> str:
    """First sentence of the docstring, or of the first comment."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        found = re.search(r'"""(.*?)(?:"""|\n\n)', text, re.DOTALL)
        comment = found[1] if found else ""
    else:
        lines = []
        for line in text.splitlines():
            if line.startswith("# ") and not line.startswith("# shellcheck"):
                lines.append(line[2:])
            elif lines:
                break
        comment = " ".join(lines)
    return re.split(r"(?<=\.)\s+(?=[A-Z])", " ".join(comment.split()))[0].replace("<", "&lt;")


def _used_by(program: Path) -> str:
    # A script includes another by its name. Python of the same package names it without its suffix, too.
    package = program.relative_to(_LIBRARY).parts[0]
    whole = re.compile(rf"(?<![\w-]){re.escape(program.name)}")
    stem = f'"{program.stem}"'
    call = re.compile(rf"(scripts?|program|read|text|part)\w*\([^)\n]*{re.escape(stem)}")
    others = {path: text for path, text in _texts().items() if Path(path).name != program.name}
    of_package = {path: text for path, text in others.items() if path.startswith(f"{package}/")}
    # Most files do not have the name at all, which takes a hundredth of the time to find out.
    users = {path for path, text in others.items() if program.name in text and whole.search(text)}
    users |= {path for path, text in of_package.items() if stem in text and call.search(text)}
    # Some are named in a list.
    users = users or {path for path, text in of_package.items() if stem in text}
    return ", ".join(f"`{path}`" for path in sorted(users))


@cache
def _texts() -> dict[str, str]:
    paths = sorted(path for suffix in ("*.py", "*.sh") for path in _LIBRARY.rglob(suffix))
    return {str(path.relative_to(_LIBRARY)): path.read_text(encoding="utf-8") for path in paths}
