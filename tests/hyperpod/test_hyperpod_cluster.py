"""HyperPod clusters, and what the service refuses."""

import http.server
import json
import threading
from typing import Any

import aws_cdk as cdk
import boto3
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Annotations, Match, Template
from botocore.session import get_session
from moto import mock_aws

from support.contracts import World
from support.contracts.hyperpod import cluster, groups, stack
from ultracluster import compute, hyperpod
from ultracluster.catalogue.ec2 import INSTANCE_TYPES
from ultracluster.catalogue.schedulers import hyperpod as facts
from ultracluster.hyperpod import _copy_handler
from ultracluster.rules import Refusal

PLAN = "arn:aws:sagemaker:us-east-2:123456789012:training-plan/p6"
SCRIPTS = {"setup.sh": "#!/usr/bin/env bash\n"}


def properties(**more: Any) -> dict[str, Any]:
    parent = stack()
    cluster(parent, "llama", World(parent), **more)
    (resource,) = Template.from_stack(parent).find_resources("AWS::SageMaker::Cluster").values()
    return dict(resource)


def test_a_cluster_provisions_continuously_and_configures_slurm_by_the_api() -> None:
    result = properties(groups=groups(capacity=compute.TrainingPlan(arn=PLAN), deep_health_checks=True, volume_gib=500))
    written = result["Properties"]
    assert (written["NodeProvisioningMode"], written["NodeRecovery"]) == ("Continuous", "Automatic")
    assert written["Orchestrator"] == {"Slurm": {}}, "continuous provisioning refuses a strategy"
    controller, train = written["InstanceGroups"]
    assert controller["SlurmConfig"] == {"NodeType": "Controller"}
    assert controller["CapacityRequirements"] == {"OnDemand": {}}
    assert train["SlurmConfig"] == {"NodeType": "Compute", "PartitionNames": ["train"]}
    assert (train["InstanceType"], train["TrainingPlanArn"]) == ("ml.p5en.48xlarge", PLAN)
    assert train["OnStartDeepHealthChecks"] == ["InstanceStress", "InstanceConnectivity"]
    assert train["InstanceStorageConfigs"] == [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}]
    assert "CapacityRequirements" not in train


@pytest.mark.parametrize(
    ("type", "count", "checks"),
    [
        ("p5en.48xlarge", 2, ["InstanceStress", "InstanceConnectivity"]),
        ("p5en.48xlarge", 1, ["InstanceStress"]),
        ("g5.xlarge", 4, ["InstanceStress"]),
        ("g5.8xlarge", 4, ["InstanceStress", "InstanceConnectivity"]),
    ],
)
def test_nodes_are_tested_with_each_other_where_there_are_several_with_efa(
    type: str, count: int, checks: list[str]
) -> None:
    written = properties(groups=groups(instance_type=type, count=count, deep_health_checks=True))["Properties"]
    assert written["InstanceGroups"][1]["OnStartDeepHealthChecks"] == checks


def test_a_strategy_takes_the_place_of_continuous_provisioning() -> None:
    written = properties(strategy="Managed")["Properties"]
    assert written["Orchestrator"] == {"Slurm": {"SlurmConfigStrategy": "Managed"}}
    assert "NodeProvisioningMode" not in written


SECRET = "arn:aws:secretsmanager:us-east-2:123456789012:secret:slurm"
KEY = "arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"


def test_the_controller_alone_reads_the_secret_of_an_accounting_database() -> None:
    """Agents of the service serve the credentials of the role to all users of a node."""
    parent = stack()
    database = hyperpod.AccountingDatabase(endpoint="db.example.com", secret_arn=SECRET, key_arn=KEY)
    cluster(parent, "llama", World(parent), accounting=database)
    template = Template.from_stack(parent)
    (written,) = template.find_resources("AWS::SageMaker::Cluster").values()
    slurm = written["Properties"]["Orchestrator"]["Slurm"]
    assert slurm == {"AccountingDatabase": {"Endpoint": "db.example.com", "Port": 3306, "SecretArn": SECRET}}
    of_controller, of_nodes = (group["ExecutionRole"] for group in written["Properties"]["InstanceGroups"])
    assert of_controller != of_nodes
    readers = {id: policy for id, policy in policies(template).items() if "secretsmanager" in json.dumps(policy)}
    ((id, reader),) = readers.items()
    assert reader["Roles"] == [{"Ref": of_controller["Fn::GetAtt"][0]}]
    statements = reader["PolicyDocument"]["Statement"]
    assert {"Action": "secretsmanager:GetSecretValue", "Effect": "Allow", "Resource": SECRET} in statements
    assert {"Action": "kms:Decrypt", "Effect": "Allow", "Resource": KEY} in statements
    assert id in written["DependsOn"]


