"""Difference of two templates, resource by resource."""

import copy
import json
from typing import Any

import pytest

from cdk_rehearsal.snapshots import Change, changes
from cdk_rehearsal.snapshots._normalise import normalise
from cdk_rehearsal.snapshots._report import describe

HASH, OTHER_HASH = "ab" * 32, "cd" * 32
BUCKET = "cdk-hnb659fds-assets-123456789012-us-east-2"
TEMPLATE: dict[str, Any] = {
    "Resources": {
        "Template": {
            "Type": "AWS::EC2::LaunchTemplate",
            "Properties": {"LaunchTemplateData": {"ImageId": "ami-0123456789abcdef0"}},
        },
        "Group": {
            "Type": "AWS::PCS::ComputeNodeGroup",
            "Properties": {
                "ClusterId": "pcs_0123456789",
                "InstanceConfigs": [{"InstanceType": "p5.48xlarge"}],
                "CustomLaunchTemplate": {
                    "TemplateId": {"Ref": "Template"},
                    "Version": {"Fn::GetAtt": ["Template", "LatestVersionNumber"]},
                },
                "NodeLifecycleActions": {
                    "Stages": {
                        "NodeBootstrapped": [
                            {"ScriptSource": {"Checksum": HASH, "ScriptLocation": f"s3://{BUCKET}/{HASH}.sh"}}
                        ]
                    }
                },
            },
        },
        "Fs": {
            "Type": "AWS::FSx::FileSystem",
            "Properties": {"FileSystemType": "LUSTRE", "StorageCapacity": 4800, "SubnetIds": [{"Ref": "Subnet"}]},
        },
        "Subnet": {"Type": "AWS::EC2::Subnet", "Properties": {"CidrBlock": "10.0.0.0/24", "VpcId": "vpc-1"}},
        "Function": {
            "Type": "AWS::Lambda::Function",
            "Properties": {"Code": {"S3Bucket": BUCKET, "S3Key": f"{HASH}.zip"}, "Handler": "index.handler"},
        },
        "Policy": {
            "Type": "AWS::IAM::Policy",
            "Properties": {"PolicyDocument": {"Statement": [{"Resource": f"arn:aws:s3:::{BUCKET}/{HASH}.sh"}]}},
        },
    },
    "Outputs": {"Script": {"Value": f"s3://{BUCKET}/{HASH}.sh"}},
}


def edited(**properties: Any) -> dict[str, Any]:
    """The template with other properties: LogicalId__Property=value."""
    template = copy.deepcopy(TEMPLATE)
    for name, value in properties.items():
        logical_id, property = name.split("__")
        template["Resources"][logical_id]["Properties"][property] = value
    return template


def compared(new: dict[str, Any], old: dict[str, Any] = TEMPLATE, **options: Any) -> list[Change]:
    return changes({"": normalise(old)}, {"": normalise(new)}, **options)


def with_other_asset() -> dict[str, Any]:
    template: dict[str, Any] = json.loads(json.dumps(TEMPLATE).replace(HASH, OTHER_HASH))
    return template


def test_equal_templates_have_no_changes() -> None:
    assert compared(copy.deepcopy(TEMPLATE)) == []


def test_an_asset_that_replaces_nodes_is_a_change() -> None:
    (change,) = compared(with_other_asset())
    assert (change.logical_id, change.type) == ("Group", "AWS::PCS::ComputeNodeGroup")
    assert change.effects[0].startswith("replaces nodes: NodeLifecycleActions")
    assert [(old, new) for _, old, new in change.differences] == [
        ("<asset abababababab>", "<asset cdcdcdcdcdcd>"),
        (f"s3://{BUCKET}/<asset abababababab>.sh", f"s3://{BUCKET}/<asset cdcdcdcdcdcd>.sh"),
    ]


def test_an_asset_of_an_unknown_property_keeps_its_digest() -> None:
    template = {"Resources": {"Layer": {"Type": "AWS::Lambda::LayerVersion", "Properties": {"Content": HASH}}}}
    assert "<asset abababababab>" in json.dumps(normalise(template))


@pytest.mark.parametrize("logical_id", ["Function", "Policy"])
def test_an_asset_that_is_updated_in_place_has_no_digest(logical_id: str) -> None:
    properties = json.dumps(normalise(TEMPLATE)["Resources"][logical_id])
    assert "<asset>" in properties
    assert "abab" not in properties


def test_a_snapshot_has_no_whole_hash() -> None:
    assert HASH not in json.dumps(normalise(TEMPLATE))


