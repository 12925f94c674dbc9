"""All that storage has for S3, with everything that checks templates, and deployed into the local cloud."""

import copy
from pathlib import Path

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template

from cdk_rehearsal import guard
from cdk_rehearsal.guard._stateful import stateful
from cdk_rehearsal.guard._template import Template as GuardedTemplate
from support.rehearsal_tools import local_stacks
from support.storage_app import everything
from support.strict_process import StrictProcess
from support.template_lint import problems


def test_everything_passes_every_check(tmp_path: Path, strict: StrictProcess) -> None:
    assert strict.synthesise(tmp_path, ["storage"]) == ""
    (path,) = tmp_path.glob("*.template.json")
    assert problems(path.read_text()) == []


def test_the_registry_schemas_take_everything_and_the_references_resolve() -> None:
    template = Template.from_stack(everything(cdk.App())).to_json()
    with local_stacks() as stacks:
        name = stacks.create(template["Resources"], Outputs=template.get("Outputs", {}))
        assert stacks.status(name) == "CREATE_COMPLETE", stacks.reasons(name)
        order = [logical_id for action, logical_id in stacks.happened(name) if action == "create"]
        links = [id for id in order if "Link" in id]
        assert len(links) == 3
        created = [id for id in links if not id.startswith("Their")]
        policies = [id for id, resource in template["Resources"].items() if resource["Type"] == "AWS::S3::BucketPolicy"]
        linked = [id for id in policies if id.startswith(("DataBucket", "CheckpointsBucket"))]
        assert max(order.index(id) for id in linked) < min(order.index(id) for id in created)


def test_the_guard_knows_everything_that_holds_data() -> None:
    template = Template.from_stack(everything(cdk.App())).to_json()
    held = {template["Resources"][id]["Type"] for id in stateful(GuardedTemplate.of(template))}
    assert {
        "AWS::FSx::DataRepositoryAssociation",
        "AWS::FSx::FileSystem",
        "AWS::KMS::Key",
        "AWS::S3::Bucket",
        "AWS::S3::BucketPolicy",
        "AWS::S3Express::BucketPolicy",
        "AWS::S3Express::DirectoryBucket",
    } <= held


@pytest.mark.parametrize(
    ("name", "value", "refused"),
    [
        ("FileSystemPath", "/elsewhere", True),
        ("DataRepositoryPath", "s3://elsewhere", True),
        ("FileSystemId", "fs-0fedcba9876543210", True),
        ("BatchImportMetaDataOnCreate", False, True),
        ("ImportedFileChunkSize", 512, False),
        ("S3", {"AutoExportPolicy": {"Events": ["NEW"]}}, False),
    ],
)
def test_the_guard_refuses_an_edit_that_asks_for_another_link(name: str, value: object, refused: bool) -> None:
    old = Template.from_stack(everything(cdk.App())).to_json()
    new = copy.deepcopy(old)
    (link,) = [id for id in new["Resources"] if id.startswith("CheckpointsLink")]
    new["Resources"][link]["Properties"][name] = value
    report = guard.compare(old, new)
    assert [finding.logical_id for finding in report.findings if finding.fate is not guard.Fate.KEPT] == [link]
    assert report.ok != refused
