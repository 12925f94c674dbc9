"""Logs of a Slurm controller."""

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Match, Template

from ultracluster.slurm import IPcsCluster, PcsCluster, PcsClusterLogs

LOG_TYPES = {"PCS_SCHEDULER_LOGS", "PCS_SCHEDULER_AUDIT_LOGS", "PCS_JOBCOMP_LOGS", "PCS_SCALING_LOGS"}


@pytest.fixture
def stack() -> cdk.Stack:
    return cdk.Stack(cdk.App(), "S", env=cdk.Environment(region="us-east-2", account="123456789012"))


@pytest.fixture
def cluster(stack: cdk.Stack) -> IPcsCluster:
    return PcsCluster.from_pcs_cluster_attributes(
        stack,
        "Slurm",
        cluster_id="pcs_abc123",
        slurm_version="25.11",
        node_role=iam.Role.from_role_name(stack, "Role", "AWSPCS-Nodes"),
        instance_profile_arn="arn:aws:iam::123456789012:instance-profile/AWSPCS-Nodes",
    )


def of(template: Template, kind: str) -> Mapping[str, Mapping[str, Any]]:
    return template.find_resources(f"AWS::Logs::{kind}")


def test_every_log_type_goes_to_one_group_which_is_kept(stack: cdk.Stack, cluster: IPcsCluster) -> None:
    PcsClusterLogs(stack, "Logs", cluster=cluster)
    template = Template.from_stack(stack)
    (group,) = of(template, "LogGroup").values()
    assert group["Properties"]["LogGroupName"] == "/aws/vendedlogs/pcs/pcs_abc123"
    assert (group["DeletionPolicy"], group["Properties"]["RetentionInDays"]) == ("RetainExceptOnCreate", 90)
    sources = [source["Properties"] for source in of(template, "DeliverySource").values()]
    assert {source["LogType"] for source in sources} == LOG_TYPES
    assert len({source["Name"] for source in sources}) == len(LOG_TYPES)
    assert all(":cluster/pcs_abc123" in str(source["ResourceArn"]) for source in sources)


def test_a_delivery_joins_its_source_and_the_destination_after_both_exist(
    stack: cdk.Stack, cluster: IPcsCluster
) -> None:
    PcsClusterLogs(stack, "Logs", cluster=cluster)
    template = Template.from_stack(stack)
    sources = of(template, "DeliverySource")
    ((destination, properties),) = of(template, "DeliveryDestination").items()
    assert "*" not in str(properties["Properties"]["DestinationResourceArn"])
    assert list(of(template, "LogGroup")) == properties["DependsOn"]
    before = destination
    for (source, created), (id, delivery) in zip(sources.items(), of(template, "Delivery").items(), strict=True):
        # CloudWatch Logs refuses two changes at once.
        assert (created["DependsOn"], delivery["DependsOn"]) == ([before], [source])
        before = id
        assert delivery["Properties"] == {
            "DeliveryDestinationArn": {"Fn::GetAtt": [destination, "Arn"]},
            "DeliverySourceName": sources[source]["Properties"]["Name"],
        }


def test_a_key_may_be_used_by_cloudwatch_for_this_group_alone(stack: cdk.Stack, cluster: IPcsCluster) -> None:
    key = kms.Key(stack, "Key")
    PcsClusterLogs(stack, "Logs", cluster=cluster, key=key, retention=logs.RetentionDays.ONE_YEAR)
    template = Template.from_stack(stack)
    (group,) = of(template, "LogGroup").values()
    assert group["Properties"]["RetentionInDays"] == 365
    assert "KmsKeyId" in group["Properties"]
    (resource,) = template.find_resources("AWS::KMS::Key").values()
    statement = resource["Properties"]["KeyPolicy"]["Statement"][-1]
    assert statement["Principal"] == {"Service": "logs.us-east-2.amazonaws.com"}
    assert ":log-group:/aws/vendedlogs/pcs/pcs_abc123" in str(statement["Condition"])


def test_readers_read_this_group_alone(stack: cdk.Stack, cluster: IPcsCluster) -> None:
    reader = iam.Role(stack, "Reader", assumed_by=iam.AccountRootPrincipal())
    PcsClusterLogs(stack, "Logs", cluster=cluster).grants.read(reader).assert_success()
    Template.from_stack(stack).has_resource_properties(
        "AWS::IAM::Policy",
        {
            "PolicyDocument": {
                "Statement": [
                    {
                        "Action": ["logs:FilterLogEvents", "logs:GetLogEvents", "logs:StartQuery"],
                        "Effect": "Allow",
                        "Resource": Match.any_value(),
                    }
                ]
            }
        },
    )


def test_failed_launches_and_boots_are_counted_by_alarms(stack: cdk.Stack, cluster: IPcsCluster) -> None:
    alarms = PcsClusterLogs(stack, "Logs", cluster=cluster).alarms
    alarms.add_all(sns.Topic(stack, "Topic"))
    template = Template.from_stack(stack)
    filters = [item["Properties"] for item in of(template, "MetricFilter").values()]
    # As in the example record of AWS's page on scaling logs.
    assert {item["FilterPattern"] for item in filters} == {
        '{ $.status_code = "LAUNCH_FAILED" }',
        '{ ($.status_code = "LAUNCH_FAILED") && ($.reason_code != "INSUFFICIENT_CAPACITY") }',
        '{ $.reason_code = "BOOTSTRAP_FAILED" }',
    }
    counted = {item["MetricTransformations"][0]["MetricName"] for item in filters}
    watched = template.find_resources("AWS::CloudWatch::Alarm").values()
    assert {alarm["Properties"]["MetricName"] for alarm in watched} == counted
    assert counted == {f"{name}-pcs_abc123" for name in alarms.names}
    assert alarms.names == ("LaunchesFail", "LaunchesRefused", "BootsFail")
    assert all(alarm["Properties"]["TreatMissingData"] == "notBreaching" for alarm in watched)
    assert all("node-health.md" in alarm["Properties"]["AlarmDescription"] for alarm in watched)


def test_a_group_of_one_node_that_never_boots_is_an_alarm(stack: cdk.Stack, cluster: IPcsCluster) -> None:
    """A node has half an hour to join, and one that fails to boot alone is no alarm."""
    alarms = PcsClusterLogs(stack, "Logs", cluster=cluster).alarms
    alarms.add_all(sns.Topic(stack, "Topic"))
    watched = [
        item["Properties"] for item in Template.from_stack(stack).find_resources("AWS::CloudWatch::Alarm").values()
    ]
    for name in ("BootsFail", "LaunchesRefused"):
        (alarm,) = (item for item in watched if item["MetricName"].startswith(name))
        window = alarm["Period"] * alarm["EvaluationPeriods"]
        assert window / (30 * 60) > alarm["Threshold"] >= 1
        assert alarm["EvaluationPeriods"] == 1, "two failures of one node are in two periods"
