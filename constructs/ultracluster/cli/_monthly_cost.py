"""Difference of the monthly cost of an update: nodes, file systems, and resources that are billed by the hour."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ultracluster.catalogue.storage import lustre_metadata, openzfs
from ultracluster.cli._price_file import Prices, prices_text

# Hours of a mean month: 365 days of 24 hours in 12 months.
_HOURS = 730
# Largest number of nodes of a group.
_MOST: Mapping[str, tuple[str, ...]] = {
    "AWS::PCS::ComputeNodeGroup": ("ScalingConfiguration", "MaxInstanceCount"),
    "AWS::EKS::Nodegroup": ("ScalingConfig", "MaxSize"),
    "AWS::AutoScaling::AutoScalingGroup": ("MaxSize",),
}
# The fee of a Capacity Block, and of a training plan, is charged when it is purchased, for its whole time:
# https://aws.amazon.com/ec2/capacityblocks/pricing/ and
# https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTrainingPlan.html (read 2026-11-28)
_PAID = "nodes, which are paid when they are reserved"
# Billed by the hour whatever they do, and the property by which the price differs. Without it: `standard`.
_BY_HOUR: Mapping[str, tuple[str, ...]] = {
    "AWS::PCS::Cluster": ("Size",),
    "AWS::EKS::Cluster": ("ControlPlaneScalingConfig", "Tier"),
    "AWS::EC2::NatGateway": (),
    "AWS::EC2::EIP": (),
}


@dataclass(frozen=True, order=True, slots=True)
class Item:
    """Something that is billed."""

    unit: str
    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, kw_only=True, slots=True)
class MonthlyCost:
    """Cost of both sides of an update, as far as there are prices.

    Args:
        before: Amounts that are deployed.
        after: Amounts of the new templates.
        prices: Prices, or None.
        unknown: What has an amount that no template states: it refers to a parameter, or is left out.
    """

    before: Mapping[Item, int]
    after: Mapping[Item, int]
    prices: Prices | None
    unknown: tuple[str, ...] = ()

    @property
    def changed(self) -> list[Item]:
        """Items whose amount differs."""
        both = {*self.before, *self.after}
        return sorted(item for item in both if self.before.get(item, 0) != self.after.get(item, 0))

    @property
    def unpriced(self) -> list[Item]:
        """Items whose amount differs, and that have no price."""
        return [item for item in self.changed if self._price(item) is None]

    def lines(self) -> list[str]:
        """Describe the difference."""
        lines = self._difference()
        if self.unknown:
            lines.append(f"not counted, because its number is a parameter or is left out: {', '.join(self.unknown)}.")
        return lines

    def _difference(self) -> list[str]:
        amounts = "; ".join(
            f"{item}: {self.before.get(item, 0):,} -> {self.after.get(item, 0):,} {item.unit}" for item in self.changed
        )
        if self.prices is None:
            what = amounts or "no amount changes"
            return [f"monthly cost: {what}. For dollars, name a price file: --prices FILE."]
        if not self.changed:
            return ["monthly cost: unchanged."]
        before, after = self._dollars(self.before), self._dollars(self.after)
        sign = "+" if after >= before else "-"
        lines = [
            f"monthly cost: {sign}{abs(after - before):,.0f} USD, from {before:,.0f} to {after:,.0f} with all nodes "
            f"running for {_HOURS} hours; {prices_text(self.prices)}. {amounts}."
        ]
        if self.unpriced:
            lines.append(f"no price of {', '.join(map(str, self.unpriced))}: the difference is without them.")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as plain data."""
        priced = self.prices is not None
        return {
            "changes": {
                item.name: {"unit": item.unit, "before": self.before.get(item, 0), "after": self.after.get(item, 0)}
                for item in self.changed
            },
            "dollars_before": round(self._dollars(self.before), 2) if priced else None,
            "dollars_after": round(self._dollars(self.after), 2) if priced else None,
            "as_of": self.prices.as_of if self.prices else None,
            "source": self.prices.source if self.prices else None,
            "without_price": [item.name for item in self.unpriced],
            "unknown": list(self.unknown),
        }

    def _dollars(self, amounts: Mapping[Item, int]) -> float:
        return sum(amount * (self._price(item) or 0) for item, amount in amounts.items())

    def _price(self, item: Item) -> float | None:
        """Return the dollars of one unit for a month."""
        if self.prices is None:
            return None
        if item.unit == _PAID:
            return 0
        prices = self.prices
        months = {"GiB": prices.gib_months, "MB/s": prices.mbps_months, "IOPS": prices.iops_months}
        if item.unit in months:
            return months[item.unit].get(item.name)
        table = self.prices.node_hours if item.unit == "nodes" else self.prices.resource_hours
        price = table.get(item.name)
        return None if price is None else price * _HOURS


