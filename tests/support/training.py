"""PyTorch for the tests, in `.venv-training`, which `make test-packages` installs."""

from collections.abc import Mapping
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
