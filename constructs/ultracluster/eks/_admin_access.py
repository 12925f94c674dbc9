"""Access of what administers an EKS cluster: an entry, and a rule for its API server."""

from collections.abc import Mapping, Sequence

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster.eks._access import admin_id

#: Access policy of administrators.
ADMIN = "AmazonEKSClusterAdminPolicy"
HTTPS = 443


def access_entry(
    scope: Construct,
    id: str,
    *,
    cluster: eks.ICluster,
    role: iam.IRole,
    policies: Mapping[str, Sequence[str]] | None = None,
) -> eks.CfnAccessEntry:
    """Create the access entry of a role.

    Args:
        scope: Scope of the entry.
        id: Id of the entry.
        cluster: Cluster.
        role: Role.
        policies: Namespaces of access policies by name; empty for the whole cluster. Default: that of administrators.
    """
    l1 = eks.CfnAccessEntry
    return l1(
        scope,
        id,
        cluster_name=cluster.cluster_name,
        principal_arn=role.role_arn,
        type="STANDARD",
        access_policies=[
            l1.AccessPolicyProperty(
                access_scope=l1.AccessScopeProperty(type="namespace", namespaces=list(namespaces))
                if namespaces
                else l1.AccessScopeProperty(type="cluster"),
                policy_arn=f"arn:{cdk.Aws.PARTITION}:eks::aws:cluster-access-policy/{policy}",
            )
            for policy, namespaces in (policies or {ADMIN: ()}).items()
        ],
    )


def member_entry(scope: Construct, *, cluster: eks.ICluster, principal: str, groups: Sequence[str]) -> None:
    """Create the access entry of a principal with Kubernetes groups.

    EKS has one entry for a principal, so that it has the id of an administrator's: a member who becomes one keeps it.

    Args:
        scope: Scope of the entries of administrators.
        cluster: Cluster.
        principal: ARN of an IAM role or user.
        groups: Its groups, which objects of the platform bind to roles.
    """
    eks.CfnAccessEntry(
        scope,
        f"Admin-{admin_id(scope, principal)}",
        cluster_name=cluster.cluster_name,
        principal_arn=principal,
        type="STANDARD",
        kubernetes_groups=list(groups),
    )


def https_rule(
    scope: Construct, id: str, *, group_id: str, source: ec2.ISecurityGroup, description: str
) -> ec2.CfnSecurityGroupIngress:
    """Allow HTTPS from a group to another one, which may be of a stack that this one depends on."""
    return ec2.CfnSecurityGroupIngress(
        scope,
        id,
        group_id=group_id,
        ip_protocol="tcp",
        from_port=HTTPS,
        to_port=HTTPS,
        source_security_group_id=source.security_group_id,
        description=description,
    )
