"""Nested stacks of an app: their resources, across parameters and outputs, in the guard, snapshots and assertions."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_ssm as ssm

from cdk_rehearsal import guard, snapshots
from cdk_rehearsal.deploy import AssembledStack, assembled, comparison
from cdk_rehearsal.guard import Fate
from cdk_rehearsal.snapshots import _session as session
from support.rehearsal_tools import REGION, local_stacks
from ultracluster.testing import assert_efa_wired, assert_no_public_nodes, assert_reserved

LUSTRE: dict[str, Any] = {"deploymentType": "PERSISTENT_2", "perUnitStorageThroughput": 250}


def app(folder: Path, *, block: str = "10.0.0.0/24", buckets: tuple[str, ...] = ("A",), nested: bool = True) -> cdk.App:
    """A stack with a subnet; nested in it Lustre, in that buckets; the stack reads an output of the latter."""
    app = cdk.App(outdir=str(folder), analytics_reporting=False, tree_metadata=False, stack_traces=False)
    synthesizer = cdk.DefaultStackSynthesizer(generate_bootstrap_version_rule=False)
    stack = cdk.Stack(app, "Mine", synthesizer=synthesizer)
    subnet = ec2.CfnSubnet(stack, "Subnet", vpc_id="vpc-0123456789abcdef0", cidr_block=block)
    if nested:
        inner = cdk.NestedStack(stack, "Inner")
        options: dict[str, Any] = {"storage_capacity": 1200, "lustre_configuration": LUSTRE}
        fsx.CfnFileSystem(inner, "Fs", file_system_type="LUSTRE", subnet_ids=[subnet.ref], **options)
        deep = cdk.NestedStack(inner, "Deep")
        for name in buckets:
            bucket = s3.CfnBucket(deep, name)
            ssm.CfnParameter(stack, f"Name{name}", type="String", value=bucket.ref)
    return app


def directory(folder: Path, **options: Any) -> Path:
    app(folder, **options).synth()
    return folder


def fates(old: Path, new: Path) -> dict[str, Fate]:
    return {finding.name.partition("/")[2]: finding.fate for finding in guard.compare(old, new).findings}


def nested(fates: Mapping[str, Fate]) -> dict[str, Fate]:
    return {name: fate for name, fate in fates.items() if "NestedStack" not in name}


@pytest.fixture
def before(tmp_path: Path) -> Path:
    return directory(tmp_path / "before", buckets=("A", "B"))


def test_the_guard_sees_what_is_in_nested_stacks(before: Path, tmp_path: Path) -> None:
    after = directory(tmp_path / "more", buckets=("A", "B", "C"))
    assert nested(fates(before, after)) == {}
    assert guard.compare(before, after).ok
    assert nested(fates(before, directory(tmp_path / "less", buckets=("A",)))) == {"B": Fate.DELETED}
    gone = fates(before, directory(tmp_path / "gone", nested=False))
    assert nested(gone) == dict.fromkeys(("Fs", "A", "B"), Fate.DELETED)


def test_the_guard_follows_parameters_of_nested_stacks(before: Path, tmp_path: Path) -> None:
    report = guard.compare(before, directory(tmp_path / "after", buckets=("A", "B"), block="10.0.1.0/24"))
    (line,) = (line for line in report.lines() if "/Fs " in line)
    assert "Fs (AWS::FSx::FileSystem): replaced: SubnetIds: refers to Mine/Subnet, which is replaced" in line


def test_without_its_template_a_nested_stack_is_refused(before: Path, tmp_path: Path) -> None:
    after = directory(tmp_path / "after", buckets=("A",))
    name = "Mine.template.json"
    (finding,) = guard.compare(before / name, after / name).findings
    assert finding.fate is Fate.UNKNOWN
    assert "compare directories with its template, such as cdk.out" in str(finding.causes)


def test_a_nested_stack_at_a_url_of_the_user_does_not_leave(tmp_path: Path) -> None:
    """Its deployed template is known, and the other is not: the nested stack itself shows a change."""
    outer = {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": "https://example.com/1.yaml"}}
    inner = {"Resources": {"Data": {"Type": "AWS::S3::Bucket"}}}

    def side(name: str, *, url: str = "1", deployed: bool = False, present: bool = True) -> Path:
        resource = {**outer, "Properties": {"TemplateURL": f"https://example.com/{url}.yaml"}}
        metadata = {"Metadata": {"aws:asset:path": "Mine.Legacy.template.json"}} if deployed else {}
        resources = {"Legacy": {**resource, **metadata}} if present else {}
        (folder := tmp_path / name).mkdir()
        (folder / "Mine.template.json").write_text(json.dumps({"Resources": resources}))
        if deployed:
            (folder / "Mine.Legacy.template.json").write_text(json.dumps(inner))
        return folder

    old = side("deployed", deployed=True)
    assert fates(old, side("same")) == {}
    assert fates(old, side("other", url="2")) == {"Legacy": Fate.UNKNOWN}
    assert fates(old, side("gone", present=False))["Data"] is Fate.DELETED


def test_nested_stacks_of_one_content_are_not_mistaken_for_each_other(tmp_path: Path) -> None:
    def twins(folder: Path, **options: Any) -> Path:
        app = cdk.App(outdir=str(folder), analytics_reporting=False, tree_metadata=False, stack_traces=False)
        stack = cdk.Stack(app, "Mine")
        for name in ("First", "Second"):
            fsx.CfnFileSystem(cdk.NestedStack(stack, name), "Fs", file_system_type="LUSTRE", **options)
        app.synth()
        return folder

    old = twins(tmp_path / "old", subnet_ids=["subnet-1"])
    findings = guard.compare(old, twins(tmp_path / "new", subnet_ids=["subnet-2"])).findings
    assert Counter(finding.fate for finding in findings) == {Fate.REPLACED: 2, Fate.UNKNOWN: 2}


@pytest.mark.parametrize("file", ["Mine.template.json", "Other.template.json", "/etc/x.template.json", 5])
def test_files_that_nest_a_stack_in_itself_are_compared_as_they_are(tmp_path: Path, file: object) -> None:
    for name, nested in (("Mine", file), ("Other", "Mine.template.json")):
        resource = {
            "Type": "AWS::CloudFormation::Stack",
            "Metadata": {"aws:asset:path": nested},
            "Properties": {"Parameters": {"P": {"Ref": "P"}}},
        }
        parameters = {"P": {"Type": "String"}}
        text = json.dumps({"Parameters": parameters, "Resources": {"Nested": resource}})
        (tmp_path / f"{name}.template.json").write_text(text)
    (tmp_path / "Mine.assets.json").write_text("[]")
    assert guard.compare(tmp_path, tmp_path).ok


def test_a_deployment_is_compared_with_its_nested_stacks(before: Path, tmp_path: Path) -> None:
    with local_stacks() as stacks:
        upload(stacks.client("s3"), before)
        stacks.cloudformation.create_stack(StackName="Mine", TemplateBody=(before / "Mine.template.json").read_text())
        assert stacks.status("Mine") == "CREATE_COMPLETE", stacks.reasons("Mine")
        after = list(assembled(directory(tmp_path / "after", buckets=("A",))))
        sides = comparison(local(after), lambda service, _: stacks.client(service), tmp_path)
        same = comparison(
            local(list(assembled(before))), lambda service, _: stacks.client(service), new(tmp_path / "same")
        )
    assert nested(fates(sides.deployed, sides.assembled)) == {"B": Fate.DELETED}
    assert same.same("Mine")
    assert not sides.same("Mine")


def new(folder: Path) -> Path:
    folder.mkdir()
    return folder


def local(stacks: list[AssembledStack]) -> list[AssembledStack]:
    return [AssembledStack(name=each.name, account=None, region=REGION, template=each.template) for each in stacks]


def upload(client: Any, folder: Path) -> None:
    """Put the assets of an assembly into the bucket of `cdk bootstrap`, as the CDK CLI does."""
    bucket = f"cdk-hnb659fds-assets-123456789012-{REGION}"
    client.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": REGION})
    for hash, asset in json.loads((folder / "Mine.assets.json").read_text())["files"].items():
        client.put_object(Bucket=bucket, Key=f"{hash}.json", Body=(folder / asset["source"]["path"]).read_bytes())


def test_snapshots_of_an_app_have_its_nested_stacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "snapshots"
    snapshots.write_app_snapshots(app(tmp_path / "a", buckets=("A", "B")), folder)
    assert sorted(file.name for file in folder.iterdir()) == ["Mine-Inner-Deep.json", "Mine-Inner.json", "Mine.json"]
    monkeypatch.setattr(session, "current", session.Session())
    snapshots.assert_app_matches_snapshot(app(tmp_path / "b", buckets=("A", "B")), folder)
    with pytest.raises(AssertionError) as less:
        snapshots.assert_app_matches_snapshot(app(tmp_path / "c"), folder)
    assert "- Mine-Inner-Deep/B  AWS::S3::Bucket" in str(less.value)
    with pytest.raises(AssertionError, match=r"Mine-Inner/Fs  AWS::FSx::FileSystem(.|\n)*replaced: SubnetIds"):
        snapshots.assert_app_matches_snapshot(app(tmp_path / "d", buckets=("A", "B"), block="10.0.1.0/24"), folder)


def nodes() -> cdk.Stack:
    """A public subnet in a stack; nested in it nodes, and nested in that their security group."""
    stack = cdk.Stack(cdk.App(analytics_reporting=False), "Mine")
    subnet = ec2.CfnSubnet(stack, "Subnet", vpc_id="vpc-0123456789abcdef0", map_public_ip_on_launch=True)
    inner = cdk.NestedStack(stack, "Inner")
    group = ec2.CfnSecurityGroup(cdk.NestedStack(inner, "Deep"), "Group", group_description="nodes")
    ec2.CfnInstance(
        inner,
        "Node",
        instance_type="p5en.48xlarge",
        network_interfaces=[
            ec2.CfnInstance.NetworkInterfaceProperty(
                device_index="0", subnet_id=subnet.ref, group_set=[group.attr_group_id]
            )
        ],
    )
    ec2.CfnLaunchTemplate(
        inner,
        "Template",
        launch_template_data=ec2.CfnLaunchTemplate.LaunchTemplateDataProperty(
            instance_type="p5en.48xlarge",
            network_interfaces=[
                ec2.CfnLaunchTemplate.NetworkInterfaceProperty(
                    device_index=0, network_card_index=0, interface_type="efa", groups=[group.attr_group_id]
                )
            ],
        ),
    )
    return stack


def test_assertions_check_nodes_in_nested_stacks() -> None:
    stack = nodes()
    with pytest.raises(AssertionError, match="Inner/Node: the subnet Subnet assigns public addresses"):
        assert_no_public_nodes(stack)
    with pytest.raises(AssertionError, match="Inner/Template: no reservation"):
        assert_reserved(stack)
    with pytest.raises(AssertionError, match="Inner/Template: no security group of an EFA interface"):
        assert_efa_wired(stack, ignore=["Inner/Node"])


def test_assertions_refuse_a_template_that_does_not_show_its_nested_stacks() -> None:
    template = snapshots.template_of(nodes())
    (nested,) = (id for id, resource in template["Resources"].items() if resource["Type"].endswith("::Stack"))
    with pytest.raises(AssertionError, match=f"does not show what is in the nested stack {nested}"):
        assert_reserved(template)
    with pytest.raises(AssertionError, match="there is nothing to check"):
        assert_reserved(template, ignore=[nested])
