"""The real CDK CLI against the local cloud, and what it is given and kept from."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import aws_cdk as cdk
import pytest

from cdk_rehearsal.deploy import AssembledStack, CliResult, DeployError, assembled
from cdk_rehearsal.deploy import _cdk_cli as cli
from cdk_rehearsal.rehearsal import Action, LocalCloud, RehearsalError, Report, Step, rehearse
from cdk_rehearsal.rehearsal._deletion import not_destroyed, paths_of
from cdk_rehearsal.rehearsal._mirror import mirror
from support import ROOT
from support.written_apps import stacks_of_every_kind, write, written_app_in
from ultracluster.cli._one_more_group import one_more_group

FILE = ROOT / "examples" / "slurm-512-gpus.yaml"
ZONES = "availability-zones:account=210987654321:region=eu-north-1"


class Recorder:
    """A listener that remembers."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.lines: list[str] = []
        self.ended: list[Step] = []

    def begin(self, name: str) -> None:
        self.begun.append(name)

    def line(self, text: str) -> None:
        self.lines.append(text)

    def end(self, step: Step) -> None:
        self.ended.append(step)


def broken(stack: cdk.Stack) -> None:
    before = cdk.CfnResource(stack, "Before", type="AWS::EC2::PlacementGroup", properties={"Strategy": "cluster"})
    wrong = {"FileSystemType": "LUSTRE", "SubnetIds": ["subnet-0123456789abcdef0"], "StorageCapacities": 1200}
    cdk.CfnResource(stack, "Lustre", type="AWS::FSx::FileSystem", properties=wrong).add_resource_dependency(before)


def lustre_in(subnet: str) -> Callable[[cdk.Stack], None]:
    def lustre(stack: cdk.Stack) -> None:
        given = {"FileSystemType": "LUSTRE", "SubnetIds": [subnet], "StorageCapacity": 1200}
        given["LustreConfiguration"] = {"DeploymentType": "SCRATCH_2"}
        cdk.CfnResource(stack, "Lustre", type="AWS::FSx::FileSystem", properties=given)

    return lustre


def only(fill: Callable[[cdk.Stack], None]) -> Callable[[cdk.App], None]:
    return lambda app: fill(cdk.Stack(app, "Storage", env=cdk.Environment(region="us-east-2")))


def rehearse_cluster(**options: Any) -> Report:
    context = {"cluster": str(FILE)}
    return rehearse(context=context, update=one_more_group(FILE), region="us-east-2", **options)


def reasons(report: Report) -> str:
    return "\n".join(reason for step in report.steps for reason in step.reasons)


@pytest.mark.usefixtures("kept_cli")
def test_any_app_is_deployed_deployed_again_and_destroyed(tmp_path: Path) -> None:
    recorder = Recorder()
    zones = [f"eu-north-1{letter}" for letter in "abc"]
    app = written_app_in(tmp_path, f"'-'.join(context.get({ZONES!r}, ['missing']))", missing=stacks_of_every_kind)
    write(app / "-".join(zones), stacks_of_every_kind, **{ZONES: zones})
    before = sorted(app.rglob("*"))
    report = rehearse(app=app, listener=recorder)
    assert report.ok, reasons(report)
    assert [step.name for step in report.steps] == recorder.begun == [
        "synth",
        "bootstrap 210987654321/eu-north-1",
        "deploy",
        "deploy again: no changes",
        "lift the termination protection of Base",
        "destroy",
    ]  # fmt: skip
    assert set(report.stacks) == {"Base", "Stage-Net", "Stage-Top", "More"}
    assert report.types["AWS::EC2::VPC"] == {"moto": 2}
    assert report.types["AWS::PCS::Cluster"] == {"schema": 1}
    assert report.types["Custom::CDKBucketDeployment"] == {"stand-in": 1}
    kinds = {stand_in.kind for stand_in in report.stand_ins}
    assert kinds == {"parameter", "custom resource"}
    assert "AWS::FSx::FileSystem" in {entry.type for entry in report.retained}
    # The look-up of the zones was answered, and left no trace in the user's tree.
    assert sorted(app.rglob("*")) == before
    assert json.loads(json.dumps(report.to_dict()))["ok"] is True


