"""Assertions on the nodes of a template: EFA, capacity reservations, public addresses."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ultracluster.testing._instance_groups import HYPERPOD_CLUSTER, instance_groups
from ultracluster.testing._nested_stacks import whole_template
from ultracluster.testing._template_rules import LAUNCH_TEMPLATE_IDS, shown_interfaces

if TYPE_CHECKING:
    # Not at run time: each pytest run loads this package, because it holds a pytest plugin.
    import aws_cdk as cdk
    from aws_cdk import assertions

    from ultracluster.catalogue.ec2 import InstanceType

    Subject = cdk.Stack | assertions.Template | Mapping[str, Any]

_EFA = ("efa", "efa-only")
# Resource type -> properties with the launch template, the instance types, the purchase option and the subnets.
_GROUPS = {
    "AWS::PCS::ComputeNodeGroup": ("CustomLaunchTemplate", "InstanceConfigs", "PurchaseOption", "SubnetIds"),
    "AWS::EKS::Nodegroup": ("LaunchTemplate", "InstanceTypes", "CapacityType", "Subnets"),
    "AWS::AutoScaling::AutoScalingGroup": ("LaunchTemplate", "", "", "VPCZoneIdentifier"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Launch:
    """A launch template, or an instance, with the node groups that use it."""

    name: str
    data: Mapping[str, Any]
    groups: tuple[tuple[str, Mapping[str, Any]], ...]
    types: tuple[str, ...]


def assert_efa_wired(subject: "Subject", *, types: "Iterable[InstanceType]" = (), ignore: Collection[str] = ()) -> None:
    """Check that GPU nodes use every EFA device, and that their security group allows EFA traffic.

    Each launch template with a GPU type that supports EFA, or with an EFA interface, must have an interface for each
    EFA device that the type can use, at a network card and device index that EC2 accepts. At least one security group
    of an EFA interface must allow all traffic from and to itself; a group of another stack is not checked.

    Args:
        subject: A stack, with its nested stacks, or a template without nested stacks.
        types: Instance types that the catalogue does not have.
        ignore: Logical ids of launch templates without EFA by intention.

    Raises:
        AssertionError: If the template has such a problem, with all of them, or has no EFA nodes.
    """
    __tracebackhide__ = True
    template = whole_template(subject, ignore)
    known = {record.name: record for record in types}
    checked, problems = 0, []
    for launch in _launches(template, ignore):
        records = [_record(name, known) for name in launch.types]
        interfaces = [row for row in launch.data.get("NetworkInterfaces") or () if isinstance(row, Mapping)]
        efa = [row for row in interfaces if row.get("InterfaceType") in _EFA]
        expected = [record for record in records if record and record.gpus and record.supports_efa]
        if not efa and not expected:
            continue
        checked += 1
        unknown = [name for name, record in zip(launch.types, records, strict=True) if record is None]
        if unknown or not launch.types:
            what = f"the catalogue has no type {', '.join(unknown)}; pass types=" if unknown else "no instance type"
            problems.append(f"{launch.name}: {what}")
        for record in records:
            if record:
                problems += [f"{launch.name}: {problem}" for problem in _interface_problems(record, interfaces)]
        if any(_lacks_efa_rules(row, template) for row in efa):
            problems.append(
                f"{launch.name}: no security group of an EFA interface allows all traffic from and to itself; "
                "use network.EfaSecurityGroup"
            )
    _report(problems, checked, "launch template with EFA interfaces")


def assert_reserved(subject: "Subject", *, types: "Iterable[InstanceType]" = (), ignore: Collection[str] = ()) -> None:
    """Check that GPU nodes start in a capacity reservation, and never as On-Demand or Spot capacity beside it.

    Each launch template with a GPU type must name a capacity reservation, or a resource group of reservations. Market
    type of the launch template and purchase option of its node groups must agree about Capacity Blocks.

    Args:
        subject: A stack, with its nested stacks, or a template without nested stacks.
        types: Instance types that the catalogue does not have.
        ignore: Logical ids of launch templates without a reservation by intention.

    Raises:
        AssertionError: If the template has such a problem, with all of them, or has no GPU nodes.
    """
    __tracebackhide__ = True
    known = {record.name: record for record in types}
    checked, problems = 0, []
    for launch in _launches(whole_template(subject, ignore), ignore):
        records = [_record(name, known) for name in launch.types]
        if launch.types and not any(record is None or record.gpus for record in records):
            continue
        specification = launch.data.get("CapacityReservationSpecification") or {}
        target = specification.get("CapacityReservationTarget") or {}
        market = (launch.data.get("InstanceMarketOptions") or {}).get("MarketType")
        checked += 1
        if not (target.get("CapacityReservationId") or target.get("CapacityReservationResourceGroupArn")):
            problems.append(f"{launch.name}: no reservation; set CapacityReservationTarget or TrainingPlanArn")
        if specification.get("CapacityReservationPreference") == "none" or market == "spot":
            problems.append(f"{launch.name}: starts instances outside of a reservation")
        for name, group in launch.groups:
            option = group.get(_GROUPS[group["Type"]][2] if group["Type"] in _GROUPS else "")
            block = option == "CAPACITY_BLOCK"
            if option and block != (market == "capacity-block"):
                problems.append(
                    f"{name}: purchase option {option}, but {launch.name} has the market type {market or 'on-demand'}"
                )
    _report(problems, checked, "launch template with a GPU type")


def assert_no_public_nodes(subject: "Subject", *, ignore: Collection[str] = ()) -> None:
    """Check that no node gets a public IP address.

    No network interface may associate one, no Elastic IP address may be attached to an instance, and a subnet of the
    same template in which nodes start must not assign one, unless the interface declines it.

    Args:
        subject: A stack, with its nested stacks, or a template without nested stacks.
        ignore: Logical ids of launch templates and instances that are public by intention.

    Raises:
        AssertionError: If the template has such a problem, with all of them, or starts no nodes.
    """
    __tracebackhide__ = True
    template = whole_template(subject, ignore)
    resources = _resources(template)
    checked, problems = 0, []
    for launch in _launches(template, ignore):
        checked += 1
        interfaces = [row for row in launch.data.get("NetworkInterfaces") or () if isinstance(row, Mapping)]
        choices = [str(row.get("AssociatePublicIpAddress", "")).lower() for row in interfaces]
        if "true" in choices:
            problems.append(f"{launch.name}: an interface has AssociatePublicIpAddress")
        subnets = [row.get("SubnetId") for row in interfaces] + [launch.data.get("SubnetId")]
        for _, group in launch.groups:
            subnets += _list(group.get(_GROUPS[group["Type"]][3]))
        declined = bool(choices) and choices[0] == "false"
        for subnet in dict.fromkeys(filter(None, map(_referred, subnets))):
            properties = (resources.get(subnet) or {}).get("Properties") or {}
            if str(properties.get("MapPublicIpOnLaunch", "")).lower() == "true" and not declined:
                problems.append(f"{launch.name}: the subnet {subnet} assigns public addresses (MapPublicIpOnLaunch)")
    for logical_id, resource in resources.items():
        properties = resource.get("Properties") or {}
        if resource.get("Type") in ("AWS::EC2::EIP", "AWS::EC2::EIPAssociation") and properties.get("InstanceId"):
            name = _referred(properties["InstanceId"])
            if name not in ignore:
                problems.append(f"{logical_id}: attaches a public address to {name or properties['InstanceId']}")
    _report(problems, checked, "launch template or instance")


def _launches(template: Mapping[str, Any], ignore: Collection[str]) -> Iterator[_Launch]:
    resources = _resources(template)
    if unused := [name for name in ignore if name not in resources]:
        raise AssertionError(f"ignore names no resource of the template: {', '.join(unused)}")
    for name, resource in resources.items():
        properties = resource.get("Properties") or {}
        if name in ignore:
            continue
        if resource.get("Type") == "AWS::EC2::Instance":
            # An instance with a launch template of this template is checked with it.
            if not properties.get("LaunchTemplate"):
                yield _Launch(name=name, data=properties, groups=(), types=_types(properties, ()))
        elif resource.get("Type") == "AWS::EC2::LaunchTemplate":
            data = properties.get("LaunchTemplateData") or {}
            groups = tuple(_users(name, resources))
            yield _Launch(name=name, data=data, groups=groups, types=_types(data, groups))
        elif resource.get("Type") == HYPERPOD_CLUSTER:
            for group, type, data in instance_groups(properties):
                yield _Launch(name=f"{name}, instance group {group}", data=data, groups=(), types=(type,))


def _users(template: str, resources: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, resource in resources.items():
        properties = resource.get("Properties") or {}
        if resource.get("Type") not in _GROUPS:
            continue
        policy = ((properties.get("MixedInstancesPolicy") or {}).get("LaunchTemplate") or {}).get(
            "LaunchTemplateSpecification"
        )
        specification = properties.get(_GROUPS[resource["Type"]][0]) or policy or {}
        ids = [specification.get(key) for key in LAUNCH_TEMPLATE_IDS]
        if template in map(_referred, ids):
            yield name, {**properties, "Type": resource["Type"]}


def _types(data: Mapping[str, Any], groups: Iterable[tuple[str, Mapping[str, Any]]]) -> tuple[str, ...]:
    names = [data.get("InstanceType")]
    for _, group in groups:
        for item in _list(group.get(_GROUPS[group["Type"]][1])):
            names.append(item.get("InstanceType") if isinstance(item, Mapping) else item)
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str)))


def _record(name: str, known: "Mapping[str, InstanceType]") -> "InstanceType | None":
    from ultracluster.catalogue.ec2 import known_type

    return known.get(name) or known_type(name)


def _interface_problems(record: "InstanceType", rows: list[Mapping[str, Any]]) -> Iterator[str]:
    from ultracluster.catalogue.ec2 import check_interfaces, default_layout, interfaces

    result = shown_interfaces(rows)
    if result is None:
        yield "network cards, device indexes and types of its interfaces must be in the template"
        return
    # Not those of `efa-pairs`, two of which share what one has in the default layout.
    try:
        usable = sum(row.kind in _EFA for row in interfaces(record, default_layout(record)))
    except ValueError:
        usable = 0
    used = sum(row.kind in _EFA for row in result)
    if used < usable:
        yield f"{used} of the {usable} EFA devices of {record.name} have an interface"
    try:
        check_interfaces(record, result)
    except ValueError as error:
        yield str(error)


def _lacks_efa_rules(interface: Mapping[str, Any], template: Mapping[str, Any]) -> bool:
    groups = [_referred(group) for group in _list(interface.get("Groups"))]
    resources = _resources(template)
    if any((resources.get(group or "") or {}).get("Type") != "AWS::EC2::SecurityGroup" for group in groups):
        return False
    return not any(_allows_itself(str(group), resources) for group in groups)


def _allows_itself(group: str, resources: Mapping[str, Any]) -> bool:
    directions = set()
    for resource in resources.values():
        rule = resource.get("Properties") or {}
        other = {
            "AWS::EC2::SecurityGroupIngress": "SourceSecurityGroupId",
            "AWS::EC2::SecurityGroupEgress": "DestinationSecurityGroupId",
        }.get(str(resource.get("Type")))
        ends = {_referred(rule.get(end)) for end in ("GroupId", other)}
        if other and str(rule.get("IpProtocol")) == "-1" and ends == {group}:
            directions.add(other)
    return len(directions) == 2


def _resources(template: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    resources: Mapping[str, Mapping[str, Any]] = template.get("Resources") or {}
    return resources


def _referred(value: Any) -> str | None:
    """Return the logical id in `Ref` or `Fn::GetAtt`, or None."""
    if not isinstance(value, Mapping):
        return None
    attribute = value.get("Fn::GetAtt")
    target = value.get("Ref") or (attribute[0] if isinstance(attribute, list) else str(attribute or "").split(".")[0])
    return target or None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _report(problems: list[str], checked: int, subject: str) -> None:
    __tracebackhide__ = True
    if not checked:
        raise AssertionError(f"the template has no {subject}: there is nothing to check")
    if problems:
        raise AssertionError("\n".join(dict.fromkeys(problems)))
