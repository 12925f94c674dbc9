"""Every way of buying for every service: the table as AWS's pages have it, and templates that CloudFormation knows.

The words are written out here, so that the library's own tables are not their own witness. Sources: API references of
PCS (CreateComputeNodeGroup), EKS (CreateNodegroup), SageMaker (ClusterInstanceGroupSpecification) and EC2
(RequestLaunchTemplateData), read 2026-11-20.
"""

import copy
import json
import re
from collections.abc import Mapping
from typing import Any, get_args

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks as eks
from aws_cdk import aws_sagemaker as sagemaker

from support.template_lint import matches
from ultracluster import compute
from ultracluster.planning.capacity import Capacity, Service, purchase
from ultracluster.slurm import PcsCluster, PcsComputeNodeGroup

ID = "cr-0123456789abcdef0"
GROUP = "arn:aws:resource-groups:us-east-2:123456789012:group/pool"
PLAN = "arn:aws:sagemaker:us-east-2:123456789012:training-plan/mine"
WAYS: dict[str, Capacity] = {
    "on-demand": compute.OnDemand(),
    "spot": compute.Spot(),
    "open": compute.OpenReservation(),
    "odcr": compute.TargetedReservation(reservation_id=ID),
    "group": compute.ReservationGroup(arn=GROUP),
    "block": compute.CapacityBlock(reservation_id=ID),
    "ultraserver": compute.UltraServerBlock(reservation_id=ID),
    "interruptible": compute.InterruptibleReservation(reservation_id=ID),
    "plan": compute.TrainingPlan(arn=PLAN),
}

_MARKET = "InstanceMarketOptions.MarketType"
_TARGET = "CapacityReservationSpecification.CapacityReservationTarget"
_ID = {f"{_TARGET}.CapacityReservationId": ID}
_GROUP = {f"{_TARGET}.CapacityReservationResourceGroupArn": GROUP}
_OPEN = {"CapacityReservationSpecification.CapacityReservationPreference": "open"}
_BLOCK = {_MARKET: "capacity-block", **_ID}
_LENT = {_MARKET: "interruptible-capacity-reservation", **_ID}
_NO_EC2 = "reservations and Capacity Blocks of EC2 can't hold; purchase a training plan: {training-plan: ARN}"
_NO_PLAN = "launches EC2 ones; for those purchase a Capacity Block: {reservation: cr-..., kind: capacity-block | ultra"

#: Way -> service -> the exact fields, or a part of the refusal.
TABLE: dict[str, dict[Service, dict[str, Any] | str]] = {
    "on-demand": {
        "pcs": {"PurchaseOption": "ONDEMAND"},
        "eks-managed": {"CapacityType": "ON_DEMAND"},
        "self-managed": {},
        "hyperpod": {"CapacityRequirements": {"OnDemand": {}}},
    },
    "spot": {
        "pcs": {"PurchaseOption": "SPOT"},
        "eks-managed": {"CapacityType": "SPOT"},
        "self-managed": {_MARKET: "spot"},
        "hyperpod": {"CapacityRequirements": {"Spot": {}}},
    },
    "open": {
        "pcs": {"PurchaseOption": "ONDEMAND", **_OPEN},
        "eks-managed": {"CapacityType": "ON_DEMAND", **_OPEN},
        "self-managed": _OPEN,
        "hyperpod": _NO_EC2,
    },
    "odcr": {
        "pcs": {"PurchaseOption": "ONDEMAND", **_ID},
        "eks-managed": {"CapacityType": "ON_DEMAND", **_ID},
        "self-managed": _ID,
        "hyperpod": _NO_EC2,
    },
    "group": {
        "pcs": {"PurchaseOption": "ONDEMAND", **_GROUP},
        "eks-managed": {"CapacityType": "ON_DEMAND", **_GROUP},
        "self-managed": _GROUP,
        "hyperpod": _NO_EC2,
    },
    "block": {
        "pcs": {"PurchaseOption": "CAPACITY_BLOCK", **_BLOCK},
        "eks-managed": {"CapacityType": "CAPACITY_BLOCK", **_BLOCK},
        "self-managed": _BLOCK,
        "hyperpod": _NO_EC2,
    },
    "ultraserver": {
        "pcs": {"PurchaseOption": "CAPACITY_BLOCK", **_BLOCK},
        "eks-managed": {"CapacityType": "CAPACITY_BLOCK", **_BLOCK},
        "self-managed": _BLOCK,
        "hyperpod": _NO_EC2,
    },
    "interruptible": {
        "pcs": {"PurchaseOption": "INTERRUPTIBLE_CAPACITY_RESERVATION", **_LENT},
        "eks-managed": "has no capacity type for an interruptible reservation; launch the nodes by an Auto Scaling",
        "self-managed": _LENT,
        "hyperpod": _NO_EC2,
    },
    "plan": {
        "pcs": f"AWS PCS {_NO_PLAN}",
        "eks-managed": f"an EKS managed node group {_NO_PLAN}",
        "self-managed": f"an Auto Scaling group {_NO_PLAN}",
        "hyperpod": {"TrainingPlanArn": PLAN},
    },
}
CELLS = [(way, service) for way, row in TABLE.items() for service in row]
GOOD = [(way, service) for way, service in CELLS if not isinstance(TABLE[way][service], str)]
BAD = [(way, service) for way, service in CELLS if isinstance(TABLE[way][service], str)]


