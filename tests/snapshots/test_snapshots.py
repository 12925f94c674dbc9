"""Snapshots in a project of their own, as its pytest sees them."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_sqs as sqs

from cdk_rehearsal import snapshots
from cdk_rehearsal.snapshots import _session as session
from support.projects import QUICK_START
from support.training import warm_python

TEST = """
from pathlib import Path
from ultracluster.testing import assert_matches_snapshot

HERE = Path(__file__).parent
TEMPLATE = {{"Resources": {{"Queue": {{"Type": "AWS::SQS::Queue", "Properties": {{"DelaySeconds": {delay}}}}}}}}}

def test_queue():
    assert_matches_snapshot(TEMPLATE, HERE / "snapshots" / "queue.json")
"""
SECOND = """
def test_other():
    assert_matches_snapshot(TEMPLATE, HERE / "snapshots" / "other.json")
"""


class Project:
    """A project with tests, and its pytest."""

    def __init__(self, folder: Path, python: Path) -> None:
        self.folder, self.python = folder, python
        self.snapshots = folder / "tests" / "snapshots"
        (folder / "tests").mkdir()
        (folder / "pytest.ini").write_text("[pytest]\ntestpaths = tests\n")

    def write(self, delay: int = 5, more: str = "") -> None:
        (self.folder / "tests" / "test_queue.py").write_text(TEST.format(delay=delay) + more)

    def pytest(self, *arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [self.python, "-m", "pytest", *QUICK_START, "--color=no", *arguments],
            cwd=self.folder,
            env={**os.environ, "COLUMNS": "200"},
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Python that has imported pytest, a third of the time of a run of one test."""
    with warm_python(tmp_path_factory.mktemp("python"), "import pytest", Path(sys.executable)) as program:
        yield program


@pytest.fixture
def project(tmp_path: Path, python: Path) -> Project:
    return Project(tmp_path, python)


@pytest.fixture
def update(monkeypatch: pytest.MonkeyPatch) -> session.Session:
    """A run with --update-snapshots."""
    run = session.Session(update=True)
    monkeypatch.setattr(session, "current", run)
    return run


@pytest.fixture
def compare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "current", session.Session())


def test_a_missing_snapshot_fails_and_is_written(project: Project) -> None:
    project.write()
    code, output = project.pytest()
    assert code == 1
    assert "there is no snapshot" in output
    assert project.pytest("--update-snapshots")[0] == 0
    assert json.loads((project.snapshots / "queue.json").read_text())["Resources"]["Queue"]
    assert project.pytest()[0] == 0


def test_a_difference_names_the_resource_and_hides_the_source_of_the_library(project: Project) -> None:
    project.write()
    project.pytest("--update-snapshots")
    project.write(delay=9)
    code, output = project.pytest()
    assert code == 1
    assert "~ Queue  AWS::SQS::Queue" in output
    assert "Properties.DelaySeconds: 5 -> 9" in output
    assert "assert_matches_snapshot(TEMPLATE" in output
    for internal in ("_snapshot.py", "_compare", "__tracebackhide__", "raise AssertionError"):
        assert internal not in output
    assert len(output.splitlines()) < 30


def test_a_snapshot_without_a_test_is_reported_and_deleted(project: Project) -> None:
    project.write(more=SECOND)
    project.pytest("--update-snapshots")
    (project.snapshots / "data.json").write_text("{}")
    project.write()
    code, output = project.pytest()
    assert code == 0
    assert "snapshots that no test uses" in output
    assert "other.json" in output
    assert (project.snapshots / "other.json").exists()
    code, output = project.pytest("--update-snapshots")
    assert code == 0
    assert "deleted snapshots" in output
    assert sorted(file.name for file in project.snapshots.iterdir()) == ["data.json", "queue.json"]


@pytest.mark.parametrize(
    "arguments", [["-k", "not other"], ["tests/test_queue.py::test_queue"], ["tests/test_queue.py", "-k", "not other"]]
)
def test_a_part_of_the_tests_leaves_the_other_snapshots_alone(project: Project, arguments: list[str]) -> None:
    project.write(more=SECOND)
    project.pytest("--update-snapshots")
    code, output = project.pytest("--update-snapshots", *arguments)
    assert code == 0
    assert "no test use" not in output
    assert (project.snapshots / "other.json").exists()


@pytest.mark.parametrize(
    "other", ["\ndef test_other():\n    raise ValueError\n", "\nimport pytest\ndef test_o():\n    pytest.skip()\n"]
)
def test_a_test_that_does_not_end_leaves_its_snapshots_alone(project: Project, other: str) -> None:
    project.write(more=SECOND)
    project.pytest("--update-snapshots")
    project.write(more=other)
    _, output = project.pytest("--update-snapshots")
    assert "no test use" not in output
    assert (project.snapshots / "other.json").exists()


