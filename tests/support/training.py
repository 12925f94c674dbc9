"""PyTorch for the tests, in `.venv-training`, which `make test-packages` installs."""

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from support import ROOT

BIN = ROOT / ".venv-training" / "bin"
#: A model of 29,000 parameters, whose loss falls in 20 steps. Dropout, so that random numbers matter.
SMALL = (
    *("--layers=2", "--width=32", "--heads=2", "--length=32", "--vocabulary=64", "--batch=4"),
    *("--dropout=0.1", "--rate=1e-2", "--warmup=5", "--log-every=1"),
)
#: One thread, as torchrun sets for several processes of a node: the order of additions is always the same.
ENVIRONMENT: Mapping[str, str] = MappingProxyType(
    {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "tests/support/no_collector")}
)
#: Directories of the programs, of this package, and what the others have.
PYTHONPATH = ":".join(
    str(ROOT / directory)
    for directory in ("constructs/ultracluster/boot/scripts", "tests", "tests/support/no_collector")
)
# The client of `warm_python.py`, which starts in 20 milliseconds.
_CLIENT = """\
#!{python} -IS
import sys
sys.path.append({directory!r})
from warm_python import start
sys.exit(start({address!r}, sys.argv))
"""


@contextmanager
def warm_python(directory: Path, statements: str, python: Path = BIN / "python", **variables: str) -> Iterator[Path]:
    """Start a process that executes statements; imports are most of the time of a short run.

    Args:
        directory: Directory of the files, which must be there.
        statements: Import the libraries.
        python: Python, which may be a copy that has imported others already.
        variables: Variables of the environment that the libraries read when they are imported.

    Yields:
        A program with the arguments of Python: it runs in a copy of that process.
    """
    client, address = directory / "python", f"ultracluster-tests-python-{secrets.token_hex(8)}"
    client.write_text(_CLIENT.format(python=sys.executable, directory=str(ROOT / "tests/support"), address=address))
    client.chmod(0o755)
    command = [str(python), "-W", "ignore", f"{ROOT}/tests/support/warm_python.py", address, statements]
    environment = {**ENVIRONMENT, **variables, "HOME": str(directory), "PATH": f"{BIN}:{os.environ['PATH']}"}
    with subprocess.Popen(
        command, env=environment, cwd=directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"
        yield client
        server.stdin.close()
