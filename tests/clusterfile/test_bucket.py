"""Existing data buckets: used like a new bucket, and never changed."""

import json
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from support.clusterfile_data import bent, problem, problems, read
from support.templates import of_type, synth, warning_ids
from ultracluster import clusterfile
from ultracluster.cli import app
from ultracluster.clusterfile import ClusterFile, loads
from ultracluster.clusterfile.sections import _s3, _storage
from ultracluster.planning.s3 import existing_bucket_problems
from ultracluster.storage import DataBucket

STORAGE = "storage: {lustre: {throughput: 40 GB/s}}"
KEY = "arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"
WITH_KEY = f"{{existing: my-datasets, key: '{KEY}'}}"


def given_bucket(bucket: str, lustre: str = "") -> str:
    return bent(STORAGE, f"storage: {{data-bucket: {bucket}{lustre}}}")


def cluster(bucket: str, lustre: str = "") -> ClusterFile:
    return loads(given_bucket(bucket, lustre), "c.yaml")


def linked(links: str, more: str = "") -> str:
    return f", lustre: {{throughput: 4 GB/s, {more}data-repository-associations: {{{links}}}}}"


def resources(cluster: ClusterFile) -> list[dict[str, Any]]:
    """All but those of monitoring, whose topic has a key of its own."""
    stacks = [stack for stack in synth(cluster).stacks if not stack.stack_name.endswith("-Observability")]
    return [resource for stack in stacks for resource in stack.template["Resources"].values()]


def statements(cluster: ClusterFile) -> dict[str, dict[str, Any]]:
    """Return the statements of the nodes' role on the data bucket, by what they are about."""
    template = synth(cluster).get_stack_by_name("llama-Compute").template
    actions = {"Objects": "s3:PutObject", "Bucket": "s3:ListBucketMultipartUploads", "Key": "kms:GenerateDataKey"}
    return {
        name: statement
        for policy in of_type(template, "AWS::IAM::Policy")
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        for name, action in actions.items()
        if action in statement["Action"]
    }


def warned(cluster: ClusterFile) -> dict[str, str]:
    return {warning.id.removeprefix("ultracluster:"): warning.message for warning in clusterfile.warnings(cluster)}


# What it becomes


@pytest.mark.parametrize("bucket", ["{existing: my-datasets}", WITH_KEY])
def test_an_existing_bucket_is_neither_created_nor_changed(bucket: str) -> None:
    types = {resource["Type"] for resource in resources(cluster(bucket))}
    assert not {type for type in types if type.startswith("AWS::S3::")}
    assert "AWS::KMS::Key" not in types


def test_nodes_get_the_same_of_your_bucket_as_of_one_that_is_made() -> None:
    existing, created = statements(cluster(WITH_KEY)), statements(cluster("true"))
    assert {id: statement["Action"] for id, statement in existing.items()} == {
        id: statement["Action"] for id, statement in created.items()
    }
    # Copies of the software that nodes install; jobs have credentials of their own.
    objects = "arn:aws:s3:::my-datasets/ultracluster/software/*"
    assert {id: statement["Resource"] for id, statement in existing.items()} == {"Objects": objects, "Key": KEY}
    assert all(statement["Effect"] == "Allow" and "Condition" not in statement for statement in existing.values())


def test_without_its_key_nodes_get_no_key() -> None:
    assert set(statements(cluster("{existing: my-datasets}"))) == {"Objects"}
    # Nor with one that encrypts something else.
    text = given_bucket("{existing: my-datasets}") + f"encryption-key: {KEY}\n"
    assert set(statements(loads(text, "c.yaml"))) == {"Objects"}


def test_the_storage_stack_prints_the_name_of_an_existing_bucket() -> None:
    storage = synth(cluster("{existing: my-datasets}")).get_stack_by_name("llama-Storage").template
    assert storage["Outputs"]["DataBucketName"]["Value"] == "my-datasets"
    # CloudFormation rejects a stack without resources.
    assert storage["Resources"]


