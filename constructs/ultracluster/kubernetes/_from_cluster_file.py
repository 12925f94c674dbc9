"""Platform of a cluster file."""

import re
from collections.abc import Iterable, Iterator, Mapping

from ultracluster.boot import Mountpoint, Volume, check_label, efs_volume, openzfs_volume
from ultracluster.catalogue.ec2 import domain_of, lustre_host
from ultracluster.catalogue.schedulers import hyperpod_kubernetes, registries
from ultracluster.clusterfile import (
    KUBERNETES_CHART,
    KUBERNETES_NAME,
    KUBERNETES_PLATFORM,
    ClusterFile,
    Path,
    Problem,
    required_software,
)
from ultracluster.kubernetes._checks import platform_problems
from ultracluster.kubernetes._names import check_namespace
from ultracluster.kubernetes._nodes import PlatformNodes
from ultracluster.kubernetes._platform import DynamicVolumes, KarpenterNodes, Platform
from ultracluster.kubernetes._required import required_releases
from ultracluster.kubernetes._teams import Team, team_group
from ultracluster.planning.capacity import NamedGroup

#: Names of ids that a deployment creates, each an output of the stacks or in one. `${NAME}` stands for its value.
PARAMETERS = (
    *("FileSystemId", "LustreDnsName", "LustreMountName", "HomeFileSystemId", "HomeVolumeId", "HomeDnsName"),
    *("DataBucketName", "RemoteWriteUrl", "OwnNodesRoleName", "TrainingSubnetId", "NodesSecurityGroupId"),
    *("ClusterSecurityGroupId", "KarpenterQueue", "LustreSecurityGroupId", "ClusterArn"),
)
_DEVICE = re.compile(r"(?P<dns>\S+)@tcp:/(?P<mount>\S+)", re.ASCII)
_MIB = 2**20
# Namespace of a team, by scheduler. By default, its name.
_NAMESPACES = {"task-governance": hyperpod_kubernetes.TEAM_NAMESPACE}
# Repositories in the ECR of the account, which clusters share.
_PREFIX = "ultracluster"


def platform_of(cluster: ClusterFile, *, deployed: Mapping[str, str] | None = None) -> Platform:
    """Return the platform of a cluster file.

    Args:
        cluster: Cluster file.
        deployed: Values of `PARAMETERS` by name. By default, and for those that are missing, placeholders.

    Raises:
        ValueError: If the name of the cluster or of a group is not valid in Kubernetes.
    """
    section, traits = cluster.kubernetes, cluster.traits.kubernetes_nodes
    namespace = _NAMESPACES.get(section.scheduler, "{}")
    teams = tuple(
        Team(name=namespace.format(name), nodes=share.nodes, borrow=share.borrow, weight=share.weight)
        for name, share in section.teams.items()
    )
    return Platform(
        cluster=section.existing.name if section.existing else cluster.name,
        region=cluster.region,
        kubernetes=section.version,
        nodes=tuple(
            PlatformNodes(
                name=group.name,
                instance_type=group.instance_type,
                count=group.count,
                spare=group.spare,
                taints=group.kubernetes_taints,
                os=group.os,
                capacity=group.capacity,
                layout=group.layout,
                ultraserver=group.ultraserver,
                elastic=group.elastic,
                image=group.image.id if group.elastic and group.image else None,
                further_labels=group.labels,
                tags=cluster.nodes[group.section].tags,
                root_volume_gib=group.root_volume.gib,
                pods=group.pods,
                placement_group=group.placed.name if isinstance(group.placed, NamedGroup) else None,
                type_label=f"{traits.type_prefix}{group.instance_type.name}",
                healthy=dict(traits.healthy) if group.gpus and not group.elastic else {},
                checkpoint_percent=cluster.hyperpod.checkpoint_memory or 0,
            )
            for group in cluster.node_groups
        ),
        teams=teams or (Team(name=namespace.format("research")),),
        scheduler=section.scheduler,
        efa=section.efa,
        gpu=section.gpu,
        volumes=_volumes(cluster, deployed or {}),
        scratch=cluster.storage.scratch.path,
        software=required_software(cluster),
        internet=cluster.network.internet,
        metrics=cluster.observability.on,
        ready_seconds=section.ready_timeout.seconds,
        versions=section.charts,
        karpenter=_karpenter(cluster, deployed or {}),
        service_karpenter=traits.own_karpenter,
        dynamic_volumes=_dynamic_volumes(cluster, deployed or {}),
        images=section.images,
        registry=registry_of(cluster),
        late=traits.late,
        training_operator=hyperpod_kubernetes.TRAINING_OPERATOR in section.add_ons,
        required=required_releases(traits.required_releases, region=cluster.region),
    )


