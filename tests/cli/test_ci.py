"""`ultracluster render --ci`."""

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]  # no stubs
from typer.testing import CliRunner, Result

from support import ROOT
from ultracluster.cli import app

FILE = ROOT / "examples" / "slurm-512-gpus.yaml"
PATHS = {"github": ".github/workflows/llama.yml", "gitlab": ".gitlab/clusters/llama.yml"}


def render(root: Path, service: str, name: str = "llama") -> Result:
    """Render the pipeline of a cluster file that is in a folder of a repository."""
    file = root / "clusters" / f"{name}.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(FILE.read_text().replace("name: llama", f"name: {name}"))
    return CliRunner().invoke(app, ["render", str(file), "--out", str(root), "--ci", service])


@pytest.mark.parametrize("service", PATHS)
def test_a_pipeline_checks_rehearses_compares_and_deploys(service: str, tmp_path: Path) -> None:
    result = render(tmp_path, service)
    assert (result.exit_code, result.stderr) == (0, "")
    text = (tmp_path / PATHS[service]).read_text()
    content = yaml.safe_load(text)
    jobs = content["jobs"] if service == "github" else {key.removeprefix("llama-"): content[key] for key in content}
    assert {"check", "compare", "deploy"} <= set(jobs)
    for command in ("check", "rehearse", "diff", "deploy"):
        assert f"ultracluster {command} clusters/llama.yaml" in text
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
    render(tmp_path, "github")
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


def test_clusters_of_a_project_in_gitlab_have_a_pipeline_each(tmp_path: Path) -> None:
    assert [render(tmp_path, "gitlab", name).exit_code for name in ("llama", "alpaca")] == [0, 0]
    includes, folder = tmp_path / ".gitlab-ci.yml", tmp_path / ".gitlab" / "clusters"
    assert yaml.safe_load(includes.read_text()) == {"include": [{"local": ".gitlab/clusters/*.yml"}]}
    llama, alpaca = (yaml.safe_load((folder / f"{name}.yml").read_text()) for name in ("llama", "alpaca"))
    assert llama.keys() & alpaca.keys() == {"stages"}
    assert llama.pop("stages") == alpaca.pop("stages") == ["check", "compare", "deploy"]
    for pipeline in (llama, alpaca):
        for job in pipeline.values():
            assert {job.get("extends"), *job.get("needs", ())} <= {None, *pipeline}
    # A file of the user's stays.
    existing = "test: {script: [make]}\n"
    includes.write_text(existing)
    noted = render(tmp_path, "gitlab")
    assert (noted.exit_code, "add: include: [{local: .gitlab/clusters/*.yml}]" in noted.stderr) == (0, True)
    assert includes.read_text() == existing
    includes.write_text("include: [{local: .gitlab/clusters/llama.yml}]\n")
    assert render(tmp_path, "gitlab").stderr == ""


def test_a_pipeline_reads_a_file_of_its_repository(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["render", str(FILE), "--out", str(tmp_path), "--ci", "github"])
    assert (result.exit_code, [*tmp_path.iterdir()]) == (1, [])
    assert f"{FILE} is outside of {tmp_path}" in result.stderr


def test_rejects_other_services(tmp_path: Path) -> None:
    result = render(tmp_path, "jenkins")
    assert result.exit_code == 2
    assert "--ci must be one of github, gitlab, got 'jenkins'" in result.output
