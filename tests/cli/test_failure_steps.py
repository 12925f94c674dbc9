"""Rehearsals in which a chosen resource fails: the real CDK CLI, on an app with a protected stack and a kept name."""

from collections.abc import Callable
from pathlib import Path

import aws_cdk as cdk
import pytest

from cdk_rehearsal.deploy import AssembledStack, comparison, release_failed
from cdk_rehearsal.rehearsal import Action, Entry, LocalCloud, Maker, RehearsalError, rehearse
from cdk_rehearsal.rehearsal._failure_steps import FailureSteps, leftovers
from cdk_rehearsal.rehearsal._faults import Fault, check_names
from support.written_apps import written_app_in

TEMPLATE = {
    "Resources": {
        "Group": {"Type": "AWS::EC2::PlacementGroup", "Metadata": {"aws:cdk:path": "Kept/Group/Resource"}},
        "Logs": {"Type": "AWS::Logs::LogGroup"},
    }
}


def entry(action: Action, name: str = "Group", detail: str = "") -> Entry:
    kind = "AWS::EC2::PlacementGroup"
    return Entry(
        action=action, stack="Kept", logical_id=name, type=kind, physical_id=name, maker=Maker.SCHEMA, detail=detail
    )


def protected(app: cdk.App) -> None:
    stack = cdk.Stack(app, "Kept", termination_protection=True)
    logs = cdk.CfnResource(stack, "Logs", type="AWS::Logs::LogGroup", properties={"LogGroupName": "/kept"})
    logs.apply_removal_policy(cdk.RemovalPolicy.RETAIN)
    group = cdk.CfnResource(stack, "Group", type="AWS::EC2::PlacementGroup", properties={"Strategy": "cluster"})
    group.add_dependency(logs)
    group.node.add_metadata("aws:cdk:path", group.node.path)


@pytest.mark.usefixtures("kept_cli")
def test_a_protected_stack_fails_is_deployed_again_and_leaves_what_is_retained(tmp_path: Path) -> None:
    app = written_app_in(tmp_path, assembly=protected)
    report = rehearse(app=app, fail=["Kept/Group", "AWS::EC2::PlacementGroup:delete"])
    assert report.ok, [step.reasons for step in report.steps]
    names = [step.name for step in report.steps if not step.name.startswith("bootstrap")]
    assert names == [
        "synth",
        "deploy: create of Kept/Group fails",
        "deploy --import-existing-resources",
        "deploy again: no changes",
        "lift the termination protection of Kept",
        "destroy: delete of AWS::EC2::PlacementGroup fails",
        "destroy",
        "deploy --import-existing-resources: beside what was retained",
        "destroy again",
    ]
    assert [(kept.logical_id, kept.physical_id) for kept in report.retained] == [("Logs", "/kept")]


def with_default(region: str) -> Callable[[cdk.App], None]:
    def two_regions(app: cdk.App) -> None:
        for name, place in (("Home", region), ("Away", "eu-north-1")):
            stack = cdk.Stack(app, name, env=cdk.Environment(account="123456789012", region=place))
            cdk.CfnResource(stack, "Handle", type="AWS::CloudFormation::WaitConditionHandle")

    return two_regions


@pytest.mark.usefixtures("kept_cli")
def test_each_synthesis_is_for_the_given_region(tmp_path: Path) -> None:
    """The stacks of another one are the first."""
    regions = {"us-east-2": with_default("us-east-2"), "eu-north-1": with_default("eu-north-1")}
    app = written_app_in(tmp_path, 'os.environ["CDK_DEFAULT_REGION"]', **regions)
    report = rehearse(app=app, region="us-east-2")
    assert report.ok, [step.reasons for step in report.steps]
    assert "deploy again: no changes" in [step.name for step in report.steps]


@pytest.mark.parametrize(
    ("text", "action", "resource"),
    [
        ("Group", "create", "Group"),
        ("Group:delete", "delete", "Group"),
        ("AWS::FSx::FileSystem", "create", "AWS::FSx::FileSystem"),
        ("AWS::FSx::FileSystem:update", "update", "AWS::FSx::FileSystem"),
        ("Group:read", "create", "Group:read"),
    ],
)
def test_a_fault_is_read_from_the_command_line(text: str, action: str, resource: str) -> None:
    fault = Fault.parse(text)
    assert (fault.action, fault.resource) == (action, resource)


@pytest.mark.parametrize(
    "name", ["Group", "Gr*", "Kept/Group", "Kept/Group/Resource", "AWS::EC2::PlacementGroup", "Other/*"]
)
def test_a_resource_is_chosen_by_its_names(name: str) -> None:
    assert bool(check_names([Fault.parse(name)], {"Kept": TEMPLATE})) == (name == "Other/*")


