"""Effects of changes: updates, replacements, removals, retained resources, references across stacks, change sets."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from cdk_rehearsal.rehearsal._interfaces import delete_holders
from cdk_rehearsal.rehearsal._report import report
from support.rehearsal_tools import REGION, Stacks, body, file_system, local_stacks, parameter

KEPT = {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}


@pytest.fixture(scope="module")
def stacks() -> Iterator[Stacks]:
    with local_stacks() as local:
        yield local


def change_set(stacks: Stacks, name: str, resources: dict[str, Any], **sections: Any) -> dict[str, Any]:
    created = stacks.cloudformation.create_change_set(
        StackName=name,
        ChangeSetName="changes",
        ChangeSetType="UPDATE",
        TemplateBody=body(resources, **sections),
    )
    return dict(stacks.cloudformation.describe_change_set(ChangeSetName=created["Id"], StackName=name))


def summary(described: dict[str, Any]) -> dict[str, tuple[str, str | None]]:
    changes = [change["ResourceChange"] for change in described["Changes"]]
    return {change["LogicalResourceId"]: (change["Action"], change.get("Replacement")) for change in changes}


def test_a_create_only_change_replaces_and_its_dependents_follow(stacks: Stacks) -> None:
    mount = {"Fn::Sub": "${Fs.DNSName}@tcp:/${Fs.LustreMountName}"}
    name = stacks.create({"Fs": file_system(), "Mount": parameter(mount)})
    before = stacks.ids(name)
    changed = {"Fs": file_system(SubnetIds=["subnet-0fedcba9876543210"]), "Mount": parameter(mount)}
    assert summary(change_set(stacks, name, changed)) == {"Fs": ("Modify", "True"), "Mount": ("Modify", "False")}
    stacks.update(name, changed)
    after = stacks.ids(name)
    assert after["Fs"] != before["Fs"]
    assert after["Mount"] == before["Mount"]
    assert stacks.happened(name)[-3:] == [("replace", "Fs"), ("update", "Mount"), ("delete", "Fs")]
    value = stacks.client("ssm").get_parameter(Name=after["Mount"])["Parameter"]["Value"]
    assert value.startswith(f"{after['Fs']}.fsx.{REGION}.amazonaws.com@tcp:/")


def test_a_change_of_the_lustre_deployment_type_replaces_it_in_spite_of_its_schema(stacks: Stacks) -> None:
    persistent = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125}
    name = stacks.create({"Fs": file_system(LustreConfiguration={"DeploymentType": "SCRATCH_2"})})
    stacks.update(name, {"Fs": file_system(LustreConfiguration=persistent)})
    assert ("replace", "Fs") in stacks.happened(name)


def test_a_plain_change_updates_in_place(stacks: Stacks) -> None:
    name = stacks.create({"Fs": file_system()})
    before = stacks.ids(name)
    stacks.update(name, {"Fs": file_system(StorageCapacity=2400)})
    assert stacks.ids(name) == before
    assert [(entry.action, entry.detail) for entry in stacks.entries(name)][-1] == ("update", "StorageCapacity")


def test_a_new_launch_template_version_reaches_its_users(stacks: Stacks) -> None:
    def resources(kind: str) -> dict[str, Any]:
        data = {"LaunchTemplateData": {"InstanceType": kind}}
        version = {"Fn::GetAtt": "Lt.LatestVersionNumber"}
        return {"Lt": {"Type": "AWS::EC2::LaunchTemplate", "Properties": data}, "Version": parameter(version)}

    name = stacks.create(resources("p5.48xlarge"))
    ids = stacks.ids(name)
    stacks.update(name, resources("p5en.48xlarge"))
    assert stacks.ids(name) == ids
    assert stacks.client("ssm").get_parameter(Name=ids["Version"])["Parameter"]["Value"] == "2"


def test_retained_resources_stay_and_are_reported(stacks: Stacks) -> None:
    name = stacks.create({"Fs": {**file_system(), **KEPT}, "Other": parameter("x")})
    first = stacks.ids(name)["Fs"]
    stacks.update(name, {"Fs": {**file_system(KmsKeyId="alias/mine"), **KEPT}, "Other": parameter("x")})
    second = stacks.ids(name)["Fs"]
    stacks.update(name, {"Other": parameter("x")})
    retained = [entry.physical_id for entry in stacks.entries(name) if entry.action == "retain"]
    assert retained == [first, second]
    assert stacks.delete(name) == "DELETE_COMPLETE"


def test_retain_except_on_create_does_not_outlive_a_failed_creation(stacks: Stacks) -> None:
    bad = {**file_system(Nonsense=1), "DependsOn": ["Kept", "Gone"]}
    kept, gone = (
        {**file_system(), "DeletionPolicy": "Retain"},
        {**file_system(), "DeletionPolicy": "RetainExceptOnCreate"},
    )
    name = stacks.create({"Kept": kept, "Gone": gone, "Bad": bad})
    assert ("retain", "Kept") in stacks.happened(name)
    assert ("delete", "Gone") in stacks.happened(name)


def test_a_named_resource_is_not_replaced_under_its_name(stacks: Stacks) -> None:
    name = stacks.create({"Role": role("/a/", "same-name")})
    stacks.update(name, {"Role": role("/b/", "same-name")})
    assert stacks.status(name) == "UPDATE_ROLLBACK_COMPLETE"
    assert "custom-named resource requires replacing. Rename same-name" in stacks.reasons(name)


def role(path: str, name: str) -> dict[str, Any]:
    statement = {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
    document = {"Version": "2012-10-17", "Statement": [statement]}
    properties = {"AssumeRolePolicyDocument": document, "Path": path, "RoleName": name}
    return {"Type": "AWS::IAM::Role", "Properties": properties}


def test_rejects_a_change_of_type(stacks: Stacks) -> None:
    name = stacks.create({"X": file_system()})
    with pytest.raises(ClientError, match=r"Update of resource type is not permitted.*\[X\]"):
        stacks.update(name, {"X": parameter("x")})


def test_nothing_to_do_is_no_change(stacks: Stacks) -> None:
    resources = {"Fs": file_system()}
    name = stacks.create(resources)
    described = change_set(stacks, name, resources)
    assert (described["Status"], described["ExecutionStatus"]) == ("FAILED", "UNAVAILABLE")
    assert described["StatusReason"].startswith("The submitted information didn't contain changes.")
    with pytest.raises(ClientError, match="No updates are to be performed"):
        stacks.update(name, resources)
    with pytest.raises(ClientError, match="cannot be executed"):
        stacks.cloudformation.execute_change_set(StackName=name, ChangeSetName="changes")


def test_a_change_set_lists_its_changes_and_applies_none(stacks: Stacks) -> None:
    name = stacks.create({"Fs": file_system(), "Gone": parameter("x")})
    described = change_set(stacks, name, {"Fs": file_system(StorageCapacity=2400), "New": parameter("y")})
    assert summary(described) == {"Fs": ("Modify", "False"), "New": ("Add", None), "Gone": ("Remove", None)}
    assert stacks.happened(name) == [("create", "Fs"), ("create", "Gone")]


def test_a_replacement_that_hangs_on_another_is_conditional(stacks: Stacks) -> None:
    vpc = {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}}
    group = {"Type": "AWS::EC2::SecurityGroup", "Properties": {"GroupDescription": "x", "VpcId": {"Ref": "Vpc"}}}
    name = stacks.create({"Vpc": vpc, "Group": group})
    changed = {"Vpc": {**vpc, "Properties": {"CidrBlock": "10.1.0.0/16"}}, "Group": group}
    described = change_set(stacks, name, changed)
    assert summary(described) == {"Vpc": ("Modify", "True"), "Group": ("Modify", "Conditional")}


def test_a_protected_stack_is_not_deleted(stacks: Stacks) -> None:
    name = stacks.create({"Fs": file_system()})
    stacks.cloudformation.update_termination_protection(StackName=name, EnableTerminationProtection=True)
    with pytest.raises(ClientError, match="cannot be deleted while TerminationProtection is enabled"):
        stacks.delete(name)
    stacks.cloudformation.update_termination_protection(StackName=name, EnableTerminationProtection=False)
    assert stacks.delete(name) == "DELETE_COMPLETE"


def test_a_strong_reference_holds_its_producer(stacks: Stacks) -> None:
    output = {"Id": {"Value": {"Ref": "Fs"}, "Export": {"Name": "strong:Fs"}}}
    producer = stacks.create({"Fs": file_system()}, Outputs=output)
    consumer = stacks.create({"Use": parameter({"Fn::ImportValue": "strong:Fs"})})
    with pytest.raises(ClientError, match=f"Export strong:Fs cannot be deleted as it is in use by {consumer}"):
        stacks.delete(producer)
    stacks.update(producer, {"Fs": file_system(KmsKeyId="alias/mine")}, Outputs=output)
    assert stacks.status(producer) == "UPDATE_ROLLBACK_COMPLETE"
    assert "cannot be updated as it is in use" in str(stacks.cloud.journal.notes)
    other = stacks.create({"Fs": file_system()}, Outputs=output)
    assert stacks.status(other) == "ROLLBACK_COMPLETE"
    assert stacks.delete(consumer) == stacks.delete(producer) == "DELETE_COMPLETE"


def test_a_weak_reference_lets_its_producer_go(stacks: Stacks) -> None:
    producer = stacks.create({"Fs": file_system()}, Outputs={"Out": {"Value": {"Ref": "Fs"}}})
    reference = {"Fn::GetStackOutput": {"StackName": producer, "Region": REGION, "OutputName": "Out"}}
    consumer = stacks.create({"Use": parameter(reference)})
    value = stacks.client("ssm").get_parameter(Name=stacks.ids(consumer)["Use"])["Parameter"]["Value"]
    assert value == stacks.ids(producer)["Fs"]
    assert stacks.delete(producer) == "DELETE_COMPLETE"


def test_a_public_parameter_gets_a_stand_in_that_is_named(stacks: Stacks) -> None:
    name = "/aws/service/pcs/ami/dlami-base-ubuntu2404/x86_64/latest/ami-id"
    image = {"Type": "AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>", "Default": name}
    template = {"LaunchTemplateData": {"ImageId": {"Ref": "Image"}}}
    stack = stacks.create(
        {
            "Lt": {"Type": "AWS::EC2::LaunchTemplate", "Properties": template},
            "Dynamic": parameter("{{resolve:ssm:/aws/service/eks/optimized-ami/1.34/image_id}}"),
        },
        Parameters={"Image": image},
    )
    assert stacks.status(stack) == "CREATE_COMPLETE"
    (described,) = stacks.describe(stack)["Parameters"]
    assert (described["ParameterValue"], described["ResolvedValue"][:4]) == (name, "ami-")
    named = {stand_in.name for stand_in in stacks.cloud.journal.stand_ins}
    assert {name, "/aws/service/eks/optimized-ami/1.34/image_id"} <= named


def test_the_parameter_of_an_image_is_assumed_to_exist_until_a_stack_creates_it(stacks: Stacks) -> None:
    def resources(name: str) -> dict[str, Any]:
        image = {"Type": "AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>", "Default": name}
        launch_template = {
            "Type": "AWS::EC2::LaunchTemplate",
            "Properties": {"LaunchTemplateData": {"ImageId": {"Ref": "Image"}}},
        }
        return {"resources": {"Lt": launch_template}, "Parameters": {"Image": image}}

    stack = stacks.create(**resources("/team/images/pcs"))
    (described,) = stacks.describe(stack)["Parameters"]
    assert described["ResolvedValue"].startswith("ami-")
    assert "/team/images/pcs" in {stand_in.name for stand_in in stacks.cloud.journal.stand_ins}
    image = {"Type": "String", "Name": "/team/images/own", "Value": "ami-0123456789abcdef0"}
    stacks.create({"Own": {"Type": "AWS::SSM::Parameter", "Properties": image}})
    (described,) = stacks.describe(stacks.create(**resources("/team/images/own")))["Parameters"]
    assert described["ResolvedValue"] == "ami-0123456789abcdef0"


def test_a_nested_stack_is_a_stack_with_outputs(stacks: Stacks) -> None:
    s3 = stacks.client("s3")
    s3.create_bucket(Bucket="templates", CreateBucketConfiguration={"LocationConstraint": REGION})
    parameters = {"Size": {"Type": "Number"}}
    fs = file_system(StorageCapacity={"Ref": "Size"})
    outputs = {"Id": {"Value": {"Ref": "Fs"}}}
    inner = body({"Fs": fs}, Parameters=parameters, Outputs=outputs)
    s3.put_object(Bucket="templates", Key="inner.json", Body=inner.encode())

    def resources(size: int) -> dict[str, Any]:
        url = f"https://s3.{REGION}.amazonaws.com/templates/inner.json"
        nested = {"TemplateURL": url, "Parameters": {"Size": str(size)}}
        return {
            "Inner": {"Type": "AWS::CloudFormation::Stack", "Properties": nested},
            "Use": parameter({"Fn::GetAtt": "Inner.Outputs.Id"}),
        }

    name = stacks.create(resources(1200))
    assert stacks.status(name) == "CREATE_COMPLETE", stacks.reasons(name)
    inner_name = stacks.describe(stacks.ids(name)["Inner"])["StackName"]
    stacks.update(name, resources(2400))
    assert stacks.happened(inner_name) == [("create", "Fs"), ("update", "Fs")]
    assert stacks.delete(name) == "DELETE_COMPLETE"
    assert ("delete", "Fs") in stacks.happened(inner_name)
    broken = stacks.create(resources("much"))  # type: ignore[arg-type]
    assert stacks.status(broken) == "ROLLBACK_COMPLETE"
    assert "Parameter 'Size' must be a number, got much" in stacks.reasons(broken)


def test_resources_of_the_users_own_are_taken_to_exist(stacks: Stacks) -> None:
    vpc, subnet = "vpc-0aaaaaaaaaaaaaaa1", "subnet-0aaaaaaaaaaaaaaa1"
    endpoint = {"VpcId": vpc, "SubnetIds": [subnet], "ServiceName": "com.amazonaws.us-east-2.ssm"}
    name = stacks.create(
        {
            "Table": {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": vpc}},
            "Endpoint": {
                "Type": "AWS::EC2::VPCEndpoint",
                "Properties": {**endpoint, "VpcEndpointType": "Interface"},
            },
        }
    )
    assert stacks.status(name) == "CREATE_COMPLETE", stacks.reasons(name)
    assert {vpc, subnet} <= {stand_in.name for stand_in in stacks.cloud.journal.stand_ins}
    assert stacks.delete(name) == "DELETE_COMPLETE", stacks.reasons(name)


def test_the_aws_cli_sees_what_moto_made(stacks: Stacks) -> None:
    name = stacks.create({"Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.9.0.0/16"}}})
    vpcs = stacks.client("ec2").describe_vpcs(VpcIds=[stacks.ids(name)["Vpc"]])["Vpcs"]
    assert [vpc["CidrBlock"] for vpc in vpcs] == ["10.9.0.0/16"]
    assert stacks.client("sts").get_caller_identity()["Account"] == "123456789012"


def test_templates_may_be_yaml_with_short_tags(stacks: Stacks) -> None:
    text = """
    Resources:
      Fs: {Type: AWS::FSx::FileSystem, Properties: {FileSystemType: LUSTRE, SubnetIds: [subnet-0123456789abcdef0]}}
      Role:
        Type: AWS::IAM::Role
        Properties:
          AssumeRolePolicyDocument: {Version: 2012-10-17, Statement: []}
          Description: !Sub "${Fs.DNSName} of ${!Fs}"
    Outputs:
      Dns: {Value: !GetAtt Fs.DNSName}
      Both: {Value: !Join [",", [!Ref Fs, !GetAtt [Role, Arn]]]}
    """
    name = stacks.name()
    stacks.cloudformation.create_stack(StackName=name, TemplateBody=text)
    assert stacks.status(name) == "CREATE_COMPLETE", stacks.reasons(name)
    ids = stacks.ids(name)
    assert stacks.outputs(name)["Dns"] == f"{ids['Fs']}.fsx.{REGION}.amazonaws.com"
    assert stacks.outputs(name)["Both"] == f"{ids['Fs']},arn:aws:iam::123456789012:role/{ids['Role']}"
    document = stacks.client("iam").get_role(RoleName=ids["Role"])["Role"]["AssumeRolePolicyDocument"]
    assert json.loads(json.dumps(document))["Version"] == "2012-10-17"


def test_a_subnet_of_a_retained_file_system_cannot_be_deleted_before_it(stacks: Stacks) -> None:
    network = {
        "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.7.0.0/16"}},
        "Subnet": {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.7.0.0/24"}},
    }
    name = stacks.create({**network, "Fs": {**file_system(SubnetIds=[{"Ref": "Subnet"}]), **KEPT}})
    file_system_id = stacks.ids(name)["Fs"]
    assert stacks.delete(name) == "DELETE_FAILED"
    assert "has dependencies and cannot be deleted" in stacks.reasons(name)
    result = report(steps=[], journal=stacks.cloud.journal, stacks=stacks.cloud.stacks, leave_out=frozenset())
    assert any(
        note.startswith(f"{name}/Fs was retained and has network interfaces in {name}/S") for note in result.notes
    )
    assert [entry.physical_id for entry in result.retained if entry.stack == name] == [file_system_id]
    assert delete_holders(stacks.cloud.stacks)
    assert stacks.delete(name) == "DELETE_COMPLETE"
    assert not delete_holders(stacks.cloud.stacks)
