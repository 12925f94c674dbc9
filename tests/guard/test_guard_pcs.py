"""Fates of the resources of a Slurm cluster when it is edited."""

import copy
from typing import Any

import pytest

from cdk_rehearsal.guard import compare, protected_resources

CLUSTER: dict[str, Any] = {
    "Name": "llama",
    "Size": "MEDIUM",
    "Scheduler": {"Type": "SLURM", "Version": "25.11"},
    "Networking": {"SubnetIds": ["subnet-0123456789abcdef0"], "SecurityGroupIds": ["sg-0123456789abcdef0"]},
    "SlurmConfiguration": {"Accounting": {"Mode": "STANDARD"}, "ScaleDownIdleTimeInSeconds": 600},
}
GROUP: dict[str, Any] = {
    "ClusterId": {"Fn::GetAtt": ["Slurm", "Id"]},
    "Name": "train",
    "InstanceConfigs": [{"InstanceType": "p5.48xlarge"}],
    "ScalingConfiguration": {"MinInstanceCount": 0, "MaxInstanceCount": 4},
    "SubnetIds": ["subnet-0123456789abcdef0"],
    "IamInstanceProfileArn": "arn:aws:iam::123456789012:instance-profile/aws-pcs/x",
    "CustomLaunchTemplate": {"TemplateId": "lt-0123456789abcdef0", "Version": "1"},
}
QUEUE: dict[str, Any] = {
    "ClusterId": {"Fn::GetAtt": ["Slurm", "Id"]},
    "Name": "train",
    "ComputeNodeGroupConfigurations": [{"ComputeNodeGroupId": {"Fn::GetAtt": ["Train", "Id"]}}],
}
TEMPLATE: dict[str, Any] = {
    "Resources": {
        "Slurm": {"Type": "AWS::PCS::Cluster", "Properties": CLUSTER},
        "Train": {"Type": "AWS::PCS::ComputeNodeGroup", "Properties": GROUP},
        "Queue": {"Type": "AWS::PCS::Queue", "Properties": QUEUE},
    }
}


def refused(logical_id: str, path: str, value: Any) -> list[str]:
    new = copy.deepcopy(TEMPLATE)
    place: Any = new["Resources"][logical_id]["Properties"]
    *steps, last = path.split(".")
    for step in steps:
        place = place[step]
    place[last] = value
    return [finding.logical_id for finding in compare(TEMPLATE, new).findings if finding.harmful]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("Name", "llama-2"),
        ("Size", "LARGE"),
        ("Networking.SubnetIds", ["subnet-0fedcba9876543210"]),
        ("Networking.SecurityGroupIds", ["sg-0fedcba9876543210"]),
    ],
)
def test_refuses_what_makes_a_new_cluster(path: str, value: Any) -> None:
    assert refused("Slurm", path, value) == ["Slurm"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("Scheduler.Version", "26.05"),
        ("SlurmConfiguration.Accounting", {"Mode": "STANDARD", "DefaultPurgeTimeInDays": -1}),
        ("SlurmConfiguration.SlurmRest", {"Mode": "STANDARD"}),
        ("SlurmConfiguration.SlurmCustomSettings", [{"ParameterName": "Prolog", "ParameterValue": "/p"}]),
    ],
)
def test_allows_what_pcs_updates_in_place(path: str, value: Any) -> None:
    assert refused("Slurm", path, value) == []


def test_refuses_another_instance_type_under_the_same_name() -> None:
    new = copy.deepcopy(TEMPLATE)
    new["Resources"]["Train"]["Properties"]["InstanceConfigs"] = [{"InstanceType": "p5en.48xlarge"}]
    (finding,) = compare(TEMPLATE, new).findings
    assert (finding.logical_id, finding.harmful) == ("Train", True)
    assert "give the node group another one" in finding.causes[0].reason
    new["Resources"]["Train"]["Properties"]["Name"] = "train-h200"
    assert compare(TEMPLATE, new).findings == ()


@pytest.mark.parametrize("change", ["removed", "renamed"])
def test_a_queue_that_ends_ends_its_jobs(change: str) -> None:
    new = copy.deepcopy(TEMPLATE)
    if change == "removed":
        del new["Resources"]["Queue"]
    else:
        new["Resources"]["Queue"]["Properties"]["Name"] = "other"
    report = compare(TEMPLATE, new, running=True)
    assert [finding.logical_id for finding in report.refused] == ["Queue"]
    assert report.node_summary == "1 node group: 1 kept"
    assert compare(TEMPLATE, new, running=True, allow=["Queue"]).ok
    assert "Queue" in protected_resources(TEMPLATE)


def test_a_queue_with_other_nodes_is_updated_in_place() -> None:
    new = copy.deepcopy(TEMPLATE)
    new["Resources"]["Queue"]["Properties"]["ComputeNodeGroupConfigurations"] = []
    assert compare(TEMPLATE, new, running=True).nodes == ()


def test_allows_node_groups_and_queues_to_be_added_removed_and_resized() -> None:
    assert refused("Train", "ScalingConfiguration", {"MinInstanceCount": 2, "MaxInstanceCount": 8}) == []
    assert refused("Queue", "Name", "other") == []
    new = copy.deepcopy(TEMPLATE)
    del new["Resources"]["Train"], new["Resources"]["Queue"]
    assert compare(TEMPLATE, new).findings == ()
