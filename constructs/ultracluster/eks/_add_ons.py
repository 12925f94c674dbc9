"""EKS add-ons of a cluster, from its file."""

from collections.abc import Mapping
from typing import Any

from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct, IDependable

from ultracluster.clusterfile import ClusterFile
from ultracluster.eks._add_on import EksAddOn, pod_role
from ultracluster.kubernetes import node_monitoring_values, platform_of
from ultracluster.security import add_managed_policy
from ultracluster.storage import Storage

# Daemons, which are healthy without nodes; the CNI must exist before the first node.
_MONITORING = "eks-node-monitoring-agent"
_BASE = ("eks-pod-identity-agent", "vpc-cni", "kube-proxy", _MONITORING)
# Prefixes of 16 addresses, one kept warm, and network policies: `planning` counts addresses with the same numbers.
# https://docs.aws.amazon.com/eks/latest/best-practices/prefix-mode-linux.html and
# https://docs.aws.amazon.com/eks/latest/userguide/cni-network-policy-configure.html (read 2026-11-21)
_CNI: Mapping[str, Any] = {
    "enableNetworkPolicy": "true",
    "env": {"ENABLE_PREFIX_DELEGATION": "true", "WARM_PREFIX_TARGET": "1"},
}
# Jobs of thousands of ranks resolve each other at once.
# https://docs.aws.amazon.com/eks/latest/userguide/coredns-autoscaling.html (read 2026-11-21)
_DNS: Mapping[str, Any] = {"autoScaling": {"enabled": True, "minReplicas": 2, "maxReplicas": 10}}
_SETTINGS: Mapping[str, Mapping[str, Any]] = {"vpc-cni": _CNI, "coredns": _DNS}


def base_add_ons(scope: Construct, cluster: ClusterFile, control_plane: eks.ICluster) -> None:
    """Create the add-ons that must exist before nodes."""
    parent = Construct(scope, "AddOns")
    role = pod_role(parent, "CniRole")
    add_managed_policy(role, "AmazonEKS_CNI_Policy", "The guide of the CNI names this policy, and AWS maintains it")
    for name in _BASE:
        if name == "vpc-cni":
            _add_on(parent, name, cluster, control_plane, service_account="aws-node", role=role)
        else:
            _add_on(parent, name, cluster, control_plane)


def further_add_ons(
    scope: Construct, cluster: ClusterFile, control_plane: eks.ICluster, storage: Storage, *, after: IDependable
) -> None:
    """Create the add-ons that need nodes to run on, and those of the file."""
    parent = Construct(scope, "AddOns")
    add_ons = [_add_on(parent, name, cluster, control_plane) for name in ("coredns", "metrics-server")]
    if storage.lustre is not None:
        # Static volumes do not use the API of FSx: the driver needs no role.
        add_ons.append(_add_on(parent, "aws-fsx-csi-driver", cluster, control_plane))
    if cluster.storage.home is not None and cluster.storage.home.type == "efs":
        # The policy of the file system allows its clients over TLS: the driver needs no role for a static volume.
        add_ons.append(_add_on(parent, "aws-efs-csi-driver", cluster, control_plane))
    if storage.data_bucket is not None:
        role = pod_role(parent, "BucketRole")
        storage.data_bucket.grants.read_write(role)
        name = "aws-mountpoint-s3-csi-driver"
        add_ons.append(_add_on(parent, name, cluster, control_plane, service_account="s3-csi-driver-sa", role=role))
    known = {*_BASE, *(add_on.node.id for add_on in add_ons)}
    add_ons += [
        _add_on(parent, name, cluster, control_plane) for name in cluster.kubernetes.add_ons if name not in known
    ]
    for add_on in add_ons:
        add_on.node.add_dependency(after)


def _add_on(
    scope: Construct,
    name: str,
    cluster: ClusterFile,
    control_plane: eks.ICluster,
    *,
    service_account: str | None = None,
    role: iam.IRole | None = None,
) -> EksAddOn:
    version = cluster.kubernetes.add_ons.get(name, "default")
    return EksAddOn(
        scope,
        name,
        cluster=control_plane,
        name=name,
        version=None if version == "default" else version,
        configuration=_settings(name, cluster),
        service_account=service_account,
        role=role,
    )


def _settings(name: str, cluster: ClusterFile) -> Mapping[str, Any] | None:
    """Return the settings of an add-on, or None for its defaults."""
    if name == _MONITORING:
        return node_monitoring_values(platform_of(cluster)) or None
    return _SETTINGS.get(name)
