"""What every test process needs before it starts Node."""

import functools
import gc
import logging
import os
import sys
import typing
from collections import defaultdict
from pathlib import Path

import jsii._type_checking
import pytest

from support import few_messages, long_tests, one_process_kernel
from support.cpu_time import CpuTime

# Unit tests run without the template validation, which costs seconds per process; tests/stacks/test_strict.py
# runs it over every example. The venv's own Node is the supported one.
os.environ["CDK_VALIDATION"] = "false"
_NODE = Path(sys.executable).parent / "node"
if _NODE.exists():
    os.environ.setdefault("JSII_NODE", str(_NODE))

# The CDK compares the type of each argument with its annotation, a sixth of the time of a synthesis. mypy --strict has
# done so for all calls; the process of the fixture `strict` and all that the CDK CLI starts still do.
jsii._type_checking.check_type = lambda **_: None
_type_hints = typing.get_type_hints
_UNREAD: dict[str, typing.Any] = defaultdict(lambda: None)


def _hints(obj: typing.Any, *arguments: typing.Any, **options: typing.Any) -> dict[str, typing.Any]:
    """Evaluate annotations, but not those that only that comparison reads."""
    unread = getattr(obj, "__name__", "").startswith("_typecheckingstub__")
    return _UNREAD if unread else _type_hints(obj, *arguments, **options)


typing.get_type_hints = _hints

# To read a field of a struct, the CDK evaluates its type, `typing.Optional[typing.Union["IRole", ...]]`, and compiles
# the names in it: a tenth of a synthesis. The cache of Python for such types has room for 128.
for _getitem in (typing._SpecialForm.__getitem__, typing._GenericAlias.__getitem__):  # type: ignore[attr-defined]
    _cells = dict(zip(_getitem.__code__.co_freevars, _getitem.__closure__ or (), strict=True))
    if "cached" in _cells:
        _cells["cached"].cell_contents = functools.lru_cache(maxsize=None)(_getitem.__wrapped__)
one_process_kernel.install()

# Else a warning that nobody catches would be written to stderr, which tests read.
logging.getLogger().addHandler(logging.NullHandler())

# Of scripts/install-prometheus: before the one of the distribution.
os.environ["PATH"] = f"{Path(__file__).parent / '.prometheus' / 'bin'}:{os.environ['PATH']}"

# The modules of the CDK are half a million objects, and Python's collector visits them again and again: without this,
# it takes a sixth of the time of all tests. What is there when the tests are collected stays until the end anyway.
gc.disable()


# Fixtures that take seconds in each process that has them.
_SHARED = ("strict", "wheel")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the tests of such a fixture first, one after the other, and let each worker begin with long ones.

    So do tests of a module with the same value of the parameter that the module names as `TOGETHER`.
    """
    places: dict[Path, int] = {}

    def place(item: pytest.Item) -> tuple[list[bool], int, str]:
        shared = [name not in getattr(item, "fixturenames", ()) for name in _SHARED]
        parameter = getattr(getattr(item, "module", None), "TOGETHER", None)
        values = getattr(getattr(item, "callspec", None), "params", {})
        return shared, places.setdefault(item.path, len(places)), str(values.get(parameter, ""))

    items.sort(key=place)
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    items[:] = long_tests.spread(items, lambda item: item.nodeid.partition("::")[0], workers)


def pytest_collection_finish() -> None:
    """Leave out of the garbage collection what was imported for the tests, and collect more seldom."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_unconfigure() -> None:
    """Leave the rest to the end of the process: pytest and Python collect it three times, for seconds."""
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    """Count the CPU time of each file of tests."""
    config.pluginmanager.register(CpuTime())
    if hasattr(config, "workerinput"):
        few_messages.install(config)
