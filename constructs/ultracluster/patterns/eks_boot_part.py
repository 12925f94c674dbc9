"""What an EKS node does at boot, from the cluster file."""

from collections.abc import Mapping
from types import MappingProxyType

from ultracluster.clusterfile import ClusterFile, NodeGroup
from ultracluster.compute import user_data
from ultracluster.hardware.eks import NodeOs
from ultracluster.patterns.storage_part import Storage
from ultracluster.planning import (
    LUSTRE_EFA_UNIT,
    ClusterAccess,
    LocalScratch,
    NodeSettings,
    Taint,
    bottlerocket_settings,
    eks_boot,
)

#: Where the large volume is: Bottlerocket keeps itself on another one.
# https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html and https://bottlerocket.dev (read 2026-11-21)
ROOT_DEVICES: Mapping[NodeOs, str] = MappingProxyType({"al2023": "/dev/xvda", "bottlerocket": "/dev/xvdb"})
# The CSI driver takes it away once it can mount; before that a pod with a volume would fail.
# https://github.com/kubernetes-sigs/aws-fsx-csi-driver, docs/install.md (read 2026-11-21)
_FSX_TAINT = Taint(key="fsx.csi.aws.com/agent-not-ready", effect="NoExecute")
_GROUP_LABEL = "eks.amazonaws.com/nodegroup"


def node_labels(group: NodeGroup) -> dict[str, str]:
    """Labels of the nodes of a group, beside EKS's own."""
    return {**group.labels, **({"ultracluster.dev/ultraserver": group.ultraserver.name} if group.ultraserver else {})}


def node_taints(cluster: ClusterFile, group: NodeGroup) -> tuple[Taint, ...]:
    """Taints of the nodes of a group."""
    # A cluster of yours may have no driver that takes the taint away.
    lustre = cluster.storage.lustre is not None and cluster.kubernetes.existing is None
    return (*group.kubernetes_taints, *((_FSX_TAINT,) if lustre else ()))


def kubernetes_boot(
    cluster: ClusterFile, storage: Storage, group: NodeGroup, access: ClusterAccess | None
) -> str | None:
    """The user data of a node. None: EKS's own is enough.

    Args:
        cluster: The file.
        storage: What pods mount.
        group: The node's group.
        access: The cluster to join, where EKS says nothing: for an image that it did not choose.
    """
    settings = NodeSettings()
    if access is not None:
        labels = {**node_labels(group), _GROUP_LABEL: group.name}
        settings = NodeSettings(access=access, labels=labels, taints=node_taints(cluster, group), pods=group.pods)
    record = group.instance_type
    if group.os == "bottlerocket":
        return bottlerocket_settings(record, settings=settings) or None
    wish = cluster.storage.scratch
    efa = group.zone == cluster.zone and any(LUSTRE_EFA_UNIT in mount.after for mount in storage.mounts)
    made = eks_boot(
        record,
        settings=settings,
        scratch=LocalScratch(path=wish.path, container_store=wish.container_store),
        lustre=cluster.lustre_client if efa else None,
    )
    if not (made.boot.files or made.node_configs):
        return None
    return user_data(files=made.boot.files, units=made.boot.units, enabled=made.enabled, node_configs=made.node_configs)
