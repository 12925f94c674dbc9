"""Buckets for a purpose, Mountpoint, and S3 Express One Zone."""

import json
import re
from collections.abc import Callable
from typing import Any, get_args

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk.assertions import Match, Template
from hypothesis import given
from hypothesis import strategies as st

from support import GOLDEN
from ultracluster.boot import Mountpoint
from ultracluster.catalogue.ec2 import region_of_zone
from ultracluster.catalogue.storage import s3
from ultracluster.planning.s3 import (
    Purpose,
    Tier,
    check_directory_bucket,
    directory_bucket_name,
    directory_bucket_warnings,
)
from ultracluster.storage import DataBucket, ExpressBucket, LogBucket, express_endpoint

MakeTemplate = Callable[[], Template]
EXPRESS = "AWS::S3Express::DirectoryBucket"


def rules(template: Template, id: str) -> list[dict[str, Any]]:
    buckets = template.find_resources("AWS::S3::Bucket")
    (result,) = [bucket for name, bucket in buckets.items() if name.startswith(id)]
    return list(result["Properties"]["LifecycleConfiguration"]["Rules"])


@pytest.mark.parametrize(("purpose", "days"), [("checkpoints", 14), ("dataset", 30)])
def test_the_purpose_sets_the_retention_of_old_versions(
    purpose: Purpose, days: int, stack: cdk.Stack, template: MakeTemplate
) -> None:
    DataBucket(stack, "Data", purpose=purpose)
    assert rules(template(), "DataBucket") == [
        {
            "Id": "OldVersionsAndUnfinishedUploads",
            "Status": "Enabled",
            "NoncurrentVersionExpiration": {"NoncurrentDays": days},
            # Of deleted objects whose versions have expired: neither kind expires current objects.
            "ExpiredObjectDeleteMarker": True,
            "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7},
        }
    ]


def test_the_account_of_a_bucket_is_never_outside_its_perimeter(stack: cdk.Stack, template: MakeTemplate) -> None:
    DataBucket(stack, "Data", perimeter="o-a1b2c3d4e5")
    with pytest.raises(ValueError, match="perimeter must be one organization, or accounts, got o-a1b2c3d4e5, 1"):
        DataBucket(stack, "Both", perimeter=["o-a1b2c3d4e5", "123456789012"])
    with pytest.raises(ValueError, match="or accounts of 12 digits, got 'o-A'"):
        DataBucket(stack, "Neither", perimeter=["o-A"])
    (policy,) = (
        item["Properties"]["PolicyDocument"]["Statement"]
        for name, item in template().find_resources("AWS::S3::BucketPolicy").items()
        if name.startswith("DataBucketPolicy")
    )
    (denied,) = (statement for statement in policy if statement.get("Sid") == "Perimeter")
    assert denied["Condition"]["StringNotEqualsIfExists"] == {
        "aws:PrincipalAccount": "123456789012",
        "aws:PrincipalOrgID": "o-a1b2c3d4e5",
    }


def test_a_bucket_without_a_purpose_is_the_one_it_always_was(stack: cdk.Stack, template: MakeTemplate) -> None:
    DataBucket(stack, "Data", key=kms.Key(stack, "Key"))
    result = template().to_json()["Resources"]
    golden = json.loads((GOLDEN / "llama-Storage.json").read_text())["Resources"]
    actual = {id: resource for id, resource in result.items() if id.startswith("Data")}
    expected = {id: resource for id, resource in golden.items() if id.startswith("Data")}
    assert set(actual) == set(expected)
    for id, resource in actual.items():
        text = json.dumps(resource["Properties"].get("LifecycleConfiguration"), sort_keys=True)
        assert text == json.dumps(expected[id]["Properties"].get("LifecycleConfiguration"), sort_keys=True)


@pytest.mark.parametrize("purpose", get_args(Purpose))
@pytest.mark.parametrize("storage_class", ["INTELLIGENT_TIERING", "GLACIER_IR"])
def test_what_is_current_stays_and_is_read_at_once(
    purpose: Purpose, storage_class: Any, stack: cdk.Stack, template: MakeTemplate
) -> None:
    DataBucket(stack, "Data", purpose=purpose, tier=Tier(storage_class=storage_class, after_days=5))
    result = rules(template(), "DataBucket")
    assert not [rule for rule in result if {"ExpirationInDays", "ExpirationDate"} & set(rule)]
    moves = [move for rule in result for move in rule.get("Transitions", [])]
    assert moves == [{"StorageClass": storage_class, "TransitionInDays": 5}]


