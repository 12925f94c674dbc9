"""Marked handlers run for real, and all others get a stand-in that is named."""

import io
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest

from cdk_rehearsal.rehearsal import _custom_resources as custom_resources
from cdk_rehearsal.rehearsal._custom_resources import MARKER
from support.rehearsal_tools import REGION, Stacks, local_stacks, parameter

HANDLER = """
import json, os, urllib.request
import boto3

def answer(event, status="SUCCESS", **more):
    body = {"Status": status, "PhysicalResourceId": event.get("PhysicalResourceId", "made-1"), **more}
    body |= {key: event[key] for key in ("StackId", "RequestId", "LogicalResourceId")}
    request = urllib.request.Request(event["ResponseURL"], json.dumps(body).encode(), method="PUT")
    urllib.request.urlopen(request)

def handle(event, context):
    properties = event["ResourceProperties"]
    match properties["Behaviour"], event["RequestType"]:
        case "count", kind:
            seen = {"Name": "/seen/" + kind, "Value": json.dumps(properties), "Type": "String", "Overwrite": True}
            boto3.client("ssm").put_parameter(**seen)
            answer(event, Data={"Doubled": str(2 * int(properties["Number"])), "Stage": os.environ["STAGE"]})
        case "fail", "Create":
            answer(event, "FAILED", Reason="the quota is used up")
        case "raise", "Create":
            raise RuntimeError("a defect of the handler")
        case "silent", "Create":
            print("said nothing to anybody")
        case "sleep", "Create":
            import time
            time.sleep(60)
        case "foreign", "Create":
            answer({**event, "StackId": "another"})
        case "nameless", "Create":
            answer(event, PhysicalResourceId="")
        case "move", "Update":
            answer(event, PhysicalResourceId="made-2")
        case _:
            answer(event)
"""


@pytest.fixture(scope="module")
def stacks() -> Iterator[Stacks]:
    with local_stacks() as local:
        s3 = local.client("s3")
        s3.create_bucket(Bucket="assets", CreateBucketConfiguration={"LocationConstraint": REGION})
        for key, files in {"ours.zip": {MARKER: "{}"}, "theirs.zip": {}}.items():
            buffer = io.BytesIO()
            with zipfile.ZipFile(buffer, "w") as archive:
                for name, content in {"index.py": HANDLER, **files}.items():
                    archive.writestr(name, content)
            s3.put_object(Bucket="assets", Key=key, Body=buffer.getvalue())
        yield local


def resources(behaviour: str, code: str = "ours.zip", runtime: str = "python3.13", **more: Any) -> dict[str, Any]:
    function = {
        "Role": "arn:aws:iam::123456789012:role/handler",
        "Code": {"S3Bucket": "assets", "S3Key": code},
        "Handler": "index.handle",
        "Runtime": runtime,
        "Timeout": 1,
        "Environment": {"Variables": {"STAGE": "rehearsal"}},
    }
    custom = {"ServiceToken": {"Fn::GetAtt": "Function.Arn"}, "Behaviour": behaviour, "Number": 21, **more}
    return {
        "Function": {"Type": "AWS::Lambda::Function", "Properties": function},
        "Custom": {"Type": "Custom::Thing", "Properties": custom},
    }


def test_runs_a_marked_handler_with_the_event_and_uses_its_response(stacks: Stacks) -> None:
    name = stacks.create(
        {**resources("count", Flag=True), "Use": parameter({"Fn::Sub": "${Custom.Doubled} ${Custom.Stage} ${Custom}"})}
    )
    assert stacks.status(name) == "CREATE_COMPLETE", stacks.reasons(name)
    ssm = stacks.client("ssm")
    assert ssm.get_parameter(Name=stacks.ids(name)["Use"])["Parameter"]["Value"] == "42 rehearsal made-1"
    # It reached the local cloud, and CloudFormation's events hold text only.
    seen = ssm.get_parameter(Name="/seen/Create")["Parameter"]["Value"]
    assert '"Number": "21"' in seen
    assert '"Flag": "true"' in seen
    stacks.update(name, {**resources("count", Number=4), "Use": parameter({"Fn::GetAtt": "Custom.Doubled"})})
    assert ssm.get_parameter(Name=stacks.ids(name)["Use"])["Parameter"]["Value"] == "8"
    assert stacks.delete(name) == "DELETE_COMPLETE", stacks.reasons(name)
    assert ssm.get_parameter(Name="/seen/Delete")["Parameter"]["Value"]
    assert [entry.maker for entry in stacks.entries(name) if entry.logical_id == "Custom"] == ["handler"] * 3


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ("fail", "Received response status [FAILED] from custom resource. Message returned: the quota is used up"),
        ("raise", "ended without a response; its output:"),
        ("raise", "RuntimeError: a defect of the handler"),
        ("silent", "said nothing to anybody"),
        ("foreign", "returned an invalid response"),
        ("nameless", "Invalid PhysicalResourceId"),
    ],
)
def test_a_handler_that_fails_fails_the_deployment(stacks: Stacks, behaviour: str, reason: str) -> None:
    name = stacks.create(resources(behaviour))
    assert stacks.status(name) == "ROLLBACK_COMPLETE"
    assert reason in stacks.reasons(name)


def test_a_handler_that_never_ends_fails_the_deployment(stacks: Stacks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(custom_resources, "_LEAST_SECONDS", 1)
    name = stacks.create(resources("sleep"))
    assert "its output: nothing within 1 s" in stacks.reasons(name)


def test_an_attribute_that_the_handler_did_not_answer_fails_the_deployment(stacks: Stacks) -> None:
    name = stacks.create({**resources("count"), "Use": parameter({"Fn::GetAtt": "Custom.Halved"})})
    assert stacks.status(name) == "ROLLBACK_COMPLETE"
    assert "Vendor response doesn't contain Halved key" in stacks.reasons(name)


def test_another_physical_id_on_update_is_a_replacement(stacks: Stacks) -> None:
    name = stacks.create(resources("move"))
    stacks.update(name, resources("move", Number=22))
    assert stacks.ids(name)["Custom"] == "made-2"
    assert stacks.happened(name)[-2:] == [("replace", "Custom"), ("delete", "Custom")]


@pytest.mark.parametrize(("code", "runtime"), [("theirs.zip", "python3.13"), ("ours.zip", "nodejs22.x")])
def test_an_unmarked_handler_gets_a_stand_in_that_is_named(stacks: Stacks, code: str, runtime: str) -> None:
    # Were it run, it would fail.
    used = parameter({"Fn::Sub": "${Custom} ${Custom.ThingArn}"})
    name = stacks.create({**resources("fail", code, runtime), "Use": used})
    assert stacks.status(name) == "CREATE_COMPLETE", stacks.reasons(name)
    assert f"{name}/Custom (Custom::Thing)" in {stand_in.name for stand_in in stacks.cloud.journal.stand_ins}
    assert stacks.delete(name) == "DELETE_COMPLETE"


def test_rejects_a_handler_whose_code_is_not_there(stacks: Stacks) -> None:
    name = stacks.create(resources("count", "absent.zip"))
    assert "s3://assets/absent.zip" in stacks.reasons(name)
