"""Boot script of a Slurm node, from the cluster file."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ultracluster.boot import (
    IMAGE_HOMES,
    LUSTRE_EFA_UNIT,
    SCRATCH_UNIT,
    BootScript,
    LocalScratch,
    Mount,
    NodeBoot,
    NodeFile,
    boot_guard,
    boot_script,
    breaker_boot,
    deep_check,
    directory_boot,
    exports_boot,
    health_boot,
    images_boot,
    imds_boot,
    in_place_files,
    node_scripts_boot,
    seed_home_boot,
    slurm_boot,
    system_boot,
    users_boot,
    without_in_place_files,
)
from ultracluster.catalogue.ec2 import InstanceType, Layout, interfaces
from ultracluster.clusterfile import ClusterFile, exporting, node_script, required_software
from ultracluster.slurm._job_files import shared_mount
from ultracluster.slurm._node_health import replacement_limits
from ultracluster.storage import Storage


@dataclass(frozen=True, kw_only=True, slots=True)
class SlurmBoot:
    """Boot script of a Slurm node, and the files that it fetches.

    Args:
        script: Boot script: mounts, systemd units, and the program that fetches the rest. A change replaces nodes.
        in_place: Files that change under a running job: checks, prolog and epilog, collectors of metrics.
    """

    script: BootScript
    in_place: tuple[NodeFile, ...]


def node_boot(
    cluster: ClusterFile,
    storage: Storage,
    instance_type: InstanceType,
    *,
    group: str,
    zone: str,
    layout: Layout | None = None,
    extra: Sequence[NodeBoot] = (),
) -> SlurmBoot:
    """Return the boot of a node: its scratch volume, its mounts and their checks.

    Args:
        cluster: Cluster file.
        storage: File systems that the node mounts.
        instance_type: Type of the node.
        group: Name of its node group.
        zone: Id of its zone. EFA does not cross zones: nodes in another zone mount a file system with EFA over TCP.
        layout: Its network interfaces. By default, the node takes no jobs, and has no check before them.
        extra: Further files and units, such as exporters of metrics. They are written with the rest and started last.
    """
    mounts = storage.mounts
    if zone != cluster.lustre_zone:
        mounts = [_over_tcp(mount) for mount in mounts]
    limits = replacement_limits(cluster) if layout is not None else {}
    parts = [
        breaker_boot(cluster=cluster.name, region=cluster.region, replace=limits),
        system_boot(slurm_version=cluster.slurm.version),
        deep_check(instance_type.name, required_software(cluster)),
        slurm_boot(instance_type, mounts, lustre=cluster.lustre_client),
    ]
    if (lustre := cluster.storage.lustre) is not None:
        # The boot opens the root, with the directory of images in it.
        parts.append(exports_boot((lustre.mount, path) for path in exporting(lustre) if path != "/"))
    if any(mount.path == IMAGE_HOMES for mount in mounts):
        parts.append(seed_home_boot())
    if layout is not None:
        section = next(item.section for item in cluster.node_groups if item.name == group)
        scripts = [*map(node_script, cluster.nodes[section].scripts)]
        parts.append(boot_guard(scripts, prolog=cluster.slurm_settings.get("Prolog", "")))
    if layout is not None and cluster.slurm.health:
        efa = sum(row.kind in ("efa", "efa-only") for row in interfaces(instance_type, layout))
        custom = not {"Prolog", "Epilog"}.isdisjoint(cluster.slurm_settings)
        parts.append(health_boot(instance_type, efa_devices=efa, ssh_access=not custom))
    if instance_type.nvme[0]:
        volume = cluster.storage.scratch
        scratch = LocalScratch(path=volume.path, container_store=volume.container_store).for_slurm(instance_type)
        parts.insert(0, NodeBoot(files=scratch.files, units=(SCRATCH_UNIT,)))
    homes = homes_directory(cluster)
    if cluster.slurm.directory is not None:
        parts.append(directory_boot(cluster.slurm.directory.for_nodes, region=cluster.region, homes=homes))
    # Also without users: the first user, or the removal of the last one, must not change the boot script.
    shared = lustre.mount if lustre is not None else None
    parts.insert(0, users_boot(cluster=cluster.name, region=cluster.region, homes=homes, shared=shared))
    if cluster.slurm.imds == "root":
        parts.insert(0, imds_boot())
    parts += extra
    fetched = node_scripts_boot(cluster=cluster.name, region=cluster.region)
    if images := shared_mount(cluster):
        parts.append(images_boot(images))
    # PCS continues without the script: a node without it has no prolog, so that Slurm drains the node.
    return SlurmBoot(
        script=boot_script(
            fetched, *without_in_place_files(parts), mounts=mounts, node_group=group, on_error="CONTINUE"
        ),
        in_place=in_place_files(parts),
    )


def homes_directory(cluster: ClusterFile) -> str:
    """Return the directory of the homes of users: where nodes mount the shared one, or else that of the image."""
    return cluster.storage.home.mount if cluster.storage.home else IMAGE_HOMES


def _over_tcp(mount: Mount) -> Mount:
    return replace(mount, after=tuple(unit for unit in mount.after if unit != LUSTRE_EFA_UNIT))
