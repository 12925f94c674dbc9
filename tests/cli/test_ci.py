"""`ultracluster render --ci`."""

import json
import os
import subprocess
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
    if service == "gitlab":
        # A job without rules is in pipelines of branches and tags alone.
        assert jobs["compare"]["rules"][0] in jobs["check"]["rules"]
        assert jobs["deploy"]["timeout"] == "6h"
    else:
        (credentials,) = (step["with"] for step in jobs["deploy"]["steps"] if "role-to-assume" in step.get("with", {}))
        assert credentials["role-duration-seconds"] == "${{ vars.AWS_DEPLOY_SECONDS || 3600 }}"


GH = """#!/usr/bin/env bash
case " $* " in
  *" --jq "*) jq -r "${@: -1}" comments.json ;;
  *) printf '%s\\n' "$*" >called; cp comment.md posted.md ;;
esac
"""
DIFF = """#!/usr/bin/env bash
printf '%s\\n' "$DIFFERENCE" && exit 1
"""


def test_each_cluster_has_a_comment_on_a_pull_request(tmp_path: Path) -> None:
    CliRunner().invoke(app, ["render", str(FILE), "--out", str(tmp_path), "--ci", "github"])
    steps = yaml.safe_load((tmp_path / PATHS["github"]).read_text())["jobs"]["compare"]["steps"]
    (script,) = (step["run"] for step in steps if "ultracluster diff" in step.get("run", ""))
    for name, text in (("gh", GH), ("ultracluster", DIFF)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o700)

    def posted(comments: list[tuple[int, str, str]], difference: str) -> str:
        rows = [{"id": id, "user": {"login": user}, "body": body} for id, user, body in comments]
        (tmp_path / "comments.json").write_text(json.dumps(rows))
        environment = {
            "PATH": f"{tmp_path}:{os.environ['PATH']}",
            "GITHUB_REPOSITORY": "lab/clusters",
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
            "DIFFERENCE": difference,
        }
        command = ["bash", "-e", "-c", script.replace("${{ github.event.number }}", "7")]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        # The exit code of `diff`.
        assert (done.returncode, done.stderr) == (1, "")
        assert difference in done.stdout
        assert difference in (tmp_path / "summary.md").read_text()
        return (tmp_path / "called").read_text()

    bot, marker = "github-actions[bot]", "<!-- ultracluster llama -->\n```\n"
    others = [(1, bot, "<!-- ultracluster llama-2 -->"), (2, "somebody", marker), (3, bot, "other")]
    assert " repos/lab/clusters/issues/7/comments --field" in posted(others, "2 nodes")
    assert (tmp_path / "posted.md").read_text() == f"{marker}2 nodes\n\n```\n"
    assert "--method PATCH repos/lab/clusters/issues/comments/4 --field" in posted([*others, (4, bot, marker)], "x")
    posted(others, "\u00e4" * 60_000)
    assert len((tmp_path / "posted.md").read_bytes()) < 65_536


def test_rejects_other_services(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["render", str(FILE), "--out", str(tmp_path), "--ci", "jenkins"])
    assert result.exit_code == 1
    assert "--ci must be one of github, gitlab, got 'jenkins'" in result.output