def monthly_cost(deployed: Path, assembled: Path, prices: Prices | None) -> MonthlyCost:
    """Compare what two directories of templates are billed for.

    Not in it: nodes that are paid when they are reserved, volumes of nodes, and what is billed by use, such as S3,
    metrics, logs and traffic. What leaves a template and is retained counts on both sides.
    """
    before, after = _billed(deployed), _billed(assembled, _orphaned(deployed, assembled))
    unknown = sorted({str(item) for side in (before, after) for item, amount in side.items() if amount is None})
    amounts = [{item: amount for item, amount in side.items() if amount is not None} for side in (before, after)]
    return MonthlyCost(before=amounts[0], after=amounts[1], prices=prices, unknown=tuple(unknown))


def _resources(folder: Path) -> dict[str, dict[str, Any]]:
    files = sorted(folder.glob("*.template.json"))
    return {file.name: json.loads(file.read_text(encoding="utf-8")).get("Resources", {}) for file in files}


def _orphaned(deployed: Path, assembled: Path) -> dict[str, dict[str, Any]]:
    """Return what leaves its stack and stays: nobody deletes it, so it is billed."""
    new = _resources(assembled)
    return {
        name: {
            logical_id: resource
            for logical_id, resource in resources.items()
            if logical_id not in new.get(name, {}) and str(resource.get("DeletionPolicy")).startswith("Retain")
        }
        for name, resources in _resources(deployed).items()
    }


def _billed(folder: Path, orphaned: Mapping[str, Mapping[str, Any]] = MappingProxyType({})) -> dict[Item, int | None]:
    total: dict[Item, int | None] = {}
    for name, all_resources in _resources(folder).items():
        resources = {**all_resources, **orphaned.get(name, {})}
        for logical_id, resource in resources.items():
            for item, amount in _items(logical_id, resource, resources):
                if amount is None:
                    total[Item(item.unit, f"{item} ({logical_id})")] = None
                else:
                    total[item] = (total.get(item) or 0) + amount
    return total


def _amount(value: Any) -> int | None:
    """Return a number of a template; None if it is left out or refers to something."""
    try:
        return int(value)
    except (TypeError, ValueError):
        return None


def _items(
    logical_id: str, resource: Mapping[str, Any], resources: Mapping[str, Any]
) -> Iterator[tuple[Item, int | None]]:
    kind, properties = resource["Type"], resource.get("Properties") or {}
    if kind in _MOST:
        *path, key = _MOST[kind]
        name = _instance_type(properties, resources) or f"instance type of {logical_id}"
        yield _nodes(name, paid=_in_block(properties, resources)), _amount(_part(properties, *path).get(key))
    elif kind == "AWS::SageMaker::Cluster":
        for group in _rows(properties.get("InstanceGroups")):
            item = _nodes(_text(group.get("InstanceType")) or kind, paid="TrainingPlanArn" in group)
            yield item, _amount(group.get("InstanceCount"))
    elif kind == "AWS::FSx::FileSystem" and isinstance(lustre := properties.get("LustreConfiguration"), Mapping):
        yield from _lustre(properties, lustre)
    elif kind == "AWS::FSx::FileSystem" and isinstance(zfs := properties.get("OpenZFSConfiguration"), Mapping):
        name = _name(zfs.get("DeploymentType"), properties.get("StorageType")) or "OpenZFS"
        yield Item("MB/s", f"{name} throughput"), _amount(zfs.get("ThroughputCapacity"))
        if "StorageCapacity" in properties:
            capacity = _amount(properties["StorageCapacity"])
            yield Item("GiB", name), capacity
            included = (capacity or 0) * openzfs.IOPS_PER_GIB
            yield from _beyond(f"{name} disks", _part(zfs, "DiskIopsConfiguration"), included)
    elif kind == "AWS::EC2::VPCEndpoint" and properties.get("VpcEndpointType") == "Interface":
        # Each is billed in each zone: https://aws.amazon.com/privatelink/pricing/ (read 2026-11-28)
        subnets = properties.get("SubnetIds")
        yield Item("resources", kind), len(subnets) if isinstance(subnets, list) else None
    elif kind in _BY_HOUR:
        path = list(_BY_HOUR[kind])
        size = _part(properties, *path[:-1]).get(path[-1]) if path else None
        yield Item("resources", _name(kind, size if size != "standard" else None)), 1


