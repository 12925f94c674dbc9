"""Requests that the policies of people allow, and requests that they must not."""

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam

from support import EXAMPLES
from support.iam import allowed
from support.templates import by_type, resources_of, template_of
from ultracluster import clusterfile
from ultracluster.slurm import PcsAdministratorPolicy, PcsCluster, PcsComputeNodeGroup, PcsUserPolicy
from ultracluster.slurm._node_health import allow_health_mode

ACCOUNT = "123456789012"
CLUSTER = f"arn:aws:pcs:us-east-2:{ACCOUNT}:cluster/pcs_abc123"
OTHER = f"arn:aws:pcs:us-east-2:{ACCOUNT}:cluster/pcs_zzz999"
NODE = f"arn:aws:ec2:us-east-2:{ACCOUNT}:instance/i-0123456789abcdef0"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/aws-pcs/Nodes"
LOGIN, COMPUTE = "pcs_login1", "pcs_train1"
CHECKED = {"ssm:SessionDocumentAccessCheck": "true"}
ADA = {"aws:userid": "AROAEXAMPLE:ada"}
DOCUMENT = f"arn:aws:ssm:us-east-2:{ACCOUNT}:document/Shell"
SHELL = f"arn:aws:ssm:us-east-2:{ACCOUNT}:document/SSM-SessionManagerRunShell"


@pytest.fixture(scope="module")
def documents() -> dict[str, dict[str, Any]]:
    stack = cdk.Stack(cdk.App(analytics_reporting=False), "S", env=cdk.Environment(account=ACCOUNT, region="us-east-2"))
    role = iam.Role.from_role_arn(stack, "Role", ROLE)
    cluster = PcsCluster.from_pcs_cluster_attributes(
        stack,
        "Slurm",
        cluster_id="pcs_abc123",
        slurm_version="25.11",
        node_role=role,
        instance_profile_arn=f"arn:aws:iam::{ACCOUNT}:instance-profile/aws-pcs/Nodes",
    )
    login = PcsComputeNodeGroup.from_pcs_compute_node_group_attributes(
        stack, "Login", cluster=cluster, node_group_id=LOGIN, name="login"
    )
    PcsUserPolicy(stack, "User", cluster=cluster, login=login, grafana="llama-Observability-Grafana-*")
    administrator = PcsAdministratorPolicy(stack, "Administrator", cluster=cluster, node_roles=role)
    allow_health_mode(administrator, stack, cluster="llama")
    template = resources_of(stack)
    (session,) = (id for id, resource in template.items() if resource["Type"] == "AWS::SSM::Document")
    known = {"AWS::Partition": "aws", "AWS::Region": "us-east-2", "AWS::AccountId": ACCOUNT, session: "Shell"}
    return {
        kind: plain(resource["Properties"]["PolicyDocument"], known)
        for id, resource in template.items()
        for kind in ("User", "Administrator")
        if resource["Type"] == "AWS::IAM::ManagedPolicy" and id.startswith(kind)
    }


def plain(value: Any, known: dict[str, str]) -> Any:
    match value:
        case {"Ref": name}:
            return known[name]
        case {"Fn::Join": ["", parts]}:
            return "".join(plain(part, known) for part in parts)
        case dict():
            assert not any(key.startswith("Fn::") for key in value)
            return {key: plain(item, known) for key, item in value.items()}
        case list():
            return [plain(item, known) for item in value]
    return value


def tag(name: str, value: str, **more: str) -> dict[str, str]:
    return {f"ssm:resourceTag/{name}": value, f"aws:ResourceTag/{name}": value, **more}


LOGIN_NODE = {**tag("aws:pcs:compute-node-group-id", LOGIN), **tag("aws:pcs:cluster-id", "pcs_abc123")}
COMPUTE_NODE = {**tag("aws:pcs:compute-node-group-id", COMPUTE), **tag("aws:pcs:cluster-id", "pcs_abc123")}
STRANGE_NODE = {**tag("aws:pcs:compute-node-group-id", "pcs_other1"), **tag("aws:pcs:cluster-id", "pcs_zzz999")}
GRAFANA = tag("aws:autoscaling:groupName", "llama-Observability-Grafana-1A2B3C")
MODE = f"arn:aws:ssm:us-east-2:{ACCOUNT}:parameter/ultracluster/llama/health-mode"
LOG_GROUP = f"arn:aws:logs:us-east-2:{ACCOUNT}:log-group"
PORT, SSH, REMOTE = (
    f"arn:aws:ssm:us-east-2::document/AWS-Start{name}Session{tail}"
    for name, tail in (("PortForwarding", ""), ("SSH", ""), ("PortForwarding", "ToRemoteHost"))
)