class World:
    """One stack with a resource of the service's own, and its launch template, for every cell that works."""

    def __init__(self) -> None:
        app = cdk.App(analytics_reporting=False)
        self.stack = cdk.Stack(app, "Matrix", env=cdk.Environment(account="123456789012", region="us-east-2"))
        self.subnet = ec2.Subnet.from_subnet_id(self.stack, "Subnet", "subnet-0123456789abcdef0")
        self.group = ec2.SecurityGroup.from_security_group_id(self.stack, "Nodes", "sg-0123456789abcdef0")
        self.slurm = PcsCluster(
            self.stack, "Slurm", name="llama", max_instances=64, subnet=self.subnet, security_groups=[self.group]
        )
        #: Cell -> the resource that launches, and its template.
        self.made: dict[tuple[str, Service], list[cdk.CfnElement]] = {}

    def add(self, way: str, service: Service) -> None:
        """Make what the cell says."""
        if service == "hyperpod":
            self.made[way, service] = [self._hyperpod(way)]
            return
        template = self.template(way, service)
        launch: dict[str, str] = {"launch_template_id": template.launch_template_id, "version": template.version_number}
        launcher: cdk.CfnElement
        match service:
            case "pcs":
                launcher = PcsComputeNodeGroup(
                    self.stack, f"{way}-pcs", cluster=self.slurm, name=f"n-{way}", template=template, count=9
                ).resource
            case "eks-managed":
                launcher = eks.CfnNodegroup(
                    self.stack,
                    f"{way}-eks",
                    cluster_name="llama",
                    node_role="arn:aws:iam::123456789012:role/node",
                    subnets=[self.subnet.subnet_id],
                    ami_type="AL2023_ARM_64_NVIDIA" if way == "ultraserver" else "AL2023_x86_64_NVIDIA",
                    capacity_type=str(_setting(way, service)[1]),
                    launch_template={"id": launch["launch_template_id"], "version": launch["version"]},
                )
            case "self-managed":
                launcher = autoscaling.CfnAutoScalingGroup(
                    self.stack,
                    f"{way}-asg",
                    min_size="0",
                    max_size="9",
                    vpc_zone_identifier=[self.subnet.subnet_id],
                    launch_template=autoscaling.CfnAutoScalingGroup.LaunchTemplateSpecificationProperty(**launch),
                )
        self.made[way, service] = [launcher, template.resource]

    def template(self, way: str, service: Service) -> compute.NodeGroupTemplate:
        return compute.NodeGroupTemplate(
            self.stack,
            f"{way}-{service}-template",
            instance_type="p6e-gb200.36xlarge" if way == "ultraserver" else "p5en.48xlarge",
            security_groups=[self.group],
            service=service,
            capacity=WAYS[way],
            subnet=None if service == "eks-managed" else self.subnet,
            image="ami-0123456789abcdef0" if service == "pcs" else None,
        )

    def _hyperpod(self, way: str) -> sagemaker.CfnCluster:
        field, value = _setting(way, "hyperpod")
        fields: dict[str, Any] = (
            {"training_plan_arn": value}
            if field == "TrainingPlanArn"
            else {"capacity_requirements": {word[0].lower() + word[1:]: {} for word in value}}
        )
        return sagemaker.CfnCluster(
            self.stack,
            f"{way}-hyperpod",
            instance_groups=[
                sagemaker.CfnCluster.ClusterInstanceGroupProperty(
                    instance_group_name="train",
                    instance_count=2,
                    instance_type="ml.p5en.48xlarge",
                    execution_role="arn:aws:iam::123456789012:role/hyperpod",
                    life_cycle_config={"sourceS3Uri": "s3://sagemaker-llama/scripts", "onCreate": "on_create.sh"},
                    **fields,
                )
            ],
        )

    def ids(self, way: str, service: Service) -> list[str]:
        return [str(self.stack.resolve(element.logical_id)) for element in self.made[way, service]]


def _setting(way: str, service: Service) -> tuple[str, str | dict[str, Any]]:
    setting = purchase(WAYS[way], service).setting
    assert setting is not None
    return setting


@pytest.fixture(scope="module")
def world() -> World:
    world = World()
    for way, service in GOOD:
        world.add(way, service)
    return world


@pytest.fixture(scope="module")
def template(world: World) -> dict[str, Any]:
    return dict(assertions.Template.from_stack(world.stack).to_json())


@pytest.fixture(scope="module")
def problems(template: dict[str, Any]) -> list[tuple[str, str]]:
    return _lint(template)


