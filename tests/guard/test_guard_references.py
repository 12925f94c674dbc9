"""References of a property: parameters, mappings, conditions, other resources, other stacks."""

import json
from pathlib import Path
from typing import Any

import pytest

from cdk_rehearsal import guard
from cdk_rehearsal.guard import Fate

Template = dict[str, Any]
KEPT = {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}


def file_system(subnet: Any, **more: Any) -> Template:
    properties = {"FileSystemType": "LUSTRE", "SubnetIds": [subnet], "StorageCapacity": 1200, **more}
    return {"Type": "AWS::FSx::FileSystem", **KEPT, "Properties": properties}


def template(subnet: Any, resources: Template | None = None, **sections: Any) -> Template:
    return {"Resources": {"Fs": file_system(subnet), **(resources or {})}, **sections}


def fate(old: Template, new: Template, logical_id: str = "Fs") -> Fate:
    fates = {finding.logical_id: finding.fate for finding in guard.compare(old, new).findings}
    return fates.get(logical_id, Fate.KEPT)


def reason(old: Template, new: Template) -> str:
    return "\n".join(guard.compare(old, new).lines())


def subnet(cidr: str, **more: Any) -> Template:
    return {"Subnet": {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": "vpc-1", "CidrBlock": cidr, **more}}}


REFERENCES = [
    {"Ref": "Subnet"},
    {"Fn::GetAtt": ["Subnet", "SubnetId"]},
    {"Fn::GetAtt": "Subnet.SubnetId"},
    {"Fn::Sub": "${Subnet}"},
    {"Fn::Sub": ["${S}", {"S": {"Ref": "Subnet"}}]},
    {"Fn::Join": ["", [{"Ref": "Subnet"}]]},
    {"Fn::Join": ["-", ["a", {"Ref": "Subnet"}]]},
    {"Fn::Select": [0, [{"Ref": "Subnet"}]]},
    {"Fn::Select": ["1", {"Fn::Split": [",", {"Fn::Join": [",", ["a", {"Ref": "Subnet"}]]}]}]},
    {"Fn::If": ["Small", {"Ref": "Subnet"}, "subnet-2"]},
    {"Fn::ToJsonString": {"a": {"Ref": "Subnet"}}},
]


@pytest.mark.parametrize("reference", REFERENCES, ids=json.dumps)
def test_what_refers_to_a_replaced_resource_follows_it(reference: Any) -> None:
    conditions = {"Small": {"Fn::Equals": [{"Ref": "AWS::Region"}, "us-east-2"]}}
    old = template(reference, subnet("10.0.0.0/24"), Conditions=conditions)
    moved = template(reference, subnet("10.0.1.0/24"), Conditions=conditions)
    tagged = template(reference, subnet("10.0.0.0/24", Tags=[{"Key": "a", "Value": "b"}]), Conditions=conditions)
    assert fate(old, old) is Fate.KEPT
    assert fate(old, tagged) is Fate.KEPT
    assert fate(old, moved) is Fate.REPLACED
    assert "refers to Subnet, which is replaced (CidrBlock)" in reason(old, moved)


def test_follows_a_replacement_through_any_number_of_resources() -> None:
    def chain(cidr: str) -> Template:
        links = {
            f"L{n}": {
                "Type": "AWS::EC2::Subnet",
                "Properties": {"VpcId": {"Ref": f"L{n - 1}"}, "CidrBlock": "10.0.0.0/24"},
            }
            for n in range(1, 60)
        }
        return template({"Ref": "L59"}, {"L0": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": cidr}}, **links})

    assert fate(chain("10.0.0.0/16"), chain("10.0.0.0/16")) is Fate.KEPT
    assert fate(chain("10.0.0.0/16"), chain("10.1.0.0/16")) is Fate.REPLACED


def test_an_attribute_that_an_update_in_place_may_change_is_not_trusted() -> None:
    def made(data: str) -> Template:
        template_of = {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": {"ImageId": data}}}
        return template({"Fn::GetAtt": "Lt.LatestVersionNumber"}, {"Lt": template_of})

    assert fate(made("ami-1"), made("ami-1")) is Fate.KEPT
    assert fate(made("ami-1"), made("ami-2")) is Fate.UNKNOWN
    assert "Lt.LatestVersionNumber may become another: Lt is updated" in reason(made("ami-1"), made("ami-2"))


def test_a_custom_resource_may_become_another_with_every_update() -> None:
    def made(value: str) -> Template:
        custom = {"Type": "Custom::Lookup", "Properties": {"ServiceToken": "arn", "Value": value}}
        return template({"Ref": "Custom"}, {"Custom": custom})

    assert fate(made("a"), made("b")) is Fate.UNKNOWN


def test_an_unknown_type_is_not_trusted() -> None:
    def made(value: str) -> Template:
        return template({"Ref": "Other"}, {"Other": {"Type": "Acme::Net::Subnet", "Properties": {"Value": value}}})

    assert fate(made("a"), made("a")) is Fate.KEPT
    assert fate(made("a"), made("b")) is Fate.UNKNOWN


def test_the_default_of_a_parameter_may_replace_whoever_uses_it() -> None:
    def made(**parameter: Any) -> Template:
        return template({"Ref": "P"}, Parameters={"P": {"Type": "String", **parameter}})

    assert fate(made(Default="a"), made(Default="a", Description="new")) is Fate.KEPT
    assert fate(made(Default=1), made(Default="1")) is Fate.KEPT
    assert fate(made(Default="a"), made(Default="b")) is Fate.UNKNOWN
    assert fate(made(Default="a"), made()) is Fate.UNKNOWN
    assert 'the default of the parameter P changes from "a" to "b"' in reason(made(Default="a"), made(Default="b"))
    secret = reason(made(Default="hunter2", NoEcho=True), made(Default="b", NoEcho=True))
    assert "the default of the parameter P changes;" in secret
    assert "hunter2" not in secret


def test_a_literal_that_becomes_a_parameter_may_be_another_value() -> None:
    new = template({"Ref": "P"}, Parameters={"P": {"Type": "String", "Default": "subnet-1"}})
    assert fate(template("subnet-1"), new) is Fate.UNKNOWN


def test_a_mapping_counts_by_the_entry_that_is_used() -> None:
    def made(key: Any, **entries: str) -> Template:
        mappings = {"Subnets": {region: {"id": value} for region, value in entries.items()}}
        return template({"Fn::FindInMap": ["Subnets", key, "id"]}, Mappings=mappings)

    region = {"Ref": "AWS::Region"}
    assert fate(made("a", a="s-1", b="s-2"), made("a", a="s-1", b="s-3")) is Fate.KEPT
    assert fate(made("a", a="s-1"), made("a", a="s-2")) is Fate.REPLACED
    # Nobody knows the region: entries may be added, none may change.
    assert fate(made(region, a="s-1"), made(region, a="s-1", b="s-2")) is Fate.KEPT
    assert fate(made(region, a="s-1", b="s-2"), made(region, a="s-1", b="s-3")) is Fate.UNKNOWN
    assert fate(made(region, a="s-1", b="s-2"), made(region, a="s-1")) is Fate.UNKNOWN


ON = {"Fn::Equals": ["x", "x"]}
OFF = {"Fn::Not": [ON]}
PROD = {"Fn::Equals": [{"Ref": "Stage"}, "prod"]}


def under(condition: Any, default: str = "prod") -> Template:
    guarded = template("subnet-1", Conditions={"C": condition})
    guarded["Parameters"] = {"Stage": {"Type": "String", "Default": default}}
    guarded["Resources"]["Fs"]["Condition"] = "C"
    return guarded


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (ON, ON, Fate.KEPT),
        (ON, {"Fn::And": [ON, ON]}, Fate.KEPT),
        (ON, {"Fn::Or": [PROD, ON]}, Fate.KEPT),
        (ON, OFF, Fate.ORPHANED),
        (ON, {"Fn::And": [PROD, OFF]}, Fate.ORPHANED),
        (ON, PROD, Fate.UNKNOWN),
        (PROD, PROD, Fate.KEPT),
        (PROD, ON, Fate.KEPT),
        (PROD, OFF, Fate.ORPHANED),
        (PROD, {"Fn::Not": [PROD]}, Fate.UNKNOWN),
        (OFF, ON, Fate.KEPT),
        (OFF, OFF, Fate.KEPT),
    ],
)
def test_a_condition_that_stops_holding_takes_its_resource_with_it(before: Any, after: Any, expected: Fate) -> None:
    assert fate(under(before), under(after)) is expected


def test_a_condition_on_a_parameter_whose_default_changes_may_stop_holding() -> None:
    assert fate(under(PROD), under(PROD, default="dev")) is Fate.UNKNOWN
    assert "the default of the parameter Stage changes" in reason(under(PROD), under(PROD, default="dev"))


def test_a_choice_of_two_configurations_is_looked_into() -> None:
    def configured(deployment: str, compression: str) -> Template:
        chosen = {"DeploymentType": deployment, "DataCompressionType": compression}
        after = template("subnet-1", Conditions={"C": PROD}, Parameters={"Stage": {"Type": "String"}})
        after["Resources"]["Fs"]["Properties"]["LustreConfiguration"] = {
            "Fn::If": ["C", chosen, {"Ref": "AWS::NoValue"}]
        }
        return after

    assert fate(configured("SCRATCH_2", "NONE"), configured("SCRATCH_2", "LZ4")) is Fate.UPDATED
    assert fate(configured("SCRATCH_2", "NONE"), configured("PERSISTENT_1", "NONE")) is Fate.UNKNOWN


def test_no_value_is_no_property() -> None:
    old = template("subnet-1")
    new = template("subnet-1")
    new["Resources"]["Fs"]["Properties"]["KmsKeyId"] = {"Ref": "AWS::NoValue"}
    assert fate(old, new) is Fate.KEPT


def test_another_import_may_be_another_value() -> None:
    first, second = ({"Fn::ImportValue": f"Network:{name}"} for name in "ab")
    weak = {"Fn::GetStackOutput": {"StackName": "Network", "OutputName": "a"}}
    for target in (first, weak):
        assert fate(template(target), template(target)) is Fate.KEPT
        assert fate(template(target), template("subnet-1")) is Fate.UNKNOWN
    assert fate(template(first), template(second)) is Fate.UNKNOWN
    assert fate(template(first), template(weak)) is Fate.UNKNOWN
    assert "the templates do not show whether that is the same value" in reason(template(first), template(weak))


def test_the_inside_of_a_nested_stack_is_not_known() -> None:
    def made(url: str, tag: str = "a") -> Template:
        nested = {"TemplateURL": url, "Tags": [{"Key": "a", "Value": tag}]}
        return {"Resources": {"Nested": {"Type": "AWS::CloudFormation::Stack", "Properties": nested}}}

    assert fate(made("u1"), made("u1", "b"), "Nested") is Fate.UPDATED
    assert fate(made("u1"), made("u2"), "Nested") is Fate.UNKNOWN


def test_a_policy_from_a_parameter_is_no_protection() -> None:
    old, new = template("subnet-1"), template("subnet-1", Parameters={"P": {"Type": "String"}})
    new["Resources"]["Fs"]["DeletionPolicy"] = {"Ref": "P"}
    assert fate(old, new) is Fate.UNPROTECTED
    assert fate(new, new) is Fate.KEPT


def test_a_database_is_snapshotted_by_default() -> None:
    def made(**more: Any) -> Template:
        return {"Resources": {"Db": {"Type": "AWS::RDS::DBCluster", "Properties": {"Engine": "x"}, **more}}}

    assert fate(made(), made(DeletionPolicy="Snapshot"), "Db") is Fate.KEPT
    assert fate(made(), made(DeletionPolicy="Delete"), "Db") is Fate.UNPROTECTED
    assert "a snapshot is created first" in reason(made(), {"Resources": {}})


# Directories: stacks that know each other.

NETWORK = {
    "Resources": subnet("10.0.0.0/24"),
    "Outputs": {"Id": {"Value": {"Ref": "Subnet"}, "Export": {"Name": "net:Id"}}},
}
STRONG = {"Fn::ImportValue": "net:Id"}
WEAK = {"Fn::GetStackOutput": {"StackName": "Network", "OutputName": "Id"}}


def directory(folder: Path, **templates: Template) -> Path:
    folder.mkdir()
    for name, body in templates.items():
        (folder / f"{name}.template.json").write_text(json.dumps(body))
    (folder / "manifest.json").write_text("{}")
    return folder


def fates(old: Path, new: Path) -> dict[str, Fate]:
    return {finding.name: finding.fate for finding in guard.compare(old, new).findings}


@pytest.mark.parametrize("reference", [STRONG, WEAK])
def test_a_replacement_crosses_stacks(tmp_path: Path, reference: Any) -> None:
    old = directory(tmp_path / "old", Network=NETWORK, Storage=template(reference))
    moved = {**NETWORK, "Resources": subnet("10.0.1.0/24")}
    new = directory(tmp_path / "new", Network=moved, Storage=template(reference))
    assert fates(old, old) == {}
    assert fates(old, new) == {"Storage/Fs": Fate.REPLACED}


def test_a_strong_reference_may_become_a_weak_one_of_the_same_thing(tmp_path: Path) -> None:
    old = directory(tmp_path / "old", Network=NETWORK, Storage=template(STRONG))
    new = directory(tmp_path / "new", Network=NETWORK, Storage=template(WEAK))
    assert fates(old, new) == {}


def test_reads_the_names_of_stacks_from_the_manifest(tmp_path: Path) -> None:
    sides = []
    for side, cidr in (("old", "10.0.0.0/24"), ("new", "10.0.1.0/24")):
        network = {**NETWORK, "Resources": subnet(cidr)}
        folder = directory(tmp_path / side, ProdNetwork12AB=network, Storage=template(WEAK))
        properties = {"templateFile": "ProdNetwork12AB.template.json", "stackName": "Network"}
        artifact = {"type": "aws:cloudformation:stack", "properties": properties}
        (folder / "manifest.json").write_text(json.dumps({"artifacts": {"ProdNetwork12AB": artifact}}))
        sides.append(folder)
    assert fates(*sides) == {"Storage/Fs": Fate.REPLACED}


def test_a_stack_that_vanished_orphans_what_it_held(tmp_path: Path) -> None:
    old = directory(tmp_path / "old", Network=NETWORK, Storage=template(STRONG))
    new = directory(tmp_path / "new", Network=NETWORK)
    assert fates(old, new) == {"Storage/Fs": Fate.ORPHANED}
    assert fates(new, old) == {}


def test_stacks_of_stages_are_compared_too(tmp_path: Path) -> None:
    for side, where in (("old", "subnet-1"), ("new", "subnet-2")):
        directory(tmp_path / side, Other=NETWORK)
        directory(tmp_path / side / "assembly-Prod", Storage=template(where))
    assert fates(tmp_path / "old", tmp_path / "new") == {"assembly-Prod/Storage/Fs": Fate.REPLACED}


def test_one_id_in_two_stacks_is_allowed_by_its_full_name_only(tmp_path: Path) -> None:
    old = directory(tmp_path / "old", One=template("subnet-1"), Two=template("subnet-1"))
    new = directory(tmp_path / "new", One=template("subnet-2"), Two=template("subnet-2"))
    report = guard.compare(old, new, allow=["Fs"])
    assert len(report.refused) == 2
    assert report.unused == {"Fs": "it fits One/Fs and Two/Fs: name the intended one"}
    assert [finding.name for finding in guard.compare(old, new, allow=["One/Fs"]).refused] == ["Two/Fs"]
    assert guard.compare(old, new, allow=["One/Fs", "Two/Fs"]).ok
