"""Links between Lustre and S3, as constructs: what FSx may, what stays, and what synthesis refuses."""

import json
from collections.abc import Callable
from typing import Any, cast

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_notifications as notifications
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Match, Template

from ultracluster.planning.lustre import LustreGoal, plan_lustre
from ultracluster.storage import (
    ColdDataRelease,
    DataBucket,
    DataRepositoryAssociation,
    EfsHome,
    LogBucket,
    LustreFileSystem,
)

MakeTemplate = Callable[[], Template]
ASSOCIATION = "AWS::FSx::DataRepositoryAssociation"
FS = "fs-0123456789abcdef0"
ROLE = "role/aws-service-role/s3.data-source.lustre.fsx.amazonaws.com/AWSServiceRoleForFSxS3Access_"


def link(stack: cdk.Stack, id: str = "Link", **given: Any) -> DataRepositoryAssociation:
    if "bucket" not in given:
        given["bucket"] = DataBucket(stack, f"{id}Data").bucket
    return DataRepositoryAssociation(stack, id, **{"file_system": FS, "path": "/data", **given})


def make_lustre(stack: cdk.Stack, **given: Any) -> LustreFileSystem:
    vpc = ec2.Vpc(stack, "Vpc")
    spec = plan_lustre(LustreGoal(throughput_mb_per_s=1_000)).spec
    return LustreFileSystem(stack, "Lustre", vpc=vpc, subnet=vpc.private_subnets[0], spec=spec, **given)


def refusal(stack: cdk.Stack) -> str:
    with pytest.raises(RuntimeError) as caught:
        Template.from_stack(stack)
    return str(caught.value)


def warnings(stack: cdk.Stack) -> list[str]:
    result = assertions.Annotations.from_stack(stack).find_warning("*", Match.any_value())
    return [str(entry.entry.data) for entry in result]


def key_statements(template: Template) -> list[dict[str, Any]]:
    (key,) = template.find_resources("AWS::KMS::Key").values()
    return [entry for entry in key["Properties"]["KeyPolicy"]["Statement"] if entry["Principal"] == {"AWS": "*"}]


def test_associations_of_a_file_system_are_created_one_after_the_other(
    stack: cdk.Stack, template: MakeTemplate
) -> None:
    bucket = DataBucket(stack, "Data").bucket
    other = "fs-0fedcba9876543210"
    links = [
        link(stack, id, bucket=bucket, path=f"/{id}", prefix=id, file_system=file_system)
        for id, file_system in (("a", FS), ("b", other), ("c", FS), ("d", FS))
    ]
    ids = [stack.get_logical_id(cast(cdk.CfnElement, each.node.default_child)) for each in links]
    resources = template().find_resources(ASSOCIATION)
    before = {id: {*resources[id].get("DependsOn", ())} & {*ids} for id in ids}
    assert before == {ids[0]: set(), ids[1]: set(), ids[2]: {ids[0]}, ids[3]: {ids[2]}}


def test_a_link_without_events_shows_what_is_there_and_moves_nothing(stack: cdk.Stack, template: MakeTemplate) -> None:
    link(stack)
    (resource,) = template().find_resources(ASSOCIATION).values()
    assert "S3" not in resource["Properties"]
    assert resource["Properties"]["BatchImportMetaDataOnCreate"] is True
    assert resource["Properties"]["ImportedFileChunkSize"] == 1024


def test_each_direction_takes_its_own_events(stack: cdk.Stack, template: MakeTemplate) -> None:
    link(stack, prefix="a/b", import_events=["NEW"], export_events=["NEW", "CHANGED"])
    template().has_resource_properties(
        ASSOCIATION,
        {
            "FileSystemId": FS,
            "FileSystemPath": "/data",
            "DataRepositoryPath": {"Fn::Join": ["", ["s3://", Match.any_value(), "/a/b"]]},
            "S3": {"AutoImportPolicy": {"Events": ["NEW"]}, "AutoExportPolicy": {"Events": ["NEW", "CHANGED"]}},
        },
    )


def test_a_link_stays_when_it_leaves_the_template(stack: cdk.Stack, template: MakeTemplate) -> None:
    link(stack)
    template().has_resource(ASSOCIATION, {"DeletionPolicy": "RetainExceptOnCreate", "UpdateReplacePolicy": "Retain"})