def test_a_database_that_is_named_later_changes_no_role_of_a_group() -> None:
    """An instance group keeps its execution role."""
    database = hyperpod.AccountingDatabase(endpoint="db.example.com", secret_arn=SECRET)
    before, after = (
        [group["ExecutionRole"] for group in properties(**more)["Properties"]["InstanceGroups"]]
        for more in ({}, {"accounting": database})
    )
    assert before == after
    assert before[0] != before[1]


def test_the_controller_has_the_permissions_of_nodes() -> None:
    parent = stack()
    created = cluster(parent, "llama", World(parent))
    s3.Bucket.from_bucket_name(parent, "Data", "data").grant_read(created.role)
    (policy,) = policies(Template.from_stack(parent)).values()
    assert len(policy["Roles"]) == 2
    assert "s3:GetObject*" in json.dumps(policy)


def test_the_role_allows_grants_for_a_key_of_the_volumes() -> None:
    """https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-cmk.html (read 2026-11-26)."""
    parent = stack()
    cluster(parent, "llama", World(parent), volume_key=kms.Key.from_key_arn(parent, "Key", KEY))
    (policy,) = policies(Template.from_stack(parent)).values()
    statements = [each for each in policy["PolicyDocument"]["Statement"] if each["Resource"] == KEY]
    via = {"StringEquals": {"kms:ViaService": "sagemaker.us-east-2.amazonaws.com"}}
    grant = {"Bool": {"kms:GrantIsForAWSResource": "true"}, **via}
    assert {each["Action"]: each["Condition"] for each in statements} == {
        "kms:CreateGrant": grant,
        "kms:DescribeKey": via,
    }


def policies(template: Template) -> dict[str, dict[str, Any]]:
    created = template.find_resources("AWS::IAM::Policy")
    return {id: policy["Properties"] for id, policy in created.items()}


def test_nodes_of_an_eks_cluster_have_no_slurm() -> None:
    arn = "arn:aws:eks:us-east-2:123456789012:cluster/llama"
    nodes = hyperpod.HyperPodInstanceGroup(name="train", instance_type="p5en.48xlarge", count=2)
    written = properties(groups=[nodes], kubernetes=hyperpod.HyperPodKubernetes(cluster_arn=arn))["Properties"]
    assert written["Orchestrator"] == {"Eks": {"ClusterArn": arn}}
    assert "SlurmConfig" not in written["InstanceGroups"][0]


def test_a_type_that_price_lists_lack_is_checked_no_less_otherwise() -> None:
    """cfn-lint knows neither of both; one rule is off, on this resource only."""
    resource = properties(groups=groups(instance_type="p6e-gb200.36xlarge", capacity=compute.TrainingPlan(arn=PLAN)))
    assert resource["Metadata"]["cfn-lint"] == {"config": {"ignore_checks": ["E3644"]}}
    assert "Metadata" not in properties()


def test_the_role_allows_what_a_node_in_a_vpc_does_and_no_bucket_but_its_own() -> None:
    parent = stack()
    role = hyperpod.HyperPodRole(parent, "Role")
    scripts = hyperpod.HyperPodScripts(parent, "Scripts", scripts=SCRIPTS, bucket_name="sagemaker-llama")
    scripts.grants.read(role)
    template = Template.from_stack(parent)
    template.has_resource_properties(
        "AWS::IAM::Role",
        {"AssumeRolePolicyDocument": Match.object_like({"Statement": [Match.object_like(
            {"Principal": {"Service": "sagemaker.amazonaws.com"}})]})},
    )  # fmt: skip
    policies = [text for text in map(json.dumps, template.find_resources("AWS::IAM::Policy").values())]
    (nodes,) = [text for text in policies if "ssmmessages:OpenDataChannel" in text]
    assert "sagemaker-*" not in nodes
    for action in ("ec2:DescribeSubnets", "ec2:CreateNetworkInterfacePermission", "fsx:DescribeFileSystems"):
        assert action in nodes, "without it, the creation fails: Unable to retrieve subnets"


def test_scripts_lie_below_their_checksum_in_a_versioned_bucket() -> None:
    prefixes = []
    for text in ("#!/bin/sh\n", "#!/bin/sh\necho\n"):
        parent = stack()
        scripts = hyperpod.HyperPodScripts(parent, "Scripts", scripts={"a/b.sh": text}, bucket_name="sagemaker-llama")
        template = Template.from_stack(parent)
        # Its scripts are there when a cluster of the same stack fails, and S3 deletes no bucket with objects.
        versioned = {"VersioningConfiguration": {"Status": "Enabled"}}
        template.has_resource("AWS::S3::Bucket", {"DeletionPolicy": "Retain", "Properties": versioned})
        (copy,) = template.find_resources("Custom::HyperPodScripts").values()
        (key,) = copy["Properties"]["Objects"]
        assert key == f"{scripts.sha256}/a/b.sh"
        prefixes.append(scripts.sha256)
    assert len(set(prefixes)) == 2


