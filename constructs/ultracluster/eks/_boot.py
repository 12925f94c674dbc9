"""Boot of an EKS node, from the cluster file."""

from ultracluster.boot import (
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

# The CSI driver removes the taint when it can mount; before that a pod with a volume would fail.
# https://github.com/kubernetes-sigs/aws-fsx-csi-driver, docs/install.md (read 2026-11-21)
_FSX_TAINT = Taint(key="fsx.csi.aws.com/agent-not-ready", effect="NoExecute")
_EKS_LABEL = "eks.amazonaws.com/nodegroup"


def is_self_managed(group: NodeGroup) -> bool:
    """Return True if managed node groups do not support the capacity of a group."""
    return isinstance(group.capacity, InterruptibleReservation)


def node_labels(group: NodeGroup) -> dict[str, str]:
    """Return the labels of the nodes of a group, besides those of EKS."""
    ultraserver = {"ultracluster.dev/ultraserver": group.ultraserver.name} if group.ultraserver else {}
    return {**device_labels(group.instance_type), **group.labels, **ultraserver, GROUP_LABEL: group.name}


def node_taints(cluster: ClusterFile, group: NodeGroup) -> tuple[Taint, ...]:
    """Return the taints of the nodes of a group."""
    # An existing cluster may have no driver that removes the taint.
    lustre = cluster.storage.lustre is not None and cluster.kubernetes.existing is None
    return (*group.kubernetes_taints, *((_FSX_TAINT,) if lustre else ()))


def kubernetes_boot(
    cluster: ClusterFile, storage: Storage, group: NodeGroup, access: ClusterAccess | None
) -> str | None:
    """Return the user data of a node, or None if that of EKS is enough."""
    settings = NodeSettings()
    if access is not None:
        labels = {**node_labels(group), _EKS_LABEL: group.name}
        settings = NodeSettings(access=access, labels=labels, taints=node_taints(cluster, group), pods=group.pods)
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