def test_tags_of_the_app_do_not_touch_a_link(stack: cdk.Stack, template: MakeTemplate) -> None:
    link(stack)
    cdk.Tags.of(stack).add("team", "blue")
    (resource,) = template().find_resources(ASSOCIATION).values()
    assert "Tags" not in resource["Properties"]


def test_policies_stand_before_fsx_looks_into_the_bucket(stack: cdk.Stack, template: MakeTemplate) -> None:
    link(stack, bucket=DataBucket(stack, "Data", key=kms.Key(stack, "Key")).bucket)
    result = template()
    (resource,) = result.find_resources(ASSOCIATION).values()
    policies = result.find_resources("AWS::S3::BucketPolicy")
    policies_of_data = {
        id for id, policy in policies.items() if "AccessLogs" not in json.dumps(policy["Properties"]["Bucket"])
    }
    assert {*policies_of_data, *result.find_resources("AWS::KMS::Key")} == set(resource["DependsOn"])


def test_the_key_allows_requests_of_s3_in_china() -> None:
    china = cdk.Environment(account="123456789012", region="cn-north-1")
    stack = cdk.Stack(cdk.App(analytics_reporting=False), "Stack", env=china)
    link(stack, bucket=DataBucket(stack, "Data", key=kms.Key(stack, "Key")).bucket)
    (statement,) = key_statements(Template.from_stack(stack))
    via = statement["Condition"]["StringEquals"]["kms:ViaService"]
    assert via == ["s3.cn-north-1.amazonaws.com", "s3.cn-north-1.amazonaws.com.cn"]


def test_the_key_allows_the_role_that_fsx_creates_later(stack: cdk.Stack, template: MakeTemplate) -> None:
    key = kms.Key(stack, "Key")
    link(stack, file_system=make_lustre(stack, key=key), bucket=DataBucket(stack, "Data", key=key).bucket)
    (statement,) = key_statements(template())
    assert statement["Condition"] == {
        "StringEquals": {"kms:CallerAccount": "123456789012", "kms:ViaService": "s3.us-east-2.amazonaws.com"},
        "ArnLike": {
            "aws:PrincipalArn": {
                "Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, f":iam::123456789012:{ROLE}fs-*"]]
            }
        },
    }
    actions = set(statement["Action"])
    assert actions == {"kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"}


def test_a_key_policy_never_waits_for_the_bucket_that_waits_for_the_key(stack: cdk.Stack) -> None:
    """A reference back would be a circle, which CloudFormation refuses; so does the template of the assertions."""
    key = kms.Key(stack, "Key")
    lustre = make_lustre(stack, key=key)
    for name in ("One", "Two"):
        bucket = DataBucket(stack, name, key=key).bucket
        link(stack, f"Link{name}", file_system=lustre, bucket=bucket, path=f"/{name}", export_events=["NEW"])
    result = Template.from_stack(stack)
    assert "Ref" not in json.dumps(key_statements(result)).replace('{"Ref": "AWS::Partition"}', "")
    assert len(key_statements(result)) == 1, "two associations of one key need the same"


def test_a_named_bucket_and_file_system_bound_the_key(stack: cdk.Stack, template: MakeTemplate) -> None:
    key = kms.Key(stack, "Key")
    bucket = s3.Bucket(stack, "Data", bucket_name="my-data", encryption_key=key)
    link(stack, bucket=bucket)
    (statement,) = key_statements(template())
    condition = statement["Condition"]
    assert condition["ArnLike"]["aws:PrincipalArn"]["Fn::Join"][1][-1].endswith(f"S3Access_{FS}")
    # With a bucket key the context is the bucket's ARN, without one the object's.
    contexts = condition["StringLike"]["kms:EncryptionContext:aws:s3:arn"]
    assert [entry["Fn::Join"][1][-1] for entry in contexts] == [":s3:::my-data", ":s3:::my-data/*"]


