"""`make test`: no test is left out, and what it prints of CPU time is right."""

import subprocess
import sys
from types import SimpleNamespace

from run import DAEMONS
from support import ROOT
from support.cpu_time import CpuTime, used


def test_tests_that_start_daemons_are_in_the_folders_that_run_them() -> None:
    # The other run of `make test` leaves the mark out.
    mark = ".".join(("pytest", "mark", "daemons"))
    marked = [path for path in (ROOT / "tests").rglob("test_*.py") if mark in path.read_text()]
    folders = [ROOT / folder for folder in DAEMONS.values()]
    assert [path for path in marked if not any(path.is_relative_to(folder) for folder in folders)] == []
    assert all(any(path.is_relative_to(folder) for path in marked) for folder in folders)


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
