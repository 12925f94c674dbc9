"""Permissions on EKS clusters and node groups.

See: https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonelastickubernetesservice.html
"""

from collections.abc import Callable

from aws_cdk import aws_iam as iam


class EksClusterGrants:
    """Permissions on a cluster."""

    def __init__(self, cluster_arn: str, add_admin: Callable[[iam.IPrincipal], None]) -> None:
        self._arn = cluster_arn
        self._add_admin = add_admin

    def read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to describe the cluster, which `aws eks update-kubeconfig` requires."""
        return iam.Grant.add_to_principal(grantee=grantee, actions=["eks:DescribeCluster"], resource_arns=[self._arn])

    def admin(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to describe and to administer the cluster, by an access entry.

        Principals without an ARN, such as services, cannot have an access entry: the grant is then dropped.
        """
        principal = grantee.grant_principal
        if not _arns(principal):
            return iam.Grant.drop(grantee, "an access entry of EKS requires the ARN of an IAM role or user")
        self._add_admin(principal)
        return self.read(grantee)


class EksNodeGroupGrants:
    """Permissions on a managed node group."""

    def __init__(self, node_group_arn: str) -> None:
        self._arn = node_group_arn

    def read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to describe the group."""
        return self._grant(grantee, "eks:DescribeNodegroup")

    def scale(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to describe the group, and to change its size, labels and taints."""
        return self._grant(grantee, "eks:DescribeNodegroup", "eks:UpdateNodegroupConfig")

    def _grant(self, grantee: iam.IGrantable, *actions: str) -> iam.Grant:
        return iam.Grant.add_to_principal(grantee=grantee, actions=list(actions), resource_arns=[self._arn])


def principal_arn(principal: iam.IPrincipal) -> str:
    """Return the ARN of a principal that has one."""
    return _arns(principal)[0]


def _arns(principal: iam.IPrincipal) -> list[str]:
    return list(principal.policy_fragment.principal_json.get("AWS", []))