def test_the_policy_of_the_bucket_is_left_as_it_is() -> None:
    def policies(linked: bool) -> object:
        stack = cdk.Stack()
        bucket = DataBucket(stack, "Data").bucket
        if linked:
            link(stack, bucket=bucket, import_events=["NEW"])
        return Template.from_stack(stack).find_resources("AWS::S3::BucketPolicy")

    assert policies(linked=True) == policies(linked=False)


def test_a_bucket_of_another_account_allows_the_role_of_fsx() -> None:
    app = cdk.App()
    owner, user = (
        cdk.Stack(app, name, env=cdk.Environment(account=account, region="us-east-2"))
        for name, account in (("Owner", "210987654321"), ("User", "123456789012"))
    )
    name, key = cdk.PhysicalName.GENERATE_IF_NEEDED, kms.Key(owner, "Key")
    link(user, bucket=s3.Bucket(owner, "Data", bucket_name=name, encryption_key=key))
    templates = {each.stack_name: each.template for each in app.synth().stacks}
    kinds = {each["Type"]: each["Properties"] for each in templates["Owner"]["Resources"].values()}
    (on_bucket,) = kinds["AWS::S3::BucketPolicy"]["PolicyDocument"]["Statement"]
    assert "s3:PutBucketNotification" in on_bucket["Action"]
    assert ":iam::123456789012:root" in json.dumps(on_bucket["Principal"])
    assert f":iam::123456789012:{ROLE}{FS}" in json.dumps(on_bucket["Condition"]["ArnLike"])
    on_key = kinds["AWS::KMS::Key"]["KeyPolicy"]["Statement"][-1]
    assert on_key["Condition"]["StringEquals"]["kms:CallerAccount"] == "123456789012"


def test_rejects_a_perimeter_without_the_account_of_the_file_system() -> None:
    app = cdk.App()
    owner, user = (
        cdk.Stack(app, name, env=cdk.Environment(account=account, region="us-east-2"))
        for name, account in (("Owner", "210987654321"), ("User", "123456789012"))
    )
    for name, perimeter in (("Closed", "333333333333"), ("Open", "123456789012")):
        bucket = DataBucket(owner, name, bucket_name=cdk.PhysicalName.GENERATE_IF_NEEDED, perimeter=perimeter).bucket
        link(user, f"{name}Link", bucket=bucket, path=f"/{name}")
    problem = "statement Perimeter of the bucket policy denies principals of 123456789012"
    with pytest.raises(RuntimeError, match=rf"Owner/Closed/Bucket: {problem}") as caught:
        app.synth()
    assert "Owner/Open" not in str(caught.value)


def test_a_linked_bucket_has_no_notifications_in_the_template(stack: cdk.Stack, template: MakeTemplate) -> None:
    link(stack, import_events=["NEW", "CHANGED", "DELETED"])
    whole = json.dumps(template().to_json())
    assert "NotificationConfiguration" not in whole
    assert "S3BucketNotifications" not in whole


def test_a_bucket_of_others_brings_the_statements_to_add(stack: cdk.Stack) -> None:
    link(stack, bucket=s3.Bucket.from_bucket_name(stack, "Theirs", "their-data"))
    (result,) = [entry for entry in warnings(stack) if "their-data is not created in this app" in entry]
    for piece in ("s3:PutBucketNotification", ":iam::123456789012:root", "kms:ViaService", f"S3Access_{FS}"):
        assert piece in result
    assert "Fn::" not in result, "statements are there to be copied"
    assert Template.from_stack(stack).find_resources("AWS::S3::BucketPolicy") == {}


def test_a_key_of_others_brings_the_statement_to_add(stack: cdk.Stack) -> None:
    arn = "arn:aws:kms:us-east-2:123456789012:key/01234567-0123-0123-0123-0123456789ab"
    link(stack, bucket=DataBucket(stack, "Data", key=kms.Key.from_key_arn(stack, "Key", arn)).bucket)
    (result,) = [entry for entry in warnings(stack) if "its owner must add to its policy" in entry]
    assert arn in result
    assert "kms:GenerateDataKey*" in result


def test_a_file_system_of_others_is_not_vouched_for(stack: cdk.Stack) -> None:
    link(stack)
    assert any(FS in entry and "is not created in this app" in entry for entry in warnings(stack))