@pytest.mark.parametrize("storage_class", ["GLACIER", "DEEP_ARCHIVE", "STANDARD_IA", "glacier_ir"])
def test_rejects_a_tier_that_is_not_read_at_once(storage_class: Any) -> None:
    with pytest.raises(ValueError, match="INTELLIGENT_TIERING or GLACIER_IR"):
        Tier(storage_class=storage_class)


def test_rejects_a_tier_before_an_object_is_there() -> None:
    with pytest.raises(ValueError, match="0 or more, got -1"):
        Tier(storage_class="GLACIER_IR", after_days=-1)


def test_rejects_logs_in_a_bucket_that_keeps_everything(stack: cdk.Stack) -> None:
    with pytest.raises(ValueError, match=r"Stack/Data: purpose is dataset or checkpoints, got 'logs'; .*LogBucket"):
        DataBucket(stack, "Data", purpose="logs")  # type: ignore[arg-type]


def test_logs_expire_and_their_bucket_stays(stack: cdk.Stack, template: MakeTemplate) -> None:
    LogBucket(stack, "Logs", retention=cdk.Duration.days(30))
    result = template()
    restore = {"NoncurrentVersionExpiration": {"NoncurrentDays": 30}}
    assert rules(result, "Logs") == [{"Id": "Expire", "Status": "Enabled", "ExpirationInDays": 30, **restore}]
    result.has_resource(
        "AWS::S3::Bucket",
        {
            "DeletionPolicy": "RetainExceptOnCreate",
            "UpdateReplacePolicy": "Retain",
            "Properties": {
                "PublicAccessBlockConfiguration": Match.any_value(),
                "VersioningConfiguration": {"Status": "Enabled"},
            },
        },
    )


def test_early_access_logs_do_not_break_the_rollback_of_a_first_deployment(
    stack: cdk.Stack, template: MakeTemplate
) -> None:
    """S3 deletes no bucket with objects, and delivers logs within hours."""
    DataBucket(stack, "Data")
    DataBucket(stack, "Scratch", removal_policy=cdk.RemovalPolicy.DESTROY)
    policies = {
        id: resource["DeletionPolicy"]
        for type in ("AWS::S3::Bucket", "AWS::S3::BucketPolicy")
        for id, resource in template().find_resources(type).items()
    }
    for prefix, expected in {
        **{"DataAccessLogs": "Retain", "DataBucket": "RetainExceptOnCreate"},
        **{"ScratchAccessLogs": "Delete", "ScratchBucket": "Delete"},
    }.items():
        assert [policy for id, policy in policies.items() if id.startswith(prefix)] == [expected, expected]


def test_rejects_logs_that_are_gone_within_the_day(stack: cdk.Stack) -> None:
    with pytest.raises(ValueError, match="1 day or more"):
        LogBucket(stack, "Logs", retention=cdk.Duration.hours(12))


def test_a_reader_neither_writes_nor_deletes(stack: cdk.Stack, template: MakeTemplate) -> None:
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    grants = DataBucket(stack, "Data", purpose="dataset", key=kms.Key(stack, "Key")).grants
    grants.read(role)
    grants.read(role)
    (policy,) = template().find_resources("AWS::IAM::Policy").values()
    actions = [action for s in policy["Properties"]["PolicyDocument"]["Statement"] for action in _list(s["Action"])]
    assert sorted(actions) == ["kms:Decrypt", "s3:GetBucketLocation", "s3:GetObject", "s3:ListBucket"]


def _list(node: str | list[str]) -> list[str]:
    return [node] if isinstance(node, str) else node


def test_mountpoint_is_read_only_by_default() -> None:
    mountpoint = Mountpoint(bucket="my-data", prefix="tokens/v1")
    line = mountpoint.mount("/data")
    assert (line.device, line.path, line.type) == ("s3://my-data/tokens/v1/", "/data", "mount-s3")
    assert line.options == "_netdev,nosuid,nodev,nofail,ro,allow-other"
    volume = mountpoint.volume("data")
    assert (volume.driver, volume.handle, volume.attributes) == ("s3.csi.aws.com", "data", {"bucketName": "my-data"})
    assert volume.mount_options == ("allow-other", "prefix tokens/v1/", "read-only")
    # Pods reach no instance metadata, from which Mountpoint would know the bandwidth.
    fast = Mountpoint(bucket="my-data", gbps=200).volume("data")
    assert fast.mount_options == ("allow-other", "maximum-throughput-gbps 200", "read-only")


WRITES = st.sets(st.sampled_from(["create", "overwrite", "delete", "append", "rename"])).map(sorted)


