"""Properties of every template: no false alarm, and no replacement that is called kept."""

import copy
import json
import random
from pathlib import Path
from typing import Any

import cfnlint  # no py.typed
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cdk_rehearsal import guard
from cdk_rehearsal.guard import Fate
from support import GOLDEN
from support.guard_edits import EDITS, Edit, edited, golden
from ultracluster.testing import UPDATE_RULES

STACKS = ("Network", "Storage", "Cluster", "Compute")
SCHEMAS = Path(cfnlint.__file__).parent / "data" / "schemas"
# The replacements of docs/operations/changes.md and the CloudFormation reference.
DOCUMENTED = {"AWS::FSx::FileSystem": ["/properties/LustreConfiguration/DeploymentType"]}


@pytest.mark.parametrize("stack", STACKS)
def test_a_template_compared_with_itself_has_no_findings(stack: str) -> None:
    report = guard.compare(golden(stack), golden(stack))
    assert report.ok
    assert report.findings == ()


def test_a_directory_compared_with_itself_has_no_findings() -> None:
    report = guard.compare(GOLDEN, GOLDEN)
    assert report.findings == ()
    assert report.stateful == 20
    assert report.skipped == ("logical-ids.json",)


def shuffled(node: Any, draw: random.Random) -> Any:
    if isinstance(node, dict):
        keys = list(node)
        draw.shuffle(keys)
        return {key: shuffled(node[key], draw) for key in keys}
    return [shuffled(item, draw) for item in node] if isinstance(node, list) else node


@settings(max_examples=20, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from(STACKS))
def test_the_order_of_keys_means_nothing(draw: random.Random, stack: str) -> None:
    assert guard.compare(golden(stack), shuffled(golden(stack), draw)).findings == ()


def with_lists() -> dict[str, Any]:
    """Lists that the schemas call unordered: one of mappings, two below a property whose change replaces."""
    tags = [{"Key": f"k{n}", "Value": "v"} for n in range(5)]
    groups = [{"Ref": "AWS::StackId"}, "sg-1", "sg-2", "sg-3"]
    networking = {"SecurityGroupIds": groups, "SubnetIds": ["subnet-1", "subnet-2"]}
    return {
        "Resources": {
            "Bucket": {"Type": "AWS::S3::Bucket", "Properties": {"Tags": tags}},
            "Slurm": {"Type": "AWS::PCS::Cluster", "Properties": {"Networking": networking, "Size": "SMALL"}},
        }
    }


@settings(max_examples=30, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_order_of_an_unordered_list_means_nothing(draw: random.Random) -> None:
    old, new = with_lists(), with_lists()
    bucket, slurm = (new["Resources"][name]["Properties"] for name in ("Bucket", "Slurm"))
    for unordered in (bucket["Tags"], *slurm["Networking"].values()):
        draw.shuffle(unordered)
    assert guard.compare(old, new).findings == ()


def test_the_order_of_an_ordered_list_means_something() -> None:
    old, new = golden("Storage"), golden("Storage")
    for side, groups in ((old, ["sg-1", "sg-2"]), (new, ["sg-2", "sg-1"])):
        side["Resources"]["LustreF8935BA0"]["Properties"]["SecurityGroupIds"] = groups
    (finding,) = guard.compare(old, new).findings
    assert finding.fate is Fate.REPLACED


def schema_of(kind: str) -> dict[str, Any]:
    index = json.loads((SCHEMAS / "providers" / "us-east-2.json").read_text())
    return dict(json.loads((SCHEMAS / "resources" / f"{index[kind]}.json").read_text()))


def at(node: Any, pointer: str) -> Any:
    for part in pointer.split("/")[2:]:
        node = node.get(part) if isinstance(node, dict) else None
    return node


def read_independently(kind: str, old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Check that a create-only property differs, from the schema's own text and nothing of the library's."""
    pointers = schema_of(kind).get("createOnlyProperties", []) + DOCUMENTED.get(kind, [])
    return any(at(old, pointer) != at(new, pointer) for pointer in pointers)


VALUES = st.sampled_from(["a", "b", "2.15", ""])
LISTS = st.lists(st.sampled_from(["x-1", "x-2"]), max_size=2)
LUSTRE = st.fixed_dictionaries(
    {"FileSystemType": st.sampled_from(["LUSTRE", "ONTAP"]), "SubnetIds": LISTS},
    optional={
        "BackupId": VALUES,
        "KmsKeyId": VALUES,
        "SecurityGroupIds": LISTS,
        "StorageCapacity": st.sampled_from([1200, 2400, 4800]),
        "LustreConfiguration": st.fixed_dictionaries(
            {}, optional={"DeploymentType": VALUES, "DataCompressionType": VALUES, "EfaEnabled": st.booleans()}
        ),
        "Tags": st.lists(st.fixed_dictionaries({"Key": VALUES, "Value": VALUES}), max_size=2),
    },
)
PCS = st.fixed_dictionaries(
    {"Size": st.sampled_from(["SMALL", "LARGE"])},
    optional={
        "Name": VALUES,
        "Networking": st.fixed_dictionaries({"NetworkType": VALUES}),
        "Tags": st.just({"a": "b"}),
    },
)
BUCKET = st.fixed_dictionaries({}, optional={"BucketName": VALUES, "Tags": st.just([{"Key": "a", "Value": "b"}])})
ANY = st.one_of(
    st.tuples(st.just("AWS::FSx::FileSystem"), LUSTRE, LUSTRE),
    st.tuples(st.just("AWS::PCS::Cluster"), PCS, PCS),
    st.tuples(st.just("AWS::S3::Bucket"), BUCKET, BUCKET),
)


@settings(max_examples=400, deadline=None)
@given(ANY)
def test_nothing_is_called_kept_that_cloudformation_would_replace(case: tuple[str, Any, Any]) -> None:
    kind, before, after = case
    old, new = ({"Resources": {"R": {"Type": kind, "Properties": side}}} for side in (before, after))
    report = guard.compare(old, new)
    fate = report.findings[0].fate if report.findings else Fate.KEPT
    assert (fate is Fate.REPLACED) == read_independently(kind, before, after)
    assert (fate is Fate.KEPT) == (before == after)


HARMFUL = [edit for edit in EDITS if edit.stack == "Storage" and any(fate.harmful for fate in edit.fates.values())]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(HARMFUL), min_size=2, max_size=3, unique_by=lambda edit: min(edit.fates)))
def test_one_edit_does_not_hide_another(edits: list[Edit]) -> None:
    touched = [logical_id for edit in edits for logical_id in edit.fates]
    assume(len(set(touched)) == len(touched))
    template = copy.deepcopy(golden("Storage"))
    for edit in edits:
        edit.change(template)
    report = guard.compare(golden("Storage"), template, update_rules=UPDATE_RULES)
    refused = {finding.logical_id for finding in report.refused}
    assert {logical_id for edit in edits for logical_id, fate in edit.fates.items() if fate.harmful} <= refused


def test_going_back_is_an_edit_as_well() -> None:
    """Replacements go both ways; growth and added protection may differ."""
    for edit in EDITS:
        findings = guard.compare(edited(edit), golden(edit.stack)).findings
        back = {finding.logical_id: finding.fate for finding in findings}
        for logical_id, fate in edit.fates.items():
            if fate is Fate.REPLACED:
                assert back[logical_id] is Fate.REPLACED, edit.name
