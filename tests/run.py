"""Everything that must be green: formatting, lint, types and tests. `make test` runs this."""

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent


def main() -> int:
    """Run the four; mypy beside pytest, for a cold mypy takes a minute on one core."""
    begin = time.monotonic()
    for check in (["ruff", "format", "--check", "--quiet", "."], ["ruff", "check", "--quiet", "."]):
        print(f"== {' '.join(check)}", flush=True)
        if code := subprocess.run([BIN / check[0], *check[1:]], cwd=ROOT).returncode:
            return code
    types = subprocess.Popen([BIN / "mypy"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print("== pytest", flush=True)
    pytest = [str(BIN / "pytest"), "-q", "--durations=8", *sys.argv[1:]]
    tests = subprocess.run([*pytest, "-n", "2", "--dist", "worksteal", "-m", "not daemons"], cwd=ROOT).returncode
    # One after the other: a busy machine would be slower than what is waited for.
    print("== pytest: Slurm and Prometheus for real", flush=True)
    daemons = subprocess.run([*pytest, "-m", "daemons"], cwd=ROOT).returncode
    print("== mypy --strict", flush=True)
    print(types.communicate()[0], end="", flush=True)
    print(f"== {time.monotonic() - begin:.0f} s", flush=True)
    return tests or daemons or types.returncode


if __name__ == "__main__":
    sys.exit(main())