def test_a_bucket_and_file_system_of_the_app_need_no_warning(stack: cdk.Stack) -> None:
    link(stack, file_system=make_lustre(stack), export_events=["NEW", "CHANGED"])
    assert warnings(stack) == []


def test_an_export_without_versioning_is_warned_of(stack: cdk.Stack) -> None:
    link(stack, bucket=s3.Bucket(stack, "Data"), export_events=["NEW"])
    assert any("turn on versioning" in entry for entry in warnings(stack))


def test_rejects_what_fsx_refuses_where_it_is_written(stack: cdk.Stack) -> None:
    with pytest.raises(ValueError, match=r"Stack/Link: .*starts with a slash.*\n.*must be between 1 and 512,000"):
        link(stack, path="data", imported_file_chunk_mib=0)


def test_rejects_automatic_import_from_another_region(stack: cdk.Stack) -> None:
    far = s3.Bucket.from_bucket_attributes(stack, "Far", bucket_name="far-data", region="eu-west-1")
    link(stack, "Export", bucket=far, export_events=["NEW"])
    with pytest.raises(ValueError, match="the bucket is in eu-west-1"):
        link(stack, "Import", bucket=far, import_events=["NEW"])
    sibling = cdk.Stack(stack.node.root, "Sibling", env=cdk.Environment(account="123456789012", region="eu-west-1"))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the bucket is in eu-west-1"):
        link(stack, "Created", bucket=DataBucket(sibling, "Data"), import_events="NEW")


def test_rejects_links_that_overlap_wherever_they_stand() -> None:
    app = cdk.App()
    stacks = [cdk.Stack(app, name) for name in ("One", "Two")]
    for stack, path in zip(stacks, ("/data", "/data/more"), strict=True):
        link(stack, path=path)
    link(stacks[0], "Elsewhere", file_system="fs-0fedcba9876543210")
    with pytest.raises(RuntimeError) as caught:
        app.synth()
    assert str(caught.value).count("[association-overlap]") == 1


def test_rejects_a_ninth_link(stack: cdk.Stack) -> None:
    for n in range(9):
        link(stack, f"Link{n}", path=f"/d{n}", bucket=s3.Bucket.from_bucket_name(stack, f"B{n}", f"bucket-{n}"))
    assert "at most 8 associations, got 9" in refusal(stack)


def notify(bucket: s3.Bucket) -> None:
    topic = sns.Topic(cdk.Stack.of(bucket), "Topic")
    bucket.add_event_notification(s3.EventType.OBJECT_CREATED, notifications.SnsDestination(topic))


def low_level(bucket: s3.Bucket) -> None:
    resource = bucket.node.default_child
    assert isinstance(resource, s3.CfnBucket)
    resource.notification_configuration = s3.CfnBucket.NotificationConfigurationProperty(
        event_bridge_configuration=s3.CfnBucket.EventBridgeConfigurationProperty(event_bridge_enabled=True)
    )


@pytest.mark.parametrize("add", [notify, s3.Bucket.enable_event_bridge_notification, low_level])
def test_rejects_notifications_that_would_wipe_out_those_of_fsx(
    add: Callable[[s3.Bucket], None], stack: cdk.Stack
) -> None:
    bucket = s3.Bucket(stack, "Data")
    link(stack, bucket=bucket, import_events=["NEW"])
    add(bucket)
    assert "an event notification named FSx" in refusal(stack)


def test_a_link_that_imports_nothing_leaves_notifications_to_others(stack: cdk.Stack, template: MakeTemplate) -> None:
    bucket = s3.Bucket(stack, "Data", versioned=True)
    link(stack, bucket=bucket, export_events=["NEW"])
    notify(bucket)
    template().resource_count_is(ASSOCIATION, 1)


DAYS = cdk.Duration.days(90)


