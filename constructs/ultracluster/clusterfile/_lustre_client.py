"""How the nodes of a cluster share the EFA connections of their file system."""

from collections.abc import Iterable
from dataclasses import replace

from ultracluster.boot import EfaBundle, LustreClient
from ultracluster.catalogue.ec2 import LUSTRE_EFA_CONNECTIONS, InstanceType
from ultracluster.clusterfile._node_group import NodeGroup
from ultracluster.clusterfile.sections._lustre import Lustre
from ultracluster.planning.lustre import LustreClients


def lustre_zone(lustre: Lustre, zone: str) -> str:
    """The zone that a file system is in: the cluster's, unless it is one of yours elsewhere."""
    return (lustre.existing.zone if lustre.existing else None) or zone


def wished_client(lustre: Lustre) -> LustreClient:
    """What a section says, and no more."""
    requested = lustre.client
    return LustreClient(
        efa_interfaces=requested.efa_interfaces,
        gpudirect_storage=requested.gpudirect_storage,
        bundle=EfaBundle(url=requested.bundle.url, sha256=requested.bundle.sha256) if requested.bundle else None,
    )


def efa_connections(client: LustreClient, nodes: Iterable[tuple[InstanceType, int]]) -> int:
    """EFA connections that all nodes open together."""
    return sum(count * client.connections(instance_type) for instance_type, count in nodes)


def lustre_client(lustre: Lustre, nodes: Iterable[tuple[InstanceType, int]]) -> LustreClient:
    """What a section says, with as many interfaces for each node as a file system has connections for.

    Args:
        lustre: The section.
        nodes: The types in the file system's zone, and how many nodes of each.
    """
    near, client = list(nodes), wished_client(lustre)
    if client.efa_interfaces is not None or efa_connections(client, near) <= LUSTRE_EFA_CONNECTIONS:
        return client
    return replace(client, efa_interfaces=most_interfaces(client, near))


def most_interfaces(client: LustreClient, nodes: Iterable[tuple[InstanceType, int]]) -> int:
    """How many interfaces each node can use for the file system, when all use equally many; at least 1."""
    clients = sum(count for instance_type, count in nodes if client.connections(instance_type))
    return max(1, LUSTRE_EFA_CONNECTIONS // max(1, clients))


def writers(groups: Iterable[NodeGroup], zone: str) -> LustreClients | None:
    """The largest group of nodes with GPUs beside the file system: one such group writes a job's checkpoint.

    Args:
        groups: All groups.
        zone: Zone of the file system.
    """
    near = [group for group in groups if group.gpus and group.zone == zone]
    if not near:
        return None
    largest = max(near, key=lambda group: group.gpus)
    return LustreClients(instance_type=largest.instance_type, count=largest.count)