@pytest.mark.usefixtures("kept_cli")
def test_a_failed_deployment_ends_the_rehearsal_with_its_reason(tmp_path: Path) -> None:
    app = written_app_in(tmp_path, assembly=only(broken))
    report = rehearse(app=app, context={"cluster": str(FILE)}, region="us-east-2")
    assert not report.ok
    assert [(step.name, step.ok) for step in report.steps][-1] == ("deploy", False)
    assert "#/StorageCapacities: no such property; did you mean StorageCapacity?" in reasons(report)
    assert "CREATE_FAILED" in reasons(report)


@pytest.mark.usefixtures("kept_cli")
def test_the_guard_looks_at_the_update_before_it_is_made(tmp_path: Path) -> None:
    # To another subnet with one more node group: what nobody means, and what the guard is for.
    before, after = (only(lustre_in(f"subnet-{digit * 17}")) for digit in "12")
    edited = "'edited' if 'extra:' in pathlib.Path(context['cluster']).read_text() else 'assembly'"
    written_app_in(tmp_path, edited, assembly=before, edited=after)
    report = rehearse_cluster(app=tmp_path)
    assert [step.ok for step in report.steps] == [True, True, True, False]
    assert report.steps[-1].changes == {}
    assert 'Storage/Lustre (AWS::FSx::FileSystem): replaced: SubnetIds: changes from "subnet-' in reasons(report)
    allowed = rehearse_cluster(app=tmp_path, allow=["Storage/Lustre"])
    assert allowed.steps[3].changes["replaced"] == 1


def test_nothing_of_the_users_aws_reaches_the_cli(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_S3", "CDK_DEFAULT_ACCOUNT"):
        monkeypatch.setenv(name, "real")
    with LocalCloud() as cloud:
        variables = cloud.environment("us-east-2")
        assert variables["AWS_ENDPOINT_URL"] == cloud.endpoint
    assert variables["AWS_ENDPOINT_URL"].startswith("http://localhost:")
    assert "real" not in variables.values()
    assert variables["AWS_CONFIG_FILE"] == variables["AWS_SHARED_CREDENTIALS_FILE"] == os.devnull
    assert variables["AWS_EC2_METADATA_DISABLED"] == "true"


@pytest.mark.parametrize("value", ["true", "false"])
def test_the_app_validates_its_templates_as_in_a_deployment(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CDK_VALIDATION", value)
    with LocalCloud() as cloud:
        assert cloud.environment("us-east-2")["CDK_VALIDATION"] == value


def test_requests_wait_for_a_local_cloud_that_starts_beside_other_work() -> None:
    with LocalCloud(wait=False) as cloud:
        assert cloud.client("sts", "us-east-2").get_caller_identity()["Account"] == "123456789012"


def test_a_profile_that_does_not_exist_keeps_nobody_from_the_local_cloud(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "absent")
    with LocalCloud() as cloud:
        assert cloud.client("sts", "us-east-2").get_caller_identity()["Account"] == "123456789012"


def test_rejects_an_environment_in_which_a_package_of_the_cloud_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "cdk_rehearsal.rehearsal._server", raising=False)
    monkeypatch.setitem(sys.modules, "werkzeug.serving", None)
    with pytest.raises(RehearsalError, match=r"needs the package werkzeug\.serving"), LocalCloud():
        pass
    with LocalCloud(wait=False) as cloud:
        with pytest.raises(RehearsalError, match=r"needs the package werkzeug\.serving"):
            cloud.ready()
        # No request waits.
        with pytest.raises(OSError, match="refused"):
            urlopen(cloud.endpoint)
    monkeypatch.undo()
    with LocalCloud() as cloud:
        assert cloud.client("sts", "us-east-2").get_caller_identity()["Account"] == "123456789012"


def test_rejects_a_second_local_cloud_in_one_process() -> None:
    with LocalCloud(), pytest.raises(RehearsalError, match="one per process"), LocalCloud():
        pass
    with LocalCloud() as again:
        assert again.journal.entries(Action.CREATE) == []


def test_rejects_a_directory_without_an_app(tmp_path: Path) -> None:
    with pytest.raises(RehearsalError, match=r"holds no CDK app: there is no cdk\.json in it"):
        rehearse(app=tmp_path)


def test_rejects_a_machine_without_the_cdk_cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "_BIN", tmp_path)
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DeployError, match=r"the CDK CLI is not installed: \"npm install aws-cdk@2\""):
        cli.find_cdk(tmp_path)


