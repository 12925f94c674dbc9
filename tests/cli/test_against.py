"""`check --against`: what an edit does to nodes and data. `test_deploy.py` runs the synthesis by the real CDK CLI."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from support import ROOT
from support.clusterfile_data import private_with_directory
from support.templates import templates
from ultracluster import clusterfile
from ultracluster.cli import _against, app

OLD = ROOT / "examples" / "slurm-private.yaml"
Check = Callable[..., Any]


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Check:
    def synthesise(_: Any, file: Path, output: Path) -> None:
        output.mkdir()
        for name, template in templates(clusterfile.load(str(file))).items():
            (output / f"{name}.template.json").write_text(json.dumps(template))
            (output / f"{name}.metadata.json").write_text("{}")

    monkeypatch.setattr(_against, "synthesise", synthesise)
    (tmp_path / "new.yaml").write_text(private_with_directory())
    synthesise(None, OLD, tmp_path / "cdk.out")

    def run(file: Path, *arguments: str) -> Any:
        return CliRunner().invoke(app, ["check", str(file), "--against", *arguments])

    return run


@pytest.mark.parametrize("deployed", ["file", "templates"])
def test_the_nodes_that_an_edit_replaces_are_named(check: Check, deployed: str, tmp_path: Path) -> None:
    result = check(tmp_path / "new.yaml", str(OLD if deployed == "file" else tmp_path / "cdk.out"))
    assert result.exit_code == 0, result.output
    assert "replaces nodes" in result.output
    (line,) = (line for line in result.output.splitlines() if line.startswith("jobs: "))
    assert "keep-Compute/trainNodeGroup" in line
    assert "are replaced when their jobs have ended" in line
    assert "skipped" not in result.output


def test_an_edit_that_loses_data_is_refused(check: Check, tmp_path: Path) -> None:
    result = check(OLD, str(tmp_path / "new.yaml"), "--json")
    edit = json.loads(result.stdout)["edit"]
    assert (result.exit_code, edit["ok"]) == (1, False)
    assert "AWS::FSx::FileSystem" in {finding["type"] for finding in edit["findings"] if finding["refused"]}
    result = check(OLD, str(tmp_path / "new.yaml"))
    assert result.exit_code == 1
    assert "ultracluster deploy refuses this edit" in result.output


def test_a_file_that_is_not_there_is_wrong_usage(check: Check, tmp_path: Path) -> None:
    result = check(OLD, str(tmp_path / "missing"))
    assert result.exit_code == 2
    assert "name the cluster file that is deployed, or its cdk.out" in result.output
