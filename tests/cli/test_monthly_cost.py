"""The monthly cost of an edit: what changes, at the prices of a file, and what has no price."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from support import ROOT
from ultracluster.cli._monthly_cost import MonthlyCost, monthly_cost
from ultracluster.cli._price_file import Prices, price_file

GOLDEN = ROOT / "tests" / "golden"
PRICES = {
    "as_of": "2026-11-01",
    "source": "a contract",
    "dollars_per_node_hour": {"p5en.48xlarge": 10, "c7i.2xlarge": 1},
    "dollars_per_gib_month": {"PERSISTENT_2 SSD 500": 0.5},
    "dollars_per_mbps_month": {"PERSISTENT_2 INTELLIGENT_TIERING": 0.25, "SINGLE_AZ_2 SSD throughput": 0.25},
    "dollars_per_iops_month": {"PERSISTENT_2 SSD metadata": 0.05},
    "dollars_per_resource_hour": {"AWS::PCS::Cluster SMALL": 2, "AWS::PCS::Cluster LARGE": 8},
}


@pytest.fixture
def prices(tmp_path: Path) -> Prices:
    file = tmp_path / "prices.json"
    file.write_text(json.dumps(PRICES))
    result = price_file(file)
    assert result is not None
    return result


def resource(kind: str, **properties: Any) -> dict[str, Any]:
    return {"Type": kind, "Properties": properties}


def group(count: int, type: str = "p5en.48xlarge") -> dict[str, Any]:
    return resource(
        "AWS::PCS::ComputeNodeGroup",
        InstanceConfigs=[{"InstanceType": type}],
        ScalingConfiguration={"MinInstanceCount": count, "MaxInstanceCount": count},
    )


def compared(tmp_path: Path, prices: Prices | None, old: dict[str, Any], new: dict[str, Any]) -> MonthlyCost:
    for name, resources in (("old", old), ("new", new)):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "a.template.json").write_text(json.dumps({"Resources": resources}))
    return monthly_cost(tmp_path / "old", tmp_path / "new", prices)


def test_more_nodes_cost_their_price_for_730_hours(tmp_path: Path, prices: Prices) -> None:
    (line,) = compared(tmp_path, prices, {"A": group(2)}, {"A": group(3)}).lines()
    assert line == (
        "monthly cost: +7,300 USD, from 14,600 to 21,900 with all nodes running for 730 hours; prices of 2026-11-01, "
        "a contract. p5en.48xlarge: 2 -> 3 nodes."
    )


def blocks() -> list[dict[str, Any]]:
    """Stacks with four nodes whose time is paid in advance: of AWS PCS, two kinds of EKS, and HyperPod."""
    data = {"InstanceType": "p5en.48xlarge", "InstanceMarketOptions": {"MarketType": "capacity-block"}}
    template = {"T": resource("AWS::EC2::LaunchTemplate", LaunchTemplateData=data)}
    pcs = group(4)
    pcs["Properties"]["PurchaseOption"] = "CAPACITY_BLOCK"
    reference = {"Id": {"Ref": "T"}}
    managed = {"ScalingConfig": {"MaxSize": 4}, "CapacityType": "CAPACITY_BLOCK", "LaunchTemplate": reference}
    of_plan = {"InstanceType": "p5en.48xlarge", "InstanceCount": 4, "TrainingPlanArn": "arn:aws:sagemaker:x"}
    self_managed = {"MaxSize": 4, "LaunchTemplate": {"LaunchTemplateId": {"Ref": "T"}}}
    return [
        {"A": pcs},
        template | {"A": resource("AWS::EKS::Nodegroup", **managed)},
        template | {"A": resource("AWS::AutoScaling::AutoScalingGroup", **self_managed)},
        {"A": resource("AWS::SageMaker::Cluster", InstanceGroups=[of_plan])},
    ]


@pytest.mark.parametrize("resources", blocks(), ids=["pcs", "eks", "self-managed", "hyperpod"])
def test_nodes_of_a_capacity_block_are_paid_when_they_are_reserved(
    resources: dict[str, Any], tmp_path: Path, prices: Prices
) -> None:
    (line,) = compared(tmp_path, prices, {"B": group(1)}, {"B": group(1)} | resources).lines()
    assert line.startswith("monthly cost: +0 USD, from 7,300 to 7,300 ")
    assert line.endswith(
        "p5en.48xlarge of a Capacity Block or plan: 0 -> 4 nodes, which are paid when they are reserved."
    )


def test_a_missing_price_is_named_and_not_guessed(tmp_path: Path, prices: Prices) -> None:
    cost = compared(tmp_path, prices, {"A": group(3)}, {"A": group(2), "B": group(4, "p6-b200.48xlarge")})
    assert cost.lines()[0].startswith("monthly cost: -7,300 USD")
    assert cost.lines()[1] == "no price of p6-b200.48xlarge: the difference is without them."
    assert cost.to_dict()["without_price"] == ["p6-b200.48xlarge"]


def test_without_a_price_file_the_amounts_are_printed(tmp_path: Path) -> None:
    cost = compared(tmp_path, None, {"A": group(2)}, {"A": group(3)})
    assert cost.lines() == ["monthly cost: p5en.48xlarge: 2 -> 3 nodes. For dollars, name a price file: --prices FILE."]
    assert cost.to_dict()["dollars_after"] is None


def test_an_edit_that_changes_no_amount_leaves_the_cost(tmp_path: Path, prices: Prices) -> None:
    assert compared(tmp_path, prices, {"A": group(2)}, {"B": group(2)}).lines() == ["monthly cost: unchanged."]


def test_lustre_and_controllers_cost_too(tmp_path: Path, prices: Prices) -> None:
    lustre = resource(
        "AWS::FSx::FileSystem",
        StorageType="SSD",
        StorageCapacity=4800,
        LustreConfiguration={"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 500},
    )
    cost = compared(tmp_path, prices, {}, {"L": lustre, "C": resource("AWS::PCS::Cluster", Size="SMALL")})
    assert cost.to_dict()["dollars_after"] == 4800 * 0.5 + 2 * 730


def test_a_larger_controller_and_control_plane_cost_more(tmp_path: Path, prices: Prices) -> None:
    sizes = [
        {"C": resource("AWS::PCS::Cluster", Size=size), "K": resource("AWS::EKS::Cluster", **tier)}
        for size, tier in (("SMALL", {}), ("LARGE", {"ControlPlaneScalingConfig": {"Tier": "tier-xl"}}))
    ]
    cost = compared(tmp_path, prices, *sizes)
    assert cost.lines()[0].startswith("monthly cost: +4,380 USD, from 1,460 to 5,840")
    assert cost.lines()[1].startswith("no price of AWS::EKS::Cluster, AWS::EKS::Cluster tier-xl: ")
    standard = {"K": resource("AWS::EKS::Cluster", ControlPlaneScalingConfig={"Tier": "standard"})}
    assert compared(tmp_path / "b", prices, {"K": sizes[0]["K"]}, standard).lines() == ["monthly cost: unchanged."]


def test_interface_endpoints_in_place_of_a_nat_gateway_cost_by_subnet(tmp_path: Path) -> None:
    hours = {"AWS::EC2::NatGateway": 4.0, "AWS::EC2::EIP": 0.5, "AWS::EC2::VPCEndpoint": 1.0}
    prices = Prices(as_of="2026-11-01", source="a contract", resource_hours=hours)
    internet = {"N": resource("AWS::EC2::NatGateway"), "A": resource("AWS::EC2::EIP", Domain="vpc")}
    gateway = {"S3": resource("AWS::EC2::VPCEndpoint", VpcEndpointType="Gateway")}
    subnets = {"VpcEndpointType": "Interface", "SubnetIds": [{"Ref": "A"}, {"Ref": "B"}]}
    private = {name: resource("AWS::EC2::VPCEndpoint", **subnets) for name in ("ec2", "ssm", "pcs")}
    (line,) = compared(tmp_path, prices, internet | gateway, private | gateway).lines()
    assert line.startswith("monthly cost: +1,095 USD, from 3,285 to 4,380 ")
    assert "AWS::EC2::VPCEndpoint: 0 -> 6 resources" in line


def test_metadata_iops_beyond_the_included_ones_cost(tmp_path: Path, prices: Prices) -> None:
    def lustre(**metadata: Any) -> dict[str, Any]:
        words = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 500, "MetadataConfiguration": metadata}
        return {
            "L": resource("AWS::FSx::FileSystem", StorageType="SSD", StorageCapacity=24000, LustreConfiguration=words)
        }

    cost = compared(tmp_path, prices, lustre(Mode="AUTOMATIC"), lustre(Mode="USER_PROVISIONED", Iops=192_000))
    (line,) = cost.lines()
    assert line.startswith("monthly cost: +9,000 USD, from 12,000 to 21,000")
    assert line.endswith(" PERSISTENT_2 SSD metadata: 0 -> 180,000 IOPS.")
    cost = compared(tmp_path / "b", prices, lustre(Mode="AUTOMATIC"), lustre(Mode="USER_PROVISIONED", Iops=12_000))
    assert cost.lines() == ["monthly cost: unchanged."]


def test_home_directories_of_openzfs_cost_size_throughput_and_iops(tmp_path: Path, prices: Prices) -> None:
    def home(capacity: int, throughput: int, **iops: Any) -> dict[str, Any]:
        words = {"DeploymentType": "SINGLE_AZ_2", "ThroughputCapacity": throughput, "DiskIopsConfiguration": iops}
        openzfs = {"OpenZFSConfiguration": words, "StorageType": "SSD", "StorageCapacity": capacity}
        return {"H": resource("AWS::FSx::FileSystem", **openzfs)}

    cost = compared(tmp_path, prices, home(256, 160), home(1024, 320, Mode="USER_PROVISIONED", Iops=10_000))
    assert cost.lines()[0].startswith("monthly cost: +40 USD, from 40 to 80")
    assert cost.lines()[1].startswith("no price of SINGLE_AZ_2 SSD, SINGLE_AZ_2 SSD disks: ")
    changes = cost.to_dict()["changes"]
    assert changes["SINGLE_AZ_2 SSD disks"] == {"unit": "IOPS", "before": 0, "after": 10_000 - 3 * 1024}
    assert changes["SINGLE_AZ_2 SSD"]["after"] == 1024


def test_intelligent_tiering_costs_its_throughput(tmp_path: Path, prices: Prices) -> None:
    cache = {"SizingMode": "USER_PROVISIONED", "SizeGiB": 500}
    tiering = {"DeploymentType": "PERSISTENT_2", "ThroughputCapacity": 4000, "DataReadCacheConfiguration": cache}
    lustre = resource("AWS::FSx::FileSystem", StorageType="INTELLIGENT_TIERING", LustreConfiguration=tiering)
    cost = compared(tmp_path, prices, {}, {"L": lustre}).to_dict()
    assert cost["dollars_after"] == 4000 * 0.25
    assert cost["without_price"] == ["PERSISTENT_2 INTELLIGENT_TIERING read cache"]


PARAMETER = {"Ref": "P"}


@pytest.mark.parametrize(
    "foreign",
    [
        resource("AWS::EKS::Nodegroup"),
        resource("AWS::EKS::Nodegroup", ScalingConfig=PARAMETER, InstanceTypes=PARAMETER, LaunchTemplate=PARAMETER),
        resource("AWS::AutoScaling::AutoScalingGroup", MaxSize=PARAMETER, MixedInstancesPolicy=PARAMETER),
        resource("AWS::PCS::ComputeNodeGroup", InstanceConfigs=PARAMETER, ScalingConfiguration=PARAMETER),
        resource("AWS::SageMaker::Cluster", InstanceGroups=[{"InstanceType": PARAMETER, "InstanceCount": PARAMETER}]),
        resource("AWS::FSx::FileSystem", StorageCapacity=PARAMETER, LustreConfiguration={}),
        resource("AWS::FSx::FileSystem", LustreConfiguration=PARAMETER),
    ],
    ids=lambda foreign: foreign["Type"],
)
def test_a_number_that_no_template_states_is_named_and_not_counted(
    foreign: dict[str, Any], tmp_path: Path, prices: Prices
) -> None:
    """Other stacks of an app have parameters where those of a cluster file have numbers."""
    cost = compared(tmp_path, prices, {"A": group(2)}, {"A": group(3), "Theirs": foreign})
    assert cost.lines()[0].startswith("monthly cost: +7,300 USD")
    assert "Theirs" in cost.lines()[1]


@pytest.mark.parametrize(
    "foreign",
    [
        {"Type": "AWS::FSx::FileSystem"},
        resource("AWS::SageMaker::Cluster", InstanceGroups=PARAMETER),
    ],
)
def test_a_resource_without_an_amount_is_left_out(foreign: dict[str, Any], tmp_path: Path, prices: Prices) -> None:
    assert compared(tmp_path, prices, {}, {"Theirs": foreign}).lines() == ["monthly cost: unchanged."]


def test_what_stays_outside_its_stack_is_still_billed(tmp_path: Path, prices: Prices) -> None:
    capacity = {"StorageCapacity": 1200, "StorageType": "SSD"}
    lustre = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 500}
    file_system = resource("AWS::FSx::FileSystem", **capacity, LustreConfiguration=lustre)
    retained = file_system | {"DeletionPolicy": "RetainExceptOnCreate"}
    (line,) = compared(tmp_path, prices, {"A": retained}, {}).lines()
    assert line == "monthly cost: unchanged."
    deleted = compared(tmp_path / "b", prices, {"A": file_system}, {})
    assert deleted.to_dict()["changes"]["PERSISTENT_2 SSD 500"]["after"] == 0


def test_instances_of_launch_templates_and_of_hyperpod_are_counted(tmp_path: Path, prices: Prices) -> None:
    template = resource("AWS::EC2::LaunchTemplate", LaunchTemplateData={"InstanceType": "p5en.48xlarge"})
    scaling = {"MinSize": 0, "DesiredSize": 0, "MaxSize": 4}
    nodes = resource("AWS::EKS::Nodegroup", LaunchTemplate={"Id": {"Ref": "T"}}, ScalingConfig=scaling)
    pods = resource("AWS::SageMaker::Cluster", InstanceGroups=[{"InstanceType": "ml.p5.48xlarge", "InstanceCount": 2}])
    changes = compared(tmp_path, prices, {}, {"T": template, "N": nodes, "H": pods}).to_dict()["changes"]
    assert {name: row["after"] for name, row in changes.items()} == {"p5en.48xlarge": 4, "ml.p5.48xlarge": 2}


def test_every_group_of_the_golden_templates_has_an_instance_type(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    for file in GOLDEN.glob("*-*.json"):
        shutil.copy(file, tmp_path / f"{file.stem}.template.json")
    changes = monthly_cost(tmp_path / "none", tmp_path, None).to_dict()["changes"]
    assert not [name for name in changes if name.startswith("instance type of")]
    assert {"p5en.48xlarge", "AWS::PCS::Cluster MEDIUM", "AWS::EKS::Cluster tier-xl"} <= set(changes)


@pytest.mark.parametrize(("key", "value"), [("as_of", "soon"), ("dollars_per_gib_month", {"x": -1}), ("source", 3)])
def test_rejects_a_price_file_without_date_source_or_prices(key: str, value: object, tmp_path: Path) -> None:
    file = tmp_path / "prices.json"
    file.write_text(json.dumps({**PRICES, key: value}))
    with pytest.raises(ValueError, match=r"prices\.json"):
        price_file(file)
