"""`ultracluster deploy --hold`: jobs leave the nodes that a deployment replaces, and start again after it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

import cdk_rehearsal.deploy
from cdk_rehearsal.guard import Cause, Fate, Finding, Report
from support import ROOT
from ultracluster.cli import _deploy, app
from ultracluster.cli._apply import Hold

FILE = str(ROOT / "examples" / "eks-512-gpus.yaml")


def finding(type: str, fate: Fate, name: str = "Train") -> Finding:
    causes = (Cause(fate=fate, property="-", reason="x"),)
    return Finding(stack="", logical_id=name, type=type, holds="nodes", causes=causes)


EKS = finding("AWS::EKS::Nodegroup", Fate.DRAINED)


class Deployment:
    """Steps of a deployment, without AWS."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.steps: list[str] = []
        self.code = 0
        self.patch = monkeypatch
        for name in ("protect", "release_failed", "released_first"):
            monkeypatch.setattr(cdk_rehearsal.deploy, name, lambda *_, **__: [])
        monkeypatch.setattr(_deploy, "apply", lambda _, **options: self.steps.append(f"apply {options}"))
        monkeypatch.setattr("ultracluster.cli._deploy.subprocess.run", self._run)

    def _run(self, *_: Any, **__: Any) -> Any:
        self.steps.append("cdk deploy")
        return SimpleNamespace(returncode=self.code)

    def __call__(self, nodes: tuple[Finding, ...], *options: str, yes: bool = True) -> Any:
        self.steps.clear()
        others: dict[str, Any] = {
            "sides": SimpleNamespace(new=[], failed=[], left={}, blocked={}, deletions=list),
            "changes": SimpleNamespace(missing={}, refused={}),
            "cost": SimpleNamespace(lines=list),
            "cli": SimpleNamespace(command=lambda *_: ["cdk"], app=None, environment=None),
            "client": None,
            "report": Report(stateful=0, findings=(), unused={}, groups=1, nodes=nodes, running=True),
        }

        @contextmanager
        def prepared(*_: Any) -> Iterator[_deploy._Plan]:
            synthesised_at = datetime.now(UTC)
            places: dict[str, Any] = {"protected": [], "stacks": [], "assembly": Path(), "starts": {}}
            yield _deploy._Plan(**places, allow=(), synthesised_at=synthesised_at, **others)

        self.patch.setattr(_deploy, "_prepared", prepared)
        return CliRunner().invoke(app, ["deploy", FILE, *(["--yes"] if yes else []), *options])


@pytest.fixture
def deploy(monkeypatch: pytest.MonkeyPatch) -> Deployment:
    return Deployment(monkeypatch)


def test_jobs_leave_nodes_before_they_are_replaced_and_start_again_after(deploy: Deployment) -> None:
    done = deploy((EKS,), "--hold", "drain")
    assert done.exit_code == 0, done.output
    assert deploy.steps == [
        f"apply {{'hold': {Hold.drain!r}, 'stack': []}}",
        "cdk deploy",
        "apply {'gate': True, 'stack': []}",
    ]
    assert "hold: the jobs leave Train before the deployment" in done.output
    done = deploy((EKS,))
    assert (done.exit_code, deploy.steps) == (1, [])
    assert "`ultracluster deploy FILE --hold drain`" in done.output


@pytest.mark.parametrize(
    "other",
    [finding("AWS::EKS::Nodegroup", Fate.DELETED, "Old"), finding("AWS::PCS::ComputeNodeGroup", Fate.DRAINED, "Pcs")],
)
def test_a_hold_allows_no_loss_of_another_kind(deploy: Deployment, other: Finding) -> None:
    assert (deploy((EKS, other), "--hold", "drain").exit_code, deploy.steps) == (1, [])


def test_groups_whose_replacement_is_allowed_are_held_too(deploy: Deployment) -> None:
    allowed = replace(EKS, allowed=True)
    steps = [f"apply {{'hold': {Hold.drain!r}, 'stack': []}}", "cdk deploy", "apply {'gate': True, 'stack': []}"]
    assert (deploy((allowed,), "--hold", "drain").exit_code, deploy.steps) == (0, steps)


def test_nothing_is_held_where_no_node_is_replaced(deploy: Deployment) -> None:
    updated = finding("AWS::EKS::Nodegroup", Fate.UPDATED)
    assert (deploy((updated,), "--hold", "drain").exit_code, deploy.steps) == (0, ["cdk deploy"])
    assert "no queue is held" in deploy((updated,), "--hold", "drain").output


def test_a_failed_deployment_reports_that_the_queues_are_held(deploy: Deployment) -> None:
    deploy.code = 1
    done = deploy((EKS,), "--hold", "wait")
    assert (done.exit_code, deploy.steps[-1]) == (1, "cdk deploy")
    assert "queues may be held: `ultracluster apply FILE --gate` with the file that is deployed" in done.output


def test_an_interruption_reports_that_cloudformation_goes_on(deploy: Deployment) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    deploy.patch.setattr("ultracluster.cli._deploy.subprocess.run", interrupted)
    done = deploy((EKS,), "--hold", "wait")
    assert done.exit_code == 130
    assert "interrupted: CloudFormation goes on with the stacks that it updates" in done.stderr
    assert "queues may be held" in done.stderr


def test_without_a_terminal_an_option_confirms_the_changes_of_iam(deploy: Deployment) -> None:
    done = deploy((), yes=False)
    assert (done.exit_code, deploy.steps) == (1, [])
    assert "there is no terminal: add --yes" in done.stderr
