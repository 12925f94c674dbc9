"""What a Slurm node does at boot, from the cluster file: its local disks, its mounts, and the checks of both."""

from dataclasses import replace

from ultracluster.clusterfile import ClusterFile
from ultracluster.compute import user_data
from ultracluster.hardware import InstanceType
from ultracluster.patterns.storage_part import Storage
from ultracluster.planning import LUSTRE_EFA_UNIT, SCRATCH_UNIT, LocalScratch, Mount, slurm_boot, users_boot


def node_boot(cluster: ClusterFile, storage: Storage, instance_type: InstanceType, *, zone: str) -> str:
    """The user data of a node.

    Args:
        cluster: The file.
        storage: What the node mounts.
        instance_type: Its type.
        zone: Id of its zone. EFA does not cross zones: elsewhere, a file system with EFA is mounted over TCP.
    """
    mounts = storage.mounts
    if zone != cluster.zone:
        mounts = [_over_tcp(mount) for mount in mounts]
    boot = slurm_boot(instance_type, mounts, lustre=cluster.lustre_client)
    files, units = boot.files, boot.units
    if instance_type.nvme[0]:
        wish = cluster.storage.scratch
        scratch = LocalScratch(path=wish.path, container_store=wish.container_store).for_slurm(instance_type)
        files, units = (*scratch.files, *files), (SCRATCH_UNIT, *units)
    if cluster.users:
        users = users_boot(cluster=cluster.name, region=cluster.region)
        files, units = (*files, *users.files), (*users.units, *units)
    return user_data(mounts=mounts, files=files, units=units)


def _over_tcp(mount: Mount) -> Mount:
    return replace(mount, after=tuple(unit for unit in mount.after if unit != LUSTRE_EFA_UNIT))
