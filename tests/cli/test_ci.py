"""`ultracluster render --ci`."""

from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]  # no stubs
from typer.testing import CliRunner

from support import ROOT
from ultracluster.cli import app

FILE = ROOT / "examples" / "slurm-512-gpus.yaml"
PATHS = {"github": ".github/workflows/llama.yml", "gitlab": ".gitlab-ci.yml"}


@pytest.mark.parametrize("service", PATHS)
def test_a_pipeline_checks_rehearses_compares_and_deploys(service: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["render", str(FILE), "--out", str(tmp_path), "--ci", service])
    assert result.exit_code == 0, result.output
    text = (tmp_path / PATHS[service]).read_text()
    content = yaml.safe_load(text)
    jobs = content["jobs"] if service == "github" else content
    assert {"check", "compare", "deploy"} <= set(jobs)
    for command in ("check", "rehearse", "diff", "deploy"):
        assert f"ultracluster {command} {FILE}" in text
    assert "us-east-2" in text
    assert "NAME" not in text.replace("AWS_ROLE_SESSION_NAME", "")
    assert "comment" in str(jobs["compare"])


def test_rejects_other_services(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["render", str(FILE), "--out", str(tmp_path), "--ci", "jenkins"])
    assert result.exit_code == 1
    assert "--ci must be one of github, gitlab, got 'jenkins'" in result.output
