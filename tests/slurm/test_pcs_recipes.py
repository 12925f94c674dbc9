"""Our node groups beside those of AWS's own templates for PCS, property by property.

Theirs: https://github.com/awslabs/awsome-distributed-ai at 95b939c (2026-07-23), below architectures/aws-pcs/assets:
cluster.yaml, add-cng-p5.yaml, add-cng-p6-b200.yaml, add-cng-p6-b300.yaml; and
https://github.com/aws-samples/aws-hpc-recipes at 009a29a (2026-08-07), recipes/pcs/getting_started/assets/
pcs-iip-minimal.yaml (all read 2026-11-21). User data, image, logs and policies are compared in
docs/decisions/0029-pcs-templates.md.
"""

from collections.abc import Iterator
from typing import Any

import aws_cdk as cdk
import pytest

from support import ROOT
from ultracluster import clusterfile
from ultracluster.catalogue.ec2 import image_software as software
from ultracluster.stacks import UltraCluster

BLOCK = "cr-0123456789abcdef0"
IMAGE = "ami-0123456789abcdef0"
# Their card 0 has EFA but on p6-b300, where it is plain; the others have EFA on device 1, on p6-b300 on device 0.
CARDS = {"p5.48xlarge": (32, "efa", 1), "p6-b200.48xlarge": (8, "efa", 1), "p6-b300.48xlarge": (17, None, 0)}
LAUNCH_TEMPLATE = {
    "BlockDeviceMappings.0.DeviceName": "/dev/sda1",
    "BlockDeviceMappings.0.Ebs.VolumeType": "gp3",
    "BlockDeviceMappings.0.Ebs.DeleteOnTermination": True,
    "BlockDeviceMappings.0.Ebs.Encrypted": None,
    "InstanceMarketOptions.MarketType": "capacity-block",
    "CapacityReservationSpecification.CapacityReservationTarget.CapacityReservationId": BLOCK,
    "Placement": None,
    "SecurityGroupIds": None,
    "LaunchTemplateName": "PCS-lt-STACK",
    "MetadataOptions.HttpEndpoint": "enabled",
    "MetadataOptions.HttpPutResponseHopLimit": 4,
    "MetadataOptions.HttpTokens": "required",
    "MetadataOptions.InstanceMetadataTags": "enabled",
}
NODE_GROUP = {
    "ScalingConfiguration.MinInstanceCount": 4,
    "ScalingConfiguration.MaxInstanceCount": 4,
    "CustomLaunchTemplate.TemplateId": "Ref",
    "CustomLaunchTemplate.Version": "LatestVersionNumber",
    "AmiId": IMAGE,
    "PurchaseOption": "CAPACITY_BLOCK",
    "SlurmConfiguration": None,
}
CLUSTER = {
    "Size": "SMALL",
    "Scheduler.Type": "SLURM",
    "Scheduler.Version": "25.11",
    "SlurmConfiguration.Accounting.Mode": "STANDARD",
    "SlurmConfiguration.Accounting.DefaultPurgeTimeInDays": 30,
    "SlurmConfiguration.ScaleDownIdleTimeInSeconds": None,
    "SlurmConfiguration.AuthKey": None,
    "SlurmConfiguration.JwtAuth": None,
}
ROLE = {
    "Principal": "ec2.amazonaws.com",
    "pcs:RegisterComputeNodeGroupInstance": "*",
    "KnownToPcsBy": "RoleName AWSPCS-",
    "AmazonSSMManagedInstanceCore": True,
    "AmazonS3ReadOnlyAccess": True,
}
#: Path -> value here, and the reason of the difference. docs/decisions/0029-pcs-templates.md has the same table.
DIFFERENCES: dict[str, tuple[Any, str]] = {
    "BlockDeviceMappings.0.Ebs.Encrypted": (True, "disks are encrypted"),
    "LaunchTemplateName": (None, "a template with a name can't be replaced"),
    "MetadataOptions.HttpPutResponseHopLimit": (1, "a container has no business with the role of its node"),
    "MetadataOptions.InstanceMetadataTags": (None, "no program of a node reads its tags"),
    "SlurmConfiguration.Accounting.DefaultPurgeTimeInDays": (
        None,
        "records are kept until you say accounting-purge-time",
    ),
    "SlurmConfiguration.ScaleDownIdleTimeInSeconds": (600, "the same as the default of PCS, said"),
    "KnownToPcsBy": ("Path /aws-pcs/", "a role with a name can't be replaced"),
    "AmazonSSMManagedInstanceCore": (False, "it lets a node read every parameter of the account"),
    "AmazonS3ReadOnlyAccess": (False, "it lets a node read every bucket of the account"),
}


