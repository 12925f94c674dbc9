"""Names of packages that are imported when they are first used."""

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from support import ROOT
from support.faces import names_of_face

PUBLIC = json.loads((ROOT / "tests/house/public-api.json").read_text())
PACKAGES = ("ultracluster.clusterfile", "ultracluster.planning.lustre", "ultracluster.planning.workload")


@pytest.mark.parametrize("package", PACKAGES)
def test_each_name_that_type_checkers_read_is_there(package: str) -> None:
    module = importlib.import_module(package)
    names = names_of_face(package)
    assert set(names) <= set(dir(module))
    assert all(getattr(module, name) is not None for name in names)
    with pytest.raises(AttributeError, match=rf"module '{package}' has no attribute 'lustre_plam'"):
        _ = module.lustre_plam


def test_a_name_imports_its_module_alone() -> None:
    code = (
        "import sys; from ultracluster.planning import lustre; "
        "goal = 'ultracluster.planning.lustre._goal'; plan = 'ultracluster.planning.lustre._plan'; "
        "before = goal in sys.modules; lustre.LustreGoal; "
        "sys.exit(before or goal not in sys.modules or plan in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_an_import_of_all_names_has_those_that_nobody_used_before() -> None:
    code = "import sys, json; exec(f'from {sys.argv[1]} import *'); print(json.dumps([*globals()]))"
    for package in PACKAGES:
        names = json.loads(subprocess.check_output([sys.executable, "-c", code, package]))
        assert set(PUBLIC[package]) <= set(names)


def test_type_checkers_see_no_public_package_that_has_any_name() -> None:
    """A module with `__getattr__` has every name for them: https://github.com/python/mypy/pull/3647."""
    hidden = []
    for package in PUBLIC:
        for node in ast.parse(Path(str(importlib.import_module(package).__file__)).read_text()).body:
            if "__getattr__" in ast.unparse(node):
                assert ast.unparse(node).startswith("if not TYPE_CHECKING:"), package
                hidden.append(package)
    assert {*PACKAGES, "ultracluster.stacks"} <= set(hidden)
