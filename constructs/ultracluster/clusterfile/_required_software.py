"""Versions of software that the nodes of a cluster need."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ultracluster.catalogue.ec2 import driver_below

if TYPE_CHECKING:
    from ultracluster.clusterfile._cluster_file import ClusterFile
    from ultracluster.clusterfile._draft import Draft


def required_software(cluster: "ClusterFile | Draft") -> Mapping[str, str]:
    """Return the versions that replace those of the types: of the file, and `driver-below` where jobs need EFA.

    One UltraServer communicates over NVLink. Between several, EFA reads and writes the memory of the GPUs.
    """
    servers, limit = 0, None
    for group in cluster.node_groups:
        if below := driver_below(group.instance_type):
            limit = below
            most = max((server.instances for server in group.instance_type.ultraservers), default=1)
            servers += -(-group.count // (group.ultraserver.instances if group.ultraserver else most))
    return {**({"driver-below": limit} if limit and servers > 1 else {}), **cluster.software}
