"""The command `ultracluster rehearse`, and the update that a rehearsal makes."""

import builtins
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from cdk_rehearsal import rehearsal
from cdk_rehearsal.rehearsal import Action, Entry, Journal, Maker, Report, StandIn, Step
from cdk_rehearsal.rehearsal._report import LIMITS, report
from cdk_rehearsal.rehearsal._state import Stacks
from support import EXAMPLES, ROOT, TERMINAL
from ultracluster import clusterfile
from ultracluster.cli import app
from ultracluster.cli._one_more_group import with_one_more_group
from ultracluster.cli._rehearse import rehearse

APP = typer.Typer()
MAIN_JOB = str(ROOT / "examples" / "slurm-512-gpus.yaml")
APP.command()(rehearse)


def run(*arguments: str) -> Any:
    return CliRunner().invoke(APP, arguments)


def made(*, ok: bool) -> Report:
    return Report(
        steps=(Step(name="deploy", seconds=1.25, ok=ok, changes={"created": 2}, reasons=() if ok else ("why",)),),
        stacks={"llama-Storage": 2},
        types={"AWS::FSx::FileSystem": {"schema": 1}, "AWS::EC2::SubnetRouteTableAssociation": {"moto": 1}},
        stand_ins=(StandIn(kind="parameter", name="/aws/service/x", value="ami-1"),),
        retained=(),
        notes=("a note",),
    )


@pytest.fixture
def pretend(monkeypatch: pytest.MonkeyPatch) -> Callable[[Report], None]:
    def set_result(result: Report) -> None:
        def pretend(**arguments: Any) -> Report:
            for step in result.steps:
                arguments["listener"].begin(step.name)
                arguments["listener"].line("progress of the CLI")
                arguments["listener"].end(step)
            return result

        monkeypatch.setattr(rehearsal, "rehearse", pretend)

    return set_result


def test_the_final_table_names_stand_ins_makers_and_limits(pretend: Callable[[Report], None]) -> None:
    pretend(made(ok=True))
    result = run("--app", ".")
    assert result.exit_code == 0
    for text in (
        "deploy",
        "1.2",
        "2 created",
        "llama-Storage",
        "AWS::FSx::FileSystem",
        "registry schema",
        "schema, rules of",
        "a note",
    ):
        assert text in result.stdout
    assert "parameter /aws/service/x -> ami-1" in result.stdout
    narrow = CliRunner().invoke(APP, ["--app", "."], env=TERMINAL).stdout
    assert "AWS::EC2::SubnetRouteTableAssociation" in narrow.split()
    assert max(map(len, narrow.partition("Stand-ins")[0].splitlines())) <= 80
    assert all(limit[:30] in result.stdout for limit in LIMITS)


def test_json_puts_nothing_but_json_on_stdout(pretend: Callable[[Report], None]) -> None:
    pretend(made(ok=True))
    result = run("--app", ".", "--json")
    data = json.loads(result.stdout)
    assert data["ok"] is True
    assert (data["resources"], data["made_by"]) == (2, {"schema": 1, "moto": 1})
    assert data["validated_by"]["AWS::FSx::FileSystem"] == "schema, rules of the service"
    assert data["steps"][0]["seconds"] == 1.25
    assert "deploy" in result.stderr


def test_a_failure_ends_with_1_and_its_reasons(pretend: Callable[[Report], None]) -> None:
    pretend(made(ok=False))
    result = run("--app", ".")
    assert result.exit_code == 1
    assert "why" in result.stderr
    assert "FAILED" in result.stdout


@pytest.mark.parametrize("arguments", [[], ["--app", ".", "--keep", "--json"]])
def test_rejects_wrong_usage_with_2(arguments: list[str]) -> None:
    assert run(*arguments).exit_code == 2


def test_rejects_a_directory_without_an_app_in_one_line(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        for result in (run("--app", str(folder)), CliRunner().invoke(app, ["diff", MAIN_JOB, "--app", str(folder)])):
            assert result.exit_code == 1
            expected = f"error: --app {folder}: there is no cdk.json in it; name the directory of the app"
            assert result.stderr.strip() == expected


def test_rejects_a_bad_cluster_file_without_starting(tmp_path: Path) -> None:
    (tmp_path / "cdk.json").write_text("{}")
    file = tmp_path / "bad.yaml"
    file.write_text("name: x\n")
    result = run(str(file), "--app", str(tmp_path))
    assert result.exit_code == 1
    assert str(file) in result.stderr
    assert "Traceback" not in result.stderr


def test_rejects_an_environment_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_moto(name: str, *arguments: Any, **options: Any) -> Any:
        if name == "cdk_rehearsal" and "rehearsal" in (arguments[2] or ()):
            raise ModuleNotFoundError("No module named 'moto'", name="moto")
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without_moto)
    result = run("--app", ".")
    assert result.exit_code == 1
    assert 'moto is missing): pip install "cdk-ultracluster[rehearsal]"' in result.stderr


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_every_example_takes_one_more_node_group(file: Path, tmp_path: Path) -> None:
    target = tmp_path / file.name
    name, text = with_one_more_group(file)
    target.write_text(text)
    before, after = clusterfile.load(str(file)), clusterfile.load(str(target))
    assert [group for group in after.nodes if group not in before.nodes] == [name]
    assert {group: after.nodes[group] for group in before.nodes} == before.nodes


def test_the_new_group_takes_a_free_name(tmp_path: Path) -> None:
    once = tmp_path / "once.yaml"
    name, text = with_one_more_group(EXAMPLES[0])
    once.write_text(text)
    assert (name, with_one_more_group(once)[0]) == ("extra", "extra2")


def test_rejects_a_file_that_takes_no_further_group_before_it_deploys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def started(**_: Any) -> Report:
        raise AssertionError("a rehearsal started whose update cannot be deployed")

    # 32 instances, and one more: the controller of PCS would be another.
    file = tmp_path / "full.yaml"
    file.write_text(
        "name: llama\nregion: us-east-2\nzone: use2-az1\norchestrator: slurm\n"
        "nodes: {train: {type: p5.48xlarge, count: 31, capacity: on-demand}}\n"
    )
    monkeypatch.setattr(rehearsal, "rehearse", started)
    result = run(str(file))
    assert result.exit_code == 1, result.exception
    assert "the update step cannot add a node group" in result.stderr
    assert "slurm: {size: MEDIUM}" in result.stderr


def entry(action: Action, stack: str, logical_id: str, **more: Any) -> Entry:
    given = {"type": "AWS::FSx::FileSystem", "physical_id": "fs-1", "maker": Maker.SCHEMA} | more
    return Entry(action=action, stack=stack, logical_id=logical_id, **given)


def test_the_report_counts_what_was_made_and_leaves_the_toolkit_out() -> None:
    journal = Journal()
    for item in (
        entry(Action.CREATE, "CDKToolkit", "Bucket", type="AWS::S3::Bucket", maker=Maker.MOTO),
        entry(Action.CREATE, "App", "A"),
        entry(Action.REPLACE, "App", "A"),
        entry(Action.DELETE, "App", "A"),
        entry(Action.RETAIN, "App", "A"),
    ):
        journal.add(item)
    result = report(steps=[], journal=journal, stacks=Stacks(), leave_out=frozenset({"CDKToolkit"}))
    assert result.stacks == {"App": 2}
    assert result.types == {"AWS::FSx::FileSystem": {"schema": 2}}
    assert [item.logical_id for item in result.retained] == ["A"]
    assert not result.ok