@given(WRITES)
def test_mountpoint_allows_what_is_asked_for_and_no_more(writes: list[str]) -> None:
    mountpoint = Mountpoint(bucket="llama--use2-az1--x-s3", writes=writes)
    options = mountpoint.mount("/data").options.split(",")
    assert ("ro" in options) != ("rw" in options)
    assert ("rw" in options) == bool(writes)
    flags = {"overwrite": "allow-overwrite", "delete": "allow-delete", "append": "incremental-upload"}
    for write, flag in flags.items():
        assert (flag in options) == (write in writes) == (flag in mountpoint.volume("data").mount_options)


@pytest.mark.parametrize("write", ["append", "rename"])
def test_only_directory_buckets_append_and_rename(write: str) -> None:
    with pytest.raises(ValueError, match="directory buckets"):
        Mountpoint(bucket="my-data", writes=[write])
    Mountpoint(bucket="${Token[TOKEN.1]}", writes=[write], directory_bucket=True)


@pytest.mark.parametrize("write", ["random-write", "link", "lock", "chmod"])
@pytest.mark.parametrize("directory_bucket", [False, True])
def test_rejects_what_mountpoint_never_does(write: str, directory_bucket: bool) -> None:
    with pytest.raises(ValueError, match=f"{write} does not work: .*use Lustre"):
        Mountpoint(bucket="my-data", writes=[write], directory_bucket=directory_bucket)


def test_all_that_is_wrong_with_a_mountpoint_comes_at_once() -> None:
    with pytest.raises(ValueError, match=r"(?s)^Mountpoint for my-data: rename .*lock .*writes are any .*prefix has"):
        Mountpoint(bucket="my-data", prefix="/a", writes=["rename", "lock", "fly"])


def test_the_volume_of_a_mountpoint_is_kept_when_its_claim_goes() -> None:
    volume, claim = Mountpoint(bucket="my-data").volume("data").manifests()
    assert volume["spec"]["persistentVolumeReclaimPolicy"] == "Retain"
    assert volume["spec"]["storageClassName"] == claim["spec"]["storageClassName"] == ""


@given(st.text(alphabet="abz09-_.AX", max_size=60), st.sampled_from(sorted(s3.EXPRESS_ZONES)))
def test_a_name_that_passes_is_one_that_s3_takes(base: str, zone: str) -> None:
    name = directory_bucket_name(base, zone)
    legal = (
        3 <= len(name) <= 63
        and re.fullmatch(r"[a-z0-9-]+", name) is not None
        and base[:1].isalnum()
        and base[-1:].isalnum()
    )
    assert (check_directory_bucket(zone=zone, base=base) == []) == legal
    assert name.endswith(f"--{zone}--x-s3")


@pytest.mark.parametrize("base", ["xn--data", "sthree-data", "sthree-configurator", "amzn-s3-demo-x"])
def test_rejects_names_that_s3_keeps_for_itself(base: str) -> None:
    (result,) = check_directory_bucket(zone="use2-az1", base=base)
    assert base in result


@pytest.mark.parametrize("zone", ["us-east-2a", "use2", "use1-dfw2-az1", "xxx9-az1"])
def test_rejects_a_zone_that_holds_no_directory_bucket(zone: str) -> None:
    assert check_directory_bucket(zone=zone)


def test_every_zone_that_sells_express_is_a_zone() -> None:
    assert all(region_of_zone(zone) for zone in s3.EXPRESS_ZONES)


def test_a_bucket_away_from_its_nodes_is_warned_of() -> None:
    assert list(directory_bucket_warnings(zone="use2-az1", nodes_zone="use2-az1")) == []
    (message,) = directory_bucket_warnings(zone="use2-az1", nodes_zone="use2-az2")
    assert message.rule.id == "express-other-zone"
    (message,) = directory_bucket_warnings(zone="use2-az3")
    assert message.rule.id == "express-zone-unknown"
    assert "in this Region: use2-az1, use2-az2" in message


def test_an_express_bucket_stays_and_carries_its_zone(stack: cdk.Stack, template: MakeTemplate) -> None:
    ExpressBucket(stack, "Scratch", zone="use2-az1", name="llama", key=kms.Key(stack, "Key"), expire_after_days=3)
    template().has_resource(
        EXPRESS,
        {
            "DeletionPolicy": "RetainExceptOnCreate",
            "UpdateReplacePolicy": "Retain",
            "Properties": {
                "BucketName": "llama--use2-az1--x-s3",
                "LocationName": "use2-az1",
                "DataRedundancy": "SingleAvailabilityZone",
                "BucketEncryption": {
                    "ServerSideEncryptionConfiguration": [
                        {
                            "BucketKeyEnabled": True,
                            "ServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms"},
                        }
                    ]
                },
            },
        },
    )


