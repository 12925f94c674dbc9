"""Capacity that ends: nodes accept no jobs before the end, and a notice is sent."""

import json
import shlex
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Match, Template

from support.clusterfile_data import with_groups
from ultracluster import compute
from ultracluster.clusterfile import loads
from ultracluster.stacks import UltraCluster

END = datetime(2026, 12, 24, 11, 30, tzinfo=UTC)
BLOCK = "{reservation: cr-0123456789abcdef0, kind: capacity-block, instances: 16, ends: 2026-12-24}"
ULTRASERVER = "{reservation: cr-0123456789abcdef0, kind: ultraserver, ends: 2026-12-24}"


def cluster(stack: cdk.Stack, group: str, *more: str) -> UltraCluster:
    return UltraCluster(stack, "Cluster", cluster=loads(with_groups(f"train: {group}", *more), "c.yaml"))


def schedules(template: Template) -> dict[str, list[str]]:
    """Schedules of the calls, by call."""
    result: dict[str, list[str]] = {"drain": [], "notice": []}
    for schedule in template.find_resources("AWS::Scheduler::Schedule").values():
        call = json.dumps(schedule["Properties"]["Target"]["Arn"])
        result["drain" if "sendCommand" in call else "notice"].append(schedule["Properties"]["ScheduleExpression"])
    return {call: sorted(times) for call, times in result.items()}


def text(value: Any) -> str:
    """A template's text with references in angle brackets."""
    if isinstance(value, str):
        return value
    if "Fn::Join" in value:
        return "".join(text(part) for part in value["Fn::Join"][1])
    return f"<{next(iter(value))}>"


def test_nodes_of_a_block_take_no_more_jobs_an_hour_before_ec2_terminates_them(
    stack: cdk.Stack, template: Callable[[], Template]
) -> None:
    cluster(stack, f"{{type: p6-b200.48xlarge, count: 16, capacity: {BLOCK}}}")
    # It repeats at half the time, and a minute before the termination.
    assert schedules(template()) == {
        "drain": ["at(2026-12-24T10:00:00)", "at(2026-12-24T10:30:00)", "at(2026-12-24T10:59:00)"],
        "notice": ["at(2026-12-23T11:30:00)"],
    }


def test_nodes_of_an_ultraserver_an_hour_before_they_must_be_terminated(
    stack: cdk.Stack, template: Callable[[], Template]
) -> None:
    cluster(stack, f"{{type: u-p6e-gb200x72, count: 1, capacity: {ULTRASERVER}}}")
    assert schedules(template()) == {
        "drain": ["at(2026-12-24T09:30:00)", "at(2026-12-24T10:00:00)", "at(2026-12-24T10:29:00)"],
        "notice": ["at(2026-12-23T11:30:00)"],
    }
    (notice,) = (
        text(s["Properties"]["Target"]["Input"])
        for s in template().find_resources("AWS::Scheduler::Schedule").values()
        if "sns:publish" in text(s["Properties"]["Target"]["Arn"])
    )
    assert "minInstanceCount=0,maxInstanceCount=0" in json.loads(notice)["Message"]