def registry_of(cluster: ClusterFile) -> str | None:
    """Return the registry of charts and images, or None for those of their projects."""
    if cluster.kubernetes.registry is not None or cluster.network.internet:
        return cluster.kubernetes.registry
    # The rule private-registry requires the account.
    return f"{registries.ecr_host(str(cluster.account), cluster.region)}/{_PREFIX}"


def parameter(name: str, deployed: Mapping[str, str]) -> str:
    """Return the value of a parameter, or its placeholder if it is not known."""
    return deployed.get(name, f"${{{name}}}")


def parameter_values(outputs: Mapping[str, str]) -> dict[str, str]:
    """Return the values of `PARAMETERS` that outputs of the stacks hold."""
    values = {name: outputs[name] for name in PARAMETERS if name in outputs}
    # The command that a person types to mount Lustre has both names.
    if device := _DEVICE.search(outputs.get("MountCommand", "")):
        values |= {"LustreDnsName": device["dns"], "LustreMountName": device["mount"]}
    return values


def missing_parameters(texts: Iterable[str]) -> list[str]:
    """Return the `PARAMETERS` whose placeholders are in texts."""
    text = "\n".join(texts)
    return [name for name in PARAMETERS if f"${{{name}}}" in text]


def team_members(cluster: ClusterFile) -> dict[str, list[str]]:
    """Return the Kubernetes groups of each principal that is a member of a team."""
    section, groups = cluster.kubernetes, dict[str, list[str]]()
    namespace = _NAMESPACES.get(section.scheduler, "{}")
    for name, team in section.teams.items():
        for principal in team.members:
            groups.setdefault(principal, []).append(team_group(namespace.format(name)))
    return groups


def check_teams(cluster: ClusterFile) -> Iterator[Problem]:
    """Yield the errors in the names of teams."""
    for name in cluster.kubernetes.teams:
        for problem in check_namespace("its name", name):
            yield KUBERNETES_NAME(("kubernetes", "teams", name), problem, at_key=True)


def check_platform(cluster: ClusterFile) -> Iterator[Problem]:
    """Yield the errors of the platform of a cluster file, in names of its node groups and in all else."""
    groups = {group.name: group.section for group in cluster.node_groups}
    names = [
        KUBERNETES_NAME(("nodes", section), problem, at_key=True)
        for name, section in groups.items()
        for problem in check_label("its name", name)
    ]
    yield from names
    # What is called so has no platform to look at.
    if not names and not any(check_teams(cluster)):
        for where, problem in platform_problems(platform_of(cluster)):
            rule = KUBERNETES_CHART if where[0] == "versions" else KUBERNETES_PLATFORM
            yield rule(_path(where, groups), problem, at_key=where[0] in ("teams", "versions"))


def _path(where: tuple[str, ...], sections: Mapping[str, str]) -> Path:
    """Return the path in the file of an attribute of the platform."""
    match where:
        case ("nodes", name, *rest):
            return ("nodes", sections[name], *rest)
        case ("volumes", *_):
            return ("storage",)
        case ("versions", name):
            return ("kubernetes", "charts", name)
        case ("checkpoint_percent",):
            return ("hyperpod", "checkpoint-memory")
        case ("kubernetes",):
            return ("kubernetes", "version")
        case _:
            return ("kubernetes", *where)


