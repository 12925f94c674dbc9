import re
from collections.abc import Callable
from typing import cast

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk.assertions import Match, Template

from ultracluster.planning.lustre import LustreGoal, LustreOverrides, plan_lustre
from ultracluster.storage import DataBucket, LustreFileSystem


def make_lustre(stack: cdk.Stack, mb_per_s: int = 40_000, **options: object) -> LustreFileSystem:
    vpc = ec2.Vpc(stack, "Vpc")
    return LustreFileSystem(
        stack,
        "Lustre",
        vpc=vpc,
        subnet=vpc.private_subnets[0],
        spec=plan_lustre(LustreGoal(throughput_mb_per_s=mb_per_s)).spec,
        **options,  # type: ignore[arg-type]
    )


def test_40_gb_per_second_come_from_43200_gib_with_efa(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    make_lustre(stack)
    template().has_resource_properties(
        "AWS::FSx::FileSystem",
        {
            "StorageCapacity": 43_200,
            "FileSystemTypeVersion": "2.15",
            "LustreConfiguration": {
                "DeploymentType": "PERSISTENT_2",
                "PerUnitStorageThroughput": 1000,
                "EfaEnabled": True,
                "MetadataConfiguration": {"Mode": "AUTOMATIC"},
                "DataCompressionType": "LZ4",
            },
        },
    )


def test_a_file_system_stays_when_it_leaves_the_template(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    make_lustre(stack)
    template().has_resource(
        "AWS::FSx::FileSystem", {"DeletionPolicy": "RetainExceptOnCreate", "UpdateReplacePolicy": "Retain"}
    )


def test_a_file_system_that_stays_keeps_the_rules_its_servers_talk_through(
    stack: cdk.Stack, template: Callable[[], Template]
) -> None:
    make_lustre(stack)
    result = template()
    kept = {"DeletionPolicy": "RetainExceptOnCreate", "UpdateReplacePolicy": "Retain"}
    (group,) = {
        g["Fn::GetAtt"][0]
        for g in next(iter(result.find_resources("AWS::FSx::FileSystem").values()))["Properties"]["SecurityGroupIds"]
    }
    resources = result.to_json()["Resources"]
    rules = [
        r
        for r in resources.values()
        if r["Type"].startswith("AWS::EC2::SecurityGroup") and group in str(r.get("Properties"))
    ]
    for resource in [resources[group], *rules]:
        assert kept.items() <= resource.items()


def test_a_file_system_has_a_group_of_its_own_that_lets_itself_in(
    stack: cdk.Stack, template: Callable[[], Template]
) -> None:
    lustre = make_lustre(stack)
    group = stack.resolve(lustre.security_group.security_group_id)
    result = template()
    result.has_resource_properties("AWS::FSx::FileSystem", {"SecurityGroupIds": [group]})
    for kind, peer in (("Ingress", "SourceSecurityGroupId"), ("Egress", "DestinationSecurityGroupId")):
        result.has_resource_properties(
            f"AWS::EC2::SecurityGroup{kind}", {"GroupId": group, peer: group, "IpProtocol": "-1"}
        )


def test_the_rules_stand_before_fsx_checks_them(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    make_lustre(stack)
    result = template()
    rules = {
        *result.find_resources("AWS::EC2::SecurityGroupIngress"),
        *result.find_resources("AWS::EC2::SecurityGroupEgress"),
    }
    (system,) = result.find_resources("AWS::FSx::FileSystem").values()
    assert rules <= set(system["DependsOn"])


def test_letting_clients_in_does_not_touch_the_file_system() -> None:
    def file_systems(with_clients: bool) -> object:
        stack = cdk.Stack()
        lustre = make_lustre(stack)
        if with_clients:
            vpc = cast(ec2.IVpc, stack.node.find_child("Vpc"))
            lustre.allow_clients(ec2.SecurityGroup(stack, "Clients", vpc=vpc))
        return Template.from_stack(stack).find_resources("AWS::FSx::FileSystem")

    assert file_systems(with_clients=True) == file_systems(with_clients=False)


def test_fsx_logs_where_fsx_may(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    make_lustre(stack)
    template().has_resource_properties(
        "AWS::Logs::LogGroup", {"LogGroupName": Match.string_like_regexp(r"^/aws/fsx/lustre/[A-Za-z0-9_-]+$")}
    )


@pytest.mark.parametrize(
    ("message", "counted"),
    [
        ("Failed to export file because access was denied to S3 object with key a in S3 bucket b.", True),
        ("Failed to export file because the local file path size exceeds the maximum object key length", True),
        ("Failed to export file because the file size exceeds the maximum supported S3 objects size.", True),
        (
            "Failed to export file for S3 object with key a in S3 bucket b because the bucket's KMS key was not found",
            True,
        ),
        ("Automatic export encountered an internal error while exporting a file system object", True),
        # It is exported when it is closed.
        ("Failed to export file because it is being used by another process.", False),
        ("Export skipped: local file does not belong to a data repository linked file system path.", False),
        ("Failed to import S3 object with key a because it was not found in S3 bucket b.", False),
    ],
)
def test_exports_that_fail_are_counted(
    message: str, counted: bool, stack: cdk.Stack, template: Callable[[], Template]
) -> None:
    lustre = make_lustre(stack)
    (count,) = template().find_resources("AWS::Logs::MetricFilter").values()
    # `?"TERM"` of a filter pattern: one of the terms is in the event. Messages are those of
    # https://docs.aws.amazon.com/fsx/latest/LustreGuide/data-repo-event-logs.html (read 2026-11-28).
    terms = re.findall(r'\?"([^"]+)"', count["Properties"]["FilterPattern"])
    assert any(term in message for term in terms) == counted
    metric = lustre.metrics.metric_export_failures()
    assert metric is not None
    (transformation,) = count["Properties"]["MetricTransformations"]
    assert transformation["MetricName"] == stack.resolve(metric.metric_name)


def test_a_key_handed_in_encrypts_the_file_system(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    key = kms.Key(stack, "Key")
    make_lustre(stack, key=key)
    template().has_resource_properties("AWS::FSx::FileSystem", {"KmsKeyId": stack.resolve(key.key_arn)})


def test_the_device_is_what_a_client_mounts(stack: cdk.Stack) -> None:
    _, (dns, between, mount) = stack.resolve(make_lustre(stack).device)["Fn::Join"]
    assert between == "@tcp:/"
    assert (dns["Fn::GetAtt"][1], mount["Fn::GetAtt"][1]) == ("DNSName", "LustreMountName")


def test_a_data_bucket_is_private_versioned_logged_and_kept(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    DataBucket(stack, "Data", key=kms.Key(stack, "Key"))
    result = template()
    result.has_resource(
        "AWS::S3::Bucket",
        {
            "DeletionPolicy": "RetainExceptOnCreate",
            "UpdateReplacePolicy": "Retain",
            "Properties": {
                "VersioningConfiguration": {"Status": "Enabled"},
                "LoggingConfiguration": Match.any_value(),
                "BucketEncryption": {
                    "ServerSideEncryptionConfiguration": [
                        {
                            "BucketKeyEnabled": True,
                            "ServerSideEncryptionByDefault": {
                                "SSEAlgorithm": "aws:kms",
                                "KMSMasterKeyID": Match.any_value(),
                            },
                        }
                    ]
                },
            },
        },
    )
    for bucket in result.find_resources("AWS::S3::Bucket").values():
        assert set(bucket["Properties"]["PublicAccessBlockConfiguration"].values()) == {True}


def test_a_bucket_refuses_plain_http(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    DataBucket(stack, "Data")
    policies = template().find_resources("AWS::S3::BucketPolicy").values()
    assert len(policies) == 2
    for policy in policies:
        statements = policy["Properties"]["PolicyDocument"]["Statement"]
        assert any(
            s["Effect"] == "Deny" and s.get("Condition", {}).get("Bool") == {"aws:SecureTransport": "false"}
            for s in statements
        )


def test_a_bucket_handed_in_takes_the_access_logs(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    from aws_cdk import aws_s3 as s3

    DataBucket(stack, "Data", access_log_bucket=s3.Bucket.from_bucket_name(stack, "Logs", "my-logs"))
    template().resource_count_is("AWS::S3::Bucket", 1)


@pytest.mark.parametrize("with_key", [False, True])
def test_a_reader_and_writer_gets_no_wildcard_action(
    with_key: bool, stack: cdk.Stack, template: Callable[[], Template]
) -> None:
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    DataBucket(stack, "Data", key=kms.Key(stack, "Key") if with_key else None).grants.read_write(role)
    (policy,) = template().find_resources("AWS::IAM::Policy").values()
    actions = {a for s in policy["Properties"]["PolicyDocument"]["Statement"] for a in s["Action"]}
    assert not [a for a in actions if "*" in a]
    assert ("kms:GenerateDataKey" in actions) == with_key


def test_clients_over_efa_are_in_the_zone_and_the_16_of_the_file_system(stack: cdk.Stack) -> None:
    def subnet(id: str, cidr: str, zone: str = "us-east-2a") -> ec2.ISubnet:
        number = f"subnet-{len(stack.node.children):017x}"
        return ec2.Subnet.from_subnet_attributes(
            stack, id, subnet_id=number, ipv4_cidr_block=cidr, availability_zone=zone
        )

    vpc, here = ec2.Vpc(stack, "Vpc"), subnet("Here", "10.0.128.0/18")
    goal = LustreGoal(throughput_mb_per_s=40_000)
    over_efa = LustreFileSystem(stack, "Efa", vpc=vpc, subnet=here, spec=plan_lustre(goal).spec)
    clients = ec2.SecurityGroup(stack, "Nodes", vpc=vpc)
    over_efa.allow_clients(clients, subnets=[subnet("Beside", "10.0.0.0/20")])
    unknown = ec2.Subnet.from_subnet_id(stack, "Unknown", "subnet-0123456789abcdef0")
    over_efa.allow_clients(clients, subnets=[unknown])
    with pytest.raises(ValueError, match=r"10\.1\.0\.0/18 can't use EFA to a file system in .*one /16"):
        over_efa.allow_clients(clients, subnets=[subnet("Secondary", "10.1.0.0/18")])
    with pytest.raises(ValueError, match="us-east-2b can't use EFA to a file system in us-east-2a"):
        over_efa.allow_clients(clients, subnets=[subnet("Far", "10.0.64.0/18", "us-east-2b")])
    over_tcp = LustreFileSystem(
        stack, "Tcp", vpc=vpc, subnet=here, spec=plan_lustre(goal, overrides=LustreOverrides(efa=False)).spec
    )
    over_tcp.allow_clients(clients, subnets=[subnet("Other", "10.1.64.0/18", "us-east-2b")])
