"""Templates of the Slurm section of a cluster file."""

import json
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template

from support import ROOT
from support.clusterfile_data import private_with_directory
from support.templates import templates
from ultracluster import clusterfile
from ultracluster.boot import User
from ultracluster.slurm import NodeUsers

FILE = ROOT / "examples" / "slurm-fine-tuning.yaml"


@pytest.fixture(scope="module")
def stacks() -> dict[str, dict[str, Any]]:
    return templates(clusterfile.load(FILE))


def of(stacks: dict[str, dict[str, Any]], stack: str, kind: str) -> dict[str, dict[str, Any]]:
    result = stacks[f"tuning-{stack}"]["Resources"].items()
    return {id: resource for id, resource in result if resource["Type"] == f"AWS::{kind}"}


def settings(result: list[dict[str, str]]) -> dict[str, str]:
    return {entry["ParameterName"]: entry["ParameterValue"] for entry in result}


def test_the_controller_has_rest_api_metrics_accounting_and_preemption(stacks: dict[str, dict[str, Any]]) -> None:
    (cluster,) = of(stacks, "Cluster", "PCS::Cluster").values()
    slurm = cluster["Properties"]["SlurmConfiguration"]
    assert slurm["Accounting"] == {"Mode": "STANDARD", "DefaultPurgeTimeInDays": 365}
    assert slurm["SlurmRest"] == {"Mode": "STANDARD"}
    result = settings(slurm["SlurmCustomSettings"])
    of_health = {"Prolog", "Epilog", "PrologFlags", "SchedulerParameters", "UnkillableStepTimeout"}
    assert of_health <= result.keys()
    assert {name: value for name, value in result.items() if name not in of_health} == {
        "AccountingStorageEnforce": "associations,limits,qos,safe",
        "AccountingStorageTRES": "gres/gpu",
        "CommunicationParameters": "enable_http",
        "MetricsType": "metrics/openmetrics",
        "PreemptMode": "REQUEUE",
        "PreemptParameters": "send_user_signal",
        "PreemptType": "preempt/partition_prio",
        "PriorityWeightFairshare": "10000",
        "PriorityWeightQOS": "10000",
    }
    assert not slurm.keys() & {"AuthKey", "JwtAuth"}


def test_nodes_are_elastic_and_login_nodes_are_always_up_on_separate_hosts(
    stacks: dict[str, dict[str, Any]],
) -> None:
    resources = of(stacks, "Compute", "PCS::ComputeNodeGroup").values()
    groups = {resource["Properties"]["Name"]: resource["Properties"] for resource in resources}
    sizes = {
        name: tuple(group["ScalingConfiguration"][f"{end}InstanceCount"] for end in ("Min", "Max"))
        for name, group in groups.items()
    }
    assert sizes == {"login": (2, 2), "tune": (0, 4), "cheap": (0, 12)}
    (placed,) = [entry for id, entry in of(stacks, "Compute", "EC2::PlacementGroup").items() if id.startswith("Login")]
    assert placed["Properties"]["Strategy"] == "spread"


def test_ssh_comes_from_the_named_ranges_only_with_a_key_and_no_public_address(
    stacks: dict[str, dict[str, Any]],
) -> None:
    (group,) = of(stacks, "Compute", "EC2::SecurityGroup").values()
    (rule,) = group["Properties"]["SecurityGroupIngress"]
    assert (rule["CidrIp"], rule["FromPort"], rule["ToPort"]) == ("10.8.0.0/16", 22, 22)
    launch = {
        id: entry["Properties"]["LaunchTemplateData"]
        for id, entry in of(stacks, "Compute", "EC2::LaunchTemplate").items()
    }
    assert {id: data.get("KeyName") for id, data in launch.items() if data.get("KeyName")} == {
        next(id for id in launch if id.startswith("Login")): "team"
    }
    assert "AssociatePublicIpAddress" not in json.dumps(launch)
    assert "LoginAddresses" in stacks["tuning-Compute"]["Outputs"]