def _karpenter(cluster: ClusterFile, deployed: Mapping[str, str]) -> KarpenterNodes | None:
    """Return the names in node classes: outputs of the stacks."""
    elastic = [group for group in cluster.node_groups if group.elastic]
    if not elastic or cluster.traits.kubernetes_nodes.own_karpenter:
        return None

    return KarpenterNodes(
        role=parameter("OwnNodesRoleName", deployed),
        subnets=(parameter("TrainingSubnetId", deployed),),
        security_groups=(parameter("NodesSecurityGroupId", deployed), parameter("ClusterSecurityGroupId", deployed)),
        image=next(group.image.id for group in elastic if group.image and group.image.id),
        queue=parameter("KarpenterQueue", deployed),
    )


def _dynamic_volumes(cluster: ClusterFile, deployed: Mapping[str, str]) -> DynamicVolumes | None:
    """Return the settings of storage classes; an existing cluster has its own drivers and classes."""
    if cluster.kubernetes.existing is not None:
        return None
    if cluster.lustre_spec is None:
        return DynamicVolumes()
    return DynamicVolumes(
        lustre_subnet=parameter("TrainingSubnetId", deployed),
        lustre_security_group=parameter("LustreSecurityGroupId", deployed),
    )


def _volumes(cluster: ClusterFile, deployed: Mapping[str, str]) -> dict[str, Volume]:
    storage = cluster.storage
    volumes: dict[str, Volume] = {}
    if storage.lustre is not None:
        volumes[storage.lustre.mount] = _lustre(cluster, deployed)
    if storage.home is not None:
        volumes[storage.home.mount] = _home(cluster, deployed)
    if storage.data_bucket:
        bucket = parameter("DataBucketName", deployed)
        # Pods have the first network card.
        rates = [group.instance_type.cards[0].ena_gbps for group in cluster.node_groups if group.gpus]
        gbps = min((int(rate) for rate in rates if rate), default=None)
        volumes.setdefault("/data", Mountpoint(bucket=bucket, gbps=gbps).volume("data"))
    return volumes


def _home(cluster: ClusterFile, deployed: Mapping[str, str]) -> Volume:
    home = cluster.storage.home
    assert home is not None
    existing = home.existing
    if home.type == "efs":
        id = existing.id if existing and existing.id else parameter("HomeFileSystemId", deployed)
        return efs_volume(name="home", file_system_id=id, tls=True)
    if existing is not None:
        assert existing.volume is not None
        return openzfs_volume(
            name="home",
            volume_id=existing.volume,
            dns_name=_fsx_host(existing.id, cluster.region),
            volume_path=existing.path or "/fsx",
            transfer_bytes=_MIB,
        )
    return openzfs_volume(
        name="home",
        volume_id=parameter("HomeVolumeId", deployed),
        dns_name=parameter("HomeDnsName", deployed),
        # No client may mount the root volume.
        volume_path="/fsx/home",
        transfer_bytes=_MIB,
    )


def _fsx_host(id: str | None, region: str) -> str:
    return f"{id}.fsx.{region}.{domain_of(region)}"


def _lustre(cluster: ClusterFile, deployed: Mapping[str, str]) -> Volume:
    lustre = cluster.storage.lustre
    existing = (lustre.existing or lustre.adopt) if lustre else None
    if existing is not None:
        id, dns, mount = existing.id, lustre_host(existing.id, cluster.region), existing.mount_name
    else:
        id = parameter("FileSystemId", deployed)
        dns, mount = parameter("LustreDnsName", deployed), parameter("LustreMountName", deployed)
    return Volume(
        name="lustre",
        driver="fsx.csi.aws.com",
        handle=id,
        attributes={"dnsname": dns, "mountname": mount},
        mount_options=("flock", "noatime"),
    )
