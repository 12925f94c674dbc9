"""How the nodes of a cluster share the EFA connections of their file system."""

from collections.abc import Iterable
from dataclasses import replace

from ultracluster.clusterfile.node_group import NodeGroup
from ultracluster.clusterfile.storage_sections import Lustre
from ultracluster.hardware.quotas import LUSTRE_EFA_CONNECTIONS
from ultracluster.planning import EfaBundle, LustreClient


def wished_client(lustre: Lustre) -> LustreClient:
    """What a section says, and no more."""
    wish = lustre.client
    return LustreClient(
        efa_interfaces=wish.efa_interfaces,
        gpudirect_storage=wish.gpudirect_storage,
        bundle=EfaBundle(url=wish.bundle.url, sha256=wish.bundle.sha256) if wish.bundle else None,
    )


def efa_connections(client: LustreClient, groups: Iterable[NodeGroup]) -> int:
    """EFA connections that all nodes of the file system's zone open together."""
    return sum(group.count * client.connections(group.instance_type) for group in groups)


def lustre_client(lustre: Lustre, groups: Iterable[NodeGroup]) -> LustreClient:
    """What a section says, with as many interfaces for each node as a file system has connections for.

    Args:
        lustre: The section.
        groups: The groups in the file system's zone.
    """
    near, client = list(groups), wished_client(lustre)
    if client.efa_interfaces is not None or efa_connections(client, near) <= LUSTRE_EFA_CONNECTIONS:
        return client
    return replace(client, efa_interfaces=most_interfaces(client, near))


def most_interfaces(client: LustreClient, groups: Iterable[NodeGroup]) -> int:
    """How many interfaces each node can use for the file system, when all use equally many; at least 1."""
    clients = sum(group.count for group in groups if client.connections(group.instance_type))
    return max(1, LUSTRE_EFA_CONNECTIONS // max(1, clients))
