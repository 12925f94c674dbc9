"""The Lustre file system of a cluster file: its plan, and the EFA connections of its clients."""

from collections.abc import Collection, Iterable
from dataclasses import replace

from ultracluster.boot import EfaBundle, LustreClient
from ultracluster.catalogue.ec2 import InstanceType
from ultracluster.catalogue.storage import lustre_quotas, repositories
from ultracluster.clusterfile._node_group import NodeGroup
from ultracluster.clusterfile._quantities import Size
from ultracluster.clusterfile.sections._lustre import Lustre
from ultracluster.planning.lustre import (
    Checkpoint,
    LustreClients,
    LustreGoal,
    LustreOffer,
    LustreOverrides,
    LustrePlan,
    checkpoint_bytes,
    lustre_offer,
    plan_lustre,
)


def accepted_offer(lustre: Lustre, zone: str, accept: Collection[str]) -> LustreOffer:
    """Return what FSx sells in a zone, extended by the errors that the file accepts."""
    offer = lustre_offer(zone)
    if "lustre-efa-zone" in accept:
        offer = replace(offer, efa=True)
    if "lustre-tier" in accept and lustre.tier and lustre.tier.mb_per_s_per_tib not in offer.tiers:
        offer = replace(offer, tiers=(*offer.tiers, lustre.tier.mb_per_s_per_tib))
    if "lustre-version" in accept and lustre.lustre_version:
        offer = replace(offer, versions=(*offer.versions, lustre.lustre_version))
    return offer


def lustre_plan(lustre: Lustre, *, zone: str, accept: Collection[str] = ()) -> LustrePlan | None:
    """Plan the file system of a section, or return None if it exists.

    The plan depends on the section and the zone only, not on the nodes: a file system outlives them, and its shape is
    fixed.

    Raises:
        ValueError: If FSx does not sell it in the zone.
    """
    if lustre.existing is not None:
        return None
    return plan_lustre(
        lustre_goal(lustre), offer=accepted_offer(lustre, zone, accept), overrides=lustre_overrides(lustre)
    )


def lustre_goal(lustre: Lustre) -> LustreGoal:
    """Return the purpose of the file system of a section."""
    return LustreGoal(
        throughput_mb_per_s=lustre.throughput.mb_per_s if lustre.throughput else None,
        checkpoint=checkpoint(lustre),
        capacity_gib=lustre.capacity.gib if lustre.capacity else None,
        working_set_gib=lustre.working_set.gib if lustre.working_set else None,
        temporary=lustre.temporary,
        associations=min(len(lustre.data_repository_associations), repositories.MOST_ASSOCIATIONS),
        backups=lustre.backups is not None,
    )


def lustre_overrides(lustre: Lustre) -> LustreOverrides:
    """Return the properties of the file system that a section sets itself."""
    cache = lustre.read_cache
    return LustreOverrides(
        deployment_type=lustre.deployment_type,
        storage_type=lustre.storage_type,
        capacity_gib=lustre.capacity.gib if lustre.tier and lustre.capacity else None,
        mb_per_s_per_tib=lustre.tier.mb_per_s_per_tib if lustre.tier else None,
        throughput_capacity_mb_per_s=lustre.throughput_capacity.mb_per_s if lustre.throughput_capacity else None,
        efa=lustre.efa,
        metadata_mode=None if lustre.metadata_iops is None else "USER_PROVISIONED",
        metadata_iops=lustre.metadata_iops,
        read_cache_mode="USER_PROVISIONED" if isinstance(cache, Size) else cache,
        read_cache_gib=cache.gib if isinstance(cache, Size) else None,
        compression=lustre.compression,
        lustre_version=lustre.lustre_version,
    )


def checkpoint(lustre: Lustre) -> Checkpoint | None:
    """Return the checkpoint that a section is sized for, or None."""
    goal = lustre.checkpoint
    if goal is None:
        return None
    size = int(goal.size.amount) if goal.size else checkpoint_bytes(float(goal.model.amount)) if goal.model else 0
    return Checkpoint(size_bytes=size, stall_seconds=goal.stall.seconds, kept=goal.kept)


def requested_client(lustre: Lustre) -> LustreClient:
    """Return the client of a section, without the limit of a file system."""
    client = lustre.client
    return LustreClient(
        efa_interfaces=client.efa_interfaces,
        gpudirect_storage=client.gpudirect_storage,
        bundle=EfaBundle(url=client.bundle.url, sha256=client.bundle.sha256) if client.bundle else None,
        efa=client.efa,
    )


def efa_connections(client: LustreClient, nodes: Iterable[tuple[InstanceType, int]]) -> int:
    """Return the EFA connections that all nodes open together."""
    return sum(count * client.connections(instance_type) for instance_type, count in nodes)


def efa_nodes(client: LustreClient, nodes: Iterable[tuple[InstanceType, int]]) -> int:
    """Return the number of nodes that open EFA connections."""
    return sum(count for instance_type, count in nodes if client.connections(instance_type))


def most_interfaces(client: LustreClient, nodes: Iterable[tuple[InstanceType, int]]) -> int:
    """Return the largest number of EFA interfaces for each node that a file system has connections for, at least 1."""
    return max(1, lustre_quotas.EFA_CONNECTIONS // max(1, efa_nodes(client, nodes)))


def lustre_client(lustre: Lustre | None, nodes: Iterable[tuple[InstanceType, int]]) -> LustreClient:
    """Return the client of a section, with as many interfaces for each node as a file system has connections for."""
    if lustre is None:
        return LustreClient()
    near, client = list(nodes), requested_client(lustre)
    if client.efa_interfaces is not None or efa_connections(client, near) <= lustre_quotas.EFA_CONNECTIONS:
        return client
    return replace(client, efa_interfaces=most_interfaces(client, near))


def writers(groups: Iterable[NodeGroup], zone: str) -> LustreClients | None:
    """Return the largest group of GPU nodes in the zone of the file system, which writes a checkpoint, or None."""
    near = [group for group in groups if group.gpus and group.zone == zone]
    if not near:
        return None
    largest = max(near, key=lambda group: group.gpus)
    return LustreClients(instance_type=largest.instance_type, count=largest.count)
