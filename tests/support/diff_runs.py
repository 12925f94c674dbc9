"""The command `diff` beside templates that are deployed, without an account."""

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

import cdk_rehearsal.deploy
from cdk_rehearsal.deploy import AssembledStack, ChangeSets, Comparison
from support.templates import synth
from ultracluster import clusterfile
from ultracluster.cli import _deploy, app

#: Runs `diff` with the cluster file that is deployed, and another; further arguments are those of the command.
Diff = Callable[..., Any]


def differ(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Diff:
    """Return a function that runs `diff` in this process."""

    def run(deployed: str, text: str, *arguments: str) -> Any:
        old, file = synth(clusterfile.loads(deployed, "my.yaml")).directory, folder / "my.yaml"
        file.write_text(text)

        def comparison(stacks: list[AssembledStack], client: object, folder: Path, *, belongs: object) -> Comparison:
            result = Comparison(deployed=folder / "deployed", assembled=folder / "assembled")
            shutil.copytree(old, result.deployed, ignore=_no_templates)
            shutil.copytree(stacks[0].template.parent, result.assembled, ignore=_no_templates)
            return result

        monkeypatch.setattr(cdk_rehearsal.deploy, "comparison", comparison)
        return CliRunner().invoke(app, ["diff", str(file), *arguments])

    def synthesise(cli: object, file: Path, output: Path) -> None:
        shutil.copytree(synth(clusterfile.load(file)).directory, output)

    monkeypatch.setattr(cdk_rehearsal.deploy, "change_sets", lambda *_: ChangeSets())
    monkeypatch.setattr(cdk_rehearsal.deploy, "unprotected", lambda *_: {})
    monkeypatch.setattr(_deploy, "cdk_cli", lambda *_: SimpleNamespace())
    monkeypatch.setattr(_deploy, "check_credentials", lambda *_: None)
    monkeypatch.setattr(_deploy, "synthesise", synthesise)
    return run


def _no_templates(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if not name.endswith(".template.json")]
