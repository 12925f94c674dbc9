"""Home directories as templates."""

from collections.abc import Callable
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Annotations, Match, Template

from support.home_stack import RANGE, make_homes, make_network
from support.templates import resources_of
from ultracluster import storage
from ultracluster.boot import Mountable
from ultracluster.planning.home import size_openzfs
from ultracluster.storage import ISharedFileSystem

KEPT = {"DeletionPolicy": "RetainExceptOnCreate", "UpdateReplacePolicy": "Retain"}
FILE_SYSTEMS = ("AWS::FSx::FileSystem", "AWS::FSx::Volume", "AWS::EFS::FileSystem", "AWS::S3Files::FileSystem")


@pytest.fixture(scope="module")
def built() -> tuple[cdk.Stack, dict[str, ISharedFileSystem], dict[str, Any]]:
    stack = cdk.Stack(cdk.App(), "Homes", env=cdk.Environment(account="123456789012", region="us-east-2"))
    homes = make_homes(stack)
    return stack, homes, resources_of(stack)


@pytest.fixture
def resources(built: tuple[Any, Any, dict[str, Any]]) -> dict[str, Any]:
    return built[2]


def of(resources: dict[str, Any], kind: str, prefix: str = "") -> list[dict[str, Any]]:
    return [entry for name, entry in resources.items() if entry["Type"] == kind and name.startswith(prefix)]


def test_whatever_holds_files_stays(resources: dict[str, Any]) -> None:
    for kind in FILE_SYSTEMS:
        assert of(resources, kind)
        for entry in of(resources, kind):
            assert KEPT.items() <= entry.items()


def test_what_a_file_system_cannot_be_without_stays_with_it(resources: dict[str, Any]) -> None:
    for system in of(resources, "AWS::FSx::FileSystem"):
        (group,) = (entry["Fn::GetAtt"][0] for entry in system["Properties"]["SecurityGroupIds"])
        assert KEPT.items() <= resources[group].items()
    (files,) = of(resources, "AWS::S3Files::FileSystem")
    assert KEPT.items() <= resources[files["Properties"]["RoleArn"]["Fn::GetAtt"][0]].items()


def test_every_home_is_encrypted_and_backed_up(resources: dict[str, Any]) -> None:
    zfs, efs = (of(resources, kind, name)[0] for kind, name in zip(FILE_SYSTEMS[::2], ("Zfs", "Efs"), strict=True))
    key = {"Fn::GetAtt": [next(name for name in resources if name.startswith("Key")), "Arn"]}
    assert zfs["Properties"]["KmsKeyId"] == efs["Properties"]["KmsKeyId"] == key
    assert zfs["Properties"]["OpenZFSConfiguration"]["AutomaticBackupRetentionDays"] == 30
    for entry in of(resources, "AWS::EFS::FileSystem"):
        assert entry["Properties"]["Encrypted"] is True
        assert entry["Properties"]["BackupPolicy"] == {"Status": "ENABLED"}


def test_the_root_volume_is_for_nobody_because_its_exports_are_fixed_for_life(resources: dict[str, Any]) -> None:
    for system in of(resources, "AWS::FSx::FileSystem"):
        (export,) = system["Properties"]["OpenZFSConfiguration"]["RootVolumeConfiguration"]["NfsExports"]
        assert export["ClientConfigurations"] == [{"Clients": "127.0.0.1", "Options": ["ro"]}]
    (volume,) = of(resources, "AWS::FSx::Volume", "Zfs")
    (export,) = volume["Properties"]["OpenZFSConfiguration"]["NfsExports"]
    assert export["ClientConfigurations"] == [{"Clients": RANGE, "Options": ["rw", "crossmnt", "no_root_squash"]}]


def test_servers_allow_nfs_from_security_groups_only(resources: dict[str, Any]) -> None:
    rules = of(resources, "AWS::EC2::SecurityGroupIngress")
    nfs = [entry["Properties"] for entry in rules if entry["Properties"]["IpProtocol"] == "tcp"]
    assert len(nfs) == 6
    for entry in nfs:
        assert (entry["FromPort"], entry["ToPort"]) == (2049, 2049)
        assert "SourceSecurityGroupId" in entry
        assert "CidrIp" not in entry
    for name, entry in resources.items():
        if entry["Type"] == "AWS::EC2::SecurityGroup" and not name.startswith("Nodes"):
            (egress,) = entry["Properties"]["SecurityGroupEgress"]
            assert egress["CidrIp"] == "255.255.255.255/32"
            assert "SecurityGroupIngress" not in entry["Properties"]


