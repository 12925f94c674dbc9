"""The wheel: its files, its metadata, and what the documentation imports from it."""

import ast
import re
import subprocess
import sys
import tomllib
from email import message_from_string
from importlib.metadata import requires
from pathlib import Path

import pytest

import ultracluster
from support import ROOT
from support.wheel import Wheel

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])
MODULES = {"ruamel.yaml": "ruamel"}  # of distributions whose name does not give them


def tracked(*folders: str) -> set[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *folders],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return {name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()}


def test_wheel_holds_every_file_of_both_packages_and_nothing_else(wheel: Wheel) -> None:
    packages = ("constructs/ultracluster", "constructs/cdk_rehearsal")
    expected = {name.removeprefix("constructs/") for name in tracked(*packages)}
    held = {name for name in wheel.names if ".dist-info/" not in name}
    assert held == expected
    assert {"ultracluster/py.typed", "cdk_rehearsal/py.typed", "ultracluster/stacks/__init__.py"} <= held


def test_version_has_one_source(wheel: Wheel) -> None:
    assert "version" not in PROJECT
    assert message_from_string(wheel.metadata)["Version"] == ultracluster.__version__


def test_readme_on_a_package_index_has_no_relative_link(wheel: Wheel) -> None:
    readme = str(message_from_string(wheel.metadata).get_payload())
    targets = re.findall(r"\]\(([^)]+)\)", readme)
    assert targets
    assert [target for target in targets if not target.startswith(("https://", "#"))] == []


def test_links_of_the_readme_name_files_of_the_repository(wheel: Wheel) -> None:
    repository = PROJECT["urls"]["Repository"]
    raw = repository.replace("github.com", "raw.githubusercontent.com")
    readme = str(message_from_string(wheel.metadata).get_payload())
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", readme)
    pages = re.findall(r"(?<!!)\[[^\]]+\]\(([^)]+)\)", readme)
    for prefix, targets in ((f"{raw}/main/", pictures), (f"{repository}/blob/main/", pages)):
        targets_of_prefix = [
            target.removeprefix(prefix).partition("#")[0] for target in targets if target.startswith(prefix)
        ]
        assert targets_of_prefix
        assert [name for name in targets_of_prefix if not (ROOT / name).exists()] == []


def test_metadata_names_url_author_and_every_tested_python(wheel: Wheel) -> None:
    metadata = message_from_string(wheel.metadata)
    labels = {url.partition(",")[0] for url in metadata.get_all("Project-URL", [])}
    assert labels == {"Homepage", "Documentation", "Repository", "Issues", "Changelog"}
    assert metadata["Author"]
    minors = {row.rpartition(" ")[2] for row in metadata.get_all("Classifier", []) if ":: 3." in row}
    assert minors == {"3.11", "3.12", "3.13", "3.14"}
    assert {"Kubernetes", "Slurm", "Prometheus"} <= set(re.findall(r"\w+", metadata["Summary"]))


def test_extras_are_the_documented_ones(wheel: Wheel) -> None:
    extras = set(message_from_string(wheel.metadata).get_all("Provides-Extra", []))
    assert extras == {"apply", "checks", "guard", "live", "rehearsal"}


def code_blocks() -> list[tuple[Path, str]]:
    pattern = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
    return [(page, code) for page in PAGES for code in pattern.findall(page.read_text())]


def distribution(requirement: str) -> str:
    return re.split(r"[\[<>=!~; ]", requirement)[0]


def imports(code: str) -> list[tuple[str, str]]:
    """Module and name of each import."""
    names = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [(node.module or "", alias.name) for alias in node.names]
    return names


@pytest.mark.parametrize(("page", "code"), code_blocks(), ids=lambda value: getattr(value, "stem", ""))
def test_imports_in_the_documentation_are_in_the_wheel_or_declared(page: Path, code: str, wheel: Wheel) -> None:
    held = set(wheel.names)
    declared = [*PROJECT["dependencies"], *(row for rows in PROJECT["optional-dependencies"].values() for row in rows)]
    names = {distribution(row) for row in declared}
    names |= {distribution(row) for name in names for row in requires(name) or [] if "extra ==" not in row}
    others = {MODULES.get(name, name.replace("-", "_").removesuffix("_lib")) for name in names}
    others |= {"pytest"} | sys.stdlib_module_names
    for module, name in imports(code):
        if module.partition(".")[0] not in ("ultracluster", "cdk_rehearsal"):
            assert module.partition(".")[0] in others, f"{page.name} imports {module}"
            continue
        path = module.replace(".", "/")
        assert not held.isdisjoint({f"{path}.py", f"{path}/__init__.py"}), f"{page.name} imports {module}"
        if module in ("ultracluster", "cdk_rehearsal"):
            # These import nothing of themselves: a name is a package in them.
            assert f"{path}/{name}/__init__.py" in held, f"{page.name} imports {name} of {module}"