def test_queues_hold_their_nodes_and_wait_for_the_qos_that_they_name(stacks: dict[str, dict[str, Any]]) -> None:
    queues = {entry["Properties"]["Name"]: entry for entry in of(stacks, "Compute", "PCS::Queue").values()}
    assert {name: len(entry["Properties"]["ComputeNodeGroupConfigurations"]) for name, entry in queues.items()} == {
        "urgent": 2,
        "tune": 1,
        "cheap": 1,
    }
    assert settings(queues["cheap"]["Properties"]["SlurmConfiguration"]["SlurmCustomSettings"]) == {
        "GraceTime": "300",
        "MaxTime": "7-00:00:00",
        "PreemptMode": "REQUEUE",
        "TRESBillingWeights": "GRES/gpu=0.3,CPU=0",
    }
    (association,) = of(stacks, "Compute", "SSM::Association").values()
    ((id, condition),) = of(stacks, "Compute", "CloudFormation::WaitCondition").items()
    assert id in queues["urgent"]["DependsOn"]
    assert id not in queues["cheap"].get("DependsOn", [])
    # Not for the association: Success is also the status of one whose nodes are not there yet.
    assert association["Properties"]["Parameters"]["handle"] == [condition["Properties"]["Handle"]]
    login = {id for id in of(stacks, "Compute", "PCS::ComputeNodeGroup") if id.startswith("Login")}
    assert login < set(condition["DependsOn"]), "its hour begins with the nodes"
    documents = of(stacks, "Compute", "SSM::Document")
    document = documents[association["Properties"]["Name"]["Ref"]]
    (step,) = document["Properties"]["Content"]["mainSteps"]
    script, run = "\n".join(step["inputs"]["runCommand"]), int(step["inputs"]["timeoutSeconds"])
    limit = int(script.partition("ULTRACLUSTER_LIMIT:-")[2].partition("}")[0])
    # Five minutes for software, twenty for the boot script, and the rest of a boot.
    assert 5 * 60 + 20 * 60 + 10 * 60 <= limit < run < int(condition["Properties"]["Timeout"]) == 3600
    assert association["Properties"]["ScheduleExpression"] == "rate(1 hour)", "what failed is tried again"
    assert association["Properties"]["MaxConcurrency"] == "1", "two login nodes at a time block slurmdbd"


def test_adding_a_user_changes_no_node() -> None:
    text = FILE.read_text()
    more = text.replace("    grace:", "    alan: {uid: 2003, accounts: [research]}\n    grace:")
    before, after = (templates(clusterfile.loads(source, "c.yaml")) for source in (text, more))
    changed = {
        resource["Type"]
        for stack in after
        for id, resource in after[stack]["Resources"].items()
        if before[stack]["Resources"].get(id) != resource
    }
    # The deployment waits for the changed script, so handle and condition are others.
    waits = {"AWS::CloudFormation::WaitCondition", "AWS::CloudFormation::WaitConditionHandle"}
    assert changed == {"AWS::SSM::Parameter", "AWS::SSM::Document", "AWS::SSM::Association", "AWS::PCS::Queue"} | waits


def test_users_are_created_five_at_a_time() -> None:
    """More requests at once exceed the rate of PutParameter."""
    parameters = list(of_users(*range(12)).items())
    assert len(parameters) == 6
    assert [parameter.get("DependsOn") for _, parameter in parameters] == [*[None] * 5, [parameters[0][0]]]


def of_users(*numbers: int) -> dict[str, Any]:
    """The parameters of users with long keys, two in each."""
    stack, key = cdk.Stack(), f"ssh-rsa AAAA{'B' * 1900}"
    users = [User(name=f"user{n:02}", uid=2001 + n, ssh_keys=[key]) for n in numbers]
    NodeUsers(stack, "Users", cluster="llama", users=users)
    return dict(Template.from_stack(stack).find_resources("AWS::SSM::Parameter"))


@pytest.mark.parametrize(("before", "after"), [((0, 1, 2, 3), (2, 3)), ((0, 1, 2, 3), (0, 2, 3)), ((0, 1), (4, 0, 1))])
def test_a_user_is_in_a_list_at_each_moment_of_an_update(before: tuple[int, ...], after: tuple[int, ...]) -> None:
    """CloudFormation creates and updates first, and deletes last: no list may change in place, and no name twice."""
    old, new = of_users(*before), of_users(*after)
    for id in old.keys() & new.keys():
        assert old[id]["Properties"] == new[id]["Properties"]
    created = {new[id]["Properties"]["Name"] for id in new.keys() - old.keys()}
    assert not created & {parameter["Properties"]["Name"] for parameter in old.values()}


def allowed(stacks: dict[str, dict[str, Any]], role: str) -> dict[str, list[str]]:
    """Resources of each action that the policies of a role allow, as text."""
    result: dict[str, list[str]] = {}
    for stack in stacks.values():
        for resource in stack["Resources"].values():
            if resource["Type"] != "AWS::IAM::Policy" or role not in json.dumps(resource["Properties"]["Roles"]):
                continue
            for statement in resource["Properties"]["PolicyDocument"]["Statement"]:
                actions = statement["Action"]
                for action in [actions] if isinstance(actions, str) else actions:
                    result.setdefault(action, []).append(json.dumps(statement["Resource"]))
    return result


