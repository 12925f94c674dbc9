"""Launch templates whose network interfaces the instance type does not have, and groups that launch from them."""

from collections.abc import Iterator
from typing import Any

from support.rehearsal_tools import Template
from support.service_templates import CARD, GROUP, NODES, launch, resource

BOUNDS = {"ScalingConfiguration": {"MinInstanceCount": 0, "MaxInstanceCount": 1}}


def interfaces(*rows: tuple[int, int, str]) -> list[dict[str, Any]]:
    return [{"NetworkCardIndex": card, "DeviceIndex": device, "InterfaceType": kind} for card, device, kind in rows]


ENA = (0, 0, "interface")
EFA_ON_0 = interfaces((0, 0, "efa"))


def launched(rows: Any, group: Template, **data: Any) -> Template:
    """Return a launch template and a group."""
    return {"Template": launch(NetworkInterfaces=rows, **data), "It": group}


def pcs(*types: str) -> Template:
    configs = {"InstanceConfigs": [{"InstanceType": type} for type in types]}
    template = {"CustomLaunchTemplate": {"TemplateId": {"Ref": "Template"}, "Version": "1"}}
    return resource("AWS::PCS::ComputeNodeGroup", **(GROUP | BOUNDS | configs | template))


def eks(*types: str) -> Template:
    template = {"LaunchTemplate": {"Id": {"Fn::GetAtt": ["Template", "LaunchTemplateId"]}, "Version": "1"}}
    return resource("AWS::EKS::Nodegroup", **(NODES | template | ({"InstanceTypes": [*types]} if types else {})))


def auto_scaling(**properties: Any) -> Template:
    subnets = {"MinSize": "0", "MaxSize": "1", "VPCZoneIdentifier": ["subnet-0123456789abcdef0"]}
    return resource("AWS::AutoScaling::AutoScalingGroup", **subnets, **properties)


def mixed(*overrides: Template) -> Template:
    specification = {"LaunchTemplateSpecification": SPECIFICATION, "Overrides": [*overrides]}
    return auto_scaling(MixedInstancesPolicy={"LaunchTemplate": specification})


def fleet(*overrides: Template) -> Template:
    config = {"LaunchTemplateSpecification": SPECIFICATION, "Overrides": [*overrides]}
    capacity = {"TotalTargetCapacity": 1, "DefaultTargetCapacityType": "on-demand"}
    return resource("AWS::EC2::EC2Fleet", LaunchTemplateConfigs=[config], TargetCapacitySpecification=capacity)


def spot_fleet(**data: Any) -> Template:
    request = {"IamFleetRole": "arn:aws:iam::123456789012:role/fleet", "TargetCapacity": 1, **data}
    return resource("AWS::EC2::SpotFleet", SpotFleetRequestConfigData=request)


def batch(*types: str, **template: Any) -> Template:
    resources = {"Type": "EC2", "MaxvCpus": 192, "Subnets": ["subnet-0123456789abcdef0"], "InstanceTypes": [*types]}
    resources |= {"InstanceRole": "arn:aws:iam::123456789012:instance-profile/batch"}
    resources |= {"LaunchTemplate": SPECIFICATION | template}
    return resource("AWS::Batch::ComputeEnvironment", Type="MANAGED", ComputeResources=resources)


def named(rows: Any, group: Template, property: str, **data: Any) -> Template:
    """Return a launch template with a name, and a group that names it."""
    group["Properties"]["LaunchTemplate"] = {property: "gpus", "Version": "1"}
    result = launched(rows, group, **data)
    result["Template"]["Properties"]["LaunchTemplateName"] = "gpus"
    return result