@pytest.mark.parametrize("days", [None, 3])
def test_the_lifecycle_of_an_express_bucket_only_expires_and_aborts(
    days: int | None, stack: cdk.Stack, template: MakeTemplate
) -> None:
    ExpressBucket(stack, "Scratch", zone="use2-az1", expire_after_days=days)
    result = template()
    (bucket,) = result.find_resources(EXPRESS).values()
    (rule,) = bucket["Properties"]["LifecycleConfiguration"]["Rules"]
    assert set(rule) - {"Id", "Status"} <= {"ExpirationInDays", "AbortIncompleteMultipartUpload"}
    assert rule.get("ExpirationInDays") == days
    # Without this, S3 would delete nothing.
    (policy,) = result.find_resources("AWS::S3Express::BucketPolicy").values()
    (statement,) = policy["Properties"]["PolicyDocument"]["Statement"]
    assert statement["Principal"] == {"Service": "lifecycle.s3.amazonaws.com"}
    assert statement["Condition"] == {"StringEquals": {"s3express:SessionMode": "ReadWrite"}}


def test_all_that_is_wrong_with_an_express_bucket_comes_at_once(stack: cdk.Stack) -> None:
    with pytest.raises(ValueError, match="Stack/Scratch: zone must be ") as caught:
        ExpressBucket(stack, "Scratch", zone="us-east-2a", name="Llama", expire_after_days=0)
    _, name, days = str(caught.value).splitlines()
    assert "a name consists" in name
    assert "expire_after_days must be" in days


def test_an_express_bucket_warns_when_synthesised(stack: cdk.Stack) -> None:
    ExpressBucket(stack, "Scratch", zone="use2-az3", nodes_zone="use2-az1")
    assert len(assertions.Annotations.from_stack(stack).find_warning("*", Match.any_value())) == 2


def test_a_session_is_the_one_permission_on_express_objects(stack: cdk.Stack, template: MakeTemplate) -> None:
    roles = [iam.Role(stack, n, assumed_by=iam.ServicePrincipal("ec2.amazonaws.com")) for n in ("One", "Two")]
    bucket = ExpressBucket(stack, "Scratch", zone="use2-az1", key=kms.Key(stack, "Key"))
    for role in roles:
        bucket.grants.read_write(role)
    policy, _ = template().find_resources("AWS::IAM::Policy").values()
    actions = [action for s in policy["Properties"]["PolicyDocument"]["Statement"] for action in _list(s["Action"])]
    assert sorted(actions) == ["kms:Decrypt", "kms:GenerateDataKey", "s3express:CreateSession"]


def test_express_has_a_gateway_endpoint_of_its_own(stack: cdk.Stack, template: MakeTemplate) -> None:
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1)
    express_endpoint(stack, "Endpoint", vpc=vpc, subnets=vpc.private_subnets)
    template().has_resource_properties(
        "AWS::EC2::VPCEndpoint",
        {
            "VpcEndpointType": "Gateway",
            "ServiceName": {"Fn::Join": ["", ["com.amazonaws.", {"Ref": "AWS::Region"}, ".s3express"]]},
        },
    )


def test_a_role_of_another_account_of_the_app_is_granted_by_a_generated_name() -> None:
    app = cdk.App(analytics_reporting=False)
    here, there = (
        cdk.Stack(app, name, env=cdk.Environment(account=account, region="us-east-2"))
        for name, account in (("Here", "123456789012"), ("There", "210987654321"))
    )
    bucket = DataBucket(here, "Data", bucket_name=cdk.PhysicalName.GENERATE_IF_NEEDED)
    bucket.bucket.add_lifecycle_rule(prefix="tmp/", expiration=cdk.Duration.days(1))
    role = iam.Role(
        there,
        "Role",
        role_name=cdk.PhysicalName.GENERATE_IF_NEEDED,
        assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"),
    )
    bucket.grants.read(role).assert_success()
    templates = {stack.stack_name: stack.template["Resources"] for stack in app.synth().stacks}
    (name,) = (
        row["Properties"]["BucketName"]
        for row in templates["Here"].values()
        if row["Type"] == "AWS::S3::Bucket" and "BucketName" in row["Properties"]
    )
    assert name in json.dumps(templates["There"])
    policies = [row for row in templates["Here"].values() if row["Type"] == "AWS::S3::BucketPolicy"]
    assert any("210987654321" in json.dumps(policy) for policy in policies)
