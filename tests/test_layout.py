"""The shape of the repository, as far as it carries weight."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LIBRARY = ROOT / "constructs" / "ultracluster"
ARCHITECTURE = ROOT / "docs" / "architecture.md"

# From the ground up. A package imports only from packages before its own floor; packages of one floor don't know each
# other. docs/architecture.md draws it.
FLOORS = [
    {"hardware", "scripts"},
    {"planning", "cloudformation"},
    {"clusterfile", "guard"},
    {"kubernetes", "metrics"},
    {"workloads"},
    {"network", "security"},
    {"compute", "storage"},
    {"orchestration", "observability"},
    {"patterns"},
    {"testing"},
    {"rehearsal"},
    {"cli"},
]
FLOOR_OF = {package: floor for floor, packages in enumerate(FLOORS) for package in packages}
PURE = {
    "hardware",
    "scripts",
    "planning",
    "cloudformation",
    "clusterfile",
    "guard",
    "kubernetes",
    "metrics",
    "workloads",
}
LONGEST_FILE = 300
MOST_ARGUMENTS = 12


def sources() -> list[Path]:
    return sorted(path for path in LIBRARY.rglob("*.py") if path.parent != LIBRARY)


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write imports in full"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from names if names[0].startswith("ultracluster.") else [node.module or ""]


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(LIBRARY)))
def test_imports_run_downward_only(path: Path) -> None:
    package = path.relative_to(LIBRARY).parts[0]
    for name in imported(path):
        parts = name.split(".")
        if parts[0] == "ultracluster" and len(parts) > 1 and parts[1] in FLOOR_OF and parts[1] != package:
            assert FLOOR_OF[parts[1]] < FLOOR_OF[package], (
                f"{path.name} in {package}/ imports {name}, which is not below"
            )


# The rooms of the largest package, from the ground up; what stands in none is above the sections and below the checks.
ROOMS = {"problems": 0, "quantities": 1, "readers": 2, "types": 3, "sections": 4, "checks": 6, "advice": 6}
DOORS = {"__init__", "json_schema", "loading", "translate"}


@pytest.mark.parametrize(
    "path", sorted((LIBRARY / "clusterfile").rglob("*.py")), ids=lambda path: str(path.relative_to(LIBRARY))
)
def test_rooms_of_the_cluster_file_import_downward_only(path: Path) -> None:
    room = path.relative_to(LIBRARY / "clusterfile").with_suffix("").parts[0]
    if room in DOORS:
        return
    for name in imported(path):
        parts = name.split(".")
        if parts[:2] == ["ultracluster", "clusterfile"] and parts[2:3] != [room]:
            assert parts[2] not in DOORS, f"{path.name} imports {name}"
            assert ROOMS.get(parts[2], 5) <= ROOMS.get(room, 5), f"{path.name} in {room} imports {name}"


def test_every_package_has_its_floor() -> None:
    assert {path.parent.name for path in LIBRARY.glob("*/__init__.py")} == set(FLOOR_OF)


def test_the_page_on_architecture_draws_the_same_floors() -> None:
    rows = re.findall(r"^\| (\d+) \| ((?:`\w+`(?:, )?)+) \|", ARCHITECTURE.read_text(), re.MULTILINE)
    drawn = [(package, int(floor) - 1) for floor, cell in rows for package in re.findall(r"\w+", cell)]
    assert sorted(drawn) == sorted(FLOOR_OF.items())


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(LIBRARY)))
def test_a_file_stays_small_enough_to_read(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LONGEST_FILE


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(LIBRARY)))
def test_a_constructor_stays_small_enough_to_call(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            assert len(node.args.kwonlyargs) <= MOST_ARGUMENTS, f"line {node.lineno}"


def test_the_folder_constructs_is_not_a_package() -> None:
    assert not (ROOT / "constructs" / "__init__.py").exists(), (
        "constructs/__init__.py shadows the PyPI package `constructs`: every `from constructs import Construct` fails"
    )


@pytest.mark.parametrize("package", sorted(PURE))
def test_the_ground_floors_start_no_node(package: str) -> None:
    code = (
        f"import sys, ultracluster.{package}; sys.exit(not {{'jsii', 'aws_cdk', 'constructs'}}.isdisjoint(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_app_py_stays_a_door_not_a_room() -> None:
    assert len((ROOT / "app.py").read_text().splitlines()) < 80