def test_a_launch_template_replaces_the_nodes_of_its_group() -> None:
    group, template = compared(edited(Template__LaunchTemplateData={"ImageId": "ami-0fedcba9876543210"}))
    assert (group.logical_id, group.differences) == ("Group", ())
    assert group.effects[0].startswith("replaces nodes: CustomLaunchTemplate.Version")
    assert template.differences == (
        ("Properties.LaunchTemplateData.ImageId", "ami-0123456789abcdef0", "ami-0fedcba9876543210"),
    )


def test_a_create_only_property_replaces_the_resource() -> None:
    (change,) = compared(edited(Group__ClusterId="pcs_9876543210"))
    assert change.effects[0].startswith("replaced: ClusterId")


def test_a_replacement_reaches_those_that_refer_to_it() -> None:
    file_system, subnet = compared(edited(Subnet__CidrBlock="10.0.1.0/24"))
    assert file_system.effects[0].startswith("replaced: SubnetIds: refers to Subnet, which is replaced (CidrBlock)")
    assert subnet.effects[0].startswith("replaced: CidrBlock")


def test_an_update_in_place_has_no_effect_line() -> None:
    (change,) = compared(edited(Function__Handler="index.other"))
    assert change.effects == ()
    assert change.differences == (("Properties.Handler", "index.handler", "index.other"),)


def test_update_rules_are_applied() -> None:
    rules = {"AWS::FSx::FileSystem": (lambda old, new: {"StorageCapacity": "the reason of a plug-in"},)}
    tier = {"DeploymentType": "PERSISTENT_2"}
    old = edited(Fs__LustreConfiguration=tier)
    (change,) = compared(edited(Fs__LustreConfiguration=tier, Fs__StorageCapacity=5000), old, update_rules=rules)
    assert "the reason of a plug-in" in change.effects[0]


def test_added_and_removed_resources_are_named() -> None:
    new = copy.deepcopy(TEMPLATE)
    new["Resources"]["Renamed"] = new["Resources"].pop("Fs")
    lines = describe(compared(new, paths={"": {"Renamed": "Stack/Renamed"}}))
    assert lines[0] == "- Fs  AWS::FSx::FileSystem"
    assert "deleted" in lines[1]
    assert "+ Renamed  AWS::FSx::FileSystem  Stack/Renamed" in lines


def test_lists_show_the_items_that_differ() -> None:
    old = edited(Fs__SubnetIds=["a", "b", "c"])
    (change,) = compared(edited(Fs__SubnetIds=["a", "c", "d", "e"]), old)
    assert change.differences == (("Properties.SubnetIds", ["b"], ["d", "e"]),)


def test_other_sections_are_compared() -> None:
    new = copy.deepcopy(TEMPLATE)
    new["Outputs"]["Script"]["Value"] = "else"
    assert describe(compared(new)) == [
        "~ Outputs.Script",
        f'    Value: "s3://{BUCKET}/<asset>.sh" -> "else"',
    ]


def test_a_number_differs_from_a_boolean() -> None:
    assert compared(edited(Fs__StorageCapacity=True), edited(Fs__StorageCapacity=1))


def test_a_long_text_shows_the_lines_that_differ() -> None:
    script = "\n".join(f"line {number}" for number in range(400))
    old = edited(Template__LaunchTemplateData={"UserData": script})
    new = edited(Template__LaunchTemplateData={"UserData": script.replace("line 200", "line two hundred")})
    lines = describe(compared(new, old))
    assert "      -line 200" in lines
    assert "      +line two hundred" in lines
    assert len(lines) < 10


def test_a_long_value_shows_where_it_differs() -> None:
    long = "x" * 1000
    (line,) = describe(compared(edited(Function__Handler=f"{long}b"), edited(Function__Handler=f"{long}a")))[1:]
    assert line.endswith('xa" -> ...' + "x" * 20 + 'b"')
    assert len(line) < 200


def test_a_report_has_an_end() -> None:
    old: dict[str, Any] = {"Resources": {f"P{n}": {"Type": "AWS::IoT::Policy"} for n in range(500)}}
    assert len(describe(compared({"Resources": {}}, old))) == 201


def test_data_that_is_not_a_template_is_compared() -> None:
    lines = describe(changes({"": {"llama": {"Id": "AWS::S3::Bucket"}}}, {"": {"llama": {"Id": "AWS::KMS::Key"}}}))
    assert lines == ["~ llama.Id", '    "AWS::S3::Bucket" -> "AWS::KMS::Key"']