@pytest.mark.parametrize(
    ("action", "resource", "keys"),
    [
        ("pcs:GetCluster", CLUSTER, {}),
        ("pcs:ListQueues", CLUSTER, {}),
        ("pcs:GetQueue", f"{CLUSTER}/queue/pcs_q1", {}),
        ("ec2:DescribeInstances", "*", {}),
        ("ssm:StartSession", NODE, {**LOGIN_NODE, **CHECKED}),
        ("ssm:StartSession", NODE, {**GRAFANA, **CHECKED}),
        ("ssm:StartSession", DOCUMENT, CHECKED),
        ("ssm:StartSession", PORT, CHECKED),
        ("ssm:StartSession", SSH, CHECKED),
        ("ssm:TerminateSession", f"arn:aws:ssm:us-east-2:{ACCOUNT}:session/AROAEXAMPLE:ada-0f1", ADA),
        ("ssmmessages:OpenDataChannel", f"arn:aws:ssm:us-east-2:{ACCOUNT}:session/AROAEXAMPLE:ada-0f1", ADA),
    ],
)
def test_users_may(documents: dict[str, dict[str, Any]], action: str, resource: str, keys: dict[str, str]) -> None:
    assert allowed([documents["User"]], action, resource, keys=keys)


@pytest.mark.parametrize(
    ("action", "resource", "keys"),
    [
        # No session on compute nodes, on nodes of other clusters, on instances without tags.
        ("ssm:StartSession", NODE, {**COMPUTE_NODE, **CHECKED}),
        ("ssm:StartSession", NODE, {**STRANGE_NODE, **CHECKED}),
        ("ssm:StartSession", NODE, CHECKED),
        # Nor on nodes with a tag of Grafana that people may set.
        ("ssm:StartSession", NODE, {**STRANGE_NODE, **tag("Name", "llama-grafana"), **CHECKED}),
        ("ssm:StartSession", NODE, {**tag("aws:autoscaling:groupName", "other-Observability-Grafana-1A2B"), **CHECKED}),
        # Session Manager's own shell is one of ssm-user, who may become root; nor a session without a document.
        ("ssm:StartSession", SHELL, CHECKED),
        ("ssm:StartSession", NODE, {**LOGIN_NODE, "ssm:SessionDocumentAccessCheck": "false"}),
        # The agent is root: it would connect to the metadata service.
        ("ssm:StartSession", REMOTE, CHECKED),
        ("ssm:SendCommand", NODE, LOGIN_NODE),
        ("ssm:TerminateSession", f"arn:aws:ssm:us-east-2:{ACCOUNT}:session/AROAEXAMPLE:grace-0f1", ADA),
        ("ssm:TerminateSession", f"arn:aws:ssm:us-east-2:{ACCOUNT}:session/AROAEXAMPLE:ada-0f1", {}),
        ("pcs:GetCluster", OTHER, {}),
        ("pcs:UpdateQueue", f"{CLUSTER}/queue/pcs_q1", {}),
        ("pcs:RegisterComputeNodeGroupInstance", CLUSTER, {}),
        ("ec2:TerminateInstances", NODE, LOGIN_NODE),
        ("iam:PassRole", ROLE, {"iam:PassedToService": "ec2.amazonaws.com"}),
        ("sts:AssumeRole", ROLE, {}),
        ("ssm:GetParameter", f"arn:aws:ssm:us-east-2:{ACCOUNT}:parameter/ultracluster/llama/users/ada", {}),
        ("cloudformation:CreateStack", "*", {}),
    ],
)
def test_users_must_not(documents: dict[str, dict[str, Any]], action: str, resource: str, keys: dict[str, str]) -> None:
    assert not allowed([documents["User"]], action, resource, keys=keys)


@pytest.mark.parametrize(
    ("action", "resource", "keys"),
    [
        ("pcs:UpdateCluster", CLUSTER, {}),
        ("pcs:CreateComputeNodeGroup", CLUSTER, {}),
        ("pcs:UpdateComputeNodeGroup", f"{CLUSTER}/computenodegroup/pcs_train1", {}),
        ("pcs:DeleteQueue", f"{CLUSTER}/queue/pcs_q1", {}),
        ("ec2:RunInstances", "*", {}),
        ("iam:PassRole", ROLE, {"iam:PassedToService": "ec2.amazonaws.com"}),
        ("ec2:TerminateInstances", NODE, COMPUTE_NODE),
        ("ssm:StartSession", NODE, COMPUTE_NODE),
        ("ssm:StartSession", NODE, LOGIN_NODE),
        ("ssm:StartSession", SHELL, {}),
        ("logs:FilterLogEvents", f"{LOG_GROUP}:/aws/vendedlogs/pcs/pcs_abc123:*", {}),
        # What runbooks and the page on the health of nodes run.
        ("logs:StartQuery", f"{LOG_GROUP}:/ultracluster/pcs_abc123/nodes:*", {}),
        ("logs:GetQueryResults", "*", {}),
        ("logs:StopQuery", "*", {}),
        ("ec2:DescribeInstanceStatus", "*", {}),
        ("ec2:GetConsoleOutput", NODE, COMPUTE_NODE),
        ("fsx:DescribeFileSystems", "*", {}),
        ("ssm:PutParameter", MODE, {}),
        ("ssm:GetParameter", MODE, {}),
    ],
)
def test_administrators_may(
    documents: dict[str, dict[str, Any]], action: str, resource: str, keys: dict[str, str]
) -> None:
    assert allowed([documents["Administrator"]], action, resource, keys=keys)


