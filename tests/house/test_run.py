"""`make test`: no test is left out, and what it prints of CPU time is right."""

import re
import subprocess
import sys
import tomllib
from types import SimpleNamespace

from ruamel.yaml import YAML

from run import DAEMONS
from support import ROOT
from support.cpu_time import CpuTime, used
from support.long_tests import FILES, spread


def test_tests_that_start_daemons_are_in_the_folders_that_run_them() -> None:
    # The other run of `make test` leaves the mark out.
    mark = ".".join(("pytest", "mark", "daemons"))
    marked = [path for path in (ROOT / "tests").rglob("test_*.py") if mark in path.read_text()]
    folders = [ROOT / folder for folder in DAEMONS.values()]
    assert [path for path in marked if not any(path.is_relative_to(folder) for folder in folders)] == []
    assert all(any(path.is_relative_to(folder) for path in marked) for folder in folders)


def test_the_workflow_runs_the_oldest_and_the_newest_python_that_the_package_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = [match[1] for text in project["classifiers"] if (match := re.search(r"Python :: (3\.\d+)$", text))]
    workflow = YAML(typ="safe").load(ROOT / ".github/workflows/test.yml")
    rows = workflow["jobs"]["dependencies"]["strategy"]["matrix"]["include"]
    assert {row["releases"]: row["python"] for row in rows} == {"lowest": named[0], "newest": named[-1]}
    assert project["requires-python"] == f">={named[0]}"


def test_cpu_time_contains_that_of_a_child_that_runs() -> None:
    before = used()
    busy = "import time\nwhile time.process_time() < 0.2: pass\nprint('done', flush=True)\ninput()"
    with subprocess.Popen([sys.executable, "-c", busy], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert used() - before >= 0.15
        child.communicate(b"\n")
    assert used() - before >= 0.15


def test_cpu_time_of_all_workers_is_added() -> None:
    plugin = CpuTime()
    for seconds in (1.5, 2.0):
        plugin.pytest_testnodedown(SimpleNamespace(workeroutput={"cpu_time": {"tests/a.py": seconds}}))
    plugin.pytest_testnodedown(SimpleNamespace())  # a worker that crashed
    assert plugin.seconds == {"tests/a.py": 3.5}


def test_each_worker_begins_with_long_tests_whole_and_gets_as_many_as_the_others() -> None:
    long = [file for group in FILES for file in group]
    assert [file for file in long if not (ROOT / file).is_file()] == []
    items = [(f"tests/short-{number}.py", number) for number in range(900)]
    for file in long:
        items += [(file, number) for number in range(3)]
    order = spread(items, lambda item: item[0], 3)
    assert sorted(order) == sorted(items)
    each = len(order) // 3
    chunks = [order[:each], order[each : 2 * each], order[2 * each :]]
    begins = [sum(name in long for name, _ in chunk) for chunk in chunks]
    assert all(name in long for chunk, count in zip(chunks, begins, strict=True) for name, _ in chunk[:count])
    assert all(begins)
    places = [{name for name, _ in chunk} for chunk in chunks]
    assert all(sum(set(group) <= place for place in places) == 1 for group in FILES)
    # Few tests, in the order of the files.
    assert spread(items[:5], lambda item: item[0], 2) == items[:5]