def test_workers_of_xdist_share_what_they_use(project: Project) -> None:
    project.write(more=SECOND)
    project.pytest("--update-snapshots")
    code, output = project.pytest("-n", "2")
    assert code == 0
    assert "no test use" not in output
    (project.folder / "tests" / "test_queue.py").write_text(TEST.format(delay=5))
    assert "other.json" in project.pytest("-n", "2")[1]


def app(*names: str, delay: int = 5) -> cdk.App:
    result = cdk.App(analytics_reporting=False)
    for name in names:
        parent = cdk.Stage(result, "Prod") if name == "Staged" else result
        stack = cdk.Stack(parent, name)
        sqs.Queue(stack, "Queue", delivery_delay=cdk.Duration.seconds(delay))
    return result


def test_an_app_has_a_snapshot_for_each_stack(tmp_path: Path, update: session.Session) -> None:
    snapshots.assert_app_matches_snapshot(app("One", "Two", "Staged"), tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["One.json", "Prod-Staged.json", "Two.json"]
    update.update = False
    snapshots.assert_app_matches_snapshot(app("One", "Two", "Staged"), tmp_path)


def test_a_difference_of_an_app_names_stack_and_construct(tmp_path: Path, update: session.Session) -> None:
    snapshots.assert_app_matches_snapshot(app("One", "Staged"), tmp_path)
    update.update = False
    with pytest.raises(AssertionError) as error:
        snapshots.assert_app_matches_snapshot(app("One", "Staged", delay=9), tmp_path)
    lines = str(error.value).splitlines()
    assert any(line.startswith("~ One/Queue") and line.endswith("One/Queue/Resource") for line in lines)
    assert any(line.startswith("~ Prod-Staged/Queue") and "Prod/Staged/Queue/Resource" in line for line in lines)
    assert "    Properties.DelaySeconds: 5 -> 9" in lines


def test_an_app_rejects_the_snapshot_of_a_stack_that_is_gone(tmp_path: Path, update: session.Session) -> None:
    snapshots.assert_app_matches_snapshot(app("One", "Two"), tmp_path)
    (tmp_path / "cdk.context.json").write_text('{"Resources": {}}')
    update.update = False
    with pytest.raises(AssertionError, match=r"no stack for the snapshot Two\.json"):
        snapshots.assert_app_matches_snapshot(app("One"), tmp_path)
    update.update = True
    snapshots.assert_app_matches_snapshot(app("One"), tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["One.json", "cdk.context.json"]


def test_snapshots_of_an_app_that_is_gone_are_found(tmp_path: Path, update: session.Session) -> None:
    for name in ("prod", "dev"):
        snapshots.write_app_snapshots(app("One"), tmp_path / "tests" / name)
    (tmp_path / "tests" / "data").mkdir()
    snapshots.assert_app_matches_snapshot(app("One"), tmp_path / "tests" / "prod")
    assert update.stale_apps([tmp_path / "tests"]) == [tmp_path / "tests" / "dev"]
    assert update.stale_apps([tmp_path / "tests" / "prod"]) == []
    update.complete = False
    assert update.stale_apps([tmp_path]) == []


@pytest.mark.usefixtures("compare")
def test_an_app_rejects_a_missing_snapshot(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"there is no snapshot .*One\.json"):
        snapshots.assert_app_matches_snapshot(app("One"), tmp_path)


def test_an_app_rejects_two_stacks_with_one_name(tmp_path: Path) -> None:
    parent = cdk.App(analytics_reporting=False)
    sqs.Queue(cdk.Stack(parent, "Prod-Staged"), "Queue")
    sqs.Queue(cdk.Stack(cdk.Stage(parent, "Prod"), "Staged"), "Queue")
    with pytest.raises(ValueError, match="two stacks have the snapshot"):
        snapshots.assert_app_matches_snapshot(parent, tmp_path)


def test_a_stack_its_template_and_assertions_have_one_snapshot(tmp_path: Path, update: session.Session) -> None:
    stack = cdk.Stack(cdk.App(analytics_reporting=False), "One")
    sqs.Queue(stack, "Queue")
    file = tmp_path / "one.json"
    snapshots.assert_matches_snapshot(stack, file)
    update.update = False
    template = assertions.Template.from_stack(stack)
    snapshots.assert_matches_snapshot(template, file)
    snapshots.assert_matches_snapshot(template.to_json(), file)


def test_a_snapshot_in_another_layout_is_rejected(tmp_path: Path, update: session.Session) -> None:
    template = {"Resources": {"Queue": {"Type": "AWS::SQS::Queue"}}}
    file = tmp_path / "one.json"
    snapshots.assert_matches_snapshot(template, file)
    file.write_text(json.dumps(template))
    update.update = False
    with pytest.raises(AssertionError, match="same content"):
        snapshots.assert_matches_snapshot(template, file)