def test_both_spans_can_be_chosen(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    group = f"{{type: p6-b200.48xlarge, count: 16, capacity: {BLOCK}}}"
    cluster(stack, group, "notifications: {drain: 30 min, notice: 3 d}")
    assert schedules(template()) == {
        "drain": ["at(2026-12-24T10:30:00)", "at(2026-12-24T10:45:00)", "at(2026-12-24T10:59:00)"],
        "notice": ["at(2026-12-21T11:30:00)"],
    }


def test_the_last_run_of_a_short_drain_is_its_first(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    group = f"{{type: p6-b200.48xlarge, count: 16, capacity: {BLOCK}}}"
    cluster(stack, group, "notifications: {drain: 1 min}")
    assert schedules(template())["drain"] == ["at(2026-12-24T10:59:00)", "at(2026-12-24T10:59:30)"]


def drain_document(template: Template) -> tuple[str, Mapping[str, Any]]:
    """Logical id and resource of the document that drains; the sessions of users have one of their own."""
    ((id, document),) = (
        item
        for item in template.find_resources("AWS::SSM::Document").items()
        if item[1]["Properties"].get("DocumentType") == "Command"
    )
    return id, document


def test_the_drain_runs_on_the_login_nodes_and_names_every_node_of_the_group(
    stack: cdk.Stack, template: Callable[[], Template]
) -> None:
    cluster(stack, f"{{type: p6-b200.48xlarge, count: 16, capacity: {BLOCK}}}")
    drains = [
        json.loads(text(s["Properties"]["Target"]["Input"]))
        for s in template().find_resources("AWS::Scheduler::Schedule").values()
        if "sendCommand" in text(s["Properties"]["Target"]["Arn"])
    ]
    for drain in drains:
        assert drain["Targets"] == [{"Key": "tag:aws:pcs:compute-node-group-id", "Values": ["<Fn::GetAtt>"]}]
    document = drain_document(template())[1]
    lines = document["Properties"]["Content"]["mainSteps"][0]["inputs"]["runCommand"]
    assert lines[0] == "#!/usr/bin/env bash"
    exported = dict(shlex.split(line)[1].split("=", 1) for line in lines if line.startswith("export "))
    assert exported["NODES"] == "train-[1-16]"
    assert exported["REASON"] == "Capacity Block cr-0123456789abcdef0 ends at 2026-12-24 11:30 UTC"
    assert exported["ENDS"] == "2026-12-24T11:00:00"
    assert int(exported["REQUEUE_AT"]) == datetime(2026, 12, 24, 10, 59, tzinfo=UTC).timestamp()


def test_calls_that_fail_go_to_a_queue_that_notifies(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    cluster(stack, f"{{type: p6-b200.48xlarge, count: 16, capacity: {BLOCK}}}")
    ((queue, properties),) = template().find_resources("AWS::SQS::Queue").items()
    assert properties["Properties"]["SqsManagedSseEnabled"]
    arn = {"Fn::GetAtt": [queue, "Arn"]}
    targets = [s["Properties"]["Target"] for s in template().find_resources("AWS::Scheduler::Schedule").values()]
    assert [target["DeadLetterConfig"] for target in targets] == [{"Arn": arn}] * 4
    # No call is repeated after the nodes have ended.
    ages = sorted(target["RetryPolicy"]["MaximumEventAgeInSeconds"] for target in targets)
    assert ages == [60, 1800, 3600, 86400]
    send = {"Action": "sqs:SendMessage", "Effect": "Allow", "Resource": arn}
    template().has_resource_properties("AWS::IAM::Policy", {"PolicyDocument": {"Statement": Match.array_with([send])}})
    (topic,) = template().find_resources("AWS::SNS::Topic", {"Properties": {"DisplayName": "Capacity notices"}})
    name = {"Name": "QueueName", "Value": {"Fn::GetAtt": [queue, "QueueName"]}}
    template().has_resource_properties(
        "AWS::CloudWatch::Alarm", {"Dimensions": [name], "AlarmActions": [{"Ref": topic}]}
    )
    allowed = {"Principal": {"Service": "cloudwatch.amazonaws.com"}, "Action": "sns:Publish"}
    template().has_resource_properties(
        "AWS::SNS::TopicPolicy",
        {"PolicyDocument": {"Statement": Match.array_with([Match.object_like(allowed)])}},
    )
    keys = [
        statement
        for key in template().find_resources("AWS::KMS::Key").values()
        for statement in key["Properties"]["KeyPolicy"]["Statement"]
        if "cloudwatch.amazonaws.com" in json.dumps(statement["Principal"])
    ]
    assert keys
    assert all("aws:SourceAccount" in json.dumps(statement["Condition"]) for statement in keys)


def test_the_drain_may_run_its_own_document_on_the_login_nodes_and_nothing_else(
    stack: cdk.Stack, template: Callable[[], Template]
) -> None:
    cluster(stack, f"{{type: p6-b200.48xlarge, count: 16, capacity: {BLOCK}}}")
    document, _ = drain_document(template())
    statements = [
        statement
        for policy in template().find_resources("AWS::IAM::Policy").values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if statement["Action"] == "ssm:SendCommand"
    ]
    run, where = statements
    assert run["Resource"]["Fn::Join"][1][-1] == {"Ref": document}
    assert list(where["Condition"]["StringEquals"]) == ["ssm:resourceTag/aws:pcs:compute-node-group-id"]


def test_sends_a_notice_if_a_drain_fails(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    cluster(stack, f"{{type: p6-b200.48xlarge, count: 16, capacity: {BLOCK}}}")
    document, _ = drain_document(template())
    template().has_resource_properties(
        "AWS::Events::Rule",
        {"EventPattern": {"source": ["aws.ssm"], "detail": {"document-name": [{"Ref": document}]}}},
    )


def test_sends_notices_of_a_block_without_a_known_end_but_does_not_drain_it(
    stack: cdk.Stack, template: Callable[[], Template]
) -> None:
    cluster(stack, f"{{type: p6-b200.48xlarge, count: 16, capacity: {BLOCK.replace(', ends: 2026-12-24', '')}}}")
    template().resource_count_is("AWS::Scheduler::Schedule", 0)
    template().has_resource_properties(
        "AWS::Events::Rule",
        {"EventPattern": {"detail": {"capacity-reservation-id": ["cr-0123456789abcdef0"]}, "source": ["aws.ec2"]}},
    )


def test_a_cluster_without_capacity_blocks_has_no_topic(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    cluster(stack, "{type: p5.48xlarge, count: 2}", "observability: {profile: none}")
    template().resource_count_is("AWS::SNS::Topic", 0)


def test_uses_an_existing_topic(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    topic = "arn:aws:sns:us-east-2:123456789012:oncall"
    group = f"{{type: p6-b200.48xlarge, count: 16, capacity: {BLOCK}}}"
    cluster(stack, group, f"notifications: {{topic: {topic}}}\nobservability: {{profile: none}}")
    template().resource_count_is("AWS::SNS::Topic", 0)
    template().has_resource_properties("AWS::Events::Rule", {"Targets": [Match.object_like({"Arn": topic})]})


def test_an_address_is_subscribed(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    compute.CapacityNotices(stack, "Notices", reservation_ids=["cr-0123456789abcdef0"], email="oncall@example.com")
    template().has_resource_properties(
        "AWS::SNS::Subscription", {"Protocol": "email", "Endpoint": "oncall@example.com"}
    )
    template().has_resource_properties("AWS::SNS::Topic", {"KmsMasterKeyId": Match.any_value()})


def test_rejects_notices_of_no_reservation(stack: cdk.Stack) -> None:
    with pytest.raises(ValueError, match="at least one id"):
        compute.CapacityNotices(stack, "Notices", reservation_ids=[], topic=sns.Topic(stack, "Mine"))


def test_an_auto_scaling_group_is_empty_an_hour_before_ec2_terminates_its_nodes(
    stack: cdk.Stack, template: Callable[[], Template]
) -> None:
    block = compute.CapacityBlock(reservation_id="cr-0123456789abcdef0", ends=END)
    compute.ScaleInBeforeEnd(stack, "ScaleIn", auto_scaling_group_name="nodes", capacity=block)
    template().has_resource_properties(
        "AWS::AutoScaling::ScheduledAction",
        {"StartTime": "2026-12-24T10:00:00Z", "MinSize": 0, "MaxSize": 0, "DesiredCapacity": 0},
    )


def test_rejects_a_drain_before_an_end_that_is_not_known(stack: cdk.Stack) -> None:
    block = compute.CapacityBlock(reservation_id="cr-0123456789abcdef0")
    with pytest.raises(ValueError, match=r"capacity must have an end: CapacityBlock\(ends=...\)"):
        compute.ScaleInBeforeEnd(
            stack, "ScaleIn", auto_scaling_group_name="nodes", capacity=block, lead=timedelta(hours=2)
        )