def test_rejects_a_name_that_no_resource_has() -> None:
    (line,) = check_names([Fault.parse("Grouo:read")], {"Kept": TEMPLATE})
    assert line == (
        "no resource has the logical id, construct path or type Grouo:read; did you mean Group?; "
        "the actions are create, update, delete"
    )


def test_rejects_an_update_that_fails_where_there_is_no_update(tmp_path: Path) -> None:
    with pytest.raises(RehearsalError, match="has no update step"):
        rehearse(app=tmp_path, fail=["Group:update"])


def test_a_step_without_the_failure_is_a_problem() -> None:
    with LocalCloud() as cloud:
        fault = Fault.parse("Group:update")
        steps = FailureSteps(cloud=cloud, faults=(fault,))

        def updates_another() -> list[str]:
            cloud.journal.add(entry(Action.UPDATE, "Other"))
            return []

        (line,) = steps.meet(fault, updates_another)
        assert line == "this step does not update Group, so that nothing failed; it updates Kept/Other"
        assert steps.meet(fault, lambda: ["the CLI failed"]) == ["the CLI failed"]
        assert list(cloud.faults) == []


def test_a_failure_that_is_hidden_or_not_alone_is_a_problem() -> None:
    with LocalCloud() as cloud:
        fault = Fault.parse("Group")
        fault.met = ("Kept/Group",)
        steps = FailureSteps(cloud=cloud, faults=(fault,))
        assert steps.meet(fault, list) == ["Kept/Group failed, but the CLI reports success"]

        def another_fails_too() -> list[str]:
            cloud.journal.add(entry(Action.FAIL, "Group", "on demand"))
            cloud.journal.add(entry(Action.FAIL, "Other", "taken"))
            return ["the CLI failed"]

        assert steps.meet(fault, another_fails_too) == ["Kept/Other: taken"]


def test_a_stack_that_did_not_roll_back_is_a_problem() -> None:
    with LocalCloud() as cloud:
        name = '{"Resources": {"Group": {"Type": "AWS::EC2::PlacementGroup"}}}'
        cloudformation = cloud.client("cloudformation", "us-east-2")
        fault = Fault.parse("Group")

        def deploy() -> list[str]:
            cloudformation.create_stack(StackName="Kept", TemplateBody=name, OnFailure="DO_NOTHING")
            return ["the CLI failed"]

        steps = FailureSteps(cloud=cloud, faults=(fault,))
        (line,) = steps.meet(fault, deploy)
        assert line.startswith("Kept is CREATE_FAILED, not ROLLBACK_COMPLETE or UPDATE_ROLLBACK_COMPLETE")


def test_a_protected_stack_whose_creation_failed_is_released_for_its_deletion(tmp_path: Path) -> None:
    text = '{"Resources": {"Group": {"Type": "AWS::EC2::PlacementGroup"}}}'
    (tmp_path / "Kept.template.json").write_text(text)
    stacks = [
        AssembledStack(name=name, account=None, region=None, template=tmp_path / "Kept.template.json")
        for name in ("Kept", "Well", "Absent")
    ]
    with LocalCloud() as cloud:
        cloudformation = cloud.client("cloudformation", "us-east-2")
        cloud.faults.add("create", "Kept/Group")
        for name in ("Kept", "Well"):
            cloudformation.create_stack(StackName=name, TemplateBody=text, EnableTerminationProtection=True)
        sides = comparison(stacks, lambda service, region: cloud.client(service, "us-east-2"), tmp_path)
        assert (sides.new, sides.failed, sides.blocked) == (["Kept", "Absent"], ["Kept"], {})
        assert release_failed(stacks, lambda service, region: cloud.client(service, "us-east-2")) == ["Kept"]
        cloudformation.delete_stack(StackName="Kept")
        assert [stack.name for stack in cloud.stacks.living()] == ["Well"]
        assert cloud.stacks.living()[0].protected


def test_what_was_neither_deleted_nor_retained_is_left_over() -> None:
    created, gone, kept = entry(Action.CREATE), entry(Action.DELETE), entry(Action.RETAIN)
    assert leftovers([created], frozenset()) == ["Kept/Group (AWS::EC2::PlacementGroup) is left over"]
    assert leftovers([created], frozenset({"Kept"})) == []
    assert leftovers([created, gone, entry(Action.REPLACE), kept], frozenset()) == []
    assert leftovers([created, created, gone], frozenset()) != []
