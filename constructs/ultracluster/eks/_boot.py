"""Boot of an EKS node, from the cluster file."""

from ipaddress import IPv4Network

from aws_cdk import aws_eks_v2 as eks

from ultracluster.boot import (
    FSX_TAINT,
    GPU_TAINT,
    LUSTRE_EFA_UNIT,
    ClusterAccess,
    LocalScratch,
    NodeSettings,
    Taint,
    bottlerocket_settings,
    eks_boot,
)
from ultracluster.catalogue.ec2 import ImageFamily
from ultracluster.clusterfile import ClusterFile, NodeGroup
from ultracluster.compute import newest_image, user_data
from ultracluster.kubernetes import GROUP_LABEL, device_labels
from ultracluster.planning.capacity import Image, InterruptibleReservation
from ultracluster.storage import Storage

# CoreDNS has the tenth address of the range of Services:
# https://docs.aws.amazon.com/eks/latest/userguide/view-kubernetes-resources.html (read 2026-11-21).
_DNS = 10
_EKS_LABEL = "eks.amazonaws.com/nodegroup"


def is_self_managed(group: NodeGroup) -> bool:
    """Return True if managed node groups do not support the capacity of a group."""
    return isinstance(group.capacity, InterruptibleReservation)


def node_labels(group: NodeGroup) -> dict[str, str]:
    """Return the labels of the nodes of a group, besides those of EKS."""
    ultraserver = {"ultracluster.dev/ultraserver": group.ultraserver.name} if group.ultraserver else {}
    return {**device_labels(group.instance_type), **group.labels, **ultraserver, GROUP_LABEL: group.name}


def _first_taints(cluster: ClusterFile, group: NodeGroup, *, managed: bool) -> tuple[Taint, ...]:
    """Return the taints that nodes register with. EKS adds those of the file to managed nodes, and changes them."""
    # An existing cluster may have no driver that removes the taint.
    lustre = cluster.storage.lustre is not None and cluster.kubernetes.existing is None
    taints = [taint for taint in group.kubernetes_taints if not managed or taint == GPU_TAINT]
    return (*taints, *((FSX_TAINT,) if lustre else ()))


def _access(cluster: ClusterFile, plane: eks.ICluster) -> ClusterAccess:
    services, existing = cluster.kubernetes.service_cidr, cluster.kubernetes.existing
    return ClusterAccess(
        name=existing.name if existing else cluster.name,
        endpoint=plane.cluster_endpoint,
        certificate_authority=plane.cluster_certificate_authority_data,
        service_cidr=str(services),
        dns=str(IPv4Network(services)[_DNS]),
    )


def kubernetes_boot(cluster: ClusterFile, storage: Storage, group: NodeGroup, joins: eks.ICluster | None) -> str | None:
    """Return the user data of a node, or None if that of EKS is enough.

    The user data has what the node needs to join the cluster `joins`. Without one, EKS adds that.
    """
    taints = _first_taints(cluster, group, managed=not is_self_managed(group))
    settings = NodeSettings(taints=taints)
    if joins is not None:
        labels = {**node_labels(group), _EKS_LABEL: group.name}
        settings = NodeSettings(access=_access(cluster, joins), labels=labels, taints=taints, pods=group.pods)
    record = group.instance_type
    if group.os == "bottlerocket":
        return bottlerocket_settings(record, settings=settings) or None
    section = cluster.storage.scratch
    efa = group.zone == cluster.zone and any(LUSTRE_EFA_UNIT in mount.after for mount in storage.mounts)
    result = eks_boot(
        record,
        settings=settings,
        scratch=LocalScratch(path=section.path, container_store=section.container_store),
        lustre=cluster.lustre_client if efa else None,
    )
    if not (result.boot.files or result.node_configs):
        return None
    return user_data(
        files=result.boot.files, units=result.boot.units, enabled=result.enabled, node_configs=result.node_configs
    )


def newest_node_image(group: NodeGroup, cluster: ClusterFile) -> Image:
    """Return the newest image of EKS for the nodes of a group."""
    record, version = group.instance_type, cluster.kubernetes.version
    family: ImageFamily
    if group.os == "bottlerocket":
        family = "bottlerocket" if record.gpus else "bottlerocket-standard"
    else:
        family = "eks" if record.gpus else "eks-standard"
    return newest_image(family, record.architecture, kubernetes=version)