def template(instance_type: str) -> dict[str, Any]:
    text = f"""
name: same
region: us-east-2
zone: use2-az1
orchestrator: slurm
nodes:
  train:
    type: {instance_type}
    count: 4
    image: {IMAGE}
    capacity: {{reservation: {BLOCK}, kind: capacity-block, instances: 4}}
"""
    stack = cdk.Stack(
        cdk.App(analytics_reporting=False), "S", env=cdk.Environment(account="123456789012", region="us-east-2")
    )
    UltraCluster(stack, "C", cluster=clusterfile.loads(text, "same.yaml"))
    result: dict[str, Any] = cdk.assertions.Template.from_stack(stack).to_json()["Resources"]
    return result


def named(resources: dict[str, Any], kind: str, mark: str = "") -> dict[str, Any]:
    (result,) = [entry for id, entry in resources.items() if entry["Type"] == kind and mark in id]
    properties: dict[str, Any] = result["Properties"]
    return properties


def at(node: Any, path: str) -> Any:
    for step in path.split("."):
        if isinstance(node, list):
            node = node[int(step)]
        elif isinstance(node, dict):
            node = node.get(step)
    if isinstance(node, dict) and node.keys() == {"Ref"}:
        return "Ref"
    if isinstance(node, dict) and node.keys() == {"Fn::GetAtt"}:
        return node["Fn::GetAtt"][1]
    return node


def role_facts(resources: dict[str, Any]) -> dict[str, Any]:
    role, policy = (named(resources, f"AWS::IAM::{kind}", "SlurmNodeRole") for kind in ("Role", "Policy"))
    statements = policy["PolicyDocument"]["Statement"]
    managed = str(role.get("ManagedPolicyArns", ""))
    return {
        "Principal": role["AssumeRolePolicyDocument"]["Statement"][0]["Principal"]["Service"],
        "pcs:RegisterComputeNodeGroupInstance": next(
            entry["Resource"] for entry in statements if "pcs:RegisterComputeNodeGroupInstance" in entry["Action"]
        ),
        "KnownToPcsBy": f"Path {role['Path']}" if "Path" in role else f"RoleName {role.get('RoleName')}",
        "AmazonSSMManagedInstanceCore": "AmazonSSMManagedInstanceCore" in managed,
        "AmazonS3ReadOnlyAccess": "AmazonS3ReadOnlyAccess" in managed,
    }


def compared(resources: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Path, value of AWS's templates, and value here."""
    launch = named(resources, "AWS::EC2::LaunchTemplate", "train")
    sides = [
        (LAUNCH_TEMPLATE, {**launch["LaunchTemplateData"], "LaunchTemplateName": launch.get("LaunchTemplateName")}),
        (NODE_GROUP, named(resources, "AWS::PCS::ComputeNodeGroup", "train")),
        (CLUSTER, named(resources, "AWS::PCS::Cluster")),
    ]
    for other, here in sides:
        yield from ((path, value, at(here, path)) for path, value in other.items())
    facts = role_facts(resources)
    yield from ((path, value, facts[path]) for path, value in ROLE.items())


@pytest.mark.parametrize("instance_type", CARDS)
def test_properties_are_those_of_awss_templates_but_for_listed_differences(instance_type: str) -> None:
    resources = template(instance_type)
    different = {path: here for path, other, here in compared(resources) if here != other}
    assert different == {path: value for path, (value, _) in DIFFERENCES.items()}
    assert named(resources, "AWS::EC2::LaunchTemplate", "train")["LaunchTemplateData"]["InstanceType"] == instance_type
    gib = named(resources, "AWS::EC2::LaunchTemplate", "train")["LaunchTemplateData"]["BlockDeviceMappings"][0]["Ebs"]
    assert gib["VolumeSize"] >= 300


@pytest.mark.parametrize("instance_type", CARDS)
def test_interfaces_are_those_of_awss_templates(instance_type: str) -> None:
    cards, first, device = CARDS[instance_type]
    result = named(template(instance_type), "AWS::EC2::LaunchTemplate", "train")["LaunchTemplateData"][
        "NetworkInterfaces"
    ]
    here = [
        # No word means a plain interface.
        (
            entry["NetworkCardIndex"],
            entry["DeviceIndex"],
            {"interface": None}.get(entry["InterfaceType"], entry["InterfaceType"]),
        )
        for entry in result
    ]
    assert here == [(0, 0, first), *((card, device, "efa") for card in range(1, cards))]
    assert all(entry["Groups"] and entry["SubnetId"] for entry in result)


def test_the_page_lists_every_difference_and_no_other() -> None:
    page = (ROOT / "docs" / "decisions" / "0029-pcs-templates.md").read_text()
    page = page.partition("## AWS PCS")[2].partition("\n## ")[0]
    documented = {line.split("|")[1].strip(" `") for line in page.splitlines() if line.startswith("| `")}
    assert documented == set(DIFFERENCES)
    versions = {item.name: item.version for item in software.artefacts("x86_64")}
    (row,) = [line for line in page.splitlines() if line.startswith("| Enroot and Pyxis |")]
    assert f"| {versions['enroot']} and {versions['pyxis']}, checksummed" in row
