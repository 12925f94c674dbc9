"""EKS add-ons of a cluster, from its file."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct, IDependable

from ultracluster.catalogue.schedulers import eks_add_ons
from ultracluster.clusterfile import BASE_ADD_ONS, ClusterFile, created_add_ons
from ultracluster.eks._add_on import EksAddOn, pod_role
from ultracluster.eks._pod_logs import pod_log_values
from ultracluster.kubernetes import node_monitoring_values, platform_of
from ultracluster.security import acknowledge_wildcards, add_managed_policy
from ultracluster.storage import Storage

_MONITORING = "eks-node-monitoring-agent"
# Prefixes of 16 addresses, one kept warm, and network policies: `planning` counts addresses with the same numbers.
# https://docs.aws.amazon.com/eks/latest/best-practices/prefix-mode-linux.html and
# https://docs.aws.amazon.com/eks/latest/userguide/cni-network-policy-configure.html (read 2026-11-21)
_CNI: Mapping[str, Any] = {
    "enableNetworkPolicy": "true",
    "env": {"ENABLE_PREFIX_DELEGATION": "true", "WARM_PREFIX_TARGET": "1"},
}
# AWS's table of pods on HyperPod nodes counts single addresses.
_CNI_WITHOUT_PREFIXES: Mapping[str, Any] = {"enableNetworkPolicy": "true"}
# Jobs of thousands of ranks resolve each other at once.
# https://docs.aws.amazon.com/eks/latest/userguide/coredns-autoscaling.html (read 2026-11-21)
_DNS: Mapping[str, Any] = {"autoScaling": {"enabled": True, "minReplicas": 2, "maxReplicas": 10}}
# Ids of roles that were created before there was a table: another id replaces a role under running pods.
_ROLES = {"vpc-cni": "CniRole", "aws-mountpoint-s3-csi-driver": "BucketRole"}
# Tag of the file systems that the driver creates.
_FSX_TAG = "CSIVolumeName"
# CloudFormation sets this tag, and only AWS can remove it. FSx has no condition for tags that are set at a creation.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-properties-resource-tags.html (read 2026-11-28)
_OF_NO_STACK = {"Null": {"aws:ResourceTag/aws:cloudformation:stack-name": "true"}}
_SETTINGS: Mapping[str, Mapping[str, Any]] = {"vpc-cni": _CNI, "coredns": _DNS}


def base_add_ons(scope: Construct, cluster: ClusterFile, control_plane: eks.ICluster) -> None:
    """Create the add-ons that must exist before nodes."""
    parent = Construct(scope, "AddOns")
    for name in BASE_ADD_ONS:
        add_on_of_file(parent, name, cluster, control_plane)


def further_add_ons(
    scope: Construct, cluster: ClusterFile, control_plane: eks.ICluster, storage: Storage, *, after: IDependable
) -> list[EksAddOn]:
    """Create the add-ons that need nodes to run on, and those of the file."""
    parent = Construct(scope, "AddOns")
    created = created_add_ons(cluster, lustre=storage.lustre is not None, bucket=storage.data_bucket is not None)
    names = [name for name in created if name not in BASE_ADD_ONS and not _is_late(name)]
    add_ons = [add_on_of_file(parent, name, cluster, control_plane, storage) for name in names]
    for add_on in add_ons:
        add_on.node.add_dependency(after)
    return add_ons


def late_add_ons(
    scope: Construct, cluster: ClusterFile, create: Callable[[Construct, str], Construct], *, after: IDependable
) -> list[Construct]:
    """Create the add-ons whose pods run on the nodes of HyperPod, which join later than others."""
    names = [name for name in cluster.kubernetes.add_ons if _is_late(name)]
    if not names:
        return []
    parent = Construct(scope, "AddOns")
    add_ons = [create(parent, name) for name in names]
    for add_on in add_ons:
        add_on.node.add_dependency(after)
    return add_ons


def _is_late(name: str) -> bool:
    return name.startswith(eks_add_ons.HYPERPOD)


def add_on_of_file(
    scope: Construct, name: str, cluster: ClusterFile, control_plane: eks.ICluster, storage: Storage | None = None
) -> EksAddOn:
    option, access = cluster.kubernetes.add_on(name), eks_add_ons.ACCESS.get(name)
    role: iam.IRole | None = None
    account = option.service_account or (access.service_account if access else None)
    if option.role is not None:
        role = iam.Role.from_role_arn(scope, f"{name}-OwnRole", option.role, mutable=False)
    elif access is not None:
        role = _role(scope, name, access, cluster, control_plane, storage)
    return EksAddOn(
        scope,
        name,
        cluster=control_plane,
        name=name,
        version=None if option.version == "default" else option.version,
        configuration=_settings(name, cluster),
        service_account=None if role is None else account,
        role=role,
        namespace=access.namespace if access is not None and role is not None else None,
    )


def _role(
    scope: Construct,
    name: str,
    access: eks_add_ons.AddOnAccess,
    cluster: ClusterFile,
    control_plane: eks.ICluster,
    storage: Storage | None,
) -> iam.IRole | None:
    if name == "aws-mountpoint-s3-csi-driver" and (storage is None or storage.data_bucket is None):
        return None
    role = pod_role(scope, _ROLES.get(name, f"{name}-Role"))
    for policy in access.policies:
        add_managed_policy(role, policy, access.reason)
    if storage is not None and storage.data_bucket is not None and name == "aws-mountpoint-s3-csi-driver":
        storage.data_bucket.grants.read_write(role)
    if name == "aws-fsx-csi-driver":
        _allow_dynamic_lustre(role)
    if name == "aws-ebs-csi-driver" and (actions := cluster.traits.kubernetes_nodes.volume_actions):
        _allow_volumes_of_service(role, actions, control_plane)
    return role


def _allow_volumes_of_service(role: iam.Role, actions: Sequence[str], control_plane: eks.ICluster) -> None:
    """Allow the EBS driver to attach volumes to nodes of HyperPod, which EC2 does not attach.

    See: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-ebs.html (read 2026-11-27)
    """
    clusters = cdk.Stack.of(role).format_arn(service="sagemaker", resource="cluster", resource_name="*")
    role.add_to_policy(iam.PolicyStatement(actions=list(actions), resources=[clusters]))
    role.add_to_policy(iam.PolicyStatement(actions=["eks:DescribeCluster"], resources=[control_plane.cluster_arn]))
    acknowledge_wildcards(role, [clusters], "HyperPod makes the id of its cluster, which exists after the add-ons")


def _allow_dynamic_lustre(role: iam.Role) -> None:
    """Allow the FSx driver to create file systems, and to change those that it created, which have its tag.

    It could set its tag on others, and then delete them: not on those of a stack.

    See: https://github.com/kubernetes-sigs/aws-fsx-csi-driver, docs/install.md and pkg/cloud/cloud.go (read 2026-11-22)
    """
    stack = cdk.Stack.of(role)
    file_systems = stack.format_arn(service="fsx", resource="file-system", resource_name="*")
    linked = stack.format_arn(
        service="iam", region="", resource="role", resource_name="aws-service-role/*fsx.amazonaws.com/*"
    )
    tagged = {"StringLike": {f"aws:ResourceTag/{_FSX_TAG}": "*"}, **_OF_NO_STACK}
    requested = {"StringLike": {f"aws:RequestTag/{_FSX_TAG}": "*"}, **_OF_NO_STACK}
    role.add_to_policy(
        iam.PolicyStatement(
            actions=["fsx:CreateFileSystem", "fsx:TagResource"], resources=[file_systems], conditions=requested
        )
    )
    role.add_to_policy(
        iam.PolicyStatement(
            actions=["fsx:DeleteFileSystem", "fsx:UpdateFileSystem"], resources=[file_systems], conditions=tagged
        )
    )
    # It has no permissions on single file systems: on any other resource, the statement allows nothing.
    # https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonfsx.html (read 2026-11-27)
    role.add_to_policy(iam.PolicyStatement(actions=["fsx:DescribeFileSystems"], resources=["*"]))
    role.add_to_policy(
        iam.PolicyStatement(
            actions=["iam:CreateServiceLinkedRole"],
            resources=[linked],
            conditions={"StringLike": {"iam:AWSServiceName": "*fsx.amazonaws.com"}},
        )
    )
    acknowledge_wildcards(
        role,
        ["*", file_systems, linked],
        "Ids of file systems are not known before the driver creates them; conditions limit changes to those with its "
        "tag, and roles to those that FSx links to itself",
    )


def _settings(name: str, cluster: ClusterFile) -> Mapping[str, Any] | None:
    """Return the settings of an add-on, or None for its defaults."""
    if name == _MONITORING:
        return node_monitoring_values(platform_of(cluster)) or None
    if name == eks_add_ons.LOGS and cluster.kubernetes.logs:
        return {**eks_add_ons.LOGS_ONLY, **pod_log_values()}
    if name == "vpc-cni" and not cluster.traits.kubernetes_nodes.pod_prefixes:
        return _CNI_WITHOUT_PREFIXES
    return _SETTINGS.get(name)
