"""A rehearsal cannot be green by accident: any failure fails the stack, with its reason."""

from collections.abc import Iterator
from typing import Any

import pytest

from cdk_rehearsal.rehearsal import Maker
from cdk_rehearsal.rehearsal._blueprint import Blueprint
from cdk_rehearsal.rehearsal._deployment import Deployment
from cdk_rehearsal.rehearsal._engine import Engine
from cdk_rehearsal.rehearsal._resources import Resources
from cdk_rehearsal.rehearsal._state import Resource
from support.rehearsal_tools import Stacks, file_system, local_stacks, parameter

PLACEMENT_GROUP = {"Type": "AWS::EC2::PlacementGroup", "Properties": {"Strategy": "cluster"}}


@pytest.fixture(scope="module")
def stacks() -> Iterator[Stacks]:
    with local_stacks() as local:
        yield local


def assert_rolled_back(stacks: Stacks, name: str, reason: str) -> None:
    assert stacks.status(name) == "ROLLBACK_COMPLETE"
    assert reason in stacks.reasons(name)
    assert stacks.ids(name) == {}


@pytest.mark.parametrize(
    ("properties", "reason"),
    [
        ({"SubnetId": "x"}, "#/SubnetId: no such property; did you mean SubnetIds?"),
        ({"StorageCapacity": "much"}, '#/StorageCapacity: "much" is not of type integer'),
        ({"SubnetIds": "subnet-1"}, '#/SubnetIds: "subnet-1" is not of type array'),
        ({"LustreConfiguration": {"EfaEnable": True}}, "#/LustreConfiguration/EfaEnable: no such property"),
        ({"DNSName": "fs.example.com"}, "#/DNSName: is read-only"),
        ({"Tags": None}, "#/Tags: null is not a value"),
    ],
)
def test_rejects_properties_that_the_schema_does_not_allow(
    stacks: Stacks, properties: dict[str, Any], reason: str
) -> None:
    name = stacks.create({"Fs": file_system(**properties), "After": parameter({"Ref": "Fs"})})
    assert_rolled_back(stacks, name, reason)


@pytest.mark.parametrize(
    ("type_name", "properties", "reason"),
    [
        ("AWS::FSx::FileSystem", {"FileSystemType": "LUSTRE"}, "'SubnetIds' is a required property"),
        ("AWS::EC2::PlacementGroup", {"Strategy": "Cluster", "PartitionCount": []}, "#/PartitionCount"),
        ("AWS::SSM::Parameter", {"Type": "Text", "Value": "x"}, "'Text' is not one of ['String', 'StringList']"),
        ("AWS::PCS::Cluster", {"Networking": {"SubnetIds": ["subnet-x"]}}, "does not match"),
        ("AWS::EC2::LaunchTemplate", {"LaunchTemplateData": {"Instancetype": "p5"}}, "did you mean InstanceType?"),
        ("AWS::KMS::Key", {"EnableKeyRotation": "yes"}, '"yes" is not of type boolean'),
    ],
)
def test_rejects_required_enum_pattern_and_type_violations(
    stacks: Stacks, type_name: str, properties: dict[str, Any], reason: str
) -> None:
    name = stacks.create({"Bad": {"Type": type_name, "Properties": properties}})
    assert_rolled_back(stacks, name, reason)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"Fn::ImportValue": "nobody-exports-this"}, "No export named nobody-exports-this found."),
        ({"Fn::GetStackOutput": {"StackName": "gone", "OutputName": "X"}}, "there is no stack gone in us-east-2"),
        ({"Fn::Select": [3, ["a", "b"]]}, "there is no element 3 in 2"),
        ({"Fn::Select": [-1, ["a", "b"]]}, "there is no element -1 in 2"),
        ({"Fn::FindInMap": ["Map", "a", "b"]}, "the mappings have no Map.a.b"),
        ({"Fn::Cidr": ["10.0.0.0/24", 5, 6]}, "holds 4 blocks of /26"),
        ({"Fn::Join": ["", {"Ref": "Pg"}]}, "it joins a list of strings"),
        ({"Fn::Split": [",", ["a"]]}, "it splits a string"),
        ({"Fn::Sub": ["v=${K}", {"K": {"Ref": "AWS::NoValue"}}]}, "AWS::NoValue is not a string"),
        ({"Fn::Sub": ["v=${K}", {"K": ["a", "b"]}]}, '["a", "b"] is not a string'),
        ({"Fn::Base64": {"Fn::GetAZs": ""}}, "is not a string"),
        ({"Fn::Join": [{"Ref": "AWS::Region"}, ["a", "b"]]}, "its delimiter is a string"),
        ("{{resolve:s3:foo}}", "{{resolve:s3:foo}}"),
        ({"Fn::Sub": "${Pg}", "And": "more"}, "Fn::Sub has other keys beside it:"),
        ("{{resolve:ssm:/mine/absent}}", "[/mine/absent] cannot be found"),
        ("{{resolve:secretsmanager:absent:SecretString}}", "can't find the specified secret absent"),
        ("{{resolve:vault:x}}", "names an unknown service"),
    ],
)
def test_rejects_what_cannot_be_resolved(stacks: Stacks, value: Any, reason: str) -> None:
    name = stacks.create({"Pg": PLACEMENT_GROUP, "Bad": parameter(value, DependsOn="Pg")})
    assert_rolled_back(stacks, name, reason)
    assert ("delete", "Pg") in stacks.happened(name)


