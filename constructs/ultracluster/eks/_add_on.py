"""EKS add-ons."""

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster.eks._interfaces import IEksCluster
from ultracluster.planning import checked, shown, stack_of
from ultracluster.rules import Refusal

POD_IDENTITY = iam.ServicePrincipal("pods.eks.amazonaws.com")


class EksAddOn(cdk.Resource):
    """An EKS add-on, which EKS installs and updates without a chart or a Lambda function.

    L1, because `aws_eks_v2.Addon` has neither conflict resolution nor Pod Identity (aws-cdk-lib 2.275.0).

    Args:
        cluster: Cluster of the add-on.
        name: Name of the add-on, such as `vpc-cni`.
        version: Version, such as `v1.20.1-eksbuild.1`. Default: the default of EKS for the version of the cluster when
            the add-on is created; it does not change later.
        configuration: Settings in the schema of the add-on. Default: none.
        service_account: Service account of the pods that take `role`.
        role: Role of its pods; see `pod_role`. Default: none.
        namespace: Namespace of the service account, for an add-on that takes no association of its own: a separate
            one is created before it. Default: an association of the add-on.

    Raises:
        ValueError: If only one of `service_account` and `role` is given, or `namespace` without them.

    See: https://docs.aws.amazon.com/eks/latest/userguide/workloads-add-ons-available-eks.html (read 2026-11-21)
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: eks.ICluster | IEksCluster,
        name: str,
        version: str | None = None,
        configuration: Mapping[str, Any] | None = None,
        service_account: str | None = None,
        role: iam.IRole | None = None,
        namespace: str | None = None,
    ) -> None:
        super().__init__(scope, id)
        if (service_account is None) != (role is None):
            raise Refusal(self, "service_account and role must be given together, got only one")
        if namespace is not None and role is None:
            raise Refusal(self, "namespace is that of the service account: give service_account and role, too")
        if not _is_json(configuration):
            raise Refusal(self, f"configuration must have values of JSON, got {shown(configuration)}")
        associations, separate = None, None
        if service_account is not None and role is not None and namespace is not None:
            separate = eks.CfnPodIdentityAssociation(
                self,
                "Association",
                cluster_name=cluster.cluster_name,
                namespace=namespace,
                service_account=service_account,
                role_arn=role.role_arn,
            )
        elif service_account is not None and role is not None:
            associations = [
                eks.CfnAddon.PodIdentityAssociationProperty(role_arn=role.role_arn, service_account=service_account)
            ]
        self.resource = eks.CfnAddon(
            self,
            "Resource",
            cluster_name=cluster.cluster_name,
            addon_name=name,
            addon_version=version,
            configuration_values=None
            if configuration is None
            else stack_of(self).to_json_string(_plain(configuration)),
            # An update reverts changes by hand.
            resolve_conflicts="OVERWRITE",
            pod_identity_associations=associations,
        )
        if separate is not None:
            self.resource.add_resource_dependency(separate)


def _is_json(value: object) -> bool:
    """Return True for what JSON can express; tokens included."""
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_json(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return all(map(_is_json, value))
    return value is None or isinstance(value, str | int | float) or hasattr(value, "creation_stack")


def _plain(value: object) -> Any:
    """Return dicts and lists for mappings and tuples: jsii takes no other mapping, such as a `MappingProxyType`."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def pod_role(scope: Construct, id: str) -> iam.Role:
    """Create a role without permissions that pods take by EKS Pod Identity.

    See: https://docs.aws.amazon.com/eks/latest/userguide/pod-id-role.html (read 2026-11-21)
    """
    role = iam.Role(scope, id, assumed_by=POD_IDENTITY)
    assert role.assume_role_policy is not None
    role.assume_role_policy.add_statements(iam.PolicyStatement(actions=["sts:TagSession"], principals=[POD_IDENTITY]))
    return role
