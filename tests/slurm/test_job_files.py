"""The job files that login nodes write: those of the template, through the script of the boot."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from support import ROOT
from support.templates import asset, synth
from ultracluster import clusterfile
from ultracluster.boot import jobs_boot, scripts
from ultracluster.cli import app

FILE = ROOT / "examples" / "slurm-512-gpus.yaml"
# The AWS CLI with a parameter and a bucket, which are files.
AWS = """\
#!/usr/bin/env bash
set -euo pipefail
case "$*" in
    "ssm get-parameter --name $NAME --region us-east-2 --query Parameter.Value --output text") cat "$T/parameter" ;;
    "s3 cp --only-show-errors --region us-east-2 $URL "*) cp "$T/archive" "${*: -1}"; echo fetched >>"$T/fetched" ;;
    *) echo "aws: unexpected: $*" >&2; exit 252 ;;
esac
"""


class Login:
    """A login node with the parameter and the archive of a template."""

    def __init__(self, room: Path, url: str, sha256: str, archive: bytes) -> None:
        self.room, self.url = room, url
        (room / "bin").mkdir()
        (room / "bin" / "aws").write_text(AWS)
        (room / "bin" / "aws").chmod(0o755)
        self.publish(sha256, archive)

    def publish(self, sha256: str, archive: bytes) -> None:
        (self.room / "parameter").write_text(f"{self.url} {sha256}\n")
        (self.room / "archive").write_bytes(archive)

    def run(self) -> subprocess.CompletedProcess[str]:
        arguments = ("--parameter", "/ultracluster/llama/jobs", "--region", "us-east-2", "--directory", "/fsx/jobs")
        return subprocess.run(
            ["bash", "-c", scripts.text("jobs.sh"), "jobs", *arguments],
            env={
                "PATH": f"{self.room}/bin:{os.environ['PATH']}",
                "T": str(self.room),
                "NAME": "/ultracluster/llama/jobs",
                "URL": self.url,
                "ULTRACLUSTER_ROOT": str(self.room),
            },
            capture_output=True,
            text=True,
        )

    @property
    def jobs(self) -> Path:
        return self.room / "fsx" / "jobs"

    def files(self) -> dict[str, str]:
        return contents(self.jobs / "current")


def contents(directory: Path) -> dict[str, str]:
    return {str(path.relative_to(directory)): path.read_text() for path in directory.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def compute() -> dict[str, Any]:
    """The Compute stack of the main example, and the bytes of its archive."""
    assembly = synth(clusterfile.load(FILE))
    stack = assembly.get_stack_by_name("llama-Compute")
    resources = stack.template["Resources"]
    (parameter,) = (item for id, item in resources.items() if id.startswith("JobsParameter"))
    url, _, sha256 = parameter["Properties"]["Value"].partition(" ")
    archive = asset(assembly.directory, sha256, "tar")
    manifest = json.loads((Path(assembly.directory) / "llama-Compute.assets.json").read_text())
    keys = {to["objectKey"] for file in manifest["files"].values() for to in file["destinations"].values()}
    assert url.rpartition("/")[2] in keys
    return {"template": stack.template, "url": url, "sha256": sha256, "archive": archive}


@pytest.fixture
def login(compute: dict[str, Any], tmp_path: Path) -> Login:
    return Login(tmp_path, compute["url"], compute["sha256"], compute["archive"])


def test_the_job_files_of_the_cluster_are_those_of_render(login: Login, tmp_path: Path) -> None:
    done = login.run()
    assert done.returncode == 0, done.stderr
    result = CliRunner().invoke(app, ["render", str(FILE), "--jobs", "--out", str(tmp_path / "rendered")])
    assert result.exit_code == 0, result.output
    assert login.files() == contents(tmp_path / "rendered")
    assert "train/pretrain.sbatch" in login.files()


def test_login_nodes_alone_read_the_job_files(compute: dict[str, Any]) -> None:
    template = compute["template"]
    (policy,) = (item for id, item in template["Resources"].items() if id.startswith("JobsRead"))
    statements = policy["Properties"]["PolicyDocument"]["Statement"]
    assert [statement["Action"] for statement in statements] == ["ssm:GetParameter", "s3:GetObject"]
    assert all("*" not in str(statement["Resource"]) for statement in statements)
    (node_group,) = (item for id, item in template["Resources"].items() if id.startswith("LoginNodeGroup"))
    assert {name[:8] for name in node_group["DependsOn"]} >= {"JobsPara", "JobsRead"}
    assert template["Outputs"]["JobFiles"]["Value"] == "/fsx/jobs/current"


def test_files_are_read_only_for_users_and_a_second_run_fetches_nothing(login: Login) -> None:
    assert login.run().returncode == 0
    again = login.run()
    assert (again.returncode, again.stdout) == (0, "")
    assert (login.room / "fetched").read_text() == "fetched\n"
    modes = {path.stat().st_mode & 0o777 for path in (login.jobs / "current" / "train").iterdir()}
    assert modes == {0o644}
    assert {path.stat().st_mode & 0o777 for path in (login.jobs, login.jobs / "current")} == {0o755}
    (version,) = versions(login)
    assert {path.name for path in login.jobs.iterdir()} == {"current", version}


def versions(login: Login) -> list[str]:
    return [path.name for path in login.jobs.iterdir() if not path.is_symlink()]


def test_changed_files_get_a_directory_of_their_own_and_the_old_ones_stay(login: Login, tmp_path: Path) -> None:
    assert login.run().returncode == 0
    before = login.files()
    source = tmp_path / "source"
    source.mkdir()
    (source / "new.sbatch").write_text("#!/bin/sh\n")
    archive = subprocess.run(["tar", "-c", "-C", source, "new.sbatch"], capture_output=True, check=True).stdout
    sha256 = subprocess.run(["sha256sum"], input=archive, capture_output=True, check=True).stdout.decode().split()[0]
    login.publish(sha256, archive)
    assert login.run().returncode == 0
    assert login.files() == {"new.sbatch": "#!/bin/sh\n"}
    assert before in [contents(login.jobs / version) for version in versions(login)]


@pytest.mark.parametrize("archive", [b"", b"not an archive"])
def test_refuses_an_archive_with_another_checksum_and_leaves_nothing(login: Login, archive: bytes) -> None:
    (login.room / "archive").write_bytes(archive)
    done = login.run()
    assert done.returncode == 1
    assert "does not have the checksum of /ultracluster/llama/jobs" in done.stderr
    assert list(login.jobs.iterdir()) == []


def test_reports_a_parameter_without_a_checksum(login: Login) -> None:
    (login.room / "parameter").write_text("s3://bucket/key\n")
    done = login.run()
    assert done.returncode == 1
    assert "holds no checksum" in done.stderr


def test_the_boot_of_a_login_node_does_not_wait_for_the_job_files() -> None:
    boot = jobs_boot(cluster="llama", region="us-east-2", directory="/fsx/jobs")
    assert boot.units == ("ultracluster-jobs.timer",)
