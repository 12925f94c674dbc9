"""A cluster file as it is at a time, for an app: its Capacity Blocks have begun or ended since it was written."""

from datetime import datetime

from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile.sections._capacity import Blocks
from ultracluster.planning.capacity import as_of as block_as_of


def as_of(cluster: ClusterFile, now: datetime) -> ClusterFile:
    """Return a cluster file whose Capacity Blocks with `starts` are active while they run.

    The template of a node group has the number of its nodes. While a block runs, it must have those that a schedule
    started: an update of the group would otherwise scale it to zero.

    Args:
        cluster: Cluster file.
        now: Time, with a time zone. Constructs never read the clock: the app does.
    """
    changed = {}
    for name, section in cluster.nodes.items():
        old = section.capacity
        if isinstance(old, Blocks):
            new: object = Blocks(blocks=tuple(block_as_of(block, now) for block in old.blocks))  # type: ignore[misc]
        else:
            new = block_as_of(old, now)
        if new != old:
            changed[name] = section.model_copy(update={"capacity": new})
    if not changed:
        return cluster
    values = {name: getattr(cluster, name) for name in type(cluster).model_fields}
    result = ClusterFile.model_construct(cluster.model_fields_set, **{**values, "nodes": {**cluster.nodes, **changed}})
    result.take_accepted(cluster.accepted)
    return result
