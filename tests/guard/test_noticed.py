"""Effects of an update on running jobs, nodes and their users: ways to the internet, drains, receivers of messages."""

import copy
from typing import Any

import pytest

from cdk_rehearsal.guard import Fate, Report, compare
from ultracluster.cli._verdict import jobs_sentence, refusal
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


TIERED = {
    "ThroughputCapacity": 4000,
    "DataReadCacheConfiguration": {"SizingMode": "NO_CACHE"},
    "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 6000},
}


def storage(**config: Any) -> dict[str, Any]:
    properties = {
        "FileSystemType": "LUSTRE",
        "SubnetIds": ["subnet-0123456789abcdef0"],
        "LustreConfiguration": {"DeploymentType": "PERSISTENT_2", **config},
    }
    capacity = {} if "ThroughputCapacity" in config else {"StorageCapacity": 4800}
    kind = {"StorageType": "INTELLIGENT_TIERING"} if "ThroughputCapacity" in config else {"StorageType": "SSD"}
    kept = dict.fromkeys(("DeletionPolicy", "UpdateReplacePolicy"), "Retain")
    return {"Lustre": {"Type": "AWS::FSx::FileSystem", **kept, "Properties": {**properties, **capacity, **kind}}}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"PerUnitStorageThroughput": 250}, {"PerUnitStorageThroughput": 500}),
        ({"PerUnitStorageThroughput": 250}, {"PerUnitStorageThroughput": 125}),
        (TIERED, {**TIERED, "ThroughputCapacity": 8000}),
    ],
)
def test_a_file_system_that_is_unavailable_meanwhile_is_refused_like_what_ends_jobs(
    old: dict[str, Any], new: dict[str, Any]
) -> None:
    sides = [{"Resources": storage(**side)} for side in (old, new)]
    result = compare(*sides, running=True, in_place=IN_PLACE)
    (finding,) = result.refused
    assert (finding.fate, finding.harmful) == (Fate.UNAVAILABLE, False)
    assert "unavailable for up to an hour" in result.lines()[0]
    assert jobs_sentence(result) == "jobs: jobs wait for Lustre, which is unavailable for up to an hour, or fail."
    assert refusal(result).startswith("refused. If this is intended, and the jobs can end: --allow Lustre")
    assert compare(*sides, running=True, allow=["Lustre"]).ok
    assert compare(*sides).ok, "no data is lost"
    assert [row.logical_id for row in result.in_place] == (["Lustre"] if "PerUnitStorageThroughput" in old else [])


def test_more_capacity_at_the_same_tier_interrupts_no_job() -> None:
    old = {"Resources": storage(PerUnitStorageThroughput=250)}
    new = copy.deepcopy(old)
    new["Resources"]["Lustre"]["Properties"]["StorageCapacity"] = 9600
    result = compare(old, new, running=True, in_place=IN_PLACE)
    assert (result.refused, result.in_place, result.findings[0].fate) == ((), (), Fate.UPDATED)
    assert jobs_sentence(result) == "jobs: none ends."
