"""Items of a diagram from CloudFormation templates: pure functions of the templates, without the CDK."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ultracluster.catalogue.ec2 import known_type
from ultracluster.cli._diagram_svg import Item, NodeItem, StackBox

Template = Mapping[str, Any]
Properties = Mapping[str, Any]

# An eight-digit hash ends the logical ids of the CDK.
_HASH = re.compile(r"[0-9A-F]{8}$")
# Scope of an add-on that has a bucket: its name has no spaces.
_ADD_ON = re.compile(r"^AddOns[a-z]+Access")
_REFERENCES = re.compile(r'"Fn::ImportValue": "([^":]+):|"Fn::GetStackOutput": \{"StackName": "([^"]+)"')


def stack_box(cluster: str, stack: str, template: Template, text: str) -> StackBox:
    """Box of one stack: every resource of its template is an item, or counted in the last line."""
    resources: Mapping[str, Any] = template.get("Resources", {})
    items: list[Item] = []
    nodes: list[NodeItem] = []
    counted: Counter[str] = Counter()
    grouped: dict[str, list[tuple[str, Properties]]] = {}
    for logical_id, resource in resources.items():
        grouped.setdefault(resource["Type"], []).append((logical_id, resource.get("Properties", {})))
    for type_ in sorted(grouped, key=_position):
        members = grouped[type_]
        if type_ in _NODES:
            groups = [group for id, properties in members for group in _NODES[type_](id, properties, resources)]
            nodes += [group for group in groups if group.gpus]
            items += [_small(group) for group in groups if not group.gpus]
        elif type_ in _ITEMS:
            category, describe = _ITEMS[type_]
            described = [Item(category=category, title=title, detail=detail) for title, detail in describe(members)]
            items += sorted(described, key=lambda item: item.detail)
        else:
            counted[_noun(type_)] += len(members)
    uses = {(strong or weak).removeprefix(f"{cluster}-") for strong, weak in _REFERENCES.findall(text)}
    return StackBox(
        title=stack.removeprefix(f"{cluster}-"),
        uses=tuple(sorted(uses)),
        nodes=tuple(sorted(nodes, key=lambda node: (-node.gpus * node.most, node.title))),
        items=tuple(items),
        rest=", ".join(_counted(noun, count) for noun, count in sorted(counted.items())),
    )


def _words(logical_id: str, *without: str) -> str:
    """Logical id as words, without its hash: TrainingSubnetEBBDB513 is Training subnet."""
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=Subnet)", " ", _HASH.sub("", logical_id)).split()
    kept = [word for word in parts if word not in without]
    return " ".join(kept).capitalize()


def _position(type_: str) -> int:
    """Position of a type among the items: node groups first, then as `_ITEMS` orders them."""
    return list(_ITEMS).index(type_) if type_ in _ITEMS else -1


def _noun(type_: str) -> str:
    name = type_.rpartition("::")[2]
    if name in {"SecurityGroupIngress", "SecurityGroupEgress"}:
        return "security group rule"
    noun = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name).lower()
    noun = re.sub(r"\bvpc\b", "VPC", noun)
    return f"IAM {noun}" if type_.startswith("AWS::IAM::") else {"eip": "elastic IP address"}.get(noun, noun)


def _counted(noun: str, count: int) -> str:
    plural = f"{noun[:-1]}ies" if re.search(r"[^aeiou]y$", noun) else f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{count} {noun if count == 1 else plural}"


def _small(group: NodeItem) -> Item:
    """Node group without GPUs, as an item."""
    count = f"{group.most}" if group.least == group.most else f"{group.least} to {group.most}"
    return Item(category="compute", title=f"{group.title}: {count} x {group.type}", detail=group.option)


def _plain(value: object, otherwise: str = "") -> str:
    """Text or number of a template, or the alternative for references."""
    return str(value) if isinstance(value, str | int | float) else otherwise


def _launch_data(reference: object, resources: Mapping[str, Any]) -> Properties:
    """LaunchTemplateData of the launch template that a `Ref` names; empty if it is in another stack."""
    resource = resources.get(str(reference.get("Ref"))) if isinstance(reference, Mapping) else None
    data: Properties = resource["Properties"].get("LaunchTemplateData", {}) if resource else {}
    return data


def _node_item(title: str, type_: str, least: object, most: object, option: str, data: Properties) -> NodeItem:
    record = known_type(type_)
    # A reservation that the launch template names counts before the purchase option.
    target = data.get("CapacityReservationSpecification", {}).get("CapacityReservationTarget")
    option = "reservation" if target and "CAPACITY_BLOCK" not in option else option
    interfaces = data.get("NetworkInterfaces", [])
    return NodeItem(
        title=title,
        type=type_,
        least=int(str(least)),
        most=int(str(most)),
        gpus=record.gpus if record else 0,
        efa=sum(str(row.get("InterfaceType", "")).startswith("efa") for row in interfaces),
        option=option.lower().replace("_", " ").replace("ondemand", "on demand"),
    )


def _pcs_nodes(logical_id: str, properties: Properties, resources: Mapping[str, Any]) -> list[NodeItem]:
    title = _plain(properties.get("Name"), _words(logical_id, "Node", "Group").lower())
    type_ = _plain(properties["InstanceConfigs"][0]["InstanceType"])
    scaling, option = properties["ScalingConfiguration"], _plain(properties.get("PurchaseOption"), "on demand")
    data = _launch_data(properties.get("CustomLaunchTemplate", {}).get("TemplateId"), resources)
    return [_node_item(title, type_, scaling["MinInstanceCount"], scaling["MaxInstanceCount"], option, data)]


def _eks_nodes(logical_id: str, properties: Properties, resources: Mapping[str, Any]) -> list[NodeItem]:
    data = _launch_data(properties.get("LaunchTemplate", {}).get("Id"), resources)
    type_ = _plain((properties.get("InstanceTypes") or [data.get("InstanceType")])[0])
    scaling, option = properties["ScalingConfig"], _plain(properties.get("CapacityType"), "on demand")
    title = _words(logical_id, "Node", "Group").lower()
    return [_node_item(title, type_, scaling["MinSize"], scaling["MaxSize"], option, data)]


def _auto_scaling_nodes(logical_id: str, properties: Properties, resources: Mapping[str, Any]) -> list[NodeItem]:
    mixed = properties.get("MixedInstancesPolicy", {}).get("LaunchTemplate", {}).get("LaunchTemplateSpecification")
    data = _launch_data((properties.get("LaunchTemplate") or mixed)["LaunchTemplateId"], resources)
    title, type_ = _words(logical_id, "Node", "Nodes", "Group").lower(), _plain(data.get("InstanceType"))
    return [_node_item(title, type_, properties["MinSize"], properties["MaxSize"], "on demand", data)]


def _hyperpod_nodes(_: str, properties: Properties, resources: Mapping[str, Any]) -> list[NodeItem]:
    items = []
    for group in (*properties.get("InstanceGroups", ()), *properties.get("RestrictedInstanceGroups", ())):
        spot = "Spot" in (group.get("CapacityRequirements") or {})
        option = "training plan" if "TrainingPlanArn" in group else "spot" if spot else "on demand"
        title, type_ = _plain(group["InstanceGroupName"]), _plain(group["InstanceType"]).removeprefix("ml.")
        items.append(_node_item(title, type_, group["InstanceCount"], group["InstanceCount"], option, {}))
    return items


_NODES: dict[str, Callable[[str, Properties, Mapping[str, Any]], list[NodeItem]]] = {
    "AWS::PCS::ComputeNodeGroup": _pcs_nodes,
    "AWS::EKS::Nodegroup": _eks_nodes,
    "AWS::AutoScaling::AutoScalingGroup": _auto_scaling_nodes,
    "AWS::SageMaker::Cluster": _hyperpod_nodes,
}

Rows = Sequence[tuple[str, Properties]]
Described = list[tuple[str, str]]


def _each(title: str, detail: Callable[[str, Properties], str]) -> Callable[[Rows], Described]:
    return lambda rows: [(title, detail(logical_id, properties)) for logical_id, properties in rows]


def _all(singular: str, plural: str, detail: Callable[[Rows], str]) -> Callable[[Rows], Described]:
    return lambda rows: [(singular if len(rows) == 1 else f"{len(rows)} {plural}", detail(rows))]


def _file_systems(rows: Rows) -> Described:
    described = []
    for _, properties in rows:
        capacity = properties.get("StorageCapacity")
        if properties.get("FileSystemType") == "LUSTRE":
            lustre = properties.get("LustreConfiguration", {})
            tier = lustre.get("PerUnitStorageThroughput")
            parts = [
                f"{int(capacity):,} GiB" if capacity else "Intelligent-Tiering",
                _plain(lustre.get("DeploymentType")),
                f"{tier} MB/s/TiB" if tier else "",
                "EFA" if lustre.get("EfaEnabled") else "TCP",
            ]
            described.append(("FSx for Lustre", ", ".join(filter(None, parts))))
        else:
            home = properties.get("OpenZFSConfiguration", {})
            parts = [f"{int(capacity):,} GiB" if capacity else "", _plain(home.get("DeploymentType"))]
            described.append(("FSx for OpenZFS", ", ".join(filter(None, parts))))
    return described


def _endpoint(properties: Properties) -> str:
    name = properties.get("ServiceName")
    parts = name["Fn::Join"][1] if isinstance(name, Mapping) and "Fn::Join" in name else [name]
    return (
        ".".join(str(parts[-1]).split(".")[-2:]).lstrip(".")
        if str(parts[-1]).count(".") > 1
        else str(parts[-1]).strip(".")
    )


def _rules(rows: Rows) -> str:
    text = "\n".join(_plain(properties.get("Data")) for _, properties in rows)
    recorded, alerts = (
        len(re.findall(r"^\s*- record:", text, re.MULTILINE)),
        len(re.findall(r"^\s*- alert:", text, re.MULTILINE)),
    )
    return f"{recorded} recording rules, {alerts} alerts" if alerts else ""


def _names(key: str) -> Callable[[Rows], str]:
    return lambda rows: ", ".join(sorted(_plain(properties.get(key)) for _, properties in rows))


_ITEMS: dict[str, tuple[str, Callable[[Rows], Described]]] = {
    "AWS::PCS::Cluster": (
        "compute",
        _each(
            "Slurm controller", lambda _, p: f"AWS PCS, Slurm {_plain(p['Scheduler']['Version'])}, {_plain(p['Size'])}"
        ),
    ),
    "AWS::PCS::Queue": ("compute", _all("Queue", "queues", _names("Name"))),
    "AWS::EKS::Cluster": ("compute", _each("EKS control plane", lambda _, p: f"Kubernetes {_plain(p.get('Version'))}")),
    "AWS::EC2::Instance": ("compute", _each("Admin host", lambda _, p: _plain(p.get("InstanceType")))),
    "AWS::SSM::Association": ("compute", _each("Platform", lambda _, p: "applies charts and objects")),
    "AWS::EKS::Addon": ("compute", _all("Add-on", "add-ons", _names("AddonName"))),
    "AWS::FSx::FileSystem": ("storage", _file_systems),
    "AWS::S3::Bucket": ("storage", _each("S3 bucket", lambda id, _: _words(_ADD_ON.sub("", id), "Bucket").lower())),
    "AWS::S3Express::DirectoryBucket": ("storage", _each("S3 Express bucket", lambda id, _: _words(id).lower())),
    "AWS::EFS::FileSystem": ("storage", _each("EFS", lambda id, _: _words(id).lower())),
    "AWS::FSx::DataRepositoryAssociation": (
        "storage",
        _all("S3 link", "S3 links", _names("FileSystemPath")),
    ),
    "AWS::EC2::VPC": ("network", _each("VPC", lambda _, p: _plain(p.get("CidrBlock")))),
    "AWS::EC2::Subnet": (
        "network",
        lambda rows: [
            (
                _words(id, "Network"),
                ", ".join(filter(None, (_plain(p.get("CidrBlock")), _plain(p.get("AvailabilityZoneId"))))),
            )
            for id, p in rows
        ],
    ),
    "AWS::EC2::NatGateway": ("network", _all("NAT gateway", "NAT gateways", lambda _: "")),
    "AWS::EC2::VPCEndpoint": (
        "network",
        _all("VPC endpoint", "VPC endpoints", lambda rows: ", ".join(sorted(_endpoint(p) for _, p in rows))),
    ),
    "AWS::EC2::SecurityGroup": (
        "network",
        _each("Security group", lambda _, p: _plain(p.get("GroupDescription")).partition(":")[0]),
    ),
    "AWS::EC2::FlowLog": ("network", _all("Flow log", "flow logs", lambda _: "")),
    "AWS::APS::Workspace": ("monitoring", _each("Prometheus workspace", lambda _, p: _plain(p.get("Alias")))),
    "AWS::APS::RuleGroupsNamespace": (
        "monitoring",
        lambda rows: [("Prometheus rules", _rules(rows))],
    ),
    "AWS::Grafana::Workspace": (
        "monitoring",
        _each("Amazon Managed Grafana", lambda _, p: _plain(p.get("GrafanaVersion"))),
    ),
    "AWS::CloudWatch::Alarm": ("monitoring", _all("CloudWatch alarm", "CloudWatch alarms", lambda _: "")),
    "AWS::SNS::Topic": ("monitoring", _each("SNS topic", lambda id, _: _words(id, "Topic").lower())),
    "AWS::SSM::Parameter": ("monitoring", _all("SSM parameter", "SSM parameters", _names("Name"))),
    "AWS::KMS::Key": ("security", _all("KMS key", "KMS keys", lambda _: "")),
    "AWS::SecretsManager::Secret": ("security", _all("Secret", "secrets", lambda _: "")),
}