def test_the_cli_beside_the_app_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "_BIN", tmp_path / "nowhere")
    monkeypatch.setattr(cli, "node_path", lambda: None)
    program = tmp_path / "node_modules" / ".bin" / "cdk"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    app = tmp_path / "apps" / "one"
    app.mkdir(parents=True)
    assert cli.find_cdk(app) == [str(program)]


def test_stacks_are_destroyed_by_their_paths() -> None:
    stack = AssembledStack(name="Prod-A", account=None, region=None, template=Path(), path="Prod/A")
    assert (paths_of(["Prod-A"], [stack]), paths_of(["**"], [stack])) == (["Prod/A"], ["**"])
    lost = CliResult(code=0, output="No stacks match the name(s) Prod-A\n")
    assert not_destroyed(lost) == ["No stacks match the name(s) Prod-A"]


def test_reasons_are_the_lines_with_the_cause() -> None:
    output = "fine\n❌  Top failed to deploy\nTop | CREATE_FAILED | AWS::X::Y | Id because\nfine\n"
    result = cli.CliResult(code=1, output=output)
    assert result.reasons == ["❌  Top failed to deploy", "Top | CREATE_FAILED | AWS::X::Y | Id because"]
    silent = cli.CliResult(code=1, output="one\n\ntwo\n")
    assert silent.reasons == ["one", "two"]


def test_a_mirror_looks_like_the_app_and_takes_what_the_cli_writes(tmp_path: Path) -> None:
    app = tmp_path / "repository" / "infra"
    (app / "cdk.out").mkdir(parents=True)
    (app / "cdk.json").write_text("{}")
    (app / "cdk.context.json").write_text('{"a": 1}')
    (app.parent / "package.json").write_text("{}")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    mirrored = mirror(app, scratch)
    assert (mirrored / ".." / "package.json").read_text() == "{}"
    assert not (mirrored / "cdk.out").exists()
    (mirrored / "cdk.context.json").write_text("{}")
    assert (app / "cdk.context.json").read_text() == '{"a": 1}'


def test_stacks_of_stages_and_without_a_place_are_found(tmp_path: Path) -> None:
    def stack(place: str, **properties: str) -> dict[str, object]:
        return {"type": "aws:cloudformation:stack", "environment": f"aws://{place}", "properties": properties}

    stage = {"type": "cdk:cloud-assembly", "properties": {"directoryName": "assembly-Stage"}}
    top = {"Any": stack("unknown-account/unknown-region"), "Stage": stage}
    inner = {"StageTop": stack("210987654321/eu-north-1", stackName="Stage-Top")}
    (tmp_path / "assembly-Stage").mkdir()
    (tmp_path / "manifest.json").write_text(json.dumps({"artifacts": top}))
    (tmp_path / "assembly-Stage" / "manifest.json").write_text(json.dumps({"artifacts": inner}))
    places = [(stack.name, stack.account, stack.region) for stack in assembled(tmp_path)]
    assert places == [("Any", None, None), ("Stage-Top", "210987654321", "eu-north-1")]