def test_login_nodes_and_compute_nodes_have_a_role_each(stacks: dict[str, dict[str, Any]]) -> None:
    login, compute = allowed(stacks, "LoginRole"), allowed(stacks, "SlurmNodeRole")
    # State Manager runs sacctmgr on the login nodes.
    assert login.keys() - compute.keys() == {
        "ssm:DescribeAssociation",
        "ssm:DescribeDocument",
        "ssm:GetDocument",
        "ssm:ListInstanceAssociations",
        "ssm:UpdateInstanceAssociationStatus",
    }
    # `health: {replace: 2}`: a bad node terminates itself, within a budget, and notifies the topic.
    assert compute.keys() - login.keys() == {"ec2:TerminateInstances", "ssm:PutParameter", "sns:Publish"}
    assert login["s3:GetObject"] != compute["s3:GetObject"], "each reads its own boot scripts"
    users = json.dumps("arn:aws:ssm:us-east-2:123456789012:parameter/ultracluster/tuning/users")
    assert login["ssm:GetParametersByPath"] == [users]
    # The compute role also has its budget of replacements.
    assert compute["ssm:GetParametersByPath"] == [users, users.replace("/users", "/replaced/*")]
    for role in (login, compute):
        assert {action for action in role if action.startswith("s3:")} == {"s3:GetObject", "s3:PutObject"}
        # Nobody but root has the role, so that jobs would not reach the data bucket: copies of software only.
        assert role["s3:PutObject"][-1].endswith('/ultracluster/software/*"]]}')
    parameters = of(stacks, "Cluster", "SSM::Parameter").values()
    assert {entry["Properties"]["Value"] for entry in parameters} == {"ada 2001\ngrace 2002", "enforce"}


def test_each_node_group_has_the_instance_profile_of_its_role(stacks: dict[str, dict[str, Any]]) -> None:
    groups = of(stacks, "Compute", "PCS::ComputeNodeGroup").values()
    profiles = {
        group["Properties"]["Name"]: "Login" in json.dumps(group["Properties"]["IamInstanceProfileArn"])
        for group in groups
    }
    assert profiles == {"login": True, "tune": False, "cheap": False}
    roles = of(stacks, "Cluster", "IAM::Role")
    assert {entry["Properties"].get("Path") for id, entry in roles.items() if "Role" in id} >= {"/aws-pcs/"}


def test_jobs_reach_the_data_bucket_where_all_users_reach_the_metadata_service() -> None:
    text = FILE.read_text().replace("\nslurm:\n", "\nslurm:\n  imds: all\n")
    stacks = templates(clusterfile.loads(text, "c.yaml"))
    for role in ("LoginRole", "SlurmNodeRole"):
        assert "s3:PutObject" in allowed(stacks, role)


@pytest.fixture(scope="module")
def private() -> dict[str, dict[str, Any]]:
    return templates(clusterfile.load(ROOT / "examples" / "slurm-private.yaml"))


def test_a_private_cluster_has_service_endpoints_and_no_internet_access(
    private: dict[str, dict[str, Any]],
) -> None:
    resources = private["keep-Network"]["Resources"].values()
    kinds = {resource["Type"].removeprefix("AWS::EC2::") for resource in resources}
    assert not kinds & {"InternetGateway", "NatGateway", "EIP", "VPCGatewayAttachment"}
    assert [resource for resource in resources if resource["Type"] == "AWS::EC2::Route"] == []
    endpoints = [resource["Properties"] for resource in resources if resource["Type"] == "AWS::EC2::VPCEndpoint"]
    interfaces = {
        entry["ServiceName"].removeprefix("com.amazonaws.us-east-2.")
        for entry in endpoints
        if entry.get("VpcEndpointType") == "Interface" and entry["PrivateDnsEnabled"]
    }
    assert interfaces == {
        *("pcs", "ec2", "ssm", "ssmmessages", "logs", "monitoring", "aps-workspaces"),
        *("ecr.api", "ecr.dkr", "sts", "fsx"),
    }


def test_every_service_that_nodes_of_a_private_cluster_call_has_an_endpoint(
    private: dict[str, dict[str, Any]],
) -> None:
    endpoints = json.dumps(private["keep-Network"]["Resources"])
    services = {action.split(":")[0] for role in ("LoginRole", "SlurmNodeRole") for action in allowed(private, role)}
    # S3 has a gateway endpoint.
    assert services >= {"aps", "pcs", "s3", "ssm", "ssmmessages"}
    for service in services - {"s3"}:
        assert f"com.amazonaws.us-east-2.{'aps-workspaces' if service == 'aps' else service}" in endpoints


