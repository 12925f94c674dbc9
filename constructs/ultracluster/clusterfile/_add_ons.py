"""EKS add-ons that the stacks of a cluster file create."""

from ultracluster.catalogue.schedulers import eks_add_ons
from ultracluster.clusterfile._cluster_file import ClusterFile

#: Daemons, which are healthy without nodes; the CNI must exist before the first node.
BASE_ADD_ONS = ("eks-pod-identity-agent", "vpc-cni", "kube-proxy", "eks-node-monitoring-agent")


def created_add_ons(cluster: ClusterFile, *, lustre: bool | None = None, bucket: bool | None = None) -> tuple[str, ...]:
    """Return the names of the add-ons of a new cluster, in the order in which they are created.

    Args:
        cluster: Cluster file.
        lustre: True if there is FSx for Lustre. Default: as the file has it.
        bucket: True if there is a data bucket. Default: as the file has it.
    """
    storage = cluster.storage
    drivers = {
        "aws-fsx-csi-driver": storage.lustre is not None if lustre is None else lustre,
        "aws-efs-csi-driver": storage.home is not None and storage.home.type == "efs",
        "aws-mountpoint-s3-csi-driver": bool(storage.data_bucket) if bucket is None else bucket,
    }
    names = [*BASE_ADD_ONS, "coredns", "metrics-server", "aws-ebs-csi-driver"]
    names += [name for name, present in drivers.items() if present]
    for name in cluster.kubernetes.requested_add_ons:
        names += [*eks_add_ons.REQUIRED.get(name, ()), name]
    return tuple(dict.fromkeys(names))
