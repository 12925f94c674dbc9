"""Plug-in for `cdk_rehearsal`: instances launch with network interfaces that their type has.

EC2 creates a launch template with other interfaces. What fails is a group, or an instance, that launches from it.

See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-eni.html and efa-acc-inst-types.html (read 2026-11-20)
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Not at run time: each pytest run loads this package, because it holds a pytest plugin.
    from ultracluster.catalogue.ec2 import Interface

_Properties = Mapping[str, Any]
_Find = Callable[[Any], tuple[str, _Properties] | None]
#: Path of the property, reference to the launch template, and instance types that replace that of the template.
_Launch = tuple[str, Any, list[Any]]

#: Properties with the id of a launch template.
LAUNCH_TEMPLATE_IDS = ("TemplateId", "Id", "LaunchTemplateId")


def shown_interfaces(rows: Any) -> "list[Interface] | None":
    """Return the network interfaces of a launch template, or None if the template does not show all of them."""
    from ultracluster.catalogue.ec2 import Interface

    result = []
    for row in rows if isinstance(rows, list) else [None]:
        if not isinstance(row, Mapping):
            return None
        card, device = (str(row.get(name, 0)) for name in ("NetworkCardIndex", "DeviceIndex"))
        if not card.isdecimal() or not device.isdecimal() or not isinstance(row.get("InterfaceType", ""), str):
            return None
        result.append(Interface(int(card), int(device), row.get("InterfaceType") or "interface"))
    return result


def _rule(launches: Callable[[_Properties], Iterator[_Launch]]) -> Callable[[_Properties, _Find], Iterator[str]]:
    def rule(properties: _Properties, find: _Find) -> Iterator[str]:
        for path, reference, types in launches(properties):
            yield from _launch_problems(path, reference, types, find)

    return rule


def _launch_problems(path: str, reference: Any, types: list[Any], find: _Find) -> Iterator[str]:
    for name in LAUNCH_TEMPLATE_IDS:
        if match := find(_at(reference, name)):
            template, data = match[0], match[1].get("LaunchTemplateData")
            rows = _at(data, "NetworkInterfaces")
            yield from _problems(f"#/{path}: {template}", rows, types or [_at(data, "InstanceType")])


def _problems(subject: str, interfaces: Any, types: Sequence[Any]) -> Iterator[str]:
    from ultracluster.catalogue.ec2 import check_interfaces, known_type

    rows = shown_interfaces(interfaces)
    for name in dict.fromkeys(type for type in types if isinstance(type, str)) if rows else ():
        record = known_type(name)
        try:
            if record and rows:
                check_interfaces(record, rows)
        except ValueError as error:
            yield f"{subject}: no instance launches: {error}"


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _at(node: Any, *path: str) -> Any:
    for name in path:
        node = node.get(name) if isinstance(node, Mapping) else None
    return node


def _compute_node_group(properties: _Properties) -> Iterator[_Launch]:
    types = [_at(item, "InstanceType") for item in _items(properties.get("InstanceConfigs"))]
    yield "CustomLaunchTemplate", properties.get("CustomLaunchTemplate"), types


def _node_group(properties: _Properties) -> Iterator[_Launch]:
    yield "LaunchTemplate", properties.get("LaunchTemplate"), _items(properties.get("InstanceTypes"))


def _auto_scaling_group(properties: _Properties) -> Iterator[_Launch]:
    yield "LaunchTemplate", properties.get("LaunchTemplate"), []
    path = "MixedInstancesPolicy/LaunchTemplate"
    mixed = _at(properties, *path.split("/"))
    common = _at(mixed, "LaunchTemplateSpecification")
    overrides = _items(_at(mixed, "Overrides"))
    if not overrides:
        yield f"{path}/LaunchTemplateSpecification", common, []
    for index, item in enumerate(overrides):
        # Without a type, it has requirements that several types meet.
        yield (
            f"{path}/Overrides/{index}",
            _at(item, "LaunchTemplateSpecification") or common,
            [_at(item, "InstanceType")],
        )


def _instance(properties: _Properties, find: _Find) -> Iterator[str]:
    types = [properties["InstanceType"]] if "InstanceType" in properties else []
    if rows := properties.get("NetworkInterfaces"):
        yield from _problems("#/NetworkInterfaces", rows, types)
    else:
        yield from _launch_problems("LaunchTemplate", properties.get("LaunchTemplate"), types, find)


#: Argument `template_rules` of `guard.compare`, `rehearse`, `LocalCloud` and `ClusterRules`.
TEMPLATE_RULES: Mapping[str, tuple[Callable[[_Properties, _Find], Iterator[str]], ...]] = MappingProxyType(
    {
        "AWS::PCS::ComputeNodeGroup": (_rule(_compute_node_group),),
        "AWS::EKS::Nodegroup": (_rule(_node_group),),
        "AWS::AutoScaling::AutoScalingGroup": (_rule(_auto_scaling_group),),
        "AWS::EC2::Instance": (_instance,),
    }
)