def _lint(template: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Errors of cfn-lint, as logical id and message."""
    matched = matches(json.dumps(template))
    errors = [match for match in matched if match.rule.id.startswith("E")]
    return [(str((error.path or ["", ""])[1]), f"{error.rule.id} {error.message}") for error in errors]


def _bought(resources: list[dict[str, Any]]) -> dict[str, str]:
    """Every field of the resources of a cell that says how nodes are bought, by its path."""
    properties: dict[str, Any] = {}
    for resource in resources:
        properties |= resource["Properties"].get("LaunchTemplateData", resource["Properties"])
        for group in resource["Properties"].get("InstanceGroups", []):
            properties |= group
    words = ("PurchaseOption", "CapacityType", "CapacityRequirements", "TrainingPlanArn")
    named = (*words, "InstanceMarketOptions", "CapacityReservationSpecification", "SpotOptions")
    return dict(_flat({key: value for key, value in properties.items() if key in named}))


def _flat(node: Mapping[str, Any], at: str = "") -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for key, value in node.items():
        if key == "CapacityRequirements":
            rows.append((key, value))
        elif isinstance(value, dict):
            rows += _flat(value, f"{at}{key}.")
        else:
            rows.append((f"{at}{key}", value))
    return rows


def test_the_table_has_every_way_and_every_service() -> None:
    assert {type(capacity) for capacity in WAYS.values()} == set(get_args(Capacity))
    assert WAYS.keys() == TABLE.keys()
    assert all(row.keys() == set(get_args(Service)) for row in TABLE.values())


@pytest.mark.parametrize(("way", "service"), GOOD)
def test_a_service_receives_exactly_the_fields_of_the_table(way: str, service: Service) -> None:
    assert purchase(WAYS[way], service).fields == TABLE[way][service]


@pytest.mark.parametrize(("way", "service"), GOOD)
def test_launching_resources_have_exactly_the_fields_of_the_table(
    way: str, service: Service, world: World, template: dict[str, Any]
) -> None:
    launchers = [template["Resources"][id] for id in world.ids(way, service)]
    assert _bought(launchers) == TABLE[way][service]


@pytest.mark.parametrize(("way", "service"), GOOD)
def test_cloudformation_knows_every_word_of_a_cell(
    way: str, service: Service, world: World, problems: list[tuple[str, str]]
) -> None:
    ids = world.ids(way, service)
    assert [problem for problem in problems if problem[0] in ids] == []


def test_cloudformation_knows_the_rest_of_the_template_too(problems: list[tuple[str, str]]) -> None:
    assert problems == []


def test_a_word_that_cloudformation_does_not_know_is_found(world: World, template: dict[str, Any]) -> None:
    wrong = copy.deepcopy(template)
    resources = wrong["Resources"]
    pcs, pcs_template = world.ids("block", "pcs")
    managed, self_managed = world.ids("block", "eks-managed")[0], world.ids("group", "self-managed")[1]
    hyperpod, plan = world.ids("spot", "hyperpod")[0], world.ids("plan", "hyperpod")[0]
    resources[pcs]["Properties"]["PurchaseOption"] = "ON_DEMAND"
    resources[managed]["Properties"]["CapacityType"] = "CAPACITY-BLOCK"
    resources[hyperpod]["Properties"]["InstanceGroups"][0]["CapacityRequirements"] = {"SpotInstances": {}}
    resources[plan]["Properties"]["InstanceGroups"][0]["TrainingPlanArn"] = GROUP
    resources[pcs_template]["Properties"]["LaunchTemplateData"]["InstanceMarketOptions"]["MarketType"] = "block"
    # The place where a sample of PCS's guide puts the ARN of a group.
    reservation = resources[self_managed]["Properties"]["LaunchTemplateData"]["CapacityReservationSpecification"]
    reservation |= reservation.pop("CapacityReservationTarget")
    assert {id for id, _ in _lint(wrong)} == {pcs, managed, hyperpod, plan, pcs_template, self_managed}


@pytest.mark.parametrize(("way", "service"), BAD)
def test_what_a_service_cannot_buy_is_refused_with_the_nearest_way_that_works(way: str, service: Service) -> None:
    with pytest.raises(ValueError, match=re.escape(str(TABLE[way][service]))):
        purchase(WAYS[way], service)


@pytest.mark.parametrize(("way", "service"), [cell for cell in BAD if cell[1] != "hyperpod"])
def test_a_launch_template_is_refused_for_what_its_service_cannot_buy(way: str, service: Service, world: World) -> None:
    why = re.escape(str(TABLE[way][service]))
    with pytest.raises(ValueError, match=f"^Matrix/{way}-{service}-template: .*{why}"):
        world.template(way, service)


@pytest.mark.parametrize("way", WAYS)
def test_hyperpod_takes_no_launch_template_however_its_nodes_are_bought(way: str, world: World) -> None:
    with pytest.raises(ValueError, match=f"^Matrix/{way}-hyperpod-template: HyperPod does not use launch templates"):
        world.template(way, "hyperpod")
