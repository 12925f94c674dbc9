"""EKS add-ons."""

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

POD_IDENTITY = iam.ServicePrincipal("pods.eks.amazonaws.com")


class EksAddOn(Construct):
    """An EKS add-on: installed and updated by EKS, so that no chart is downloaded and no Lambda function runs.

    L1, because `aws_eks_v2.Addon` has neither conflict resolution nor Pod Identity (aws-cdk-lib 2.275.0).

    Args:
        cluster: The cluster.
        name: Name of the add-on, such as `vpc-cni`.
        version: Its version, such as `v1.20.1-eksbuild.1`. Default: the one that EKS takes for the cluster's version
            when the add-on is made; it then stays.
        configuration: Its settings, as the add-on's own schema has them. Default: none.
        service_account: The account of its pods that `role` is for.
        role: What its pods may do; see `pod_role`. Default: nothing.

    Raises:
        ValueError: When only one of account and role is given.

    See: https://docs.aws.amazon.com/eks/latest/userguide/workloads-add-ons-available-eks.html (read 2026-11-21)
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: eks.ICluster,
        name: str,
        version: str | None = None,
        configuration: Mapping[str, Any] | None = None,
        service_account: str | None = None,
        role: iam.IRole | None = None,
    ) -> None:
        super().__init__(scope, id)
        if (service_account is None) != (role is None):
            raise ValueError(f"{self.node.path}: service_account and role go together")
        associations = None
        if service_account is not None and role is not None:
            associations = [
                eks.CfnAddon.PodIdentityAssociationProperty(role_arn=role.role_arn, service_account=service_account)
            ]
        self.resource = eks.CfnAddon(
            self,
            "Resource",
            cluster_name=cluster.cluster_name,
            addon_name=name,
            addon_version=version,
            configuration_values=None if configuration is None else cdk.Stack.of(self).to_json_string(configuration),
            # What somebody changed by hand gives way at the next update.
            resolve_conflicts="OVERWRITE",
            pod_identity_associations=associations,
        )


def pod_role(scope: Construct, id: str) -> iam.Role:
    """A role that pods take by EKS Pod Identity; it may do nothing yet.

    See: https://docs.aws.amazon.com/eks/latest/userguide/pod-id-role.html (read 2026-11-21)
    """
    role = iam.Role(scope, id, assumed_by=POD_IDENTITY)
    assert role.assume_role_policy is not None
    role.assume_role_policy.add_statements(iam.PolicyStatement(actions=["sts:TagSession"], principals=[POD_IDENTITY]))
    return role
