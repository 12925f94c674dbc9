"""`ultracluster image import` against botocore's models of AWS's APIs, and the command that a node runs."""

import subprocess
import time
from pathlib import Path

import botocore.session
import pytest
from botocore.stub import ANY, Stubber
from typer.testing import CliRunner

from support import ROOT
from support.clusterfile_data import GOOD
from ultracluster.cli import _image_import, app

Stubs = dict[str, Stubber]
NODE, ID = "i-0123456789abcdef0", "11111111-2222-3333-4444-555555555555"


@pytest.fixture
def stubs(monkeypatch: pytest.MonkeyPatch) -> Stubs:
    session, result = botocore.session.get_session(), {}
    for name in ("pcs", "ec2", "ssm"):
        client = session.create_client(name, "us-east-2", aws_access_key_id="x", aws_secret_access_key="x")
        result[name] = Stubber(client)
        result[name].activate()
    monkeypatch.setattr(_image_import, "client", lambda service, region: result[service].client)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    return result


@pytest.fixture
def file(tmp_path: Path) -> Path:
    created = tmp_path / "cluster.yaml"
    created.write_text(GOOD)
    return created


def run(file: Path, *arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["image", "import", str(file), *arguments])
    assert done.exit_code == code, done.output
    return done.output


def deployed(stubs: Stubs, *instances: str) -> None:
    group = {
        **{"name": "login", "id": "pcs_login", "arn": "arn:aws:pcs:us-east-2:123456789012:x", "clusterId": "pcs_2"},
        **{
            "status": "ACTIVE",
            "createdAt": 0,
            "modifiedAt": 0,
            "subnetIds": ["subnet-1"],
            "iamInstanceProfileArn": "x",
        },
        **{"customLaunchTemplate": {"id": "lt-1", "version": "1"}, "instanceConfigs": []},
        "scalingConfiguration": {"minInstanceCount": 1, "maxInstanceCount": 1},
    }
    request = {"clusterIdentifier": "llama", "computeNodeGroupIdentifier": "login"}
    stubs["pcs"].add_response("get_compute_node_group", {"computeNodeGroup": group}, request)
    filters = [
        {"Name": "instance-state-name", "Values": ["running"]},
        {"Name": "tag:aws:pcs:compute-node-group-id", "Values": ["pcs_login"]},
    ]
    reservations = [{"Instances": [{"InstanceId": instance}]} for instance in instances]
    stubs["ec2"].add_response("describe_instances", {"Reservations": reservations}, {"Filters": filters})


def sent(stubs: Stubs, commands: object = ANY) -> None:
    request = {
        **{"InstanceIds": [NODE], "DocumentName": "AWS-RunShellScript", "Comment": "ultracluster image import llama"},
        "Parameters": {"commands": commands, "executionTimeout": ["7200"]},
    }
    stubs["ssm"].add_response("send_command", {"Command": {"CommandId": ID}}, request)


def answers(stubs: Stubs, *states: str) -> None:
    request = {"CommandId": ID, "InstanceId": NODE}
    stubs["ssm"].add_client_error("get_command_invocation", "InvocationDoesNotExist", expected_params=request)
    for state in states:
        content = {"StandardOutputContent": "/fsx/containers/x\n", "StandardErrorContent": "cannot import x\n"}
        stubs["ssm"].add_response(
            "get_command_invocation", {"Status": state, "StatusDetails": state, **content}, request
        )


def test_a_login_node_imports_the_pinned_images_of_the_queues(stubs: Stubs, file: Path) -> None:
    deployed(stubs, NODE)
    sent(stubs)
    answers(stubs, "Pending", "InProgress", "Success")
    assert "/fsx/containers/x" in run(file)
    for stub in stubs.values():
        stub.assert_no_pending_responses()


def test_the_command_imports_all_images_and_fails_if_one_did(tmp_path: Path) -> None:
    from ultracluster import clusterfile

    lines = _image_import._command(clusterfile.loads(GOOD, "c.yaml"), [])
    refs = [line for line in lines if "docker://public.ecr.aws#" in line]
    assert len(refs) == 4
    assert all(" --arch x86_64 " in line for line in refs)
    program = tmp_path / "import"
    program.write_text(f'#!/bin/sh\necho "$3" >>{tmp_path}/ran\ncase $3 in *vllm*) exit 1 ;; esac\n')
    program.chmod(0o755)
    script = "\n".join(lines).replace(_image_import._PROGRAM, str(program))
    assert subprocess.run(["sh", "-c", script]).returncode == 1
    assert len((tmp_path / "ran").read_text().splitlines()) == 4
    quoted = _image_import._command(clusterfile.loads(GOOD, "c.yaml"), ["x; reboot"])
    assert quoted[1].endswith("--arch x86_64 'x; reboot' || failed=1")


def test_a_failed_import_is_an_error_with_the_reason(stubs: Stubs, file: Path) -> None:
    deployed(stubs, NODE)
    sent(stubs, ["failed=0", ANY, "exit $failed"])
    answers(stubs, "Failed")
    output = run(file, "--image", "nvcr.io#nvidia/pytorch:26.08-py3", code=1)
    assert "cannot import x" in output
    assert f"--command-id {ID}" in output


def test_without_waiting_it_prints_how_to_see_the_state(stubs: Stubs, file: Path) -> None:
    deployed(stubs, NODE)
    sent(stubs)
    assert "aws ssm get-command-invocation --region" in run(file, "--no-wait")


def test_a_cluster_that_is_not_there_is_an_error(stubs: Stubs, file: Path) -> None:
    stubs["pcs"].add_client_error("get_compute_node_group", "ResourceNotFoundException")
    assert "has no login nodes yet" in run(file, code=1)
    deployed(stubs)
    assert "no login node of llama is running" in run(file, code=1)


@pytest.mark.parametrize(
    ("example", "message"),
    [("slurm-private", "no image is pinned"), ("eks-minimal", "nodes of Slurm on AWS PCS")],
)
def test_a_cluster_that_cannot_import_is_an_error(example: str, message: str) -> None:
    assert message in run(ROOT / "examples" / f"{example}.yaml", code=1)
