"""The admin host, and what it applies."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as l2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns

from ultracluster.eks import EksAdminHost, EksPlatform
from ultracluster.eks import _kubectl as kubectl
from ultracluster.rules import Refusal

FILES = {"bundle/bundle.json": "{}"}


def created(
    files: dict[str, str] = FILES,
    values: dict[str, str] | None = None,
    *,
    endpoints: bool = False,
    runs: dict[str, datetime] | None = None,
    directories: Sequence[tuple[str, str]] = (),
) -> assertions.Template:
    stack = cdk.Stack(cdk.App(analytics_reporting=False), "S")
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1)
    control_plane = l2.Cluster.from_cluster_attributes(
        stack, "Cluster", cluster_name="orca", cluster_security_group_id="sg-0123456789abcdef0", vpc=vpc
    )
    group = ec2.SecurityGroup.from_security_group_id(stack, "Endpoints", "sg-0fedcba9876543210")
    host = EksAdminHost(
        stack,
        "Host",
        cluster=control_plane,
        vpc=vpc,
        subnet=vpc.private_subnets[0],
        endpoints=group if endpoints else None,
    )
    key = kms.Key.from_key_arn(stack, "Key", "arn:aws:kms:us-east-2:123456789012:key/1")
    EksPlatform(
        stack,
        "Platform",
        host=host,
        files=files,
        values=values or {},
        topic=sns.Topic(stack, "Topic", master_key=key) if runs else None,
        runs=runs,
        directories=directories,
    )
    return assertions.Template.from_stack(stack)


@pytest.fixture(scope="module")
def template() -> assertions.Template:
    return created(values={"FileSystemId": cdk.Aws.STACK_ID})


def only(template: assertions.Template, kind: str) -> dict[str, Any]:
    (result,) = template.find_resources(kind).values()
    properties: dict[str, Any] = result["Properties"]
    return properties


def test_the_host_is_reached_by_session_manager_only(template: assertions.Template) -> None:
    instance = only(template, "AWS::EC2::Instance")
    assert instance["MetadataOptions"] == {"HttpPutResponseHopLimit": 1, "HttpTokens": "required"}
    (interface,) = instance["NetworkInterfaces"]
    assert interface["AssociatePublicIpAddress"] is False
    assert "KeyName" not in instance
    assert instance["BlockDeviceMappings"][0]["Ebs"]["Encrypted"] is True
    group = only(template, "AWS::EC2::SecurityGroup")
    assert "SecurityGroupIngress" not in group
    assert [(rule["FromPort"], rule["ToPort"]) for rule in group["SecurityGroupEgress"]] == [(443, 443)]
    (ingress,) = template.find_resources("AWS::EC2::SecurityGroupIngress").values()
    assert (ingress["Properties"]["GroupId"], ingress["Properties"]["FromPort"]) == ("sg-0123456789abcdef0", 443)


def test_the_host_reaches_the_endpoints_of_a_private_vpc() -> None:
    rules = created(endpoints=True).find_resources("AWS::EC2::SecurityGroupIngress").values()
    assert {rule["Properties"]["GroupId"] for rule in rules} == {"sg-0123456789abcdef0", "sg-0fedcba9876543210"}


def test_the_role_has_exact_actions(template: assertions.Template) -> None:
    actions = {
        action: statement["Resource"]
        for policy in template.find_resources("AWS::IAM::Policy").values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        for action in ([statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"])
    }
    assert not [action for action in actions if "*" in action]
    wide = {action for action, resource in actions.items() if resource == "*"}
    assert {action.split(":")[0] for action in wide} == {"ssm", "ssmmessages"}
    assert "ssm:GetParameter" not in actions
    assert set(actions) - wide == {
        "eks:DescribeCluster",
        "s3:GetObject",
        "ssm:DescribeAssociation",
        "ssm:DescribeDocument",
        "ssm:GetDocument",
        "ssm:ListInstanceAssociations",
        "ssm:UpdateInstanceAssociationStatus",
    }


def test_the_deployment_waits_and_reports_the_log(template: assertions.Template) -> None:
    association = only(template, "AWS::SSM::Association")
    assert association["WaitForSuccessTimeoutSeconds"] == 4 * 3600
    (handle,) = template.find_resources("AWS::CloudFormation::WaitConditionHandle")
    assert association["Parameters"]["handle"] == [{"Ref": handle}]
    assert only(template, "AWS::CloudFormation::WaitCondition")["Handle"] == {"Ref": handle}
    assert "Fn::Base64" in association["Parameters"]["values"][0]
    document = only(template, "AWS::SSM::Document")["Content"]
    for name, parameter in document["parameters"].items():
        assert parameter["allowedPattern"].startswith("^["), name
    commands = document["mainSteps"][0]["inputs"]["runCommand"]
    assert "export VALUES='{{ values }}'" in commands
    size = len(json.dumps(document).encode())
    assert size < 64 * 1024


def runs(template: assertions.Template) -> tuple[str, str, str]:
    kinds = ("AWS::SSM::Association", "AWS::CloudFormation::WaitCondition", "AWS::CloudFormation::WaitConditionHandle")
    first, second, third = (next(iter(template.find_resources(kind))) for kind in kinds)
    return first, second, third


def test_other_content_is_another_association_on_the_same_host(template: assertions.Template) -> None:
    before = runs(template)
    assert runs(created(values={"FileSystemId": cdk.Aws.STACK_ID})) == before
    for other in (created({"bundle/bundle.json": "{ }"}), created(values={"FileSystemId": "fs-1"})):
        assert not set(runs(other)) & set(before)
        assert next(iter(other.find_resources("AWS::EC2::Instance"))) == next(
            iter(template.find_resources("AWS::EC2::Instance"))
        )


def test_the_host_opens_a_directory_that_is_linked_later(template: assertions.Template) -> None:
    linked = created(values={"FileSystemId": cdk.Aws.STACK_ID}, directories=[("/fsx", "/"), ("/fsx", "/runs")])
    assert "export DIRECTORIES='/fsx:/ /fsx:/runs'" in json.dumps(linked.to_json())
    associations = [side.find_resources("AWS::SSM::Association").keys() for side in (template, linked)]
    assert associations[0] != associations[1], "the host runs again"


def test_the_package_with_kubectl_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kubectl, "_DISTRIBUTION", "no-such-package")
    with pytest.raises(Refusal, match="no-such-package is not installed") as refused:
        created()
    assert [message.rule.id for message in refused.value.messages] == ["kubectl-missing"]


def test_rejects_a_public_subnet() -> None:
    stack = cdk.Stack()
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1)
    control_plane = l2.Cluster.from_cluster_attributes(stack, "Cluster", cluster_name="orca", vpc=vpc)
    with pytest.raises(Refusal, match="subnet"):
        EksAdminHost(stack, "Host", cluster=control_plane, vpc=vpc, subnet=vpc.public_subnets[0])


def test_a_run_after_the_start_of_a_block_publishes_what_is_ready() -> None:
    template = created(runs={"RunTrain": datetime(2026, 12, 4, 12, 15, tzinfo=UTC)})
    (schedule,) = template.find_resources("AWS::Scheduler::Schedule").values()
    properties = schedule["Properties"]
    assert properties["ScheduleExpression"] == "at(2026-12-04T12:15:00)"
    joined = properties["Target"]["Input"]["Fn::Join"][1]
    sent = json.loads("".join(part if isinstance(part, str) else "x" for part in joined))
    assert sent["Parameters"]["handle"] == [""]
    assert set(sent["Parameters"]) == set(only_document(template)["parameters"])
    text = json.dumps(template.to_json())
    allowed = [
        action
        for policy in template.find_resources("AWS::IAM::Policy").values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        for action in (statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]])
    ]
    assert {"ssm:SendCommand", "sns:Publish", "kms:GenerateDataKey"} <= set(allowed)
    assert "export TOPIC=" in text


def test_other_content_does_not_run_the_association_of_the_earlier_one() -> None:
    """With a new default version, State Manager runs each association of a document at once."""
    template = created()
    (document,) = template.find_resources("AWS::SSM::Document").items()
    assert document[1]["Properties"]["UpdateMethod"] == "Replace"
    (association,) = template.find_resources("AWS::SSM::Association").values()
    assert association["Properties"]["Name"] == {"Ref": document[0]}


def only_document(template: assertions.Template) -> dict[str, Any]:
    (document,) = template.find_resources("AWS::SSM::Document").values()
    content: dict[str, Any] = document["Properties"]["Content"]
    return content