def test_nodes_that_replace_themselves_and_have_a_directory_have_endpoints_for_it() -> None:
    stacks = templates(clusterfile.loads(private_with_directory(), "c.yaml"))
    services = {
        item["Properties"]["ServiceName"].rpartition(".")[2]
        for item in stacks["keep-Network"]["Resources"].values()
        if item["Type"] == "AWS::EC2::VPCEndpoint" and isinstance(item["Properties"]["ServiceName"], str)
    }
    called = {action.split(":")[0] for action in allowed(stacks, "SlurmNodeRole")}
    assert {"ec2", "sns", "secretsmanager"} <= called & services


def endpoint_policies(stacks: dict[str, dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Statements of the endpoints, by service."""
    endpoints = [
        item["Properties"]
        for item in stacks["keep-Network"]["Resources"].values()
        if item["Type"] == "AWS::EC2::VPCEndpoint" and "PolicyDocument" in item["Properties"]
    ]
    return {
        item["ServiceName"].partition("us-east-2.")[2] if isinstance(item["ServiceName"], str) else "s3": item[
            "PolicyDocument"
        ]["Statement"]
        for item in endpoints
    }


def perimeter_statements(template: dict[str, Any]) -> list[dict[str, Any]]:
    """Statements of bucket policies that deny access from outside."""
    return [
        statement
        for item in template["Resources"].values()
        if item["Type"] == "AWS::S3::BucketPolicy"
        for statement in item["Properties"]["PolicyDocument"]["Statement"]
        if statement.get("Sid") == "Perimeter"
    ]


def test_nodes_of_a_private_cluster_reach_buckets_of_the_account_and_of_aws_only(
    private: dict[str, dict[str, Any]],
) -> None:
    policies = endpoint_policies(private)
    of_account, of_aws = policies.pop("s3")
    inside = {"aws:PrincipalAccount": ["123456789012"], "aws:ResourceAccount": ["123456789012"]}
    assert of_account["Condition"] == {"StringEquals": inside}
    assert of_aws["Action"] == "s3:GetObject"
    assert {
        "arn:aws:s3:::al2023-repos-us-east-2-de612dc2/*",
        "arn:aws:s3:::aws-pcs-repo-public-keys-us-east-2/*",
        "arn:aws:s3:::aws-pcs-repo-us-east-2/*",
        "arn:aws:s3:::prod-us-east-2-starport-layer-bucket/*",
    } <= set(of_aws["Resource"])
    assert not any("*" in arn.removesuffix("/*") for arn in of_aws["Resource"])
    # The others are for requests that name no resource of another account.
    assert policies.keys() >= {"aps-workspaces", "ecr.api", "ecr.dkr", "logs", "monitoring", "ssm", "sts"}
    by_principal = {"ec2", "fsx", "pcs", "ssmmessages"}
    for service, statements in policies.items():
        condition = statements[0]["Condition"]["StringEquals"]
        assert condition == (inside if service not in by_principal else {"aws:PrincipalAccount": ["123456789012"]})


def test_the_data_bucket_of_a_private_cluster_denies_access_from_outside_the_account(
    private: dict[str, dict[str, Any]],
) -> None:
    (denied,) = perimeter_statements(private["keep-Storage"])
    assert denied["Effect"] == "Deny"
    assert denied["Condition"] == {
        "StringNotEqualsIfExists": {"aws:PrincipalAccount": ["123456789012"]},
        "BoolIfExists": {"aws:PrincipalIsAWSService": "false"},
    }


def test_a_private_cluster_reaches_the_data_bucket_of_another_account_that_its_file_names() -> None:
    text = (ROOT / "examples" / "slurm-private.yaml").read_text()
    text = text.replace("storage: {", "storage: {data-bucket: {existing: my-datasets}, ")
    text += "perimeter: {organization: o-a1b2c3d4e5}\n"
    policies = endpoint_policies(templates(clusterfile.loads(text, "c.yaml")))
    of_organization, _, of_file = policies["s3"]
    by = {"aws:PrincipalOrgID": "o-a1b2c3d4e5"}
    assert of_organization["Condition"] == {"StringEquals": {**by, "aws:ResourceOrgID": "o-a1b2c3d4e5"}}
    assert of_file["Condition"] == {"StringEquals": by}
    assert "arn:aws:s3:::my-datasets/*" in of_file["Resource"]
