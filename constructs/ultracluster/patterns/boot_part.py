"""What a Slurm node does at boot, from the cluster file: its local disks, its mounts, and the checks of both."""

from collections.abc import Sequence
from dataclasses import replace

from ultracluster.clusterfile import ClusterFile
from ultracluster.hardware import InstanceType, Layout, interfaces
from ultracluster.patterns.storage_part import Storage
from ultracluster.planning import (
    LUSTRE_EFA_UNIT,
    SCRATCH_UNIT,
    BootScript,
    LocalScratch,
    Mount,
    NodeBoot,
    boot_script,
    deep_check,
    health_boot,
    slurm_boot,
    system_boot,
    users_boot,
)


def node_boot(
    cluster: ClusterFile,
    storage: Storage,
    instance_type: InstanceType,
    *,
    zone: str,
    layout: Layout | None = None,
    extra: Sequence[NodeBoot] = (),
) -> BootScript:
    """What a node gets: its scratch volume, its mounts and their checks, and whatever other parts bring.

    Args:
        cluster: The file.
        storage: What the node mounts.
        instance_type: Its type.
        zone: Id of its zone. EFA does not cross zones: elsewhere, a file system with EFA is mounted over TCP.
        layout: Its network interfaces. None: it takes no jobs, so that nothing checks it before one.
        extra: Files and units of others, such as exporters of metrics. Written with the rest, started last.
    """
    mounts = storage.mounts
    if zone != cluster.lustre_zone:
        mounts = [_over_tcp(mount) for mount in mounts]
    parts = [
        system_boot(slurm_version=cluster.slurm.version),
        deep_check(instance_type.name),
        slurm_boot(instance_type, mounts, lustre=cluster.lustre_client),
    ]
    if layout is not None and cluster.slurm.health:
        efa = sum(one.kind in ("efa", "efa-only") for one in interfaces(instance_type, layout))
        parts.append(health_boot(instance_type, efa_devices=efa))
    if instance_type.nvme[0]:
        wish = cluster.storage.scratch
        scratch = LocalScratch(path=wish.path, container_store=wish.container_store).for_slurm(instance_type)
        parts.insert(0, NodeBoot(files=scratch.files, units=(SCRATCH_UNIT,)))
    if cluster.users:
        parts.insert(0, users_boot(cluster=cluster.name, region=cluster.region))
    return boot_script(*parts, *extra, mounts=mounts)


def _over_tcp(mount: Mount) -> Mount:
    return replace(mount, after=tuple(unit for unit in mount.after if unit != LUSTRE_EFA_UNIT))
