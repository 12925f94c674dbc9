"""Effects of an update on running jobs, nodes and their users: ways to the internet, drains, receivers of messages."""

import copy
from typing import Any

import pytest

from cdk_rehearsal.guard import Fate, Report, compare
from ultracluster.cli._verdict import jobs_sentence
from ultracluster.testing import IN_PLACE, UPDATE_RULES

DRAIN = {"Arn": "arn:aws:scheduler:::aws-sdk:ssm:sendCommand", "RoleArn": "arn:aws:iam::123456789012:role/drain"}
NOTICE = {**DRAIN, "Arn": "arn:aws:scheduler:::aws-sdk:sns:publish"}
TOPIC = "arn:aws:sns:us-east-2:123456789012:alerts"
SUBSCRIPTION = {"Endpoint": "oncall@example.com", "Protocol": "email", "TopicArn": TOPIC}


def schedule(at: str, target: dict[str, str] = DRAIN) -> dict[str, Any]:
    properties = {"ScheduleExpression": at, "FlexibleTimeWindow": {"Mode": "OFF"}, "Target": target}
    return {"Type": "AWS::Scheduler::Schedule", "Properties": properties}


TEMPLATE: dict[str, Any] = {
    "Resources": {
        "Address": {"Type": "AWS::EC2::EIP", "Properties": {"Domain": "vpc"}},
        "Nat": {
            "Type": "AWS::EC2::NatGateway",
            "Properties": {
                "AllocationId": {"Fn::GetAtt": ["Address", "AllocationId"]},
                "SubnetId": "subnet-0123456789abcdef0",
            },
        },
        "Drain": schedule("at(2026-12-24T09:00:00)"),
        "Notice": schedule("at(2026-12-23T11:30:00)", NOTICE),
        "Release": schedule("cron(0 3 * * ? *)"),
        "Email": {"Type": "AWS::SNS::Subscription", "Properties": SUBSCRIPTION},
    }
}


def edited(**resources: dict[str, Any] | None) -> dict[str, Any]:
    new = copy.deepcopy(TEMPLATE["Resources"]) | resources
    return {"Resources": {name: resource for name, resource in new.items() if resource is not None}}


def report(new: dict[str, Any], *, allow: tuple[str, ...] = ()) -> Report:
    return compare(TEMPLATE, new, update_rules=UPDATE_RULES, in_place=IN_PLACE, running=True, allow=allow)


def test_the_end_of_the_way_to_the_internet_is_refused() -> None:
    new = edited(Nat=None, Address=None)
    result = report(new)
    assert {finding.logical_id: finding.fate for finding in result.refused} == {
        "Nat": Fate.DELETED,
        "Address": Fate.DELETED,
    }
    reasons = {finding.logical_id: finding.causes[0].reason for finding in result.nodes}
    assert reasons["Nat"].endswith("running jobs lose their connections to the internet")
    assert "its address is released" in reasons["Address"]
    assert jobs_sentence(result) == "jobs: jobs lose their way to the internet with Address, Nat."
    assert result.groups == 0
    assert report(new, allow=("Nat", "Address")).ok
    # Data is not concerned: without `running`, it is only reported.
    assert compare(TEMPLATE, new).ok


def test_a_gateway_with_other_tags_is_not_refused() -> None:
    nat = copy.deepcopy(TEMPLATE["Resources"]["Nat"])
    nat["Properties"]["Tags"] = [{"Key": "team", "Value": "a"}]
    result = report(edited(Nat=nat))
    assert (result.ok, result.nodes) == (True, ())


@pytest.mark.parametrize(
    ("change", "name", "fate", "text"),
    [
        (
            {"Drain": schedule("at(2027-01-20T09:00:00)")},
            "Drain",
            Fate.UPDATED,
            "due at 2026-12-24T09:00:00 UTC, and happens at 2027-01-20T09:00:00 now",
        ),
        ({"Drain": None}, "Drain", Fate.DELETED, "does not happen; right if the nodes leave too"),
        ({"Email": None}, "Email", Fate.DELETED, "oncall@example.com gets no more messages of this topic"),
        (
            {
                "Email": {
                    "Type": "AWS::SNS::Subscription",
                    "Properties": {**SUBSCRIPTION, "Endpoint": "new@example.com"},
                }
            },
            "Email",
            Fate.UPDATED,
            "a new address gets none until it confirms the subscription",
        ),
    ],
    ids=["drain-moves", "drain-goes", "address-goes", "address-changes"],
)
def test_drains_that_move_or_go_and_addresses_that_change_are_named(
    change: dict[str, Any], name: str, fate: Fate, text: str
) -> None:
    result = report(edited(**change))
    (finding,) = result.in_place
    assert (finding.logical_id, finding.fate) == (name, fate)
    assert text in finding.causes[0].reason
    assert result.ok


def test_other_schedules_are_not_named() -> None:
    moved = {"Notice": schedule("at(2027-01-19T11:30:00)", NOTICE), "Release": schedule("cron(0 4 * * ? *)")}
    assert report(edited(**moved)).in_place == ()
