"""A cluster file as a platform."""

import re
from collections.abc import Mapping

from ultracluster.clusterfile import ClusterFile
from ultracluster.clusterfile.problems import Path, Problem
from ultracluster.kubernetes.checks import platform_problems
from ultracluster.kubernetes.names import check_label, check_namespace
from ultracluster.kubernetes.nodes import PlatformNodes
from ultracluster.kubernetes.platform import KarpenterNodes, Platform
from ultracluster.kubernetes.teams import Team
from ultracluster.planning import Mountpoint, Volume
from ultracluster.planning.home_mounts import openzfs_volume

#: What stands where an id belongs that only a deployment knows.
NOT_DEPLOYED = "not-deployed-yet"
_DEVICE = re.compile(r"(?P<dns>\S+)@tcp:/(?P<mount>\S+)", re.ASCII)
_MIB = 2**20


def platform_of(
    cluster: ClusterFile, *, deployed: Mapping[str, str] | None = None, volumes: Mapping[str, Volume] | None = None
) -> Platform:
    """The platform that a cluster file describes.

    Args:
        cluster: The file.
        deployed: Outputs of its stacks, by name, as `cdk deploy --outputs-file` writes them: the ids of file systems
            that were made. Default: `NOT_DEPLOYED` stands in their place.
        volumes: File systems by their path. Default: those of the file.

    Raises:
        ValueError: When the name of the cluster, or of a group, is none for Kubernetes.
    """
    wish = cluster.kubernetes
    teams = tuple(Team(name=name, nodes=one.nodes, borrow=one.borrow) for name, one in wish.teams.items())
    return Platform(
        cluster=wish.existing.name if wish.existing else cluster.name,
        region=cluster.region,
        kubernetes=wish.version,
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
            )
            for group in cluster.node_groups
        ),
        teams=teams or (Team(name="research"),),
        scheduler=wish.scheduler,
        efa=wish.efa,
        gpu=wish.gpu,
        volumes=volumes if volumes is not None else _volumes(cluster, deployed or {}),
        scratch=cluster.storage.scratch.path,
        versions=wish.charts,
        karpenter=_karpenter(cluster, deployed or {}),
    )


def file_problems(cluster: ClusterFile) -> list[Problem]:
    """What of a cluster file cannot stand together on its Kubernetes cluster: for `clusterfile.load(..., further=)`."""
    if cluster.orchestrator != "kubernetes":
        return []
    groups = {group.name: group.section for group in cluster.node_groups}
    names = [
        Problem(path=path, message=problem, at_key=True)
        for path, found in (
            *((("nodes", section), check_label("its name", name)) for name, section in groups.items()),
            *((("kubernetes", "teams", name), check_namespace("its name", name)) for name in cluster.kubernetes.teams),
        )
        for problem in found
    ]
    # What is called so has no platform to look at.
    return names or [
        Problem(path=_path(where, groups), message=problem, at_key=where[0] in ("teams", "versions"))
        for where, problem in platform_problems(platform_of(cluster))
    ]


def _path(where: tuple[str, ...], sections: Mapping[str, str]) -> Path:
    """Where the file says what an attribute of the platform is."""
    match where:
        case ("nodes", name, *rest):
            return ("nodes", sections[name], *rest)
        case ("volumes", *_):
            return ("storage",)
        case ("versions", name):
            return ("kubernetes", "charts", name)
        case ("kubernetes",):
            return ("kubernetes", "version")
        case _:
            return ("kubernetes", *where)


def _karpenter(cluster: ClusterFile, deployed: Mapping[str, str]) -> KarpenterNodes | None:
    """What node classes name: outputs of the stacks that made it."""
    elastic = [group for group in cluster.node_groups if group.elastic]
    if not elastic:
        return None

    def output(name: str) -> str:
        return deployed.get(name, NOT_DEPLOYED)

    return KarpenterNodes(
        role=output("OwnNodesRoleName"),
        subnets=(output("TrainingSubnetId"),),
        security_groups=(output("NodesSecurityGroupId"), output("ClusterSecurityGroupId")),
        image=next(group.image.id for group in elastic if group.image and group.image.id),
        queue=output("KarpenterQueue"),
    )


def _volumes(cluster: ClusterFile, deployed: Mapping[str, str]) -> dict[str, Volume]:
    storage = cluster.storage
    found: dict[str, Volume] = {}
    if storage.lustre is not None:
        found[storage.lustre.mount] = _lustre(cluster, deployed)
    if storage.home is not None and cluster.home_size is not None:
        found[storage.home.mount] = openzfs_volume(
            name="home",
            volume_id=deployed.get("HomeVolumeId", NOT_DEPLOYED),
            dns_name=deployed.get("HomeDnsName", NOT_DEPLOYED),
            volume_path="/fsx",
            transfer_bytes=_MIB,
            capacity_gib=cluster.home_size.capacity_gib,
        )
    if storage.data_bucket:
        bucket = deployed.get("DataBucketName", NOT_DEPLOYED)
        found.setdefault("/data", Mountpoint(bucket=bucket).volume("data"))
    return found


def _lustre(cluster: ClusterFile, deployed: Mapping[str, str]) -> Volume:
    lustre, spec = cluster.storage.lustre, cluster.lustre_spec
    existing = lustre.existing if lustre else None
    if existing is not None:
        id, dns, mount = existing.id, f"{existing.id}.fsx.{cluster.region}.amazonaws.com", existing.mount_name
    else:
        # The command that a person types to mount it has both names.
        device = _DEVICE.search(deployed.get("MountCommand", ""))
        id = deployed.get("FileSystemId", NOT_DEPLOYED)
        dns, mount = (device["dns"], device["mount"]) if device else (NOT_DEPLOYED, NOT_DEPLOYED)
    return Volume(
        name="lustre",
        driver="fsx.csi.aws.com",
        handle=id,
        attributes={"dnsname": dns, "mountname": mount},
        capacity_gib=spec.capacity_gib if spec and spec.capacity_gib else 1,
        mount_options=("flock", "noatime"),
    )
