"""`ultracluster image build-container`: its files are read by hadolint, and its commands by a recorded builder."""

import json
import os
import re
import subprocess
from pathlib import Path

import boto3
import pytest
from moto import mock_aws
from ruamel.yaml import YAML
from typer.testing import CliRunner

from support import ROOT
from ultracluster.cli import _ecr, app
from ultracluster.workloads import CONTAINERS, container_files, container_tag

EXAMPLE = str(ROOT / "examples" / "slurm-512-gpus.yaml")
ADDRESS = "123456789012.dkr.ecr.us-east-2.amazonaws.com/ultracluster/finetune"
RUN = CliRunner()


@pytest.fixture
def builder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A docker that records its arguments and its input, and the directory of the test."""
    tool = tmp_path / "bin" / "docker"
    tool.parent.mkdir()
    tool.write_text(
        '#!/bin/sh\n[ "$1" != version ] || exit 0\necho "$*" >>"$SAID"\n'
        '[ "$1" != login ] || cat >>"$SAID"\n[ ! -e "$SAID.fails" ]\n'
    )
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:/usr/bin:/bin")
    monkeypatch.setenv("SAID", str(tmp_path / "said"))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_containerfile_is_one_for_builders_and_each_part_has_its_checksum(name: str, tmp_path: Path) -> None:
    files = container_files(name, "registry.example.com/x:1")
    for path, text in files.items():
        (tmp_path / path).write_text(text)
    hadolint = [str(ROOT / ".venv/bin/hadolint"), "--format", "json", str(tmp_path / "Containerfile")]
    assert json.loads(subprocess.run(hadolint, capture_output=True, text=True, check=False).stdout) == []
    image = CONTAINERS[name]
    assert f"FROM {image.address}\n" in files["Containerfile"]
    assert subprocess.run(["bash", "-n", tmp_path / "layer.sh"], check=False).returncode == 0
    for part in (*image.packages, *image.more_packages):
        assert part in files["layer.sh"]
    assert re.search("--require-hashes|sha256sum --check", files["layer.sh"])
    build = YAML(typ="safe").load(files["buildspec.yml"])
    commands = [command for phase in build["phases"].values() for command in phase["commands"]]
    assert [command.split()[:2] for command in commands] == [["aws", "ecr"], ["docker", "build"], ["docker", "push"]]


def test_another_layer_or_parent_has_another_tag() -> None:
    tags = [container_tag(name) for name in CONTAINERS]
    assert len(set(tags)) == len(CONTAINERS)
    assert container_tag("torchtitan").startswith("2.13.0-cu133-amzn2023-")
    assert "FROM mirror/pytorch:1\n" in container_files("finetune", "x/y:1", parent="mirror/pytorch:1")["Containerfile"]


@mock_aws
def test_it_builds_and_pushes_to_the_registry_of_the_account(builder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = RUN.invoke(app, ["image", "build-container", EXAMPLE, "finetune", "--push"])
    assert result.exit_code == 0, result.output
    address = f"{ADDRESS}:{container_tag('finetune')}"
    commands = (builder / "said").read_text().splitlines()
    file = "container-finetune/Containerfile"
    assert commands[0] == f"build --platform linux/amd64 --file {file} --tag {address} container-finetune"
    assert commands[1] == "login --username AWS --password-stdin 123456789012.dkr.ecr.us-east-2.amazonaws.com"
    assert commands[-1].endswith(f"push {address}")
    (repository,) = boto3.client("ecr", "us-east-2").describe_repositories()["repositories"]
    assert (repository["repositoryName"], repository["imageTagMutability"]) == ("ultracluster/finetune", "IMMUTABLE")
    assert f"--set image={address}" in result.output.replace("\n", "")
    # ECR replaces no tag: what is there is not built again.
    monkeypatch.setattr(_ecr, "has_image", lambda target: target == address)
    before = (builder / "said").read_text()
    again = RUN.invoke(app, ["image", "build-container", EXAMPLE, "finetune", "--push"])
    assert (again.exit_code, "the registry has it already" in again.output.replace("\n", "")) == (0, True)
    assert (builder / "said").read_text() == before
    (builder / "said.fails").touch()
    failed = RUN.invoke(app, ["image", "build-container", EXAMPLE, "finetune"])
    assert (failed.exit_code, "docker build ended with 1" in failed.output) == (1, True)


@mock_aws
def test_without_a_builder_it_writes_the_files_for_code_build(builder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    refused = RUN.invoke(app, ["image", "build-container", EXAMPLE, "verl"])
    assert (refused.exit_code, "none of docker, podman, buildah works here" in refused.output) == (1, True)
    (builder / "docker").write_text("#!/bin/sh\necho 'Cannot connect to the Docker daemon' >&2\nexit 1\n")
    (builder / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", str(builder))
    refused = RUN.invoke(app, ["image", "build-container", EXAMPLE, "verl"])
    assert (refused.exit_code, "docker: Cannot connect to the Docker daemon; install" in refused.output) == (1, True)
    written = RUN.invoke(app, ["image", "build-container", EXAMPLE, "verl", "--files", "--out", "v"])
    assert written.exit_code == 0, written.output
    assert sorted(path.name for path in (builder / "v").iterdir()) == ["Containerfile", "buildspec.yml", "layer.sh"]
    unknown = RUN.invoke(app, ["image", "build-container", EXAMPLE, "vllm"])
    assert (unknown.exit_code, "an image is one of dynamo, verl, finetune" in unknown.output) == (2, True)
