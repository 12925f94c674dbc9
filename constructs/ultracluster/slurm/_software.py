"""Software of a Slurm node with AWS's image, from the cluster file."""

from ultracluster.boot import LUSTRE_EFA_UNIT, BootScript, SoftwareItem, software_script
from ultracluster.catalogue.ec2 import InstanceType
from ultracluster.clusterfile import ClusterFile
from ultracluster.planning import once
from ultracluster.storage import Storage

_name = once(lambda bucket: bucket.bucket.bucket_name)


def node_software(cluster: ClusterFile, storage: Storage, instance_type: InstanceType, *, zone: str) -> BootScript:
    """Return the script that installs what AWS's image for PCS lacks, which runs before the boot script.

    Copies of the files are in the data bucket, which the role of the nodes may read and write. Without one, every node
    fetches them from their publishers.

    Args:
        cluster: Cluster file.
        storage: File systems of the node, and the data bucket.
        instance_type: Type of the node.
        zone: Id of its zone. Lustre over EFA needs the zone of the file system.
    """
    items: list[SoftwareItem] = ["chrony", "cloudwatch-agent", "enroot", "pyxis"]
    if cluster.observability.on:
        items += ["prometheus", "node_exporter"]
        if instance_type.gpus:
            items.append("dcgm-exporter")
    client = cluster.lustre_client
    over_efa = zone == cluster.lustre_zone and any(LUSTRE_EFA_UNIT in mount.after for mount in storage.mounts)
    if over_efa and client.bundle is None and client.connections(instance_type):
        items.append("lustre-efa-tool")
    bucket = storage.data_bucket
    return software_script(
        *items,
        architecture=instance_type.architecture,
        slurm_version=cluster.slurm.version,
        bucket=None if bucket is None else _name(bucket),
        region=cluster.region,
        internet=cluster.network.internet,
    )
