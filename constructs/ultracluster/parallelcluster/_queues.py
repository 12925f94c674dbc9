"""Queues and compute resources."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ultracluster.catalogue.ec2 import Architecture
from ultracluster.clusterfile import ClusterFile, NodeGroup
from ultracluster.parallelcluster._notes import Note
from ultracluster.parallelcluster._scripts import Scripts
from ultracluster.parallelcluster._settings import accepted
from ultracluster.parallelcluster._subnets import Subnets
from ultracluster.planning.capacity import (
    CapacityBlock,
    InterruptibleReservation,
    NamedGroup,
    ReservationGroup,
    Spot,
    TargetedReservation,
    UltraServerBlock,
)

# NAME_MAX_LENGTH of pcluster/validators/cluster_validators.py, aws-parallelcluster 3.16.1 (read 2026-11-23).
_LONGEST_NAME = 25


@dataclass(frozen=True, kw_only=True, slots=True)
class _Part:
    """Node groups of one queue: all that a queue of ParallelCluster has only once is the same."""

    name: str
    groups: tuple[NodeGroup, ...]
    settings: Mapping[str, str]


def architecture(cluster: ClusterFile) -> Architecture:
    """Return the architecture of all nodes: that of the nodes with GPUs, or of the first."""
    groups = sorted(cluster.node_groups, key=lambda group: group.gpus == 0)
    return groups[0].instance_type.architecture


def queues(cluster: ClusterFile, subnets: Subnets, scripts: Scripts, notes: list[Note]) -> list[dict[str, Any]]:
    """Return SlurmQueues, the default queue first."""
    return [_queue(part, cluster, subnets, scripts, notes) for part in _parts(cluster, notes)]


def _parts(cluster: ClusterFile, notes: list[Note]) -> list[_Part]:
    plans = sorted(cluster.queues, key=lambda plan: plan.settings.get("Default", "").upper() != "YES")
    homes = {plan.name: plan.name for plan in plans if plan.name in plan.sections}
    for plan in plans:
        for section in plan.sections:
            homes.setdefault(section, plan.name)
    parts: list[_Part] = []
    for plan in plans:
        other = [section for section in plan.sections if homes[section] != plan.name]
        if other:
            where = " and ".join(dict.fromkeys(homes[section] for section in other))
            notes.append(
                Note(
                    path=("slurm", "queues", plan.name, "nodes"),
                    reason=f"a node of ParallelCluster is in one queue: {' and '.join(other)} only in {where}",
                    fix=f"submit to {where}, with a QoS in the place of {plan.name}",
                )
            )
        groups = [group for group in cluster.node_groups if homes[group.section] == plan.name]
        # Keep the order of the queue's own list.
        groups.sort(key=lambda group: plan.sections.index(group.section))
        settings = {name: value for name, value in plan.settings.items() if name != "Default"}
        parts += _split(plan.name, _same_architecture(groups, cluster, notes), settings, notes)
    return parts


def _same_architecture(groups: Sequence[NodeGroup], cluster: ClusterFile, notes: list[Note]) -> list[NodeGroup]:
    common = architecture(cluster)
    for group in groups:
        if group.instance_type.architecture != common:
            notes.append(
                Note(
                    path=("nodes", group.section, "type"),
                    reason=f"all nodes have the architecture of the head node, {common}; these are left out",
                    fix=f"choose a type of {common}, or a second cluster",
                )
            )
    return [group for group in groups if group.instance_type.architecture == common]


def _split(name: str, groups: Sequence[NodeGroup], settings: Mapping[str, str], notes: list[Note]) -> list[_Part]:
    """Split node groups that differ in what a queue has once: capacity type, subnet, disk, scripts."""
    by_key: dict[object, list[NodeGroup]] = {}
    for group in groups:
        by_key.setdefault((_capacity_type(group), group.zone, group.root_volume, group.section), []).append(group)
    parts: list[_Part] = []
    for members in by_key.values():
        first = members[0]
        new = name if not parts else _name(f"{name}-{first.section}", {part.name for part in parts})
        if parts:
            notes.append(
                Note(
                    path=("slurm", "queues", name, "nodes"),
                    reason=f"{first.section} gets the queue {new}: capacity type, subnet, root volume and custom "
                    "actions are those of a queue",
                    fix=f"submit jobs for both with --partition={name},{new}",
                )
            )
        parts.append(_Part(name=new, groups=tuple(members), settings=settings))
    return parts


def _queue(part: _Part, cluster: ClusterFile, subnets: Subnets, scripts: Scripts, notes: list[Note]) -> dict[str, Any]:
    first = part.groups[0]
    settings = accepted(part.settings, "Queue", ("slurm", "queues", part.name, "settings"), notes)
    names: set[str] = set()
    resources = []
    for group in part.groups:
        resources.append(_compute_resource(group, cluster, _name(group.name, names), notes))
        names.add(resources[-1]["Name"])
    exclusive = part.settings.get("OverSubscribe", "").upper() == "EXCLUSIVE"
    queue = {
        "Name": part.name,
        "CapacityType": _capacity_type(first),
        "Networking": {"SubnetIds": [subnets.of(first.zone, ("nodes", first.section))]},
        "ComputeSettings": {
            "LocalStorage": {
                "RootVolume": {"Size": first.root_volume.gib, "Encrypted": True},
                "EphemeralVolume": {"MountDir": cluster.storage.scratch.path},
            }
        },
        "ComputeResources": resources,
        "HealthChecks": {"Gpu": {"Enabled": bool(cluster.slurm.health) and first.gpus > 0}},
        "CustomSlurmSettings": settings,
        "JobExclusiveAllocation": exclusive,
        "CustomActions": scripts.of_queue(first),
        "Iam": scripts.permissions(cluster.nodes[first.section].scripts),
    }
    return {key: value for key, value in queue.items() if value not in ({}, False)}


def _compute_resource(group: NodeGroup, cluster: ClusterFile, name: str, notes: list[Note]) -> dict[str, Any]:
    settings = dict(group.slurm.settings)
    weight = settings.pop("Weight", None)
    path = ("nodes", group.section)
    block = isinstance(group.capacity, CapacityBlock | UltraServerBlock)
    tags = cluster.nodes[group.section].tags
    resource: dict[str, Any] = {
        "Name": name,
        "InstanceType": group.instance_type.name,
        # All nodes of a Capacity Block are static: ComputeResourceSizeValidator of pcluster.
        "MinCount": group.count if block else _minimum(group),
        "MaxCount": group.count,
        "Efa": {"Enabled": group.instance_type.supports_efa},
        "Networking": {"PlacementGroup": _placement_group(group, notes)},
        "CapacityReservationTarget": _target(group, notes),
        "CustomSlurmSettings": accepted(settings, "ComputeResource", (*path, "slurm", "settings"), notes),
        "Tags": [{"Key": key, "Value": value} for key, value in tags.items()],
    }
    if weight is not None:
        resource |= {"StaticNodePriority": int(weight), "DynamicNodePriority": int(weight)}
    return {key: value for key, value in resource.items() if value not in ({}, [])}


def _minimum(group: NodeGroup) -> int:
    return 0 if isinstance(group.capacity, InterruptibleReservation) else group.minimum


def _capacity_type(group: NodeGroup) -> str:
    match group.capacity:
        case CapacityBlock() | UltraServerBlock():
            return "CAPACITY_BLOCK"
        # An interruptible reservation, which ParallelCluster does not have, is interrupted as Spot is.
        case Spot() | InterruptibleReservation():
            return "SPOT"
    return "ONDEMAND"


def _target(group: NodeGroup, notes: list[Note]) -> dict[str, str]:
    path = ("nodes", group.section, "capacity")
    match group.capacity:
        case TargetedReservation() | CapacityBlock() | UltraServerBlock() as reservation:
            if getattr(reservation, "ends", None) is not None:
                notes.append(
                    Note(
                        path=(*path, "ends"),
                        reason="ParallelCluster does not drain nodes before a Capacity Block ends",
                        fix="reserve the nodes with scontrol create reservation before its end",
                    )
                )
            return {"CapacityReservationId": reservation.reservation_id}
        case ReservationGroup(arn=arn):
            return {"CapacityReservationResourceGroupArn": arn}
        case InterruptibleReservation(reservation_id=id):
            notes.append(
                Note(
                    path=path,
                    reason=f"ParallelCluster cannot launch into the interruptible reservation {id}; the nodes are Spot",
                    fix="name a reservation of your own, or leave them Spot",
                )
            )
    return {}


def _placement_group(group: NodeGroup, notes: list[Note]) -> dict[str, Any]:
    match group.placed:
        case "cluster":
            return {"Enabled": True}
        case NamedGroup(name=name):
            return {"Name": name}
        case None:
            pass
        case strategy:
            notes.append(
                Note(
                    path=("nodes", group.section, "placement-group"),
                    reason=f"ParallelCluster creates placement groups with the strategy cluster, not {strategy}",
                    fix="create the group, and name it: placement-group: {name: NAME}",
                )
            )
    return {"Enabled": False}


def _name(name: str, taken: set[str]) -> str:
    """Return a name that is short enough, and not taken; its end, which distinguishes Capacity Blocks, stays."""
    if len(name) > _LONGEST_NAME:
        head, _, tail = name.rpartition("-")
        tail = tail[-8:]
        name = f"{head[: _LONGEST_NAME - len(tail) - 1].rstrip('-')}-{tail}"
    number = 2
    result = name
    while result in taken:
        result = f"{name[: _LONGEST_NAME - 2].rstrip('-')}-{number}"
        number += 1
    return result
