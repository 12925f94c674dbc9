"""Metrics of a Slurm cluster: collectors on its nodes, and the address that they write to."""

from ultracluster.boot import NodeBoot
from ultracluster.catalogue.ec2 import InstanceType, Layout, interfaces
from ultracluster.clusterfile import ClusterFile
from ultracluster.monitoring import profile_of
from ultracluster.monitoring.collectors import RemoteWrite, node_collectors
from ultracluster.observability import query_url

#: Name of the node group of the login nodes.
LOGIN = "login"


def slurm_collectors(
    cluster: ClusterFile, instance_type: InstanceType, *, group: str = LOGIN, layout: Layout | None = None
) -> list[NodeBoot]:
    """Return the files and units of the collectors of a node; none if monitoring is off.

    Args:
        cluster: Cluster file.
        instance_type: Type of the node.
        group: Name of its node group. Default: that of the login nodes.
        layout: Its network interfaces. Default: no EFA.
    """
    if not cluster.observability.on:
        return []
    devices = 0 if layout is None else sum(row.kind in ("efa", "efa-only") for row in interfaces(instance_type, layout))
    profile = profile_of(cluster)
    assert profile is not None
    return [
        node_collectors(
            instance_type,
            cluster=cluster.name,
            group=group,
            efa_devices=devices,
            to=_destination(cluster),
            profile=profile,
            # Login nodes are always up; recording rules take one series of several.
            slurm=group == LOGIN and cluster.slurm_metrics,
            # squeue prints the jobs of every release, also where the controller serves no metrics.
            queue=group == LOGIN,
        )
    ]


def remote_write_parameter(cluster: ClusterFile) -> str:
    """Name of the parameter that holds the remote-write URL."""
    return f"/ultracluster/{cluster.name}/remote-write-url"


def _destination(cluster: ClusterFile) -> RemoteWrite:
    arn = cluster.observability.workspace
    if arn is None:
        return RemoteWrite(region=cluster.region, parameter=remote_write_parameter(cluster))
    return RemoteWrite(region=arn.split(":")[3], url=f"{query_url(arn)}/api/v1/remote_write")
