"""Pytest plugin: the fixtures of all packages."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import botocore.session
import pytest
import typer.testing
import yaml  # type: ignore[import-untyped]  # no stubs
from aws_cdk import assertions
from hypothesis import settings

from cdk_rehearsal.deploy import CliProcesses
from support import templates
from support.projects import Projects, run
from support.strict_process import StrictProcess
from support.training import warm_python
from support.wheel import Wheel, build

# How long a case takes says more about who else uses the machine than about the code.
settings.register_profile("here", deadline=None)
settings.load_profile("here")

# To build the commands of the library takes longer than most of them, and each `CliRunner.invoke` did.
vars(typer.testing)["_get_command"] = cache(vars(typer.testing)["_get_command"])
# Each session of boto3, and each mock_aws of moto begins one, would read the models of services again.
vars(botocore.session)["create_loader"] = cache(vars(botocore.session)["create_loader"])


def _with_libyaml(load: Callable[..., Any]) -> Callable[[Any], Any]:
    """Read a text in a tenth of the time of PyYAML's own parser. The wrapped one takes no subclass of `str`."""
    return lambda text: load(str(text) if isinstance(text, str) else text, Loader=yaml.CSafeLoader)


yaml.safe_load, yaml.safe_load_all = _with_libyaml(yaml.load), _with_libyaml(yaml.load_all)


@pytest.fixture
def stack() -> cdk.Stack:
    # They take time, and no test reads them.
    app = cdk.App(analytics_reporting=False, tree_metadata=False, stack_traces=False)
    return cdk.Stack(app, "Stack", env=cdk.Environment(account="123456789012", region="us-east-2"))


@pytest.fixture
def template(stack: cdk.Stack) -> Callable[[], assertions.Template]:
    return lambda: assertions.Template.from_stack(stack)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Synthesize each template once in a run. A fixture would take a tenth of a millisecond of each test."""
    templates.share(_of_all_workers(session.config) / "templates")


def _of_all_workers(config: pytest.Config) -> Path:
    """Directory of this run: the workers of xdist have neighbouring ones."""
    base: Path = config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
    return base.parent if hasattr(config, "workerinput") else base


@pytest.fixture(scope="session")
def strict() -> Iterator[StrictProcess]:
    """Synthesises with every check on; see `strict_process`."""
    with StrictProcess() as process:
        yield process


@pytest.fixture(scope="session")
def wheel(pytestconfig: pytest.Config) -> Wheel:
    """The wheel that users install, built once in a run."""
    return build(_of_all_workers(pytestconfig) / "wheel")


@pytest.fixture(scope="session")
def projects(wheel: Wheel, tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Projects:
    """A new project and those of examples/, after their tests with the wheel."""
    update = bool(pytestconfig.getoption("--update-snapshots"))
    return run(wheel, tmp_path_factory.mktemp("projects"), update_snapshots=update)


@pytest.fixture(scope="session")
def cli_processes() -> Iterator[CliProcesses]:
    """Processes of the CDK CLI for all tests of a worker: a start takes a second."""
    with CliProcesses() as processes:
        yield processes


@pytest.fixture(scope="session")
def torch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Python that has imported PyTorch, and what that imports for the first optimizer: two seconds for all tests."""
    with warm_python(tmp_path_factory.mktemp("torch"), "import torch._dynamo, torch.distributed") as python:
        yield python


@pytest.fixture
def kept_cli(cli_processes: CliProcesses, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rehearsals in the test use the processes of others, and leave theirs to them."""
    monkeypatch.setattr("cdk_rehearsal.rehearsal._runner.CliProcesses", lambda: nullcontext(cli_processes))