def test_an_association_without_a_bucket_shows_the_existing_data_bucket() -> None:
    associations = [
        resource["Properties"]["DataRepositoryPath"]
        for resource in resources(cluster("{existing: mine}", linked("/ck: {}, /all: {bucket: theirs, prefix: x}")))
        if resource["Type"] == "AWS::FSx::DataRepositoryAssociation"
    ]
    assert sorted(associations) == ["s3://mine/ck", "s3://theirs/x"]


def test_a_link_to_your_bucket_by_its_name_overlaps_with_one_without() -> None:
    (message,) = problems(given_bucket("{existing: mine}", linked("/ck: {}, /all: {bucket: mine}")))
    assert "the repositories s3://mine/ck and s3://mine overlap" in message


# Warnings and messages


def test_warns_once_of_an_unmanaged_bucket_and_can_be_acknowledged() -> None:
    for bucket, more in (("{existing: mine}", "set its ARN"), (f"{{existing: mine, key: '{KEY}'}}", KEY)):
        words = warned(cluster(bucket))["existing-bucket"]
        for word in ("neither retains nor guards", "no lifecycle", "no bucket policy", "notifications", "us-east-2"):
            assert word in words
        assert more in words
        assert warning_ids(cluster(bucket)).count("ultracluster:existing-bucket") == 1
    known = given_bucket("{existing: mine}") + "accept: {existing-bucket: it has a team of its own}\n"
    assert "ultracluster:existing-bucket" not in warning_ids(loads(known, "c.yaml"))
    assert "existing-bucket" not in warned(cluster("true")) | warned(cluster("false"))


def test_warns_of_an_association_with_an_existing_bucket() -> None:
    links = linked("/ck: {export: [NEW]}, /data: {}")
    plain, keyed = cluster("{existing: mine}", links), cluster(WITH_KEY, links)
    both = {"association-foreign-bucket", "association-unversioned"}
    assert {id for id in warned(plain) if id.startswith("association")} == both
    # Yours is not empty when it is linked.
    assert {id for id in warned(keyed) if id.startswith("association")} == {*both, "association-foreign-key"}
    for template in (plain, keyed):
        shown = {id.removeprefix("ultracluster:") for id in warning_ids(template)}
        assert {id for id in shown if id.startswith("association")} == {
            id for id in warned(template) if id.startswith("association")
        }
    # By its name it is the same bucket, with the same key.
    by_name = cluster(WITH_KEY, linked("/ck: {bucket: my-datasets, prefix: ck}"))
    assert "association-foreign-key" in warned(by_name)
    assert "ultracluster:association-foreign-key" in warning_ids(by_name)
    acknowledged = given_bucket(WITH_KEY, links) + "accept: {association-foreign-key: it has it}\n"
    assert "ultracluster:association-foreign-key" not in warning_ids(loads(acknowledged, "c.yaml"))


def test_the_check_shows_which_bucket_it_is(tmp_path: Any) -> None:
    file = tmp_path / "c.yaml"
    for bucket, sentence, facts in (
        (WITH_KEY, f"data bucket: my-datasets, yours, with the key {KEY}", {"existing": "my-datasets", "key": KEY}),
        ("{existing: mine}", "data bucket: mine, yours, without a key", {"existing": "mine", "key": None}),
        ("true", "data bucket: a new one, with a new key", {"existing": None, "key": None}),
        ("false", None, None),
    ):
        file.write_text(given_bucket(bucket))
        out = CliRunner().invoke(app, ["check", str(file)]).stdout
        assert [line for line in out.splitlines() if line.startswith("data bucket")] == ([sentence] if sentence else [])
        assert json.loads(CliRunner().invoke(app, ["check", str(file), "--json"]).stdout)["data_bucket"] == facts


# What is refused