@mock_aws
def test_the_function_copies_scripts_and_keeps_them_when_it_is_deleted() -> None:
    client = boto3.client("s3", region_name="us-east-1")
    for bucket in ("assets", "sagemaker-llama"):
        client.create_bucket(Bucket=bucket)
    client.put_object(Bucket="assets", Key="x.sh", Body=b"#!/bin/sh\n")
    _copy_handler.copy({"Bucket": "sagemaker-llama", "Objects": {"sum/setup.sh": "s3://assets/x.sh"}})
    assert client.get_object(Bucket="sagemaker-llama", Key="sum/setup.sh")["Body"].read() == b"#!/bin/sh\n"


@pytest.mark.parametrize(("kind", "status"), [("Delete", "SUCCESS"), ("Create", "FAILED")])
def test_the_function_answers_cloudformation(kind: str, status: str) -> None:
    answers: list[dict[str, Any]] = []

    class Answers(http.server.BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            answers.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with http.server.HTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.handle_request).start()
        event = {"RequestType": kind, "StackId": "s", "RequestId": "r", "LogicalResourceId": "l"}
        # A creation without its properties fails, and CloudFormation must not wait for an hour.
        _copy_handler.handle({**event, "ResponseURL": f"http://127.0.0.1:{server.server_port}/"}, None)
    (answer,) = answers
    assert answer["Status"] == status
    assert answer["PhysicalResourceId"] == "scripts"


def test_types_are_those_of_the_api() -> None:
    model = get_session().get_service_model("sagemaker")
    assert {f"ml.{name}" for name in facts.INSTANCE_TYPES} == set(model.shape_for("ClusterInstanceType").enum)


@pytest.mark.parametrize(("name", "addresses"), [("p5.48xlarge", 32), ("p5en.48xlarge", 16), ("p6-b200.48xlarge", 8)])
def test_a_node_takes_an_address_for_each_network_card(name: str, addresses: int) -> None:
    assert facts.addresses(INSTANCE_TYPES[name]) == addresses


BAD_GROUPS: list[tuple[dict[str, Any], str]] = [
    ({"capacity": compute.CapacityBlock(reservation_id="cr-0123456789abcdef0")}, "purchase a training plan"),
    ({"capacity": compute.TargetedReservation(reservation_id="cr-0123456789abcdef0")}, "purchase a training plan"),
    ({"instance_type": "ml.p5en.48xlarge"}, "instance_type must be an EC2 name such as p5en.48xlarge, got 'ml.p5en"),
    ({"name": "a--"}, "begins and ends with a letter or digit, got 'a--'"),
    ({"count": 6759}, "count must be 0 to 6758, got 6759"),
    ({"volume_gib": 20_000}, "volume_gib must be 1 to 16,384, got 20000"),
    ({"partition": None}, "compute nodes need a partition"),
    ({"on_create": True}, "on_create needs a script"),
    (
        {"mounts": [hyperpod.HyperPodMount(dns_name="a", path="/a"), hyperpod.HyperPodMount(dns_name="b", path="/b")]},
        "mounts one file system of Lustre and one of OpenZFS",
    ),
]


