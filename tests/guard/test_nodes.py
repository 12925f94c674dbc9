"""Fates of groups of nodes, and data that an update in place deletes."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cdk_rehearsal.guard import Fate, Report, compare
from support import TERMINAL
from ultracluster.cli import app
from ultracluster.cli._verdict import jobs_sentence

Template = dict[str, Any]

TEMPLATE: Template = {
    "Parameters": {"Image": {"Type": "String", "Default": "ami-0123456789abcdef0"}},
    "Resources": {
        "Pcs": {
            "Type": "AWS::PCS::ComputeNodeGroup",
            "Properties": {
                "ClusterId": "pcs_0123456789",
                "Name": "train",
                "AmiId": {"Ref": "Image"},
                "InstanceConfigs": [{"InstanceType": "p5en.48xlarge"}],
                "ScalingConfiguration": {"MinInstanceCount": 16, "MaxInstanceCount": 64},
                "SubnetIds": ["subnet-0123456789abcdef0"],
                "CustomLaunchTemplate": {
                    "TemplateId": {"Ref": "Launch"},
                    "Version": {"Fn::GetAtt": ["Launch", "LatestVersionNumber"]},
                },
            },
        },
        "Eks": {
            "Type": "AWS::EKS::Nodegroup",
            "Properties": {
                "ClusterName": "orca",
                "NodegroupName": "train",
                "AmiType": "AL2023_x86_64_NVIDIA",
                "NodeRole": "arn:aws:iam::123456789012:role/nodes",
                "Subnets": ["subnet-0123456789abcdef0"],
                "ScalingConfig": {"MinSize": 16, "DesiredSize": 64, "MaxSize": 64},
                "LaunchTemplate": {
                    "Id": {"Ref": "Launch"},
                    "Version": {"Fn::GetAtt": ["Launch", "LatestVersionNumber"]},
                },
            },
        },
        "Asg": {
            "Type": "AWS::AutoScaling::AutoScalingGroup",
            "Properties": {
                "MinSize": "0",
                "MaxSize": "8",
                "LaunchTemplate": {
                    "LaunchTemplateId": {"Ref": "Launch"},
                    "Version": {"Fn::GetAtt": ["Launch", "LatestVersionNumber"]},
                },
            },
        },
        "Launch": {
            "Type": "AWS::EC2::LaunchTemplate",
            "Properties": {"LaunchTemplateData": {"InstanceType": "p5en.48xlarge"}},
        },
    },
}


def edited(path: str, value: Any, template: Template = TEMPLATE) -> Template:
    new = copy.deepcopy(template)
    node = new["Resources"]
    *steps, last = path.split(".")
    for step in steps:
        node = node.setdefault(step, {})
    if value is None:
        del node[last]
    else:
        node[last] = value
    return new


def fates(report: Report) -> dict[str, Fate]:
    return {finding.logical_id: finding.fate for finding in report.nodes}


SCALING = "Pcs.Properties.ScalingConfiguration"
EDITS: list[tuple[str, str, Any, dict[str, Fate]]] = [
    ("nothing", "Launch.DependsOn", [], {}),
    ("more nodes", f"{SCALING}.MaxInstanceCount", 128, {"Pcs": Fate.UPDATED}),
    ("fewer nodes that are always up", f"{SCALING}.MinInstanceCount", 0, {"Pcs": Fate.UPDATED}),
    ("fewer nodes", f"{SCALING}.MaxInstanceCount", 32, {"Pcs": Fate.FEWER}),
    ("fewer nodes of EKS", "Eks.Properties.ScalingConfig.DesiredSize", 32, {"Eks": Fate.FEWER}),
    ("fewer instances", "Asg.Properties.MaxSize", "4", {"Asg": Fate.FEWER}),
    ("a number that is not known", "Asg.Properties.MaxSize", {"Ref": "Image"}, {"Asg": Fate.FEWER}),
    ("another image", "Pcs.Properties.AmiId", "ami-0fedcba9876543210", {"Pcs": Fate.DRAINED}),
    ("another subnet", "Pcs.Properties.SubnetIds", ["subnet-0fedcba9876543210"], {"Pcs": Fate.DRAINED}),
    ("labels", "Eks.Properties.Labels", {"team": "research"}, {"Eks": Fate.UPDATED}),
    ("a taint that evicts pods", "Eks.Properties.Taints", [{"Key": "a", "Effect": "NO_EXECUTE"}],
     {"Eks": Fate.TAINTED}),
    ("a taint that keeps pods away", "Eks.Properties.Taints", [{"Key": "a", "Effect": "NO_SCHEDULE"}],
     {"Eks": Fate.TAINTED}),
    ("a taint that keeps no pod away", "Eks.Properties.Taints", [{"Key": "a", "Effect": "PREFER_NO_SCHEDULE"}],
     {"Eks": Fate.UPDATED}),
    ("taints that are not known", "Eks.Properties.Taints", {"Ref": "Image"}, {"Eks": Fate.TAINTED}),
    ("another image of EKS", "Eks.Properties.ReleaseVersion", "1.35.1-20261101", {"Eks": Fate.DRAINED}),
    ("another type of image", "Eks.Properties.AmiType", "BOTTLEROCKET_x86_64_NVIDIA", {"Eks": Fate.REPLACED}),
    ("another instance type of PCS", "Pcs.Properties.InstanceConfigs", [{"InstanceType": "p5.48xlarge"}],
     {"Pcs": Fate.REPLACED}),
    ("a renamed group", "Pcs.Properties.Name", "other", {"Pcs": Fate.REPLACED}),
    ("a group that leaves", "Pcs", None, {"Pcs": Fate.DELETED}),
    ("a launch template", "Launch.Properties.LaunchTemplateData.KeyName", "key",
     {"Pcs": Fate.DRAINED, "Eks": Fate.DRAINED, "Asg": Fate.UPDATED}),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "expected"), [row[1:] for row in EDITS], ids=[row[0] for row in EDITS])
def test_each_edit_has_a_fate_for_each_group(path: str, value: Any, expected: dict[str, Fate]) -> None:
    report = compare(TEMPLATE, edited(path, value))
    assert fates(report) == expected
    assert report.groups == 3
    # Only who asks for it is refused what ends running nodes.
    running = compare(TEMPLATE, edited(path, value), running=True)
    assert running.ok == all(fate is Fate.UPDATED for fate in expected.values())


@pytest.mark.parametrize("settings", ["Labels", "Taints", "UpdateConfig", "ScalingConfig.DesiredSize"])
@pytest.mark.parametrize("version", ["Launch.Properties.LaunchTemplateData", "Eks.Properties.ReleaseVersion"])
def test_an_update_of_eks_replaces_nodes_or_changes_settings(version: str, settings: str) -> None:
    new = edited(version, {"KeyName": "key"} if "Launch" in version else "1.35.1-20261101")
    mixed = edited(f"Eks.Properties.{settings}", 65 if settings.endswith("Size") else {}, new)
    assert fates(compare(TEMPLATE, mixed))["Eks"] is Fate.REFUSED
    assert fates(compare(TEMPLATE, new))["Eks"] is Fate.DRAINED
    assert fates(compare(new, mixed))["Eks"] is not Fate.REFUSED
    assert fates(compare(TEMPLATE, edited("Eks.Properties.AmiType", "CUSTOM", mixed)))["Eks"] is Fate.REPLACED


def test_a_group_that_may_end_is_allowed_by_its_name() -> None:
    new = edited(f"{SCALING}.MaxInstanceCount", 32)
    assert compare(TEMPLATE, new, running=True, allow=["Pcs"]).ok
    lines = compare(TEMPLATE, new, running=True).lines()
    assert lines == [
        "Pcs (AWS::PCS::ComputeNodeGroup): fewer nodes: ScalingConfiguration.MaxInstanceCount: from 64 to 32 nodes: "
        "jobs on the others end"
    ]


@pytest.mark.parametrize(("path", "holds"), [("Eks.Properties.Taints", True), (f"{SCALING}.MaxInstanceCount", False)])
def test_the_refusal_names_the_command_that_holds_the_queues(path: str, holds: bool, tmp_path: Path) -> None:
    value: Any = [{"Key": "a", "Effect": "NO_EXECUTE"}] if holds else 32
    for name, template in (("old", TEMPLATE), ("new", edited(path, value))):
        (tmp_path / f"{name}.json").write_text(json.dumps(template))
    arguments = ["guard", "--running", str(tmp_path / "old.json"), str(tmp_path / "new.json")]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 1
    assert "and the jobs can end: --allow" in done.output
    assert ("ultracluster apply FILE --hold drain" in done.output) == holds
    assert CliRunner().invoke(app, [*arguments, "--allow", path.split(".")[0]]).exit_code == 0


def test_what_a_service_refuses_is_refused_always() -> None:
    for path, value in (
        ("Pcs.Properties.InstanceConfigs", [{"InstanceType": "p5.48xlarge"}]),
        ("Eks.Properties.AmiType", "BOTTLEROCKET_x86_64_NVIDIA"),
    ):
        (line,) = compare(TEMPLATE, edited(path, value)).lines()
        assert "give the node group another one" in line


def test_servers_that_a_policy_replaces_are_no_nodes() -> None:
    rolling = edited("Asg.UpdatePolicy", {"AutoScalingRollingUpdate": {}})
    report = compare(rolling, edited("Asg", None, rolling), running=True)
    assert (report.groups, report.ok) == (2, True)


def cluster(version: str) -> Template:
    subnets = {"SubnetIds": ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]}
    properties = {"RoleArn": "arn:aws:iam::123456789012:role/eks", "Version": version, "ResourcesVpcConfig": subnets}
    return {"Resources": {"Cluster": {"Type": "AWS::EKS::Cluster", "Properties": properties}}}


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("1.34", "1.35", ""),
        ("1.33", "1.35", "one minor version at a time"),
        ("1.35", "1.34", "within seven days"),
        ("1.35", "1.33", "by one minor version at most"),
    ],
)
def test_versions_of_kubernetes_move_one_by_one(old: str, new: str, reason: str) -> None:
    report = compare(cluster(old), cluster(new))
    assert report.ok == (not reason)
    assert reason in "\n".join(report.lines())


def network(zone: str, cidr: str = "10.0.0.0/16") -> Template:
    subnet = {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.0.0/24", "AvailabilityZoneId": zone}
    vpc = {"SubnetIds": [{"Ref": "Subnet"}]}
    properties = {"RoleArn": "arn:aws:iam::123456789012:role/eks", "ResourcesVpcConfig": vpc}
    return {
        "Resources": {
            "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": cidr}},
            "Subnet": {"Type": "AWS::EC2::Subnet", "Properties": subnet},
            "Cluster": {"Type": "AWS::EKS::Cluster", "Properties": properties},
        }
    }


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        (network("use2-az1"), ""),
        (network("use2-az2"), "in other zones"),
        (network("use2-az1", "10.1.0.0/16"), "in another VPC"),
    ],
    ids=["same", "zone", "vpc"],
)
def test_subnets_of_eks_stay_in_their_vpc_and_zones(new: Template, reason: str) -> None:
    lines = "\n".join(compare(network("use2-az1"), new).lines())
    assert (reason in lines) if reason else (lines == "")


def resource(kind: str, **properties: Any) -> Template:
    return {"Resources": {"It": {"Type": kind, "DeletionPolicy": "Retain", "Properties": properties}}}


def accounting(**values: Any) -> Template:
    return resource("AWS::PCS::Cluster", SlurmConfiguration={"Accounting": values})


def lifecycle(days: int) -> Template:
    return resource(
        "AWS::S3::Bucket", LifecycleConfiguration={"Rules": [{"Status": "Enabled", "ExpirationInDays": days}]}
    )


def versions(days: int, **versioning: Any) -> Template:
    rule = {"Status": "Enabled", "NoncurrentVersionExpiration": {"NoncurrentDays": days}}
    return resource("AWS::S3::Bucket", LifecycleConfiguration={"Rules": [rule]}, **versioning)


def workspace(days: int) -> Template:
    return resource("AWS::APS::Workspace", WorkspaceConfiguration={"RetentionPeriodInDays": days})


KEPT_VERSIONS = {"VersioningConfiguration": {"Status": "Enabled"}}
SHRINKS: list[tuple[str, Template, Template, bool]] = [
    ("metrics", workspace(150), workspace(7), True),
    ("metrics kept for longer", workspace(7), workspace(150), False),
    ("metrics without a period", workspace(7), resource("AWS::APS::Workspace"), False),
    ("logs", resource("AWS::Logs::LogGroup"), resource("AWS::Logs::LogGroup", RetentionInDays=7), True),
    ("logs for ever", resource("AWS::Logs::LogGroup", RetentionInDays=7), resource("AWS::Logs::LogGroup"), False),
    ("backups", resource("AWS::FSx::FileSystem", OpenZFSConfiguration={"AutomaticBackupRetentionDays": 30}),
     resource("AWS::FSx::FileSystem", OpenZFSConfiguration={"AutomaticBackupRetentionDays": 1}), True),
    ("accounting", accounting(Mode="STANDARD"), accounting(Mode="NONE"), True),
    ("records of jobs", accounting(Mode="STANDARD"), accounting(Mode="STANDARD", DefaultPurgeTimeInDays=30), True),
    ("records for ever", accounting(Mode="STANDARD", DefaultPurgeTimeInDays=30),
     accounting(Mode="STANDARD", DefaultPurgeTimeInDays=-1), False),
    ("objects", resource("AWS::S3::Bucket"), lifecycle(30), True),
    ("objects sooner", lifecycle(30), lifecycle(7), True),
    ("objects later", lifecycle(7), lifecycle(30), False),
    ("versions sooner", versions(30, **KEPT_VERSIONS), versions(7, **KEPT_VERSIONS), True),
    ("versions that were kept", resource("AWS::S3::Bucket", **KEPT_VERSIONS), versions(7, **KEPT_VERSIONS), True),
    ("versions that were never kept", resource("AWS::S3::Bucket"), versions(7, **KEPT_VERSIONS), False),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "shrinks"), [row[1:] for row in SHRINKS], ids=[row[0] for row in SHRINKS])
def test_retention_that_shrinks_deletes_data(old: Template, new: Template, shrinks: bool) -> None:
    report = compare(old, new)
    assert [finding.fate is Fate.SHRUNK for finding in report.refused] == ([True] if shrinks else [])


def test_nodes_that_a_schedule_started_are_at_risk_until_the_template_has_them() -> None:
    waiting = edited("Eks.Properties.ScalingConfig", {"MinSize": 0, "DesiredSize": 0, "MaxSize": 64})
    report = compare(waiting, edited("Eks.Properties.ScalingConfig.DesiredSize", 64, waiting), running=True)
    assert fates(report) == {"Eks": Fate.RISKED}
    (line,) = report.lines()
    assert line.startswith(
        "Eks (AWS::EKS::Nodegroup): ends nodes if it fails: ScalingConfig.DesiredSize: from 0 to 64: "
    )
    assert jobs_sentence(report) == "jobs: jobs on Eks end if the deployment fails."
    more = edited("Eks.Properties.ScalingConfig.DesiredSize", 64, waiting)
    assert compare(waiting, more, running=True, allow=["Eks"]).ok
    # Nothing is started that waits on.
    assert compare(waiting, edited("Eks.Properties.Labels", {"team": "research"}, waiting), running=True).ok


@pytest.mark.parametrize(
    ("name", "ok"),
    [("amazon-sagemaker-hyperpod-taskgovernance", False), ("aws-efs-csi-driver", False), ("coredns", True)],
)
def test_an_add_on_that_jobs_need_does_not_leave_unnoticed(name: str, ok: bool) -> None:
    add_on = {"Type": "AWS::EKS::Addon", "Properties": {"ClusterName": "orca", "AddonName": name}}
    before = edited("AddOn", add_on)
    assert compare(before, TEMPLATE).ok == ok
    assert compare(before, TEMPLATE, allow=["AddOn"] if not ok else []).ok


@pytest.mark.parametrize(("name", "ok"), [("karpenter", False), ("collectors", True)])
def test_the_permissions_of_karpenter_do_not_leave_unnoticed(tmp_path: Path, name: str, ok: bool) -> None:
    properties = {
        "ClusterName": "orca",
        "Namespace": "karpenter-system",
        "ServiceAccount": name,
        "RoleArn": "arn:aws:iam::1",
    }
    before = edited("Karpenter", {"Type": "AWS::EKS::PodIdentityAssociation", "Properties": properties})
    assert compare(before, TEMPLATE).ok == ok
    assert compare(before, TEMPLATE, allow=[] if ok else ["Karpenter"]).ok
    files = [tmp_path / "old.json", tmp_path / "new.json"]
    for file, template in zip(files, (before, TEMPLATE), strict=True):
        file.write_text(json.dumps(template))
    result = CliRunner().invoke(app, ["guard", *map(str, files)])
    assert result.exit_code == (0 if ok else 1)
    if not ok:
        refused = "refused. If this is intended, and Karpenter has no nodes any more: --allow Karpenter"
        assert refused in result.output
        assert "before the deployment, run `ultracluster apply FILE` with this file" in result.output


def test_names_and_reasons_are_on_one_line_where_no_terminal_has_a_width(tmp_path: Path) -> None:
    """Logs of CI are searched for them."""
    name = "LustreFileSystemOfTheTrainingClusterWithALongName0123456789"
    for file, subnet in (("old.json", "subnet-1"), ("new.json", "subnet-2")):
        properties = {"FileSystemType": "LUSTRE", "StorageCapacity": 1200, "SubnetIds": [subnet]}
        template = edited(name, {"Type": "AWS::FSx::FileSystem", "Properties": properties})
        (tmp_path / file).write_text(json.dumps(template))
    output = CliRunner().invoke(app, ["guard", str(tmp_path / "old.json"), str(tmp_path / "new.json")]).output
    table = output.partition("error:")[0].splitlines()
    assert any(line.startswith(name) for line in table)
    assert any('changes from "subnet-1" to "subnet-2"; the old one is deleted: no Upd' in line for line in table)
    # `--allow` takes the name: a terminal must not fold it either.
    narrow = CliRunner().invoke(
        app, ["guard", *(str(tmp_path / file) for file in ("old.json", "new.json"))], env=TERMINAL
    )
    assert f"{name} (AWS::FSx::FileSystem)" in narrow.output.splitlines()
