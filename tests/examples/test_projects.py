"""The projects of examples/, each with the library of the wheel and without this checkout."""

import ast
import json
import shutil
import tomllib
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from support.projects import EXAMPLES, Projects
from ultracluster import __version__

MOST_LINES = 40


def app_of(project: Path) -> Path:
    (app,) = (path for path in project.glob("*.py") if not path.name.startswith("test_"))
    return app


def test_there_are_three() -> None:
    assert [project.name for project in EXAMPLES] == [
        "eks-node-groups",
        "slurm-in-your-app",
        "storage-and-monitoring",
    ]


def test_projects_pass_their_tests_with_the_wheel(projects: Projects, pytestconfig: pytest.Config) -> None:
    for project in EXAMPLES:
        assert "\n2 passed" in projects.printed[project.name], projects.printed[project.name]
        for snapshot in (projects.folder / project.name).glob("*.snapshot.json"):
            if pytestconfig.getoption("--update-snapshots"):
                shutil.copy(snapshot, project / snapshot.name)


@pytest.mark.parametrize("project", EXAMPLES, ids=lambda path: path.name)
def test_project_is_short_and_complete(project: Path) -> None:
    app = app_of(project)
    assert len(app.read_text().splitlines()) <= MOST_LINES
    assert json.loads((project / "cdk.json").read_text())["app"] == f"python3 {app.name}"
    assert (project / "README.md").exists()
    requirement = tomllib.loads((project / "pyproject.toml").read_text())["project"]["dependencies"]
    major, minor = map(int, __version__.split(".")[:2])
    assert requirement == [f"cdk-ultracluster>={major}.{minor},<{major}.{minor + 1}"]


@pytest.mark.parametrize("project", EXAMPLES, ids=lambda path: path.name)
def test_project_installs_as_its_readme_does(project: Path, tmp_path: Path) -> None:
    assert "$ pip install . pytest" in (project / "README.md").read_text()
    (built,) = WheelBuilder(str(project)).build(directory=str(tmp_path))
    with zipfile.ZipFile(built) as archive:
        modules = [name for name in archive.namelist() if name.endswith(".py")]
    assert modules == [app_of(project).name]


@pytest.mark.parametrize("project", EXAMPLES, ids=lambda path: path.name)
def test_project_imports_only_faces_of_the_library(project: Path) -> None:
    modules = {
        node.module or ""
        for path in project.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
    }
    assert any(module.startswith("ultracluster") for module in modules)
    assert not any(part.startswith("_") for module in modules for part in module.split("."))
    assert not any(module.startswith(("support", "tests", "stacks")) for module in modules)