@pytest.mark.parametrize(("changed", "message"), BAD_GROUPS, ids=lambda value: str(value)[:30])
def test_refuses_groups_that_the_service_refuses(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(Refusal) as refusal:
        groups(**changed)
    assert message in str(refusal.value)


def _controllers(count: int) -> list[hyperpod.HyperPodInstanceGroup]:
    group = hyperpod.HyperPodInstanceGroup
    return [
        group(name=f"c{index}", instance_type="m5.large", count=1, node_type="Controller") for index in range(count)
    ]


BAD_CLUSTERS: list[tuple[dict[str, Any], str]] = [
    ({"groups": []}, "groups must be 1 to 100, got 0"),
    ({"groups": _controllers(2)}, "exactly one group must have the node_type 'Controller', got 2"),
    ({"groups": groups()[1:]}, "exactly one group must have the node_type 'Controller', got 0"),
    ({"groups": [*groups(), groups()[1]]}, "groups must have different names, got 'train' 2 times"),
    ({"groups": groups(script="setup.sh")}, "the group train names a script, and scripts is not given"),
    (
        {"kubernetes": hyperpod.HyperPodKubernetes(cluster_arn="arn:aws:eks:us-east-2:123456789012:cluster/a")},
        "groups have a node_type, which is Slurm's, and kubernetes is given",
    ),
    ({"security_groups": []}, "security_groups must hold at least one group"),
    (
        {"strategy": "Merge", "accounting": hyperpod.AccountingDatabase(endpoint="a.b", secret_arn=SECRET)},
        "an accounting database needs continuous provisioning: leave strategy out",
    ),
    ({"accounting": hyperpod.AccountingDatabase(endpoint="a b", secret_arn="x")}, "must be a host name, got 'a b'"),
    (
        {"accounting": hyperpod.AccountingDatabase(endpoint="a.b", secret_arn=SECRET, key_arn="x")},
        "accounting.key_arn must be",
    ),
    (
        {"strategy": "Merge", "volume_key": kms.Key.from_key_arn(cdk.Stack(), "Key", KEY)},
        "a key of the volumes needs continuous provisioning: leave strategy or volume_key out",
    ),
]


@pytest.mark.parametrize(("changed", "message"), BAD_CLUSTERS, ids=lambda value: str(value)[:30])
def test_refuses_clusters_that_the_service_refuses(changed: dict[str, Any], message: str) -> None:
    parent = stack()
    world = World(parent)
    arguments: dict[str, Any] = {
        "groups": groups(), "subnet": world.subnet, "security_groups": world.security_group, **changed
    }  # fmt: skip
    with pytest.raises(Refusal) as refusal:
        hyperpod.HyperPodCluster(parent, "Cluster", name="llama", **arguments)
    assert message in str(refusal.value)


def test_refuses_groups_and_subnets_that_fail_deep_health_checks() -> None:
    parent = stack()
    vpc = ec2.Vpc(parent, "Vpc", max_azs=1)
    closed = ec2.SecurityGroup(parent, "Closed", vpc=vpc)
    public, private = vpc.public_subnets[0], vpc.private_subnets[0]
    arguments: dict[str, Any] = {"name": "llama", "subnet": private, "security_groups": closed}
    with pytest.raises(Refusal, match="must allow all traffic from and to itself"):
        hyperpod.HyperPodCluster(parent, "Efa", groups=groups(), **arguments)
    without = groups(instance_type="g5.xlarge")
    hyperpod.HyperPodCluster(parent, "WithoutEfa", groups=without, **arguments)
    places: list[dict[str, Any]] = [{"subnet": public}, {"groups": groups(subnet=public)}]
    for number, changed in enumerate(places):
        with pytest.raises(Refusal, match="must be a private subnet, got the public subnet"):
            hyperpod.HyperPodCluster(parent, f"Public{number}", **{"groups": without, **arguments, **changed})
    imported = ec2.SecurityGroup.from_security_group_id(parent, "Existing", "sg-0123456789abcdef0")
    hyperpod.HyperPodCluster(parent, "Imported", groups=groups(), **{**arguments, "security_groups": imported})
    Annotations.from_stack(parent).has_warning("*", Match.string_like_regexp(r"security_groups\[0\] are not known"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"bucket_name": "llama-scripts"},
            "begins with sagemaker-, for the service reads no other, got 'llama-scripts'",
        ),
        ({}, "give one of bucket_name and bucket"),
        ({"bucket_name": "sagemaker-a", "scripts": {}}, "scripts must hold at least one file"),
        ({"bucket_name": "sagemaker-a", "scripts": {"../x": "#!"}}, "scripts must have paths such as on_create.sh"),
        (
            {"bucket_name": "sagemaker-a", "scripts": {"provisioning_parameters.json": "{}"}},
            "HyperPod refuses it beside the Slurm configuration of its API",
        ),
    ],
)
def test_refuses_scripts_that_the_service_does_not_read(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(Refusal) as refusal:
        hyperpod.HyperPodScripts(stack(), "Scripts", **{"scripts": SCRIPTS, **arguments})
    assert message in str(refusal.value)


def test_an_existing_bucket_with_another_name_is_refused() -> None:
    parent = stack()
    with pytest.raises(Refusal, match=r"bucket must be .* sagemaker-"):
        hyperpod.HyperPodScripts(
            parent, "Scripts", scripts=SCRIPTS, bucket=s3.Bucket.from_bucket_name(parent, "B", "scripts")
        )


def test_an_imported_cluster_grants_and_connects() -> None:
    parent = stack()
    imported = hyperpod.HyperPodCluster.from_hyper_pod_cluster_attributes(
        parent,
        "Cluster",
        cluster_name="llama",
        cluster_arn="arn:aws:sagemaker:us-east-2:123456789012:cluster/abcdefghijkl",
        role=iam.Role.from_role_name(parent, "Role", "Nodes"),
    )
    user = iam.User(parent, "User")
    assert imported.grants.repair(user).success
    Template.from_stack(parent).has_resource_properties(
        "AWS::IAM::Policy",
        {"PolicyDocument": {"Statement": [Match.object_like({"Resource": imported.cluster_arn})]}},
    )  # fmt: skip
