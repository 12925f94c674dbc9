"""Plug-in for `cdk_rehearsal`: instances launch with network interfaces that their type has.

EC2 creates a launch template with other interfaces. What fails is a group, fleet or instance that launches from it.

See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-eni.html and efa-acc-inst-types.html (read 2026-11-20)
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ultracluster.testing._service_rules import at, efa_file_system, eks_launch_template, expressions, pcs_queue

if TYPE_CHECKING:
    # Not at run time: each pytest run loads this package, because it holds a pytest plugin.
    from ultracluster.catalogue.ec2 import Interface

_Properties = Mapping[str, Any]
_Find = Callable[..., tuple[str, _Properties] | None]
#: Path of the property, reference to the launch template, and instance types that replace that of the template.
_Launch = tuple[str, Any, list[Any]]

#: Properties with the id of a launch template.
LAUNCH_TEMPLATE_IDS = ("TemplateId", "Id", "LaunchTemplateId")
# Those with its name, which the template has in `LaunchTemplateName`.
_NAMES = ("Name", "LaunchTemplateName")


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
    ids = [at(reference, name) for name in LAUNCH_TEMPLATE_IDS]
    templates = [find(id) for id in ids if not _earlier(id, at(reference, "Version"))]
    templates += [find(at(reference, name), "LaunchTemplateName") for name in _NAMES]
    for template, properties in filter(None, templates):
        data = properties.get("LaunchTemplateData")
        rows = at(data, "NetworkInterfaces")
        yield from _problems(f"#/{path}: {template}", rows, types or [at(data, "InstanceType")])


def _earlier(id: Any, version: Any) -> bool:
    """Return whether a template names an earlier version, which it does not show. A deployment has ids as text."""
    return not isinstance(id, str) and isinstance(version, str) and version.isdecimal() and int(version) > 1


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


def _compute_node_group(properties: _Properties) -> Iterator[_Launch]:
    types = [at(item, "InstanceType") for item in _items(properties.get("InstanceConfigs"))]
    yield "CustomLaunchTemplate", properties.get("CustomLaunchTemplate"), types


def _node_group(properties: _Properties) -> Iterator[_Launch]:
    yield "LaunchTemplate", properties.get("LaunchTemplate"), _items(properties.get("InstanceTypes"))


def _auto_scaling_group(properties: _Properties) -> Iterator[_Launch]:
    yield "LaunchTemplate", properties.get("LaunchTemplate"), []
    path = "MixedInstancesPolicy/LaunchTemplate"
    mixed = at(properties, *path.split("/"))
    common = at(mixed, "LaunchTemplateSpecification")
    overrides = _items(at(mixed, "Overrides"))
    if not overrides:
        yield f"{path}/LaunchTemplateSpecification", common, []
    for index, item in enumerate(overrides):
        # Without a type, it has requirements that several types meet.
        yield (
            f"{path}/Overrides/{index}",
            at(item, "LaunchTemplateSpecification") or common,
            [at(item, "InstanceType")],
        )


def _fleet(properties: _Properties, path: str = "LaunchTemplateConfigs") -> Iterator[_Launch]:
    for index, config in enumerate(_items(at(properties, *path.split("/")))):
        specification, overrides = at(config, "LaunchTemplateSpecification"), _items(at(config, "Overrides"))
        if not overrides:
            yield f"{path}/{index}/LaunchTemplateSpecification", specification, []
        for number, item in enumerate(overrides):
            # It may replace the subnet alone.
            types = [at(item, name) for name in ("InstanceType", "InstanceRequirements") if at(item, name)]
            yield f"{path}/{index}/Overrides/{number}", specification, types


def _spot_fleet(properties: _Properties, find: _Find) -> Iterator[str]:
    path = "SpotFleetRequestConfigData"
    for place, specification, types in _fleet(properties, f"{path}/LaunchTemplateConfigs"):
        yield from _launch_problems(place, specification, types, find)
    for index, item in enumerate(_items(at(properties, path, "LaunchSpecifications"))):
        place = f"#/{path}/LaunchSpecifications/{index}/NetworkInterfaces"
        yield from _problems(place, at(item, "NetworkInterfaces"), [at(item, "InstanceType")])


def _compute_environment(properties: _Properties) -> Iterator[_Launch]:
    """Batch: a type may be a family, such as `p5`, which shows no size. An override names the types that it is for."""
    resources, path = properties.get("ComputeResources"), "ComputeResources/LaunchTemplate"
    types, template = _items(at(resources, "InstanceTypes")), at(resources, "LaunchTemplate")
    for index, item in enumerate(_items(at(template, "Overrides"))):
        targets = _items(at(item, "TargetInstanceTypes"))
        chosen = [type for type in types if type in targets or str(type).partition(".")[0] in targets]
        types = [type for type in types if type not in chosen]
        yield f"{path}/Overrides/{index}", item, [*chosen, *targets]
    # Without a type, it uses none of its own.
    yield path, template, types or [None]


def _instance(properties: _Properties, find: _Find) -> Iterator[str]:
    types = [properties["InstanceType"]] if "InstanceType" in properties else []
    if rows := properties.get("NetworkInterfaces"):
        yield from _problems("#/NetworkInterfaces", rows, types)
    else:
        yield from _launch_problems("LaunchTemplate", properties.get("LaunchTemplate"), types, find)


#: Argument `template_rules` of `guard.compare`, `rehearse` and `LocalCloud`; default of `ClusterRules`.
TEMPLATE_RULES: Mapping[str, tuple[Callable[[_Properties, _Find], Iterator[str]], ...]] = MappingProxyType(
    {
        "AWS::PCS::ComputeNodeGroup": (_rule(_compute_node_group),),
        "AWS::PCS::Queue": (pcs_queue,),
        "AWS::EKS::Nodegroup": (_rule(_node_group), eks_launch_template),
        "AWS::APS::RuleGroupsNamespace": (expressions,),
        "AWS::FSx::FileSystem": (efa_file_system,),
        "AWS::AutoScaling::AutoScalingGroup": (_rule(_auto_scaling_group),),
        "AWS::EC2::Instance": (_instance,),
        "AWS::EC2::EC2Fleet": (_rule(_fleet),),
        "AWS::EC2::SpotFleet": (_spot_fleet,),
        "AWS::Batch::ComputeEnvironment": (_rule(_compute_environment),),
    }
)