@pytest.mark.parametrize(
    ("bucket", "message"),
    [
        (
            "my-datasets",
            "data-bucket: must be true, false, or an existing bucket as {existing: my-datasets}, got 'my-datasets'",
        ),
        ("yes", "got 'yes'; write true"),
        ("[my-datasets]", "got a list"),
        ("{}", "data-bucket.existing: is missing; write for example existing: my-datasets"),
        ("{existing: }", "data-bucket.existing: has no value"),
        ("{exsting: mine}", "data-bucket.exsting: unknown key; did you mean existing? allowed are existing, key"),
        ("{existing: s3://mine/x}", "must be the name of a bucket alone, got 's3://mine/x'; write existing: mine"),
        ("{existing: My_Data}", "data-bucket.existing: 'My_Data' is no name of a bucket: 3 to 63 lower-case"),
        ("{existing: 7}", "must be the name of a bucket, such as my-datasets, got 7; put it in quotes"),
        ("{existing: fast--use2-az1--x-s3}", "a directory bucket of S3 Express One Zone, which needs other perm"),
        ("{existing: mine-abc-s3alias}", "is the name of the alias of an access point; name a general purpose bucket"),
        ("{existing: mine, key: alias/data}", "data-bucket.key: must be the ARN of a KMS key"),
        (
            "{existing: mine, key: 'arn:aws:kms:us-east-1:123456789012:key/mrk-0123456789abcdef0123456789abcdef'}",
            "data-bucket.key: is in us-east-1, and must be in the cluster's Region, us-east-2",
        ),
    ],
)
def test_rejects_invalid_data_buckets(bucket: str, message: str) -> None:
    assert any(message in error for error in problems(given_bucket(bucket)))


def test_reports_all_errors_at_once() -> None:
    errors = problems(given_bucket("{existing: X, key: Y, lifecycle: Z}"))
    assert [line.split()[1] for line in errors] == [
        "storage.data-bucket.existing:",
        "storage.data-bucket.key:",
        "storage.data-bucket.lifecycle:",
    ]
    assert problem(STORAGE, "storage: {data-bucket: {existing: X}}").startswith("c.yaml:7:35 ")


def test_the_construct_rejects_the_same_values_as_the_file() -> None:
    stack = cdk.Stack()
    with pytest.raises(
        ValueError, match="Express: bucket_name: 'fast--use2-az1--x-s3' is the name of a directory bucket"
    ):
        DataBucket.from_data_bucket_attributes(stack, "Express", bucket_name="fast--use2-az1--x-s3")
    with pytest.raises(ValueError, match="Number: bucket_name must be a string, got 7"):
        DataBucket.from_data_bucket_attributes(stack, "Number", bucket_name=7)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Key: key must be"):
        DataBucket.from_data_bucket_attributes(stack, "Key", bucket_name="mine", key=KEY)  # type: ignore[arg-type]


def test_a_reader_of_your_bucket_neither_writes_nor_deletes() -> None:
    stack = cdk.Stack()
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    DataBucket.from_data_bucket_attributes(stack, "Data", bucket_name="mine").grants.read(role)
    template = dict(cdk.assertions.Template.from_stack(stack).to_json())
    (policy,) = of_type(template, "AWS::IAM::Policy")
    actions = [statement["Action"] for statement in policy["Properties"]["PolicyDocument"]["Statement"]]
    assert actions == ["s3:GetObject", ["s3:GetBucketLocation", "s3:ListBucket"]]


# Whatever is written


NAMES = st.from_regex(r"[a-z0-9][a-z0-9-]{1,40}[a-z0-9]", fullmatch=True)


@given(NAMES.filter(lambda name: not existing_bucket_problems(name)), st.booleans())
def test_what_is_read_is_written_and_read_again(name: str, with_key: bool) -> None:
    expected = {"existing": name, **({"key": KEY} if with_key else {})}
    storage = _storage.Storage.model_validate({"data-bucket": expected})
    assert storage.data_bucket == _s3.ExistingBucket.model_validate(expected)
    assert storage.model_dump(by_alias=True, exclude_unset=True) == {"data-bucket": expected}


def test_a_file_writes_its_bucket_as_it_was_read() -> None:
    for bucket, written in (("true", True), ("false", False), (WITH_KEY, {"existing": "my-datasets", "key": KEY})):
        dumped = cluster(bucket).storage.model_dump(by_alias=True)["data-bucket"]
        assert dumped == written
        assert read(STORAGE, f"storage: {{data-bucket: {json.dumps(dumped)}}}") == cluster(bucket)
