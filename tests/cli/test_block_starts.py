"""Capacity Blocks that start while their cluster is deployed."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer

import cdk_rehearsal.deploy
from support import ROOT
from ultracluster import clusterfile
from ultracluster.cli import _deploy
from ultracluster.cli._block_starts import missed, new_starts, soon
from ultracluster.planning.capacity import starts_at

CLUSTER = clusterfile.load(ROOT / "examples" / "eks-capacity-block.yaml")
START = datetime(2026, 12, 4, 11, 30, tzinfo=UTC)


def test_only_a_start_without_a_deployed_schedule_can_be_missed(tmp_path: Path) -> None:
    assert new_starts(CLUSTER, tmp_path) == {"train": START}
    file = tmp_path / "sprint-Compute.json"
    file.write_text(json.dumps({"ScheduleExpression": "at(2026-12-04T11:30:00)"}))
    assert new_starts(CLUSTER, tmp_path) == {}
    file.write_text(json.dumps({"ScheduleExpression": "at(2026-12-03T11:30:00)"}))
    assert new_starts(CLUSTER, tmp_path) == {"train": START}
    assert new_starts(clusterfile.as_of(CLUSTER, START), tmp_path) == {}


def test_slurm_waits_for_a_start_without_a_schedule(tmp_path: Path) -> None:
    text = (ROOT / "examples" / "slurm-capacity-block.yaml").read_text()
    slurm = clusterfile.loads(text.replace("ends: ", "starts: 2026-12-05\n      ends: "), "c.yaml")
    assert starts_at(slurm.node_groups[0].capacity) is not None
    assert new_starts(slurm, tmp_path) == {}


@pytest.mark.parametrize(("minutes", "warned"), [(-121, False), (-119, True), (-1, True), (0, False)])
def test_a_deployment_shortly_before_a_start_is_warned_about(minutes: int, warned: bool) -> None:
    lines = soon({"train": START}, START + timedelta(minutes=minutes))
    assert [line.split(".")[0] for line in lines] == ["train: its capacity starts at 2026-12-04 11:30 UTC"] * warned


def plan(synthesised_at: datetime) -> _deploy._Plan:
    sides = SimpleNamespace(new=[], failed=[], left={}, deployed=Path(), assembled=Path())
    command: Any = SimpleNamespace(command=lambda *_: ["true"], app=None, environment=None)
    others: dict[str, Any] = {"sides": sides, "changes": None, "cost": SimpleNamespace(lines=list), "cli": command}
    return _deploy._Plan(
        client=lambda *_: None,
        protected=[],
        stacks=[],
        report=None,
        allow=(),
        assembly=Path(),
        starts={"train": START},
        synthesised_at=synthesised_at,
        **others,
    )


def test_a_start_during_a_deployment_fails_it_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("protect", "release_failed"):
        monkeypatch.setattr(cdk_rehearsal.deploy, name, lambda *_, **__: [])
    clock = SimpleNamespace(now=lambda _: START + timedelta(minutes=20))
    monkeypatch.setattr(_deploy, "datetime", clock)
    before = plan(START - timedelta(minutes=30))
    before.print()
    assert "warning: train: its capacity starts at 2026-12-04 11:30 UTC" in capsys.readouterr().err
    with pytest.raises(typer.Exit) as error:
        before.deploy(imports=False)
    assert error.value.exit_code == 1
    assert "started at 2026-12-04 11:30 UTC, during this deployment" in capsys.readouterr().err
    assert missed({"train": START}, START, START + timedelta(hours=1)) == []
    plan(START + timedelta(minutes=1)).deploy(imports=False)