@pytest.mark.parametrize(
    ("action", "resource", "keys"),
    [
        ("pcs:DeleteCluster", CLUSTER, {}),
        ("pcs:UpdateComputeNodeGroup", f"{OTHER}/computenodegroup/pcs_train1", {}),
        ("pcs:RegisterComputeNodeGroupInstance", CLUSTER, {}),
        ("ec2:TerminateInstances", NODE, STRANGE_NODE),
        ("ec2:TerminateInstances", NODE, {}),
        ("ssm:StartSession", NODE, STRANGE_NODE),
        ("ec2:GetConsoleOutput", NODE, STRANGE_NODE),
        ("ssm:PutParameter", MODE.replace("llama", "other"), {}),
        ("ssm:PutParameter", MODE.replace("health-mode", "users/ada"), {}),
        ("logs:StartQuery", f"{LOG_GROUP}:/ultracluster/pcs_zzz999/nodes:*", {}),
        ("iam:PassRole", f"arn:aws:iam::{ACCOUNT}:role/Admin", {"iam:PassedToService": "ec2.amazonaws.com"}),
        ("iam:PassRole", ROLE, {"iam:PassedToService": "lambda.amazonaws.com"}),
        ("iam:PassRole", ROLE, {}),
        ("iam:CreateRole", "*", {}),
        ("fsx:DeleteFileSystem", "*", {}),
        ("s3:DeleteBucket", "arn:aws:s3:::data", {}),
        ("logs:FilterLogEvents", f"arn:aws:logs:us-east-2:{ACCOUNT}:log-group:/aws/vendedlogs/pcs/pcs_zzz999:*", {}),
        ("logs:DeleteLogGroup", f"arn:aws:logs:us-east-2:{ACCOUNT}:log-group:/aws/vendedlogs/pcs/pcs_abc123", {}),
        ("sts:AssumeRole", ROLE, {}),
    ],
)
def test_administrators_must_not(
    documents: dict[str, dict[str, Any]], action: str, resource: str, keys: dict[str, str]
) -> None:
    assert not allowed([documents["Administrator"]], action, resource, keys=keys)


def test_users_reach_the_grafana_of_their_cluster_by_a_tag_of_aws() -> None:
    """The name of the Auto Scaling group, which CloudFormation makes of stack and logical id."""
    cluster = clusterfile.load(next(path for path in EXAMPLES if path.stem == "slurm-own-grafana"))
    (group,) = by_type(template_of(cluster, "Observability"), "AWS::AutoScaling::AutoScalingGroup")
    policies = by_type(template_of(cluster, "Compute"), "AWS::IAM::ManagedPolicy")
    (user,) = (policy["Properties"]["PolicyDocument"] for id, policy in policies.items() if id.startswith("UserPolicy"))
    tested = [item["Condition"] for item in user["Statement"] if item.get("Sid", "").startswith("StartSession")]
    assert {"ssm:resourceTag/aws:autoscaling:groupName": f"{cluster.name}-Observability-{group}-*"} in [
        condition.get("StringLike") for condition in tested
    ]
    (administrator,) = (policy for id, policy in policies.items() if id.startswith("AdministratorPolicy"))
    assert f"parameter/ultracluster/{cluster.name}/health-mode" in str(administrator)


@pytest.mark.parametrize("kind", ["User", "Administrator"])
def test_a_policy_fits_into_a_managed_policy(documents: dict[str, dict[str, Any]], kind: str) -> None:
    # 6,144 characters, white space aside: https://docs.aws.amazon.com/IAM/latest/UserGuide/
    # reference_iam-quotas.html (read 2026-11-22)
    assert len(str(documents[kind]).replace(" ", "")) < 6144


def test_a_deny_wins_and_an_unknown_operator_is_refused() -> None:
    allow = {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}
    deny = {"Effect": "Deny", "NotAction": ["s3:Get*"], "Resource": "*"}
    policy = {"Version": "2012-10-17", "Statement": [allow, deny]}
    assert allowed([policy], "s3:GetObject", "arn:aws:s3:::data/a")
    assert not allowed([policy], "s3:PutObject", "arn:aws:s3:::data/a")
    strange = {**allow, "Condition": {"NumericLessThan": {"a": "1"}}}
    with pytest.raises(NotImplementedError, match="NumericLessThan"):
        allowed([{"Version": "2012-10-17", "Statement": [strange]}], "s3:GetObject")
