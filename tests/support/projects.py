"""Projects of users, as their own pytest runs them with the wheel: a new one, and copies of those of examples/.

All are in one process, for a start of Python, jsii and the CDK takes longer than their tests.
"""

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from support import ROOT, TESTS
from support.wheel import Wheel

EXAMPLES = sorted(path.parent for path in (ROOT / "examples").glob("*/cdk.json"))
#: Options for a pytest inside a test: Hypothesis, which no project here uses, takes most of the time of a start.
QUICK_START = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest")
# The new one has snapshots of a cluster file that is gone, and runs its tests before and after an edit. The kernel of
# jsii is in one process, as in the process of the tests: the rehearsal of the new project has its runtime.
_PROGRAM = """
import json, os, pathlib, pytest, shutil, sys
tests, update, *options = sys.argv[1:]
sys.path.append(tests)
from support import one_process_kernel
sys.path.remove(tests)
one_process_kernel.install()
from ultracluster.cli import main
folder, codes = pathlib.Path.cwd(), []
def begin(name):
    print(f"== {name}", flush=True)
begin("init")
sys.argv = ["ultracluster", "init", "clusters"]
try:
    main()
except SystemExit as error:
    assert not error.code
os.chdir("clusters")
begin("written")
print(json.dumps([str(file) for file in pathlib.Path().rglob("*") if file.is_file()]))
shutil.copytree("tests/snapshots/cluster", "tests/snapshots/cluster-dev")
begin("unchanged")
codes.append(pytest.main(options))
file = pathlib.Path("cluster.yaml")
file.write_text(file.read_text().replace("count: 2}", "count: 3}", 1))
begin("changed")
codes.append(1 - pytest.main(options))
for project in json.loads(update):
    os.chdir(folder / project)
    begin(project)
    codes.append(pytest.main([*options, *json.loads(update)[project]]))
sys.exit(codes if any(codes) else None)
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Projects:
    """Directory with the projects, and the output of each step: those of the new one, and the others by name."""

    folder: Path
    printed: dict[str, str]
    stderr: str

    @property
    def new(self) -> Path:
        return self.folder / "clusters"


def run(wheel: Wheel, folder: Path, *, update_snapshots: bool) -> Projects:
    """Create and copy the projects, and run their tests, which must pass."""
    for project in EXAMPLES:
        ignored = shutil.ignore_patterns("__pycache__", "cdk.out", ".*")
        shutil.copytree(project, folder / project.name, ignore=ignored)
    options = ["--update-snapshots"] if update_snapshots else []
    examples = json.dumps({project.name: options for project in EXAMPLES})
    done = wheel.run("python", "-c", _PROGRAM, str(TESTS), examples, "-q", *QUICK_START, cwd=folder)
    _, *parts = re.split(r"^== (\S+)\n", done.stdout, flags=re.MULTILINE)
    return Projects(folder=folder, printed=dict(zip(parts[::2], parts[1::2], strict=True)), stderr=done.stderr)