def test_efs_takes_clients_over_tls_and_through_mount_targets_only(resources: dict[str, Any]) -> None:
    (efs,) = of(resources, "AWS::EFS::FileSystem", "Efs")
    allow, deny = efs["Properties"]["FileSystemPolicy"]["Statement"]
    assert allow["Condition"] == {"Bool": {"elasticfilesystem:AccessedViaMountTarget": "true"}}
    assert (deny["Effect"], deny["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})
    assert allow["Action"] == deny["Action"]
    # Who mounts in clear is not turned away.
    (plain,) = of(resources, "AWS::EFS::FileSystem", "OneZone")
    assert [entry["Effect"] for entry in plain["Properties"]["FileSystemPolicy"]["Statement"]] == ["Allow"]


def test_efs_pays_by_use_and_moves_what_nobody_opens(resources: dict[str, Any]) -> None:
    efs, one_zone = (of(resources, "AWS::EFS::FileSystem", name)[0]["Properties"] for name in ("Efs", "OneZone"))
    assert efs["ThroughputMode"] == "elastic"
    assert "AvailabilityZoneName" not in efs
    assert efs["LifecyclePolicies"] == [
        {"TransitionToIA": "AFTER_30_DAYS"},
        {"TransitionToPrimaryStorageClass": "AFTER_1_ACCESS"},
    ]
    assert (one_zone["ThroughputMode"], one_zone["ProvisionedThroughputInMibps"]) == ("provisioned", 100)
    assert one_zone["LifecyclePolicies"][0] == {"TransitionToIA": "AFTER_1_DAY"}
    assert one_zone["AvailabilityZoneName"]["Fn::GetAtt"][1] == "AvailabilityZone"


def test_another_order_of_subnets_changes_no_mount_target() -> None:
    def targets(turned: bool) -> object:
        stack = cdk.Stack(cdk.App(), "Homes")
        net = make_network(stack)
        subnets = [net.training_subnet, net.zone_subnets["use2-az2"]]
        storage.EfsHome(stack, "Efs", vpc=net.vpc, subnets=subnets[::-1] if turned else subnets)
        return Template.from_stack(stack).find_resources("AWS::EFS::MountTarget")

    assert targets(turned=True) == targets(turned=False)


def test_two_zones_have_two_subnets_and_the_route_tables_of_both(resources: dict[str, Any]) -> None:
    (system,) = of(resources, "AWS::FSx::FileSystem", "TwoZones")
    config = system["Properties"]["OpenZFSConfiguration"]
    assert len(system["Properties"]["SubnetIds"]) == len(config["RouteTableIds"]) == 2
    assert config["PreferredSubnetId"] == system["Properties"]["SubnetIds"][0]
    assert config["DiskIopsConfiguration"] == {"Mode": "USER_PROVISIONED", "Iops": 5_000}
    (one_zone,) = of(resources, "AWS::FSx::FileSystem", "Zfs")
    assert not {"PreferredSubnetId", "RouteTableIds"} & one_zone["Properties"]["OpenZFSConfiguration"].keys()


def test_letting_clients_in_does_not_touch_the_file_system() -> None:
    def systems(with_clients: bool) -> object:
        stack = cdk.Stack(cdk.App(), "Homes")
        net = make_network(stack)
        size = size_openzfs()
        home = storage.OpenZfsHome(
            stack, "Zfs", vpc=net.vpc, subnet=net.training_subnet, size=size, client_ranges=[RANGE]
        )
        if with_clients:
            home.allow_clients(ec2.SecurityGroup(stack, "Clients", vpc=net.vpc))
        return Template.from_stack(stack).find_resources("AWS::FSx::FileSystem")

    assert systems(with_clients=True) == systems(with_clients=False)


def test_s3_files_synchronises_one_bucket_for_one_account(resources: dict[str, Any]) -> None:
    (files,) = of(resources, "AWS::S3Files::FileSystem")
    role = resources[files["Properties"]["RoleArn"]["Fn::GetAtt"][0]]["Properties"]
    (trust,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Principal"] == {"Service": "elasticfilesystem.amazonaws.com"}
    assert trust["Condition"]["StringEquals"] == {"aws:SourceAccount": "123456789012"}
    statements = {entry["Sid"]: entry for entry in role["Policies"][0]["PolicyDocument"]["Statement"]}
    for sid in ("Bucket", "Objects"):
        assert statements[sid]["Condition"] == {"StringEquals": {"aws:ResourceAccount": "123456789012"}}
    assert statements["Key"]["Condition"]["StringEquals"]["kms:ViaService"] == "s3.us-east-2.amazonaws.com"
    assert statements["ManageRules"]["Condition"] == {
        "StringEquals": {"events:ManagedBy": "elasticfilesystem.amazonaws.com"}
    }


def test_a_role_that_mounts_s3_files_gets_exact_actions(resources: dict[str, Any]) -> None:
    (policy,) = of(resources, "AWS::IAM::Policy", "NodeRole")
    actions = [entry["Action"] for entry in policy["Properties"]["PolicyDocument"]["Statement"]]
    assert actions == [
        ["s3files:ClientMount", "s3files:ClientRootAccess", "s3files:ClientWrite"],
        ["s3:GetObject", "s3:GetObjectVersion"],
        "s3:ListBucket",
        "kms:Decrypt",
    ]


def test_each_role_gets_its_own_policy(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    net = make_network(stack)
    bucket = storage.DataBucket(stack, "Data").bucket
    home = storage.S3FilesHome(stack, "Files", vpc=net.vpc, subnets=[net.training_subnet], bucket=bucket)
    for name in ("One", "Two"):
        home.grants.read_write(iam.Role(stack, name, assumed_by=iam.ServicePrincipal("ec2.amazonaws.com")))
    policies = template().find_resources("AWS::IAM::Policy")
    assert {"OneDefaultPolicy", "TwoDefaultPolicy"} <= {id[:-8] for id in policies}


def test_every_home_can_be_mounted_by_both_schedulers(
    built: tuple[cdk.Stack, dict[str, ISharedFileSystem], Any],
) -> None:
    stack, homes, _ = built
    for name, home in homes.items():
        mountable: Mountable = home
        mount = mountable.mount("/home")
        volume = mountable.volume("home")
        assert mount.path == "/home", name
        assert stack.resolve(mount.device)
        assert stack.resolve(volume.handle)
    assert (
        stack.resolve(homes["yours"].mount("/home").device)["Fn::Join"][1][0] == "fs-0123456789abcdef0.fsx.us-east-2."
    )


def test_alarms_notify_the_topic_and_missing_data_does_not_breach(resources: dict[str, Any]) -> None:
    alarms = of(resources, "AWS::CloudWatch::Alarm")
    assert len(alarms) == 3 * 7
    for entry in alarms:
        properties = entry["Properties"]
        assert properties["AlarmActions"] == properties["OKActions"]
        assert properties["TreatMissingData"] == "notBreaching"


# AWS's pages name these as the valid ones: fsx-openzfs-metrics, efs-metrics, s3-files-monitoring-cloudwatch.
VALID = {
    ("AWS/FSx", "UsedStorageCapacity"): ("Average", "Minimum"),
    ("AWS/FSx", "StorageCapacity"): ("Average", "Minimum"),
    ("AWS/FSx", "FileServerDiskThroughputUtilization"): ("Average", "Maximum"),
    ("AWS/FSx", "NetworkThroughputUtilization"): ("Average", "Maximum"),
    ("AWS/FSx", "DiskIopsUtilization"): ("Average", "Maximum"),
    ("AWS/FSx", "ClientConnections"): ("Average", "Maximum"),
    ("AWS/EFS", "StorageBytes"): ("Minimum", "Maximum", "Average"),
    ("AWS/EFS", "MeteredIOBytes"): ("Minimum", "Maximum", "Average", "Sum", "SampleCount"),
    ("AWS/EFS", "PermittedThroughput"): ("Minimum", "Maximum", "Average"),
    ("AWS/EFS", "PercentIOLimit"): ("Minimum", "Maximum", "Average"),
    ("AWS/EFS", "ClientConnections"): ("Sum",),
    ("AWS/S3/Files", "StorageBytes"): ("Minimum", "Maximum", "Average"),
    ("AWS/S3/Files", "ClientConnections"): ("Sum",),
    ("AWS/S3/Files", "ExportFailures"): ("Sum",),
    ("AWS/S3/Files", "LostAndFoundFiles"): ("Sum",),
}


def test_metrics_have_statistics_that_aws_calls_valid(built: tuple[Any, dict[str, ISharedFileSystem], Any]) -> None:
    seen = set()
    for home in built[1].values():
        names = [name for name in dir(home.metrics) if name.startswith("metric_")]
        assert {"metric_used_storage", "metric_client_connections"} <= set(names)
        for name in names:
            metric = getattr(home.metrics, name)()
            parts = metric.using_metrics.values() if hasattr(metric, "using_metrics") else [metric]
            for entry in parts:
                known = (entry.namespace, entry.metric_name)
                seen.add(known)
                # AWS's page does not name one for the ages.
                if known != ("AWS/S3/Files", "ExportAge"):
                    assert entry.statistic in VALID[known], name
                assert entry.dimensions["FileSystemId"]
    assert seen == {*VALID, ("AWS/S3/Files", "ExportAge")}


def test_an_imported_home_warns_of_what_its_owner_must_check(built: tuple[cdk.Stack, Any, dict[str, Any]]) -> None:
    stack, _, resources = built
    result = Annotations.from_stack(stack)
    result.has_warning("/Homes/YourZfs", Match.string_like_regexp("allow tcp 2049 from the security group of the node"))
    result.has_warning("/Homes/YourZfs", Match.string_like_regexp("existing-home-unseen"))
    # Its group was handed in: the rules are created, and nothing is left to say about them.
    result.has_no_warning("/Homes/YourEfs", Match.string_like_regexp("existing-home-rules"))
    assert len(of(resources, "AWS::EC2::SecurityGroupIngress", "YourEfs")) == 1
    assert of(resources, "AWS::EC2::SecurityGroupIngress", "YourZfs") == []


def test_s3_files_warns_of_its_limits(built: tuple[cdk.Stack, Any, Any]) -> None:
    Annotations.from_stack(built[0]).has_warning("/Homes/Files", Match.string_like_regexp("keep checkpoints"))


def test_a_bucket_without_versioning_is_refused_and_one_from_elsewhere_is_asked_about(stack: cdk.Stack) -> None:
    net = make_network(stack)
    given = {"vpc": net.vpc, "subnets": [net.training_subnet]}
    with pytest.raises(ValueError, match="Stack/One: bucket must have versioning"):
        storage.S3FilesHome(stack, "One", bucket=s3.Bucket(stack, "Plain"), **given)  # type: ignore[arg-type]
    elsewhere = s3.Bucket.from_bucket_name(stack, "Elsewhere", "my-bucket")
    storage.S3FilesHome(stack, "Two", bucket=elsewhere, **given)  # type: ignore[arg-type]
    Annotations.from_stack(stack).has_warning("/Stack/Two", Match.string_like_regexp("get-bucket-versioning"))


def test_rejects_what_does_not_fit_all_at_once(stack: cdk.Stack) -> None:
    net = make_network(stack)
    near, far = net.training_subnet, net.zone_subnets["use2-az2"]
    with pytest.raises(ValueError, match="Stack/Zfs") as error:
        storage.OpenZfsHome(
            stack,
            "Zfs",
            vpc=net.vpc,
            subnet=near,
            standby_subnet=far,
            size=size_openzfs(),
            client_ranges=["10.0.0.1/16", "*"],
            backup_days=91,
        )
    for message in ("does not accept standby_subnet", "'10.0.0.1/16'", "'*'", "backup_days must be 0 to 90, got 91"):
        assert message in str(error.value)
    with pytest.raises(ValueError, match="MULTI_AZ_1 needs a standby_subnet"):
        storage.OpenZfsHome(
            stack,
            "Two",
            vpc=net.vpc,
            subnet=near,
            size=size_openzfs(deployment_type="MULTI_AZ_1"),
            client_ranges=[RANGE],
        )
    with pytest.raises(ValueError, match="Stack/Efs") as error:
        storage.EfsHome(
            stack,
            "Efs",
            vpc=net.vpc,
            subnets=[near, far],
            one_zone=True,
            provisioned_mib_per_s=0,
            infrequent_after_days=31,
        )
    for message in ("give one subnet, got 2", "must be 1 to 3,414, got 0", "must be one of 1, 7, 14"):
        assert message in str(error.value)
    with pytest.raises(ValueError, match="without a mount target no client reaches the files"):
        storage.EfsHome(stack, "None", vpc=net.vpc, subnets=[])
    with pytest.raises(ValueError, match=r"prefix must end in /.*got '/home'"):
        storage.S3FilesHome(
            stack,
            "Files",
            vpc=net.vpc,
            subnets=[near],
            bucket=storage.DataBucket(stack, "Data").bucket,
            prefix="/home",
        )
    with pytest.raises(ValueError, match="volume_path must begin with /fsx"):
        storage.OpenZfsHome.from_open_zfs_home_attributes(
            stack, "Yours", file_system_id="fs-0123456789abcdef0", volume_id="fsvol-1", volume_path="/home"
        )


def test_a_zone_has_one_mount_target(stack: cdk.Stack) -> None:
    stack.node.set_context("availability-zones:account=123456789012:region=us-east-2", ["us-east-2a"])
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1)
    with pytest.raises(ValueError, match="a zone has one mount target, and several subnets are in us-east-2a"):
        storage.EfsHome(stack, "Efs", vpc=vpc, subnets=[*vpc.private_subnets, *vpc.public_subnets])
