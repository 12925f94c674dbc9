"""The EKS add-ons of a cluster, from its file."""

from collections.abc import Mapping
from typing import Any

from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct, IDependable

from ultracluster.clusterfile import ClusterFile
from ultracluster.kubernetes import node_monitoring_values, platform_of
from ultracluster.orchestration import EksAddOn, pod_role
from ultracluster.patterns.storage_part import Storage
from ultracluster.security.managed_policies import add_managed_policy

# Daemons, which count as running where there are no nodes yet; the CNI must be there before the first node.
_MONITORING = "eks-node-monitoring-agent"
_BASE = ("eks-pod-identity-agent", "vpc-cni", "kube-proxy", _MONITORING)
# Prefixes of 16 addresses, one kept warm, and network policies: `planning` counts addresses by the same numbers.
# https://docs.aws.amazon.com/eks/latest/best-practices/prefix-mode-linux.html and
# https://docs.aws.amazon.com/eks/latest/userguide/cni-network-policy-configure.html (read 2026-11-21)
_CNI: Mapping[str, Any] = {
    "enableNetworkPolicy": "true",
    "env": {"ENABLE_PREFIX_DELEGATION": "true", "WARM_PREFIX_TARGET": "1"},
}
# Jobs of thousands of ranks look each other up at once.
# https://docs.aws.amazon.com/eks/latest/userguide/coredns-autoscaling.html (read 2026-11-21)
_DNS: Mapping[str, Any] = {"autoScaling": {"enabled": True, "minReplicas": 2, "maxReplicas": 10}}
_SETTINGS: Mapping[str, Mapping[str, Any]] = {"vpc-cni": _CNI, "coredns": _DNS}


def base_add_ons(scope: Construct, cluster: ClusterFile, made: eks.ICluster) -> None:
    """The add-ons that a cluster needs before it has nodes."""
    place = Construct(scope, "AddOns")
    role = pod_role(place, "CniRole")
    add_managed_policy(role, "AmazonEKS_CNI_Policy", "The CNI's guide asks for it by name, and AWS keeps it in step")
    for name in _BASE:
        if name == "vpc-cni":
            _add_on(place, name, cluster, made, service_account="aws-node", role=role)
        else:
            _add_on(place, name, cluster, made)


def further_add_ons(
    scope: Construct, cluster: ClusterFile, made: eks.ICluster, storage: Storage, *, after: IDependable
) -> None:
    """The add-ons that want nodes to run on, and those that the file names."""
    place = Construct(scope, "AddOns")
    add_ons = [_add_on(place, name, cluster, made) for name in ("coredns", "metrics-server")]
    if storage.lustre is not None:
        # Volumes that are there already ask nothing of FSx's API: the driver needs no role.
        add_ons.append(_add_on(place, "aws-fsx-csi-driver", cluster, made))
    if storage.data_bucket is not None:
        role = pod_role(place, "BucketRole")
        storage.data_bucket.grants.read_write(role)
        name = "aws-mountpoint-s3-csi-driver"
        add_ons.append(_add_on(place, name, cluster, made, service_account="s3-csi-driver-sa", role=role))
    known = {*_BASE, *(add_on.node.id for add_on in add_ons)}
    add_ons += [_add_on(place, name, cluster, made) for name in cluster.kubernetes.add_ons if name not in known]
    for add_on in add_ons:
        add_on.node.add_dependency(after)


def _add_on(
    scope: Construct,
    name: str,
    cluster: ClusterFile,
    made: eks.ICluster,
    *,
    service_account: str | None = None,
    role: iam.IRole | None = None,
) -> EksAddOn:
    version = cluster.kubernetes.add_ons.get(name, "default")
    return EksAddOn(
        scope,
        name,
        cluster=made,
        name=name,
        version=None if version == "default" else version,
        configuration=_settings(name, cluster),
        service_account=service_account,
        role=role,
    )


def _settings(name: str, cluster: ClusterFile) -> Mapping[str, Any] | None:
    """The settings of an add-on. None: its own."""
    if name == _MONITORING:
        return node_monitoring_values(platform_of(cluster)) or None
    return _SETTINGS.get(name)
