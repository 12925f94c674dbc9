"""Everything that must be green: formatting, lint, types and tests. `make test` runs this; arguments go to pytest.

Three runs share the cores. The tests that start Slurm and Prometheus wait most of the time and have deadlines, so they
run at normal priority, one after the other. The other tests and mypy take what is left, at the lowest priority, with
one worker more than there are cores: a test waits for Node, or a shell, for a third of its time.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
BEHIND = ["nice", "-n", "19"]


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
    with tempfile.TemporaryFile("w+") as real, tempfile.TemporaryFile("w+") as typed:
        # The folder of these tests alone: collecting the others takes longer than some of them run.
        daemons = subprocess.Popen(
            [*pytest, *sys.argv[1:], "-m", "daemons", "tests/integration"],
            cwd=ROOT, stdout=real, stderr=subprocess.STDOUT,
        )  # fmt: skip
        types = subprocess.Popen([*BEHIND, BIN / "mypy"], cwd=ROOT, stdout=typed, stderr=subprocess.STDOUT)
        print("== pytest", flush=True)
        workers = ["-n", str((os.cpu_count() or 1) + 1), "--dist", "worksteal"]
        others = [*BEHIND, *pytest, *sys.argv[1:], *workers, "-m", "not daemons"]
        tests = subprocess.run(others, cwd=ROOT).returncode
        codes = [tests, daemons.wait(), types.wait()]
        for title, output in (("pytest: Slurm and Prometheus for real", real), ("mypy --strict", typed)):
            print(f"== {title}", flush=True)
            output.seek(0)
            print(output.read(), end="", flush=True)
    print(f"== {time.monotonic() - begin:.0f} s", flush=True)
    return next(filter(None, codes), 0)


if __name__ == "__main__":
    sys.exit(main())
