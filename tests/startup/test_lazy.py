"""Names of packages that are imported when they are first used."""

import importlib
import subprocess
import sys

import pytest

from support.faces import names_of_face

PACKAGES = ("ultracluster.clusterfile", "ultracluster.planning.lustre")


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