def to(storage_class: s3.StorageClass) -> list[s3.Transition]:
    return [s3.Transition(storage_class=storage_class, transition_after=DAYS)]


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"expiration": DAYS}, "deletes objects"),
        ({"expiration": DAYS, "prefix": "v"}, "deletes objects"),
        ({"expiration": DAYS, "prefix": "v1/old/"}, "deletes objects"),
        ({"transitions": to(s3.StorageClass.GLACIER)}, "to GLACIER,"),
        ({"transitions": to(s3.StorageClass.DEEP_ARCHIVE)}, "to DEEP_ARCHIVE,"),
        ({"expiration": DAYS, "prefix": "v2/"}, None),
        ({"expiration": DAYS, "prefix": "v11"}, None),
        ({"expiration": DAYS, "enabled": False}, None),
        ({"noncurrent_version_expiration": DAYS}, None),
        ({"transitions": to(s3.StorageClass.GLACIER_INSTANT_RETRIEVAL)}, None),
        ({"transitions": to(s3.StorageClass.INTELLIGENT_TIERING)}, None),
    ],
)
def test_a_lifecycle_must_leave_what_is_linked_readable(
    rule: dict[str, Any], words: str | None, stack: cdk.Stack
) -> None:
    bucket = s3.Bucket(stack, "Data", versioned=True)
    link(stack, bucket=bucket, prefix="v1")
    bucket.add_lifecycle_rule(**rule)
    if words is None:
        Template.from_stack(stack)
    else:
        assert words in refusal(stack)


def test_rejects_archive_tiers_under_a_link(stack: cdk.Stack) -> None:
    tiers = s3.IntelligentTieringConfiguration(name="Deep", deep_archive_access_tier_time=cdk.Duration.days(180))
    link(stack, bucket=s3.Bucket(stack, "Data", intelligent_tiering_configurations=[tiers]))
    assert "DEEP_ARCHIVE_ACCESS" in refusal(stack)


def test_rejects_a_link_to_a_log_bucket(stack: cdk.Stack) -> None:
    link(stack, bucket=LogBucket(stack, "Logs").bucket)
    assert "lifecycle rule Expire deletes objects" in refusal(stack)


@pytest.mark.parametrize("exempt", [False, True])
def test_a_policy_that_denies_by_vpc_must_exempt_fsx(exempt: bool, stack: cdk.Stack) -> None:
    bucket = s3.Bucket(stack, "Data")
    link(stack, bucket=bucket)
    conditions: dict[str, Any] = {"StringNotEquals": {"aws:SourceVpce": "vpce-0123456789abcdef0"}}
    if exempt:
        conditions["ArnNotLike"] = {"aws:PrincipalArn": f"arn:aws:iam::123456789012:{ROLE}*"}
    bucket.add_to_resource_policy(
        iam.PolicyStatement(
            effect=iam.Effect.DENY,
            principals=[iam.AnyPrincipal()],
            actions=["s3:GetObject"],
            resources=[bucket.arn_for_objects("*")],
            conditions=conditions,
        )
    )
    if exempt:
        Template.from_stack(stack)
    else:
        assert "FSx comes from outside of every VPC" in refusal(stack)


def test_the_queue_of_exports_is_a_metric_of_the_file_system(stack: cdk.Stack) -> None:
    metrics = link(stack).metrics
    for metric, publisher, name, statistic in (
        (metrics.metric_age_of_oldest_queued_message(), "AutoExport", "AgeOfOldestQueuedMessage", "Maximum"),
        (
            metrics.metric_age_of_oldest_queued_message("AutoImport"),
            "AutoImport",
            "AgeOfOldestQueuedMessage",
            "Maximum",
        ),
        (metrics.metric_repository_rename_operations(), "AutoExport", "RepositoryRenameOperations", "Sum"),
    ):
        assert (metric.namespace, metric.metric_name, metric.statistic) == ("AWS/FSx", name, statistic)
        assert metric.dimensions == {"FileSystemId": FS, "Publisher": publisher}


def release(stack: cdk.Stack, *links: DataRepositoryAssociation, **given: Any) -> ColdDataRelease:
    options = {"not_accessed_for_days": 30, "mount_options": "relatime,flock", **given}
    return ColdDataRelease(stack, "Release", associations=links, **options)


