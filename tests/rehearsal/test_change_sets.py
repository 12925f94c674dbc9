"""Change sets of deployed stacks, asked of the local cloud as of AWS: created, read and deleted."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest
from botocore.exceptions import ClientError

from cdk_rehearsal.deploy import (
    AssembledStack,
    ChangeSets,
    Comparison,
    change_sets,
    comparison,
    protect,
    unprotected,
)
from support.rehearsal_tools import REGION, Stacks, body, file_system, local_stacks, parameter

ASSET = "s3://assets-${AWS::AccountId}-${AWS::Region}/hash.json"


@pytest.fixture(scope="module")
def stacks() -> Iterator[Stacks]:
    with local_stacks() as running:
        yield running


def ask(stacks: Stacks, folder: Path, name: str, template: str) -> ChangeSets:
    """Compare a deployed stack with a template."""
    file = folder / "stack.json"
    file.write_text(template)
    assembly = [
        AssembledStack(name=each, account=None, region=REGION, template=file, asset=ASSET) for each in (name, "absent")
    ]

    def client(service: str, region: str | None) -> Any:
        return stacks.client(service)

    sides = comparison(assembly, client, folder)
    result = change_sets(assembly, client, sides)
    assert stacks.cloudformation.list_change_sets(StackName=name)["Summaries"] == []
    return result


def replacements(result: ChangeSets, name: str) -> dict[str, str]:
    return {change["LogicalResourceId"]: change["Replacement"] for change in result.changes[name]}


def test_replacement_is_true_conditional_or_false(stacks: Stacks, tmp_path: Path) -> None:
    volume = {"Type": "AWS::EC2::PlacementGroup", "Properties": {"Strategy": "cluster"}}
    name = stacks.create({"Fs": file_system(), "Group": volume, "Name": parameter({"Ref": "Group"})})
    changed = {
        "Fs": file_system(StorageCapacity=2400),
        "Group": {**volume, "Properties": {"Strategy": "spread"}},
        "Name": parameter({"Ref": "Group"}),
    }
    result = ask(stacks, tmp_path, name, body(changed))
    assert replacements(result, name) == {"Fs": "False", "Group": "True", "Name": "False"}
    assert (result.refused, result.missing) == ({}, {})
    assert stacks.status(name) == "CREATE_COMPLETE"


def test_a_value_from_a_replaced_resource_is_conditional(stacks: Stacks, tmp_path: Path) -> None:
    def resources(block: str) -> dict[str, Any]:
        group = {"GroupDescription": "x", "VpcId": {"Ref": "Vpc"}}
        return {
            "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": block}},
            "Group": {"Type": "AWS::EC2::SecurityGroup", "Properties": group},
        }

    name = stacks.create(resources("10.0.0.0/16"))
    result = ask(stacks, tmp_path, name, body(resources("10.1.0.0/16")))
    assert replacements(result, name) == {"Vpc": "True", "Group": "Conditional"}


def test_the_same_template_needs_no_change_set(stacks: Stacks, tmp_path: Path) -> None:
    resources = {"Name": parameter("x")}
    name = stacks.create(resources)
    assert ask(stacks, tmp_path, name, body(resources)) == ChangeSets()


def test_an_output_alone_is_a_change_set_without_changes(stacks: Stacks, tmp_path: Path) -> None:
    resources = {"Name": parameter("x")}
    name = stacks.create(resources)
    result = ask(stacks, tmp_path, name, body(resources, Outputs={"Out": {"Value": "x"}}))
    assert result == ChangeSets(changes={name: []})


def test_parameters_keep_the_values_of_the_stack(stacks: Stacks, tmp_path: Path) -> None:
    def template(value: str) -> str:
        section = {"Size": {"Type": "String"}}
        return body({"Name": parameter({"Fn::Sub": f"{value}-${{Size}}"})}, Parameters=section)

    stacks.cloudformation.create_stack(
        StackName="sized",
        TemplateBody=template("a"),
        Parameters=[{"ParameterKey": "Size", "ParameterValue": "9"}],
    )
    assert replacements(ask(stacks, tmp_path, "sized", template("b")), "sized") == {"Name": "False"}


def test_a_value_in_ssm_that_stacks_have_in_common_is_read_once(stacks: Stacks, tmp_path: Path) -> None:
    ssm = stacks.client("ssm")
    image = {"Name": "/app/image", "Type": "String"}
    ssm.put_parameter(**image, Value="ami-0123456789abcdef0")
    section = {"Image": {"Type": "AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>", "Default": image["Name"]}}
    resources = {"Name": parameter({"Ref": "Image"})}
    names = [stacks.create(resources, Parameters=section) for _ in range(2)]
    ssm.put_parameter(**image, Value="ami-0123456789abcdef1", Overwrite=True)
    file = tmp_path / "stack.json"
    file.write_text(body(resources, Parameters=section))
    assembly = [AssembledStack(name=name, account=None, region=REGION, template=file) for name in names]
    requests: list[Any] = []
    event = "before-call.ssm.GetParameters"
    ssm.meta.events.register(event, lambda **request: requests.append(request), unique_id="counted")
    sides = comparison(assembly, lambda service, _: stacks.client(service), tmp_path)
    ssm.meta.events.unregister(event, unique_id="counted")
    assert len(requests) == 1
    for side, value in ((sides.deployed, "ami-0123456789abcdef0"), (sides.assembled, "ami-0123456789abcdef1")):
        written = [json.loads((side / f"{name}.template.json").read_text()) for name in names]
        assert [each["Resources"]["Name"]["Properties"]["Value"] for each in written] == [value, value]


def test_one_request_describes_all_stacks_of_a_region(stacks: Stacks, tmp_path: Path) -> None:
    names = [stacks.create({"Name": parameter("x")}) for _ in range(3)]
    file = tmp_path / "stack.json"
    file.write_text(body({"Name": parameter("y")}))
    # A change set that nobody has executed: CloudFormation lists the stack, which has no template.
    stacks.cloudformation.create_change_set(
        StackName="planned", ChangeSetName="first", ChangeSetType="CREATE", TemplateBody=file.read_text()
    )
    assembly = [
        AssembledStack(name=each, account=None, region=REGION, template=file) for each in (*names[:2], "new", "planned")
    ]
    requests: list[Any] = []
    event = "before-call.cloudformation.DescribeStacks"
    stacks.cloudformation.meta.events.register(event, lambda **it: requests.append(it), unique_id="counted")
    client = lambda service, _: stacks.client(service)  # noqa: E731
    sides = comparison(assembly, client, tmp_path, belongs=lambda stack: stack["StackName"] == names[2])
    result = change_sets(assembly, client, sides)
    stacks.cloudformation.meta.events.unregister(event, unique_id="counted")
    assert len(requests) == 1
    assert (list(sides.existing), sides.new, list(sides.left)) == (names[:2], ["new", "planned"], names[2:])
    assert list(result.changes) == names[:2]


def long(value: str) -> dict[str, Any]:
    """Return a template of more than 51,200 bytes."""
    return {"Name": parameter(value)} | {f"P{number}": parameter("x" * 4000) for number in range(14)}


def test_a_long_template_goes_through_the_bucket_of_the_bootstrap_stack(stacks: Stacks, tmp_path: Path) -> None:
    with pytest.raises(ClientError, match="length less than or equal to 51200"):
        stacks.cloudformation.create_stack(StackName="long", TemplateBody=body(long("a")))
    stacks.create(long("a"), name="long")
    s3 = stacks.client("s3")
    bucket = f"assets-123456789012-{REGION}"
    s3.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": REGION})
    assert replacements(ask(stacks, tmp_path, "long", body(long("b"))), "long") == {"Name": "False"}
    assert "Contents" not in s3.list_objects_v2(Bucket=bucket), "nothing stays, least of all what is deployed later"
    s3.delete_bucket(Bucket=bucket)
    (tmp_path / "again").mkdir()
    missing = ask(stacks, tmp_path / "again", "long", body(long("c")))
    assert "NoSuchBucket" in missing.missing["long"]
    assert missing.changes == {}


def test_what_cloudformation_refuses_is_reported_with_its_reason(stacks: Stacks, tmp_path: Path) -> None:
    name = stacks.create({"Name": parameter("x")})
    result = ask(stacks, tmp_path, name, body({"Name": file_system()}))
    assert "Update of resource type is not permitted" in result.refused[name]
    assert (result.changes, result.missing) == ({}, {})


class _Slow:
    """CloudFormation with a change set that fails late, in pages."""

    existing: ClassVar[dict[str, Mapping[str, Any]]] = {
        "a": {"StackId": "arn:aws:cloudformation:us-east-2:1:stack/a/b"}
    }

    def __init__(self, *statuses: str) -> None:
        self._statuses = list(statuses)
        self.deleted = False

    def __call__(self, service: str, region: str | None) -> "_Slow":
        return self

    def create_change_set(self, **_: Any) -> None: ...

    def delete_change_set(self, **_: str) -> None:
        self.deleted = True

    def describe_change_set(self, NextToken: str | None = None, **_: str) -> dict[str, Any]:
        row = {"Type": "Resource", "ResourceChange": {"LogicalResourceId": NextToken or "first"}}
        page = {"Changes": [row, {"Type": "Hook"}], "StatusReason": "a reason"}
        if NextToken:
            return {**page, "Status": "FAILED"}
        status = self._statuses.pop(0) if len(self._statuses) > 1 else self._statuses[0]
        return {**page, "Status": status} | ({"NextToken": "second"} if status == "FAILED" else {})


@pytest.mark.parametrize("statuses", [("CREATE_PENDING", "CREATE_IN_PROGRESS", "FAILED"), ("CREATE_IN_PROGRESS",)])
def test_a_change_set_takes_time_and_has_pages(
    statuses: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    file = tmp_path / "a.json"
    file.write_text(body({"Name": parameter("x")}))
    for folder in ("deployed", "assembled"):
        (tmp_path / folder).mkdir()
    sides = Comparison(deployed=tmp_path / "deployed", assembled=tmp_path / "assembled", existing=_Slow.existing)
    client = _Slow(*statuses)
    result = change_sets([AssembledStack(name="a", account=None, region=None, template=file)], client, sides)
    assert client.deleted
    if statuses[-1] == "FAILED":
        assert result.refused == {"a": "a reason"}
        assert [change["LogicalResourceId"] for change in result.changes["a"]] == ["first", "second"]
    else:
        assert result == ChangeSets(missing={"a": "CloudFormation needs more than 300 seconds for it"})


def test_an_object_that_cloudformation_may_not_read_is_a_missing_permission(tmp_path: Path) -> None:
    class Denied(_Slow):
        keys: ClassVar[list[str]] = []

        def put_object(self, *, Key: str, **_: Any) -> None:
            self.keys.append(Key)

        def delete_object(self, *, Key: str, **_: Any) -> None:
            self.keys.remove(Key)

        def create_change_set(self, *, TemplateURL: str = "", **_: Any) -> None:
            assert TemplateURL.endswith(self.keys[0])
            assert self.keys[0].startswith("ultracluster-diff/")
            raise ClientError(
                {"Error": {"Code": "ValidationError", "Message": "S3 error: Access Denied"}}, "CreateChangeSet"
            )

    file = tmp_path / "a.json"
    file.write_text(body(long("a")))
    for folder in ("deployed", "assembled"):
        (tmp_path / folder).mkdir()
    sides = Comparison(deployed=tmp_path / "deployed", assembled=tmp_path / "assembled", existing=_Slow.existing)
    client = Denied("FAILED")
    stack = AssembledStack(name="a", account=None, region=None, template=file, asset=ASSET)
    result = change_sets([stack], client, sides)
    assert result.refused == {}
    assert "S3 error: Access Denied" in result.missing["a"]
    assert client.keys == []


def test_a_stack_with_a_change_set_alone_has_nothing_to_protect(tmp_path: Path) -> None:
    class Reviewed(_Slow):
        def get_template(self, **_: str) -> dict[str, Any]:
            return {"StagesAvailable": []}

    stack = AssembledStack(name="a", account=None, region=None, template=tmp_path / "a.json")
    assert protect([stack], Reviewed("FAILED")) == []
    assert unprotected([stack], Reviewed("FAILED")) == {}
