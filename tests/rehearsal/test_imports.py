"""Change sets that import existing resources: what an earlier stack retained under a name of its own."""

from collections.abc import Iterator
from typing import Any

import pytest

from cdk_rehearsal.rehearsal._blueprint import Environment
from cdk_rehearsal.rehearsal._state import Stacks as AllStacks
from support.rehearsal_tools import REGION, Stacks, body, file_system, local_stacks, parameter


@pytest.fixture(scope="module")
def stacks() -> Iterator[Stacks]:
    with local_stacks() as running:
        yield running


@pytest.fixture(autouse=True)
def no_faults(stacks: Stacks) -> None:
    stacks.cloud.faults.clear()


def log_group(name: str | dict[str, Any] | None = None, policy: str = "Retain") -> dict[str, Any]:
    properties = {"RetentionInDays": 7} | ({"LogGroupName": name} if name else {})
    return {"Type": "AWS::Logs::LogGroup", "Properties": properties, "DeletionPolicy": policy}


def deploy(stacks: Stacks, name: str, resources: dict[str, Any]) -> list[dict[str, Any]]:
    """Deploy with a change set that imports existing resources, and return its changes."""
    request = {"StackName": name, "ChangeSetName": "imports", "TemplateBody": body(resources)}
    stacks.cloudformation.create_change_set(**request, ChangeSetType="CREATE", ImportExistingResources=True)
    described = stacks.cloudformation.describe_change_set(StackName=name, ChangeSetName="imports")
    stacks.cloudformation.execute_change_set(StackName=name, ChangeSetName="imports")
    return [change["ResourceChange"] for change in described["Changes"]]


def left_behind(stacks: Stacks, log_group_name: str) -> dict[str, Any]:
    resources = {"Logs": log_group(log_group_name)}
    assert stacks.delete(stacks.create(resources)) == "DELETE_COMPLETE"
    return resources


def test_a_retained_name_is_taken_until_a_change_set_imports_it(stacks: Stacks) -> None:
    resources = left_behind(stacks, "/a/kept")
    taken = stacks.create(resources)
    assert stacks.status(taken) == "ROLLBACK_COMPLETE"
    assert "already exists" in stacks.reasons(taken)
    name = stacks.name()
    (change,) = deploy(stacks, name, resources)
    assert (change["Action"], change["PhysicalResourceId"]) == ("Import", "/a/kept")
    assert stacks.status(name) == "CREATE_COMPLETE"
    assert stacks.happened(name) == [("import", "Logs")]
    assert stacks.ids(name) == {"Logs": "/a/kept"}
    stacks.update(name, {"Other": parameter("x")})
    assert ("retain", "Logs") in stacks.happened(name)


@pytest.mark.parametrize("kind", ["named by a function", "deleted by policy", "unnamed"])
def test_a_change_set_imports_only_what_has_a_static_name_and_is_retained(stacks: Stacks, kind: str) -> None:
    taken = f"/b/{kind.replace(' ', '-')}"
    left_behind(stacks, taken)
    new = {
        "named by a function": log_group({"Fn::Sub": taken}),
        "deleted by policy": log_group(taken, policy="Delete"),
        "unnamed": log_group(),
    }[kind]
    (change,) = deploy(stacks, name := stacks.name(), {"Logs": new})
    assert change["Action"] == "Add"
    assert stacks.status(name) == ("CREATE_COMPLETE" if kind == "unnamed" else "ROLLBACK_COMPLETE")


def test_a_resource_of_another_stack_is_not_imported(stacks: Stacks) -> None:
    resources = {"Logs": log_group("/c/owned")}
    stacks.create(resources)
    deploy(stacks, name := stacks.name(), resources)
    assert stacks.status(name) == "ROLLBACK_COMPLETE"


def test_a_failed_deployment_gives_back_what_it_imported(stacks: Stacks) -> None:
    resources = left_behind(stacks, "/d/kept")
    stacks.cloud.faults.add("create", "After")
    deploy(stacks, name := stacks.name(), {**resources, "After": parameter("x", DependsOn="Logs")})
    assert stacks.status(name) == "ROLLBACK_COMPLETE"
    assert stacks.happened(name)[-1] == ("retain", "Logs")
    deploy(stacks, again := stacks.name(), resources)
    assert stacks.status(again) == "CREATE_COMPLETE"


def test_an_unnamed_resource_that_a_failed_creation_retained_blocks_nothing(stacks: Stacks) -> None:
    resources = {"Logs": log_group(), "Fs": {**file_system(), "DependsOn": "Logs"}}
    stacks.cloud.faults.add("create", "AWS::FSx::FileSystem")
    name = stacks.create(resources)
    assert stacks.happened(name)[-1] == ("retain", "Logs")
    assert stacks.delete(name) == "DELETE_COMPLETE"
    stacks.create(resources, name=name)
    assert stacks.status(name) == "CREATE_COMPLETE", stacks.reasons(name)


def test_a_stack_that_is_created_again_gets_other_ids(stacks: Stacks) -> None:
    name = stacks.create({"Fs": file_system()})
    before = stacks.ids(name)
    stacks.delete(name)
    stacks.create({"Fs": file_system()}, name=name)
    assert stacks.ids(name) != before


def test_stacks_have_the_same_ids_in_each_run() -> None:
    place = Environment(account="123456789012", region=REGION)
    first, second = ([run.add("a", place).id, run.add("a", place).id] for run in (AllStacks(), AllStacks()))
    assert first == second
    assert first[0] != first[1]
