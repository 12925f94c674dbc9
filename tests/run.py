"""Everything that must be green: formatting, lint, types and tests. `make test` runs this; arguments go to pytest.

Three runs share the cores. The tests that start Slurm and Prometheus wait most of the time and have deadlines, so they
run at normal priority, two files at a time. The other tests and mypy take what is left, at the lowest priority, with a
worker more than there are cores: with one for each, 1.3 of two cores were busy, for tests wait for programs too.

Files of the tests are in memory where that has room: on a disk, they take a tenth of the CPU time.

Each run ends with the files that take the most CPU time. The goal is six minutes on two quiet cores.
"""

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
BEHIND = ["nice", "-n", "19"]
TWO_FILES = ["-n", "2", "--dist", "loadfile"]
# A container may have 64 MB here, and may not start programs from it.
MEMORY, BYTES = Path("/dev/shm"), 6 * 2**30
# Folder of the tests marked `daemons`: collecting the others takes longer than some of them run.
DAEMONS = {"Slurm and Prometheus": "tests/integration"}


def main() -> int:
    """Run all checks.

    Returns:
        Exit code: 0 if all are green.
    """
    begin = time.monotonic()
    for check in (["ruff", "format", "--check", "--quiet", "."], ["ruff", "check", "--quiet", "."]):
        print(f"== {' '.join(check)}", flush=True)
        if code := subprocess.run([BIN / check[0], *check[1:]], cwd=ROOT).returncode:
            return code
    pytest = [str(BIN / "pytest"), "-q", "--durations=8"]
    beside = {
        **{f"pytest: {name} for real": [*pytest, *sys.argv[1:], *TWO_FILES, "-m", "daemons", folder]
           for name, folder in DAEMONS.items()},
        "mypy --strict": [*BEHIND, str(BIN / "mypy")],
    }  # fmt: skip
    with contextlib.ExitStack() as stack:
        # What a test left running may still write there.
        files = tempfile.TemporaryDirectory(dir=MEMORY if room() else None, ignore_cleanup_errors=True)
        folder = stack.enter_context(files)
        # Tests act as other users too.
        Path(folder).chmod(0o755)
        environment = {**os.environ, "TMPDIR": folder}
        outputs = [stack.enter_context(tempfile.TemporaryFile("w+")) for _ in beside]
        started = [
            subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT)
            for command, output in zip(beside.values(), outputs, strict=True)
        ]
        print("== pytest", flush=True)
        workers = ["-n", str((os.cpu_count() or 1) + 1), "--dist", "worksteal"]
        others = [*BEHIND, *pytest, *sys.argv[1:], *workers, "-m", "not daemons"]
        codes = [subprocess.run(others, cwd=ROOT, env=environment).returncode, *(process.wait() for process in started)]
        for title, output in zip(beside, outputs, strict=True):
            print(f"== {title}", flush=True)
            output.seek(0)
            print(output.read(), end="", flush=True)
    print(f"== {time.monotonic() - begin:.0f} s", flush=True)
    return next(filter(None, codes), 0)


def room() -> bool:
    """Return whether files of tests, and programs among them, may be in memory."""
    if not MEMORY.is_dir() or os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") < 2 * BYTES:
        return False
    state = os.statvfs(MEMORY)
    return state.f_bavail * state.f_frsize >= BYTES and not state.f_flag & os.ST_NOEXEC


if __name__ == "__main__":
    sys.exit(main())