def test_a_release_asks_fsx_in_the_words_of_its_api(stack: cdk.Stack, template: MakeTemplate) -> None:
    release(stack, link(stack, path="/checkpoints", export_events=["NEW", "CHANGED"]))
    (schedule,) = template().find_resources("AWS::Scheduler::Schedule").values()
    properties = schedule["Properties"]
    assert properties["ScheduleExpression"] == "cron(0 3 * * ? *)"
    assert "aws-sdk:fsx:createDataRepositoryTask" in json.dumps(properties["Target"]["Arn"])
    request = json.loads(properties["Target"]["Input"])
    assert request == {
        "FileSystemId": FS,
        "Type": "RELEASE_DATA_FROM_FILESYSTEM",
        "Paths": ["checkpoints"],
        "ReleaseConfiguration": {"DurationSinceLastAccess": {"Unit": "DAYS", "Value": 30}},
        "Report": {"Enabled": False},
    }


def test_the_sdk_knows_every_word_of_the_request(stack: cdk.Stack, template: MakeTemplate) -> None:
    """Botocore carries the model of the API: it rejects a misspelt or misplaced parameter."""
    import boto3
    from botocore.validate import ParamValidator

    release(stack, link(stack, path="/checkpoints", export_events=["NEW"]))
    (schedule,) = template().find_resources("AWS::Scheduler::Schedule").values()
    request = json.loads(schedule["Properties"]["Target"]["Input"])
    client = boto3.client("fsx", region_name="us-east-2", aws_access_key_id="x", aws_secret_access_key="x")
    shape = client.meta.service_model.operation_model("CreateDataRepositoryTask").input_shape
    assert not ParamValidator().validate(request, shape).has_errors()
    assert ParamValidator().validate({**request, "report": {}}, shape).has_errors()


def test_a_release_may_start_tasks_on_its_file_system_and_nothing_else(
    stack: cdk.Stack, template: MakeTemplate
) -> None:
    release(stack, link(stack, path="/checkpoints", export_events=["NEW"]))
    result = template()
    (policy,) = result.find_resources("AWS::IAM::Policy").values()
    (statement,) = policy["Properties"]["PolicyDocument"]["Statement"]
    assert statement["Action"] == "fsx:CreateDataRepositoryTask"
    ends = sorted(entry["Fn::Join"][1][-1].split("123456789012:")[-1] for entry in statement["Resource"])
    assert ends == [f"file-system/{FS}", "task/*"]
    result.has_resource_properties(
        "AWS::IAM::Role",
        {
            "AssumeRolePolicyDocument": {
                "Statement": [
                    {
                        "Principal": {"Service": "scheduler.amazonaws.com"},
                        "Condition": {"StringEquals": {"aws:SourceAccount": "123456789012"}},
                    }
                ]
            }
        },
    )


def test_rejects_a_release_of_what_s3_may_not_hold(stack: cdk.Stack) -> None:
    imported = link(stack, import_events=["NEW"])
    with pytest.raises(ValueError, match=r"Stack/Release: /data lies under no association that exports.*\n.*relatime"):
        release(stack, imported, mount_options="noatime,flock")


def test_rejects_a_release_over_two_file_systems(stack: cdk.Stack) -> None:
    entry = link(stack, export_events=["NEW"])
    other = link(stack, "Other", file_system="fs-0fedcba9876543210", export_events=["NEW"])
    with pytest.raises(ValueError, match="2 file systems"):
        release(stack, entry, other)


def test_warnings_show_no_tokens(stack: cdk.Stack) -> None:
    link(stack, import_events=["NEW"], export_events=["NEW", "DELETED"])
    existing = cdk.Token.as_string({"Ref": "Existing"})
    LustreFileSystem.from_lustre_file_system_attributes(stack, "L", file_system_id=existing, mount_name="fsx")
    EfsHome.from_efs_home_attributes(stack, "E", file_system_id=existing)
    result = warnings(stack)
    assert sum("<Existing>" in entry for entry in result) == 3
    assert len(result) == 6
    assert not any("Token[" in entry for entry in result), result
    assert any("rm under /data deletes the object in s3://<LinkData" in entry for entry in result), result


def test_a_release_at_a_time_that_no_clock_shows_is_refused(stack: cdk.Stack) -> None:
    exported = link(stack, export_events=["NEW"])
    with pytest.raises(ValueError, match="schedule: hours must be 0 to 23"):
        ColdDataRelease(
            stack,
            "Release",
            associations=[exported],
            not_accessed_for_days=7,
            mount_options="relatime",
            schedule="cron(0 24 * * ? *)",
        )