def test_rejects_a_reference_to_a_resource_whose_condition_does_not_hold(stacks: Stacks) -> None:
    name = stacks.create(
        {"Pg": {**PLACEMENT_GROUP, "Condition": "Never"}, "Bad": parameter({"Ref": "Pg"})},
        Conditions={"Never": {"Fn::Equals": ["a", "b"]}},
    )
    assert_rolled_back(stacks, name, "Unresolved resource dependencies [Pg]")


@pytest.mark.parametrize(
    ("type_name", "properties"),
    [
        ("AWS::SQS::Queue", {"QueueName": "one"}),
        (
            "AWS::EC2::SecurityGroupIngress",
            {"GroupId": "sg-0123456789abcdef0", "IpProtocol": "-1", "CidrIp": "10.0.0.0/8"},
        ),
    ],
)
def test_rejects_a_name_that_is_taken_until_it_is_free(
    stacks: Stacks, type_name: str, properties: dict[str, Any]
) -> None:
    resources = {"Q": {"Type": type_name, "Properties": properties}}
    first = stacks.create(resources)
    second = stacks.create(resources)
    assert_rolled_back(stacks, second, "already exists")
    stacks.client("cloudformation").delete_stack(StackName=first)
    assert stacks.status(stacks.create(resources)) == "CREATE_COMPLETE"


def test_rejects_a_change_that_the_service_has_no_way_to_make(stacks: Stacks) -> None:
    name = stacks.create({"Fs": file_system()})
    stacks.update(name, {"Fs": file_system(StorageType="HDD")})
    assert stacks.status(name) == "UPDATE_ROLLBACK_COMPLETE"
    assert "refuses the update: StorageType: no API changes" in stacks.reasons(name)


