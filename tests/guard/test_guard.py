"""The guard: what becomes of stateful resources, edit by edit, and by the rehearsal's engine too."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

import cdk_rehearsal
from cdk_rehearsal import guard
from cdk_rehearsal.guard import Fate
from cdk_rehearsal.guard._stateful import stateful
from cdk_rehearsal.guard._template import Template
from support.guard_edits import (
    DATA,
    EDITS,
    FLOW_LOG,
    GROUP,
    KEPT,
    KEY,
    LUSTRE,
    LUSTRE_LOG,
    NODE_LOGS,
    RULES,
    SLURM,
    SLURM_LOGS,
    Edit,
    edited,
    golden,
    lustre,
    put,
    rename,
)
from support.rehearsal_tools import Stacks, local_stacks
from ultracluster.testing import UPDATE_RULES, assert_nothing_stateful_is_lost

by_name = pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.name)


def fates(report: guard.Report) -> dict[str, Fate]:
    return {finding.logical_id: finding.fate for finding in report.findings}


@by_name
def test_reports_the_fate_of_an_edit(edit: Edit) -> None:
    report = guard.compare(golden(edit.stack), edited(edit), update_rules=UPDATE_RULES)
    assert fates(report) == edit.fates
    assert report.ok == all(fate in (Fate.KEPT, Fate.UPDATED) for fate in edit.fates.values())


@pytest.fixture(scope="module")
def stacks() -> Iterator[Stacks]:
    with local_stacks() as local:
        local.create(golden("Network")["Resources"], "llama-Network", Outputs=golden("Network")["Outputs"])
        assert local.status("llama-Network") == "CREATE_COMPLETE"
        yield local


@pytest.mark.parametrize("edit", [edit for edit in EDITS if edit.stack == "Storage"], ids=lambda edit: edit.name)
def test_the_engine_loses_nothing_that_the_guard_calls_kept(stacks: Stacks, edit: Edit) -> None:
    """The rehearsal deploys the template and the edit: what it does must be what the guard said."""
    name = stacks.name()

    def own(template: dict[str, object]) -> dict[str, object]:
        # A name of its own for each, and no exports: all of them are in one account.
        text = json.dumps(template["Resources"]).replace("/aws/fsx/", f"/aws/fsx/{name}-")
        text = text.replace("my-own-name", f"my-own-{name}")
        return {"resources": json.loads(text), "Conditions": template.get("Conditions", {})}

    stacks.create(name=name, **own(golden("Storage")))  # type: ignore[arg-type]
    assert stacks.status(name) == "CREATE_COMPLETE", stacks.reasons(name)
    before = len(stacks.entries(name))
    try:
        stacks.update(name, **own(edited(edit)))  # type: ignore[arg-type]
    except ClientError:
        # Nothing to update, or a change of type.
        assert edit.fates == KEPT or Fate.REFUSED in edit.fates.values()
    happened: dict[str, set[str]] = {}
    for entry in stacks.entries(name)[before:]:
        happened.setdefault(entry.logical_id, set()).add(entry.action.value)
    rolled_back = stacks.status(name) == "UPDATE_ROLLBACK_COMPLETE"
    assert rolled_back == (Fate.REFUSED in edit.fates.values() and edit.name != "another type under the id")
    # Where a policy is weakened in the same edit, the guard takes the worse one.
    expected = {Fate.REPLACED: {"replace"}, Fate.ORPHANED: {"retain"}, Fate.DELETED: {"delete", "retain"}}
    expected[Fate.REFUSED] = {"fail"}
    for logical_id in stateful(Template.of(golden("Storage"))):
        fate, done = edit.fates.get(logical_id, Fate.KEPT), happened.get(logical_id, set())
        if not rolled_back and fate in (Fate.KEPT, Fate.UPDATED):
            assert done <= {"update"}
        if fate in expected and done:
            assert expected[fate] & done
    stacks.delete(name)


def test_what_holds_data_counts_and_what_its_template_retains() -> None:
    storage, network, cluster = (stateful(Template.of(golden(name))) for name in ("Storage", "Network", "Cluster"))
    assert {LUSTRE, KEY, DATA, GROUP, *RULES} <= storage.keys()
    assert LUSTRE_LOG not in storage
    assert storage[GROUP] == "its template keeps it (DeletionPolicy RetainExceptOnCreate)"
    assert network == {FLOW_LOG: "it holds audit data: NetworkFlowLog0C7D188B writes to it"}
    assert set(cluster) == {SLURM, SLURM_LOGS, NODE_LOGS}


def test_a_finding_names_the_property_and_the_reason_down_the_chain() -> None:
    edit = put("x", GROUP, "Properties", "GroupDescription")
    report = guard.compare(golden("Storage"), edited(Edit("", "Storage", edit, {})))
    (finding,) = [finding for finding in report.findings if finding.logical_id == LUSTRE]
    assert finding.causes[0].property == "SecurityGroupIds"
    assert finding.causes[0].reason == (
        f"refers to {GROUP}.GroupId, which is replaced (GroupDescription); "
        "the old one stays, outside every stack, beside a new one"
    )


def test_reports_the_new_name_of_a_renamed_resource() -> None:
    report = guard.compare(golden("Storage"), edited(Edit("", "Storage", rename(LUSTRE, "Lustre2"), {})))
    assert "Lustre2 of the same type would be new" in report.findings[0].causes[0].reason


def test_reports_a_deletion_that_no_policy_prevents() -> None:
    old = {"Resources": {"Table": {"Type": "AWS::DynamoDB::Table", "Properties": {"TableName": "a"}}}}
    new = {"Resources": {"Table": {"Type": "AWS::DynamoDB::Table", "Properties": {"TableName": "b"}}}}
    (finding,) = guard.compare(old, new).findings
    assert finding.causes[0].reason.endswith("the old one is deleted: no UpdateReplacePolicy keeps it")
    # A DeletionPolicy does not help a resource that is replaced.
    for template in (old, new):
        template["Resources"]["Table"]["DeletionPolicy"] = "Retain"
    (finding,) = guard.compare(old, new).findings
    assert "no UpdateReplacePolicy keeps it" in finding.causes[0].reason


def test_a_named_resource_may_go_and_only_that_one() -> None:
    edit = Edit("", "Storage", put("x", GROUP, "Properties", "GroupDescription"), {})
    report = guard.compare(golden("Storage"), edited(edit), allow=[GROUP])
    assert not report.ok
    assert {finding.logical_id for finding in report.refused} == {LUSTRE, *RULES}
    assert guard.compare(golden("Storage"), edited(edit), allow=[GROUP, LUSTRE, *RULES]).ok


def test_rejects_an_unused_allow() -> None:
    old, new = golden("Storage"), edited(Edit("", "Storage", lustre(GONE_KEY, "KmsKeyId"), {}))
    report = guard.compare(old, new, allow=[LUSTRE, "LustreF8935BA", KEY])
    assert not report.refused
    assert not report.ok
    assert report.unused == {
        "LustreF8935BA": f"the old template has no such resource; did you mean {LUSTRE}?",
        KEY: "nothing about it is refused",
    }


GONE_KEY = "alias/another"


def test_the_summary_counts_everything() -> None:
    edit = Edit("", "Storage", put("x", GROUP, "Properties", "GroupDescription"), {})
    assert guard.compare(golden("Storage"), edited(edit), allow=[GROUP]).summary == (
        "9 stateful resources: 5 kept, 4 replaced; 3 refused; 1 allowed"
    )
    assert guard.compare({"Resources": {}}, golden("Storage")).summary == "0 stateful resources"


def test_the_assertion_names_the_data_that_would_be_lost() -> None:
    assert_nothing_stateful_is_lost(golden("Storage"), golden("Storage"))
    new = edited(Edit("", "Storage", lustre(GONE_KEY, "KmsKeyId"), {}))
    assert_nothing_stateful_is_lost(golden("Storage"), new, allow=[LUSTRE])
    with pytest.raises(AssertionError, match=rf"{LUSTRE} \(AWS::FSx::FileSystem\): cannot be known: KmsKeyId: changes"):
        assert_nothing_stateful_is_lost(golden("Storage"), new)
    with pytest.raises(AssertionError, match="--allow Lustre: the old template has no such resource"):
        assert_nothing_stateful_is_lost(golden("Storage"), golden("Storage"), allow=["Lustre"])


def test_every_stateful_type_exists_and_has_a_description() -> None:
    from cdk_rehearsal.registry import anywhere

    for name, holds in guard.STATEFUL.items():
        assert anywhere(name) is not None, name
        assert holds


@pytest.mark.parametrize("name", ["s.yaml", "s.yml", "s.template", "deep/er/s.json"])
def test_a_directory_holds_templates_of_every_form_and_depth(tmp_path: Path, name: str) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    bucket = {"Resources": {"Data": {"Type": "AWS::S3::Bucket", "DeletionPolicy": "Retain"}}}
    topic = json.dumps({"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}})
    for folder in (old, new):
        (folder / "deep/er").mkdir(parents=True)
        (folder / "n.json").write_text(topic)
    (old / name).write_text(json.dumps(bucket))
    assert guard.compare(old, new).refused


def test_two_files_of_one_name_are_two_templates(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    bucket = {"Resources": {"Data": {"Type": "AWS::S3::Bucket", "DeletionPolicy": "Retain"}}}
    topic = json.dumps({"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}})
    for folder in (old, new):
        folder.mkdir()
        (folder / "a.json").write_text(json.dumps(bucket) if folder == old else topic)
        (folder / "a.yaml").write_text(topic)
    assert guard.compare(old, new).refused


def test_a_key_that_comes_or_goes_is_named_alone() -> None:
    new = golden("Storage")
    lustre(7, "LustreConfiguration", "AutomaticBackupRetentionDays")(new)
    for old, after, says in ((golden("Storage"), new, 'is set to "7"'), (new, golden("Storage"), "is no longer set")):
        ((cause,),) = [finding.causes for finding in guard.compare(old, after).findings]
        assert cause.property == "LustreConfiguration.AutomaticBackupRetentionDays"
        assert cause.reason.startswith(says)


def test_the_assertion_names_the_extra_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(cdk_rehearsal, "guard")
    monkeypatch.setitem(sys.modules, "cdk_rehearsal.guard", None)
    with pytest.raises(ImportError, match=re.escape('pip install "cdk-ultracluster[guard]"')):
        assert_nothing_stateful_is_lost({"Resources": {}}, {"Resources": {}})
