"""Updates that cannot be undone, failures on demand, and stack policies."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from cdk_rehearsal.deploy import AssembledStack, policy_problems, protect
from cdk_rehearsal.deploy._stack_policy import stack_policy
from cdk_rehearsal.rehearsal import RehearsalError
from support.rehearsal_tools import Stacks, file_system, local_stacks, parameter


@pytest.fixture(scope="module")
def stacks() -> Iterator[Stacks]:
    with local_stacks() as running:
        yield running


@pytest.fixture(autouse=True)
def no_faults(stacks: Stacks) -> None:
    stacks.cloud.faults.clear()


def lustre(capacity: int) -> dict[str, Any]:
    configuration = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125}
    return file_system(StorageCapacity=capacity, LustreConfiguration=configuration) | {"DeletionPolicy": "Retain"}


def grown_and_failed(stacks: Stacks) -> str:
    name = stacks.create({"Fs": lustre(1200)})
    stacks.cloud.faults.add("create", "After")
    stacks.update(name, {"Fs": lustre(2400), "After": parameter("x", DependsOn="Fs")})
    return name


def test_growth_of_a_file_system_cannot_be_rolled_back(stacks: Stacks) -> None:
    name = grown_and_failed(stacks)
    stack = stacks.describe(name)
    assert stack["StackStatus"] == "UPDATE_ROLLBACK_FAILED"
    assert "Fs: AWS::FSx::FileSystem refuses the update: StorageCapacity" in stack["StackStatusReason"]
    # The first step of the remedy finds the resource by its event.
    events = stacks.cloudformation.describe_stack_events(StackName=name)["StackEvents"]
    assert {event["LogicalResourceId"] for event in events if event["ResourceStatus"] == "UPDATE_FAILED"} == {"Fs"}
    with pytest.raises(ClientError, match="UPDATE_ROLLBACK_FAILED state and can not be updated"):
        stacks.update(name, {"Fs": lustre(2400)})


def test_a_failed_rollback_goes_on_without_the_resource(stacks: Stacks) -> None:
    name = grown_and_failed(stacks)
    stacks.cloudformation.continue_update_rollback(StackName=name)
    assert stacks.status(name) == "UPDATE_ROLLBACK_FAILED"
    with pytest.raises(ClientError, match="not in UPDATE_FAILED state"):
        stacks.cloudformation.continue_update_rollback(StackName=name, ResourcesToSkip=["Other"])
    stacks.cloudformation.continue_update_rollback(StackName=name, ResourcesToSkip=["Fs"])
    assert stacks.status(name) == "UPDATE_ROLLBACK_COMPLETE"
    with pytest.raises(ClientError, match="must be in UPDATE_ROLLBACK_FAILED"):
        stacks.cloudformation.continue_update_rollback(StackName=name)
    stacks.update(name, {"Fs": lustre(2400), "After": parameter("x", DependsOn="Fs")})
    assert stacks.status(name) == "UPDATE_COMPLETE"


def test_a_creation_fails_once_and_leaves_nothing_but_what_is_retained(stacks: Stacks) -> None:
    stacks.cloud.faults.add("create", "AWS::SSM::Parameter")
    resources = {"Fs": lustre(1200), "After": parameter("x", DependsOn="Fs")}
    name = stacks.create(resources)
    assert stacks.status(name) == "ROLLBACK_COMPLETE"
    assert "failed on demand" in stacks.reasons(name)
    assert stacks.delete(name) == "DELETE_COMPLETE"
    again = stacks.create(resources)
    assert stacks.status(again) == "CREATE_COMPLETE"


def test_an_update_fails_and_is_undone(stacks: Stacks) -> None:
    name = stacks.create({"First": parameter("a"), "Second": parameter("a", DependsOn="First")})
    stacks.cloud.faults.add("update", "Second")
    stacks.update(name, {"First": parameter("b"), "Second": parameter("b", DependsOn="First")})
    assert stacks.status(name) == "UPDATE_ROLLBACK_COMPLETE"
    ssm = stacks.client("ssm")
    assert ssm.get_parameter(Name=stacks.ids(name)["First"])["Parameter"]["Value"] == "a"


def test_a_deletion_fails_and_is_repeated(stacks: Stacks) -> None:
    name = stacks.create({"First": parameter("a")})
    stacks.cloud.faults.add("delete", "Fir*")
    assert stacks.delete(name) == "DELETE_FAILED"
    assert stacks.delete(name) == "DELETE_COMPLETE"


def test_a_protected_cluster_cannot_be_deleted(stacks: Stacks) -> None:
    properties = {
        "RoleArn": "arn:aws:iam::123456789012:role/eks",
        "ResourcesVpcConfig": {"SubnetIds": ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]},
    }
    cluster = {"Type": "AWS::EKS::Cluster", "Properties": {**properties, "DeletionProtection": True}}
    name = stacks.create({"Cluster": cluster})
    assert stacks.delete(name) == "DELETE_FAILED"
    other = stacks.create({"Cluster": cluster})
    stacks.update(other, {"Cluster": {**cluster, "Properties": {**properties, "DeletionProtection": False}}})
    assert stacks.delete(other) == "DELETE_COMPLETE"


def test_rejects_a_fault_of_an_unknown_action(stacks: Stacks) -> None:
    action: Any = "read"
    with pytest.raises(RehearsalError, match="create, update, delete, got 'read'"):
        stacks.cloud.faults.add(action, "First")


OTHER = parameter("x")
LOSSES: dict[str, dict[str, Any]] = {
    "Update:Replace": {"Fs": {**lustre(1200), "Properties": file_system()["Properties"]}, "Other": OTHER},
    "Update:Delete": {"Other": OTHER},
}


@pytest.mark.parametrize("action", LOSSES)
def test_a_stack_policy_stops_what_loses_a_resource(stacks: Stacks, action: str) -> None:
    name = stacks.create({"Fs": lustre(1200), "Other": OTHER})
    stacks.cloudformation.set_stack_policy(StackName=name, StackPolicyBody=stack_policy(["Fs"]))
    stacks.update(name, LOSSES[action])
    assert stacks.status(name) == "UPDATE_ROLLBACK_COMPLETE"
    events = stacks.cloudformation.describe_stack_events(StackName=name)["StackEvents"]
    assert any(f"it does not allow [{action}]" in event.get("ResourceStatusReason", "") for event in events)
    stacks.update(name, {"Fs": lustre(2400), "Other": parameter("y")})
    assert stacks.status(name) == "UPDATE_COMPLETE"
    stacks.cloudformation.set_stack_policy(StackName=name, StackPolicyBody=stack_policy([]))
    stacks.update(name, {"Other": OTHER})
    assert stacks.status(name) == "UPDATE_COMPLETE"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x", "a JSON object with a list of statements"),
        ('{"Statement": ["x"]}', "each statement must be an object"),
        ('{"Statement": [{"Effect": "Maybe", "Principal": "*", "Action": "Update:*", "Resource": "*"}]}', "Effect"),
        ('{"Statement": [{"Effect": "Deny", "Principal": "me", "Action": "Update:*", "Resource": "*"}]}', "Principal"),
        ('{"Statement": [{"Effect": "Deny", "Principal": "*", "Action": "Delete", "Resource": "*"}]}', "Action"),
        ('{"Statement": [{"Effect": "Deny", "Principal": "*", "Action": "Update:*", "Resource": "Fs"}]}', "Resource"),
    ],
)
def test_rejects_malformed_stack_policies(stacks: Stacks, text: str, problem: str) -> None:
    assert any(problem in line for line in policy_problems(text))
    name = stacks.create({"First": parameter("a")})
    with pytest.raises(ClientError, match="Error validating stack policy"):
        stacks.cloudformation.set_stack_policy(StackName=name, StackPolicyBody=text)


def test_rejects_a_stack_policy_with_a_resource_that_the_stack_does_not_have(stacks: Stacks) -> None:
    name = stacks.create({"First": parameter("a")})
    stacks.cloudformation.set_stack_policy(StackName=name, StackPolicyBody=stack_policy(["First"]))
    with pytest.raises(ClientError, match="Unknown logical id 'LogicalResourceId/Second'"):
        stacks.cloudformation.set_stack_policy(StackName=name, StackPolicyBody=stack_policy(["First", "Second"]))


def test_a_stack_policy_names_the_resources() -> None:
    allow, deny = json.loads(stack_policy(["B", "A"]))["Statement"]
    assert (allow["Effect"], allow["Action"]) == ("Allow", "Update:*")
    assert deny["Resource"] == ["LogicalResourceId/A", "LogicalResourceId/B"]
    assert policy_problems(stack_policy(["A"])) == []
    # What a user wrote stays: no Allow is added to it, and a resource of another's in the statement stays too.
    users = {"Effect": "Allow", "Action": "Update:Modify", "Principal": "*", "Resource": "*"}
    existing = json.dumps({"Statement": [users, {**deny, "Resource": [*deny["Resource"], "LogicalResourceId/Mine"]}]})
    merged = json.loads(stack_policy(["B"], existing=existing, others=["Mine", "Other"]))["Statement"]
    assert merged == [users, {**deny, "Resource": ["LogicalResourceId/B", "LogicalResourceId/Mine"]}]
    wide = {**deny, "Resource": ["LogicalResourceId/*"]}
    assert json.loads(stack_policy(["A"], existing=json.dumps({"Statement": [wide]})))["Statement"][0] == wide
    with pytest.raises(ValueError, match="CloudFormation accepts 16,384"):
        stack_policy([f"Resource{number:020}" for number in range(500)])


def test_a_stack_whose_policy_would_be_too_long_is_reported(stacks: Stacks) -> None:
    name = stacks.create({f"{'x' * 200}{number}": lustre(1200) for number in range(80)})
    stack = AssembledStack(name=name, account=None, region=None, template=Path("none"))
    (line,) = protect([stack], lambda service, region: stacks.client(service))
    assert line.startswith(f"{name}: the stack policy has ")
    assert line.endswith("CloudFormation accepts 16,384")


def test_the_protection_of_what_is_no_longer_protected_can_be_lifted(stacks: Stacks) -> None:
    name = stacks.create({"Fs": lustre(1200), "Sg": parameter("a")})
    stack = AssembledStack(name=name, account=None, region=None, template=Path("none"))

    sent: list[str] = []

    def client(service: str, region: str | None) -> Any:
        client = stacks.client(service)
        client.meta.events.register("before-call.cloudformation.SetStackPolicy", lambda **_: sent.append(name), "sent")
        return client

    # Of an earlier release, or of the user, in the statement of the library.
    stacks.cloudformation.set_stack_policy(StackName=name, StackPolicyBody=stack_policy(["Fs", "Sg"]))

    def denied() -> list[str]:
        policy = json.loads(stacks.cloudformation.get_stack_policy(StackName=name)["StackPolicyBody"])
        return [it for row in policy["Statement"] if row["Effect"] == "Deny" for it in row["Resource"]]

    assert protect([stack], client) == []
    assert denied() == ["LogicalResourceId/Fs", "LogicalResourceId/Sg"]
    assert not sent, "the policy is the same"
    assert protect([stack], client, allow=["Sg"]) == []
    assert denied() == ["LogicalResourceId/Fs"]
    assert sent == [name]