SPECIFICATION = {"LaunchTemplateId": {"Ref": "Template"}, "Version": "1"}
CARDS_34 = [CARD, *({"NetworkCardIndex": card, "DeviceIndex": 1} for card in range(1, 34))]
P6_B300 = "p6-b300.48xlarge"
WRONG_CARDS: dict[str, tuple[Template, str]] = {
    "34 cards on p5": (launched(CARDS_34, pcs("p5.48xlarge")), "there is no card 32 (32 cards, from 0)"),
    "EFA on t3": (
        launched(EFA_ON_0, eks(), InstanceType="t3.micro"),
        "t3.micro can't have these interfaces: card 0 offers interface, not efa",
    ),
    "EFA on card 0 of p6-b300": (launched(EFA_ON_0, eks(P6_B300)), "card 0 offers interface, not efa"),
    "efa-only on card 0 of p6-b300": (
        launched(interfaces(ENA, (0, 1, "efa-only")), pcs(P6_B300)),
        "card 0 offers interface, not efa-only",
    ),
    "more interfaces than a card has": (
        launched(interfaces(ENA, (1, 0, "efa-only"), (1, 2, "interface")), pcs("p5.48xlarge")),
        "card 1 supports 2 interfaces, so device 2 is out of range",
    ),
    "an Auto Scaling group with EFA on t3": (
        launched(EFA_ON_0, auto_scaling(LaunchTemplate=SPECIFICATION), InstanceType="t3.micro"),
        "#/LaunchTemplate: ",
    ),
    "an override of another type": (
        launched(EFA_ON_0, mixed({"InstanceType": "p5.48xlarge"}, {"InstanceType": P6_B300})),
        "#/MixedInstancesPolicy/LaunchTemplate/Overrides/1: ",
    ),
    "an instance with EFA on t3": (
        launched(EFA_ON_0, resource("AWS::EC2::Instance", InstanceType="t3.micro", LaunchTemplate=SPECIFICATION)),
        "no instance launches: t3.micro",
    ),
    "EFA on t3, by the name of the template": (
        named(EFA_ON_0, eks("t3.micro"), "Name"),
        "#/LaunchTemplate: ",
    ),
    "an Auto Scaling group with EFA on t3, by name": (
        named(EFA_ON_0, auto_scaling(), "LaunchTemplateName", InstanceType="t3.micro"),
        "card 0 offers interface, not efa",
    ),
    "a fleet that overrides the type": (
        launched(EFA_ON_0, fleet({"InstanceType": "p5.48xlarge"}, {"InstanceType": "t3.micro"})),
        "#/LaunchTemplateConfigs/0/Overrides/1: ",
    ),
    "a fleet that overrides the subnet alone": (
        launched(EFA_ON_0, fleet({"SubnetId": "subnet-0123456789abcdef0"}), InstanceType="t3.micro"),
        "#/LaunchTemplateConfigs/0/Overrides/0: ",
    ),
    "a Spot fleet of t3 with EFA": (
        launched(
            EFA_ON_0,
            spot_fleet(LaunchTemplateConfigs=[{"LaunchTemplateSpecification": SPECIFICATION}]),
            InstanceType="t3.micro",
        ),
        "#/SpotFleetRequestConfigData/LaunchTemplateConfigs/0/LaunchTemplateSpecification: ",
    ),
    "a compute environment of Batch with EFA on t3": (
        launched(EFA_ON_0, batch("p5.48xlarge", "t3.micro")),
        "#/ComputeResources/LaunchTemplate: ",
    ),
    "an override of Batch with EFA on t3": (
        launched(
            EFA_ON_0,
            batch("p5", Overrides=[SPECIFICATION | {"TargetInstanceTypes": ["t3.micro"]}]),
        ),
        "#/ComputeResources/LaunchTemplate/Overrides/0: ",
    ),
}


def right_cards() -> Iterator[Template]:
    """Yield templates that AWS deploys, or that do not show enough."""
    yield launched(EFA_ON_0, pcs("p5.48xlarge"))
    yield launched(EFA_ON_0, eks("p9.48xlarge"))
    yield launched(interfaces(ENA, (1, 0, "efa-only"), (1, 1, "interface")), pcs("p5.48xlarge", P6_B300))
    yield launched([CARD | {"InterfaceType": {"Fn::ImportValue": "kind"}}], pcs("t3.micro"))
    yield launched(EFA_ON_0, mixed({"InstanceRequirements": {"VCpuCount": {"Min": 1}, "MemoryMiB": {"Min": 1}}}))
    requirements = {"InstanceRequirements": {"VCpuCount": {"Min": 1}, "MemoryMiB": {"Min": 1}}}
    yield launched(EFA_ON_0, fleet(requirements), InstanceType="t3.micro")
    # A family of Batch, and types that have a launch template of their own.
    yield launched(EFA_ON_0, batch("p5", "optimal"), InstanceType="t3.micro")
    other = {"LaunchTemplateId": "lt-0123456789abcdef0", "Version": "1"}
    yield launched(EFA_ON_0, batch("p5.48xlarge", "t3.micro", Overrides=[other | {"TargetInstanceTypes": ["t3"]}]))
    # The name is that of no template here.
    yield named(EFA_ON_0, eks("t3.micro"), "Name") | {"Template": launch(NetworkInterfaces=EFA_ON_0)}
    # An earlier version, which the template does not show.
    earlier = eks("t3.micro")
    earlier["Properties"]["LaunchTemplate"]["Version"] = "2"
    yield launched(EFA_ON_0, earlier)
    # EC2 creates it, and nothing launches from it.
    yield {"Template": launch(NetworkInterfaces=EFA_ON_0, InstanceType="t3.micro")}
