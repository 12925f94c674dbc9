"""Permissions on EKS clusters and node groups.

See: https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonelastickubernetesservice.html
"""

from collections.abc import Callable

import jsii
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk.interfaces import ResourceEnvironment

from ultracluster.eks._access import is_role_or_user
from ultracluster.planning import checked_method


class EksClusterGrants:
    """Permissions on a cluster."""

    def __init__(self, cluster_arn: str, add_admin: Callable[[str], eks.CfnAccessEntry]) -> None:
        self._arn = cluster_arn
        self._add_admin = add_admin

    @checked_method
    def read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to describe the cluster, which `aws eks update-kubeconfig` requires."""
        return iam.Grant.add_to_principal(grantee=grantee, actions=["eks:DescribeCluster"], resource_arns=[self._arn])

    @checked_method
    def admin(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to describe and to administer the cluster, by an access entry.

        A principal without a policy in the app, such as an ArnPrincipal, gets the access entry alone.

        Only IAM roles and users can have an access entry: for groups, accounts, services and everyone, the grant is
        dropped. See: https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html (read 2026-11-27)
        """
        principal = grantee.grant_principal
        arns = _arns(principal)
        # The ARN of a group or an account may be a token.
        other = hasattr(principal, "group_arn") or hasattr(principal, "account_id")
        if other or not arns or not all(map(is_role_or_user, arns)):
            return iam.Grant.drop(grantee, "an access entry of EKS requires the ARN of an IAM role or user")
        allowed = self.read(grantee)
        for arn in arns:
            entry = _AccessEntry(self._add_admin(arn))
            statement = iam.PolicyStatement(
                actions=["eks:AccessKubernetesApi"], resources=[self._arn], principals=[principal]
            )
            by_entry = iam.Grant.add_statement_to_resource_policy(
                grantee=grantee,
                actions=statement.actions,
                resource_arns=statement.resources,
                resource=entry,
                statement=statement,
            )
            allowed = allowed.combine(by_entry)
        return allowed


@jsii.implements(iam.IResourceWithPolicyV2)
class _AccessEntry:
    """Access entry as the resource that allows a principal: each Grant of the CDK is a statement of a policy."""

    def __init__(self, entry: eks.CfnAccessEntry) -> None:
        self._entry = entry

    @property
    def env(self) -> ResourceEnvironment:
        """Account and region of the cluster."""
        return self._entry.env

    @jsii.member(jsii_name="addToResourcePolicy")
    def add_to_resource_policy(self, statement: iam.PolicyStatement) -> iam.AddToResourcePolicyResult:
        """Report the access entry as what allows the principal."""
        return iam.AddToResourcePolicyResult(statement_added=True, policy_dependable=self._entry)


class EksNodeGroupGrants:
    """Permissions on a managed node group."""

    def __init__(self, node_group_arn: str) -> None:
        self._arn = node_group_arn

    @checked_method
    def read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to describe the group."""
        return self._grant(grantee, "eks:DescribeNodegroup")

    @checked_method
    def scale(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to describe the group, and to change its size, labels and taints."""
        return self._grant(grantee, "eks:DescribeNodegroup", "eks:UpdateNodegroupConfig")

    def _grant(self, grantee: iam.IGrantable, *actions: str) -> iam.Grant:
        return iam.Grant.add_to_principal(grantee=grantee, actions=list(actions), resource_arns=[self._arn])


def _arns(principal: iam.IPrincipal) -> list[str]:
    return list(principal.policy_fragment.principal_json.get("AWS", []))