def _lustre(properties: Mapping[str, Any], lustre: Mapping[str, Any]) -> Iterator[tuple[Item, int | None]]:
    kinds = lustre.get("DeploymentType"), properties.get("StorageType")
    name = _name(*kinds, lustre.get("PerUnitStorageThroughput")) or "Lustre"
    included = 0
    if "StorageCapacity" in properties:
        capacity = _amount(properties["StorageCapacity"])
        yield Item("GiB", name), capacity
        included = lustre_metadata.included_iops(capacity or 0)
    else:
        # Intelligent-Tiering has no size: throughput and read cache are billed.
        yield Item("MB/s", name), _amount(lustre.get("ThroughputCapacity"))
        if "SizeGiB" in (cache := _part(lustre, "DataReadCacheConfiguration")):
            yield Item("GiB", f"{name} read cache"), _amount(cache["SizeGiB"])
    yield from _beyond(f"{_name(*kinds) or name} metadata", _part(lustre, "MetadataConfiguration"), included)


def _beyond(name: str, settings: Mapping[str, Any], included: int) -> Iterator[tuple[Item, int | None]]:
    """Yield the IOPS of a file system that its capacity does not include."""
    if "Iops" in settings:
        iops = _amount(settings["Iops"])
        yield Item("IOPS", name), None if iops is None else max(0, iops - included)


def _name(*words: Any) -> str:
    return " ".join(str(word) for word in words if isinstance(word, str | int))


def _rows(value: Any) -> list[Mapping[str, Any]]:
    """Return the mappings of a list of a template; none of a reference."""
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def _instance_type(properties: Mapping[str, Any], resources: Mapping[str, Any]) -> str | None:
    """Return the instance type of a group: its own, or that of its launch template in the same stack."""
    if configs := _rows(properties.get("InstanceConfigs")):
        return _text(configs[0].get("InstanceType"))
    types = properties.get("InstanceTypes")
    if isinstance(types, list) and types:
        return _text(types[0])
    return _text(_launch_template(properties, resources).get("InstanceType"))


def _launch_template(properties: Mapping[str, Any], resources: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the data of the launch template of a group, in the same stack."""
    specification = _part(properties, "MixedInstancesPolicy", "LaunchTemplate", "LaunchTemplateSpecification")
    specification = specification or _part(properties, "LaunchTemplate")
    reference = specification.get("Id") or specification.get("LaunchTemplateId")
    name = reference.get("Ref") if isinstance(reference, Mapping) else None
    template = resources.get(name) if isinstance(name, str) else None
    return _part(template, "Properties", "LaunchTemplateData")


def _in_block(properties: Mapping[str, Any], resources: Mapping[str, Any]) -> bool:
    """Return True for a group of a Capacity Block."""
    option = properties.get("PurchaseOption") or properties.get("CapacityType")
    market = _part(_launch_template(properties, resources), "InstanceMarketOptions").get("MarketType")
    return option == "CAPACITY_BLOCK" or market == "capacity-block"


def _nodes(name: str, *, paid: bool) -> Item:
    return Item(_PAID, f"{name} of a Capacity Block or plan") if paid else Item("nodes", name)


def _part(value: Any, *keys: str) -> Mapping[str, Any]:
    """Return a mapping inside a mapping; an empty one where a key is missing or refers to something."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
