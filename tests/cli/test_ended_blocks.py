"""Updates of node groups whose Capacity Block has ended."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

import cdk_rehearsal.deploy
from cdk_rehearsal.deploy import AssembledStack, ChangeSets, Comparison
from support import ROOT
from support.templates import synth
from ultracluster import clusterfile
from ultracluster.cli import _deploy, app

FILE = (ROOT / "examples" / "slurm-capacity-block.yaml").read_text()
ENDED = FILE.replace("2026-12-24", "2025-12-24")
IMAGE = ("    capacity:\n      reservations", "    image: ami-0123456789abcdef1\n    capacity:\n      reservations")


@pytest.fixture
def diff(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str, str], Any]:
    """Run `diff` of a file beside another that is deployed, without an account."""

    def run(deployed: str, text: str, *arguments: str) -> Any:
        old, file = synth(clusterfile.loads(deployed, "my.yaml")).directory, tmp_path / "my.yaml"
        file.write_text(text)

        def comparison(stacks: list[AssembledStack], client: object, folder: Path, *, belongs: object) -> Comparison:
            result = Comparison(deployed=folder / "deployed", assembled=folder / "assembled")
            shutil.copytree(old, result.deployed, ignore=_no_templates)
            shutil.copytree(stacks[0].template.parent, result.assembled, ignore=_no_templates)
            return result

        def synthesise(cli: object, file: Path, output: Path) -> None:
            shutil.copytree(synth(clusterfile.load(file)).directory, output)

        monkeypatch.setattr(cdk_rehearsal.deploy, "comparison", comparison)
        monkeypatch.setattr(cdk_rehearsal.deploy, "change_sets", lambda *_: ChangeSets())
        monkeypatch.setattr(cdk_rehearsal.deploy, "unprotected", lambda *_: {})
        monkeypatch.setattr(_deploy, "cdk_cli", lambda *_: SimpleNamespace())
        monkeypatch.setattr(_deploy, "synthesise", synthesise)
        return CliRunner().invoke(app, ["diff", str(file), *arguments])

    return run


def _no_templates(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if not name.endswith(".template.json")]


def test_an_update_of_a_group_is_refused_after_its_block_has_ended(diff: Any) -> None:
    refused = diff(ENDED, ENDED.replace(*IMAGE), "--json")
    assert refused.exit_code == 1, refused.output
    broken = json.loads(refused.stdout)["guard"]["broken"]
    assert [line.split(":")[0] for line in broken] == ["capacity-ended"] * 2
    assert "the Capacity Block of train-bcdef0 ended at 2025-12-24 11:30 UTC" in broken[0]
    assert "--allow block-Compute/" in broken[0]
    # To allow the end of its nodes does not make AWS PCS accept it.
    names = [finding["name"] for finding in json.loads(refused.stdout)["guard"]["nodes"] if finding["refused"]]
    allowed = [argument for name in names for argument in ("--allow", name)]
    again = diff(ENDED, ENDED.replace(*IMAGE), *allowed)
    assert again.exit_code == 1
    assert "First remove train-bcdef0 from the file" in " ".join(again.output.split())
    assert diff(FILE, FILE.replace(*IMAGE), *allowed).exit_code == 0


def test_a_group_whose_block_has_ended_may_stay_and_leave(diff: Any) -> None:
    other = diff(ENDED, ENDED.replace("scale-down-idle-time: 30 min", "scale-down-idle-time: 20 min"))
    assert other.exit_code == 0, other.output
    begin, end = ENDED.index("  train:"), ENDED.index("  data:")
    left = diff(ENDED, ENDED[:begin] + ENDED[end:], "--json")
    report = json.loads(left.stdout)["guard"]
    assert report["broken"] == []
    assert {finding["fate"] for finding in report["nodes"] if "train" in finding["name"]} == {"deleted"}