def test_a_subnet_stands_in_the_zone_that_it_names(stacks: Stacks) -> None:
    def subnet(zone: str) -> dict[str, Any]:
        vpc = {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}}
        properties = {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.0.0/24", "AvailabilityZoneId": zone}
        return {"Vpc": vpc, "Net": {"Type": "AWS::EC2::Subnet", "Properties": properties}}

    ids = stacks.ids(stacks.create(subnet("use2-az2")))
    described = stacks.client("ec2").describe_subnets(SubnetIds=[ids["Net"]])["Subnets"][0]
    assert described["AvailabilityZoneId"] == "use2-az2"
    for wrong in ("usw2-az1", "nope-az9", "usw2-lax1-az1"):
        assert_rolled_back(stacks, stacks.create(subnet(wrong)), "availabilityZoneId is invalid")


def test_rejects_an_output_that_cannot_be_resolved(stacks: Stacks) -> None:
    name = stacks.create({"Pg": PLACEMENT_GROUP}, Outputs={"Out": {"Value": {"Fn::ImportValue": "absent"}}})
    assert stacks.status(name) == "ROLLBACK_COMPLETE"
    assert "No export named absent" in str(stacks.cloud.journal.notes)


@pytest.mark.parametrize(
    ("resources", "reason"),
    [
        ({"X": {"Type": "AWS::FSx::Filesystem"}}, "did you mean AWS::FSx::FileSystem?"),
        ({"X": {"Type": "AWS::Nothing::Real"}}, "Unrecognized resource types: [AWS::Nothing::Real]"),
        ({"X": {}}, "must contain a Type member"),
        ({"X": {"Type": "AWS::SSM::Parameter", "Propertys": {}}}, "Invalid template resource property"),
        ({"X": parameter({"Fn::Nonsense": "x"})}, "Fn::Nonsense is no function"),
        ({"X": parameter({"Fn::If": ["Absent", "a", "b"]})}, "Fn::If names the condition Absent"),
        ({"X": parameter({"Ref": "Absent"})}, "Unresolved resource dependencies [Absent]"),
        ({"X": parameter({"Ref": "AWS::Regoin"})}, "Unresolved resource dependencies [AWS::Regoin]"),
        ({"X": parameter({"Fn::Transform": {"Name": "Mine"}})}, "Fn::Transform is no function"),
        ({"X": parameter({"Fn::Sub": "${Absent.Arn}"})}, "Unresolved resource dependencies [Absent]"),
        ({"X": parameter("x", DependsOn="Absent")}, "Unresolved resource dependencies ['Absent']"),
        ({"X": parameter("x", Condition="Absent")}, "Unresolved condition dependency Absent"),
        ({"X": parameter("x", DeletionPolicy="Keep")}, "DeletionPolicy of X is Keep"),
        ({"X": file_system(), "Y": parameter({"Fn::GetAtt": ["X", "MountName"]})}, "it has DNSName, Id, LustreMount"),
        ({"X": parameter({"Ref": "Y"}), "Y": parameter({"Ref": "X"})}, "Circular dependency between resources: [X, Y]"),
        ({"X-1": parameter("x")}, "Resource name X-1 is non alphanumeric"),
    ],
)
def test_rejects_a_template_before_anything_is_made(stacks: Stacks, resources: dict[str, Any], reason: str) -> None:
    before = len(stacks.cloud.journal.entries())
    assert reason in stacks.refusal(resources)
    assert len(stacks.cloud.journal.entries()) == before


@pytest.mark.parametrize(
    ("sections", "reason"),
    [
        ({"Transform": "AWS::Serverless-2016-10-31"}, "a rehearsal cannot expand macros"),
        (
            {"Conditions": {"C": {"Fn::Equals": [{"Ref": "X"}, "a"]}}},
            "the condition C refers to X, which is no parameter",
        ),
        ({"Resurces": {}}, "Invalid template property or properties ['Resurces']"),
        ({"Parameters": {"P": {"Type": "String"}}}, "Parameters: [P] must have values"),
        (
            {"Parameters": {"P": {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/mine"}}},
            "Unable to fetch parameters [/mine]",
        ),
        (
            {"Parameters": {"P": {"Type": "String", "Default": "c", "AllowedValues": ["a", "b"]}}},
            "must be one of AllowedValues",
        ),
    ],
)
def test_rejects_bad_sections(stacks: Stacks, sections: dict[str, Any], reason: str) -> None:
    assert reason in stacks.refusal({"X": parameter("x")}, **sections)


def test_rejects_a_rule_that_does_not_hold(stacks: Stacks) -> None:
    rule = {"Assertions": [{"Assert": {"Fn::Contains": [["a"], "b"]}, "AssertDescription": "no b here"}]}
    name = stacks.create({"X": parameter("x")}, Rules={"R": rule})
    assert stacks.status(name) == "ROLLBACK_COMPLETE"
    assert "rule R: no b here" in str(stacks.cloud.journal.notes)


class _Broken:
    """A model of moto that is broken."""

    def __init__(self, behaviour: Any) -> None:
        self._behaviour = behaviour

    @staticmethod
    def cloudformation_name_type() -> str:
        return ""

    def create_from_cloudformation_json(self, *_: Any, **__: Any) -> Any:
        return self._behaviour()


def _raise() -> None:
    raise KeyError("inside moto")


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [(_raise, "create AWS::EC2::VPC: KeyError: 'inside moto'"), (lambda: None, "moto made no AWS::EC2::VPC")],
)
def test_rejects_what_moto_breaks_on_or_does_not_make(
    stacks: Stacks, monkeypatch: pytest.MonkeyPatch, behaviour: Any, reason: str
) -> None:
    models = {"AWS::EC2::VPC": _Broken(behaviour)}
    monkeypatch.setattr("cdk_rehearsal.rehearsal._moto_models._model", models.__getitem__)
    name = stacks.create({"Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}}})
    assert_rolled_back(stacks, name, reason)


def test_rejects_what_moto_refuses_as_the_service_would(stacks: Stacks) -> None:
    bucket = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "ab"}}
    name = stacks.create({"Bucket": bucket})
    assert_rolled_back(stacks, name, "InvalidBucketName")


def test_a_defect_of_the_engine_itself_fails_the_stack(stacks: Stacks, monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(self: Resources, blueprint: Blueprint, generation: int = 0) -> Resource:
        raise RuntimeError("a defect")

    monkeypatch.setattr(Resources, "create", explode)
    name = stacks.create({"Pg": PLACEMENT_GROUP})
    assert_rolled_back(stacks, name, "RuntimeError: a defect")


def test_a_resource_without_a_physical_id_fails_the_stack(stacks: Stacks, monkeypatch: pytest.MonkeyPatch) -> None:
    def forget(self: Resources, blueprint: Blueprint, generation: int = 0) -> Resource:
        return Resource(blueprint=blueprint, physical_id="", maker=Maker.SCHEMA)

    monkeypatch.setattr(Resources, "create", forget)
    name = stacks.create({"Pg": PLACEMENT_GROUP})
    assert stacks.status(name) == "ROLLBACK_COMPLETE"
    assert "These resources were not made: Pg" in str(stacks.cloud.journal.notes)


def test_a_resource_that_the_engine_skipped_fails_the_stack(stacks: Stacks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Deployment, "_apply", lambda self, blueprint: None)
    name = stacks.create({"Pg": PLACEMENT_GROUP})
    assert stacks.status(name) == "ROLLBACK_COMPLETE"
    assert "These resources were not made: Pg" in str(stacks.cloud.journal.notes)


def test_a_defect_while_answering_is_an_error_to_the_client(stacks: Stacks, monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(self: Engine, **_: Any) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr(Engine, "prepare", explode)
    assert "rehearsal: RuntimeError: a defect" in stacks.refusal({"Pg": PLACEMENT_GROUP})


def test_rejects_operations_that_are_not_rehearsed(stacks: Stacks) -> None:
    with pytest.raises(stacks.cloudformation.exceptions.ClientError, match="DetectStackDrift is not rehearsed"):
        stacks.cloudformation.detect_stack_drift(StackName="any")


def test_a_failed_update_restores_what_was_there(stacks: Stacks) -> None:
    before = {"Pg": PLACEMENT_GROUP, "Name": parameter("old"), "Fs": file_system()}
    name = stacks.create(before)
    ids = stacks.ids(name)
    changed = {
        "Pg": {**PLACEMENT_GROUP, "Properties": {"Strategy": "spread"}},
        "Name": parameter("new"),
        "Fs": file_system(Tags=[{"Key": "team", "Value": "research"}]),
        "New": parameter("x"),
        "Bad": {**file_system(Nonsense=1), "DependsOn": ["Pg", "Name", "Fs", "New"]},
    }
    stacks.update(name, changed)
    assert stacks.status(name) == "UPDATE_ROLLBACK_COMPLETE"
    assert "#/Nonsense: no such property" in stacks.reasons(name)
    assert stacks.ids(name) == ids
    assert stacks.client("ssm").get_parameter(Name=ids["Name"])["Parameter"]["Value"] == "old"
    stacks.update(name, {**before, "Name": parameter("newer")})
    assert stacks.status(name) == "UPDATE_COMPLETE"
    assert stacks.happened(name)[-1] == ("update", "Name")


def test_a_resource_that_cannot_be_deleted_fails_the_deletion(stacks: Stacks) -> None:
    name = stacks.create({"Bucket": {"Type": "AWS::S3::Bucket"}})
    stacks.client("s3").put_object(Bucket=stacks.ids(name)["Bucket"], Key="data", Body=b"x")
    assert stacks.delete(name) == "DELETE_FAILED"
    assert "The bucket you tried to delete is not empty" in stacks.reasons(name)


def test_a_made_up_arn_serves_where_an_arn_of_its_service_is_wanted_and_nowhere_else(stacks: Stacks) -> None:
    def function(layer: Any) -> dict[str, Any]:
        role = "arn:aws:iam::123456789012:role/x"
        properties = {
            "Role": role,
            "Code": {"ZipFile": "x"},
            "Layers": [layer],
            "Handler": "x.y",
            "Runtime": "python3.13",
        }
        return {"Type": "AWS::Lambda::Function", "Properties": properties}

    layer = {
        "Type": "AWS::Lambda::LayerVersion",
        "Properties": {"Content": {"S3Bucket": "assets", "S3Key": "layer.zip"}},
    }
    name = stacks.create({"Layer": layer, "Function": function({"Ref": "Layer"})})
    assert stacks.status(name) == "CREATE_COMPLETE", stacks.reasons(name)
    topic = {"Type": "AWS::SNS::Topic"}
    name = stacks.create({"Topic": topic, "Function": function({"Ref": "Topic"})})
    assert "#/Layers/0: 'arn:aws:sns:" in stacks.reasons(name)
