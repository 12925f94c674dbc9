"""Scripts of HyperPod nodes with Slurm, and the files that change in place."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ultracluster.boot import (
    IMAGE_HOMES,
    SCRATCH_UNIT,
    BootScript,
    LocalScratch,
    NodeBoot,
    NodeFile,
    boot_script,
    breaker_boot,
    deep_check,
    exports_boot,
    health_boot,
    hyperpod_controller,
    hyperpod_hooks,
    in_place_files,
    jobs_boot,
    node_logs,
    node_scripts_boot,
    seed_home_boot,
    slurm_boot,
    software_script,
    users_boot,
    without_in_place_files,
)
from ultracluster.catalogue.ec2 import InstanceType, Layout, interfaces
from ultracluster.clusterfile import ClusterFile, exporting, required_software
from ultracluster.slurm import homes_directory, jobs_directory, slurm_collectors
from ultracluster.storage import Storage

#: Groups beside the node groups of the file.
LOGIN, CONTROLLER = "login", "controller"


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeScripts:
    """Scripts of a group of nodes."""

    scripts: tuple[BootScript, ...]
    in_place: tuple[NodeFile, ...]


def node_scripts(
    cluster: ClusterFile,
    storage: Storage,
    instance_type: InstanceType,
    *,
    group: str,
    layout: Layout | None = None,
    jobs: bool = False,
    log_group: str,
) -> NodeScripts:
    """Return the scripts of a group of nodes.

    HyperPod mounts Lustre, and sets EFA up for it; other file systems are mounted by the boot script.

    Args:
        cluster: Cluster file.
        storage: File systems of the nodes.
        instance_type: Type of the nodes.
        group: Name of the group.
        layout: Network interfaces of compute nodes. By default, the nodes take no jobs.
        jobs: The nodes write the job files.
        log_group: Name of the log group of the nodes.
    """
    mounts = [mount for mount in storage.mounts if mount.type != "lustre"]
    lustre = [replace(mount, after=()) for mount in storage.mounts if mount.type == "lustre"]
    parts = [
        users_boot(
            cluster=cluster.name,
            region=cluster.region,
            homes=homes_directory(cluster),
            shared=cluster.storage.lustre.mount if cluster.storage.lustre else None,
        ),
        breaker_boot(cluster=cluster.name, region=cluster.region, replace={}),
        deep_check(instance_type.name, required_software(cluster)),
        slurm_boot(instance_type, [*lustre, *mounts]),
        # Also the root, which the boot script opens where it mounts Lustre itself.
        exports_boot((mount.path, path) for mount in lustre for path in ("/", *exporting(cluster.storage.lustre))),
    ]
    if any(mount.path == IMAGE_HOMES for mount in mounts):
        parts.append(seed_home_boot())
    if layout is not None and cluster.slurm.health:
        efa = sum(row.kind in ("efa", "efa-only") for row in interfaces(instance_type, layout))
        # HyperPod sets IMEX up itself: https://docs.aws.amazon.com/sagemaker/latest/dg/
        # sagemaker-hyperpod-ultraserver.html and, beside it, sagemaker-hyperpod-topology.html (read 2026-11-21)
        custom = not {"Prolog", "Epilog"}.isdisjoint(cluster.slurm_settings)
        health = health_boot(instance_type, efa_devices=efa, imex=False, ssh_access=not custom)
        parts += [health, hyperpod_hooks()]
    if group == CONTROLLER:
        parts.append(hyperpod_controller(cluster.slurm_settings, health=bool(cluster.slurm.health)))
    if instance_type.nvme[0]:
        scratch = LocalScratch(path=cluster.storage.scratch.path).for_hyperpod(instance_type)
        parts.insert(0, NodeBoot(files=scratch.files, units=(SCRATCH_UNIT,)))
    if jobs:
        parts.append(jobs_boot(cluster=cluster.name, region=cluster.region, directory=jobs_directory(cluster)))
    parts += slurm_collectors(cluster, instance_type, group=group, layout=layout)
    fetched = node_scripts_boot(cluster=cluster.name, region=cluster.region)
    boot = boot_script(fetched, *without_in_place_files(parts), mounts=mounts, node_group=group)
    # The first: a node that fails later leaves its log.
    sends = node_logs(log_group=log_group, region=cluster.region)
    assert sends.content is not None
    logs = BootScript(
        text=sends.content.decode(), name=sends.name, arguments=(*sends.arguments, group), on_error=sends.on_error
    )
    return NodeScripts(
        scripts=(logs, *_software(cluster, storage, instance_type), boot), in_place=in_place_files(parts)
    )


def _software(cluster: ClusterFile, storage: Storage, instance_type: InstanceType) -> Sequence[BootScript]:
    """Return the script that installs what collects metrics, which the image of HyperPod lacks."""
    if not cluster.observability.on:
        return ()
    bucket = storage.data_bucket
    exporter = ("dcgm-exporter",) if instance_type.gpus else ()
    return (
        software_script(
            "prometheus",
            "node_exporter",
            *exporter,
            architecture=instance_type.architecture,
            slurm_version=cluster.slurm.version,
            bucket=None if bucket is None else bucket.bucket.bucket_name,
            region=cluster.region,
        ),
    )
