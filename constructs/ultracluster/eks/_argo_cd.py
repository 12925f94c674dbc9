"""Argo CD that Amazon EKS runs for a cluster."""

from collections.abc import Mapping, Sequence

import aws_cdk as cdk
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster.eks._admin_access import ADMIN, access_entry
from ultracluster.planning import checked

_NAMESPACE = "argocd"
_POLICIES: Mapping[str, Sequence[str]] = {
    # EKS adds both to the entry that it creates.
    "AmazonEKSArgoCDClusterPolicy": (),
    "AmazonEKSArgoCDPolicy": (_NAMESPACE,),
    # Argo CD creates definitions and cluster roles, and reads all kinds.
    ADMIN: (),
}


class EksArgoCd(cdk.Resource):
    """Argo CD as a capability of an EKS cluster, which administers that cluster.

    EKS runs it outside of the cluster, and reaches private API servers. Deleting it keeps what it has applied: EKS
    offers nothing else. Whoever writes to the repositories that it reads administers the cluster.

    Args:
        cluster: Cluster.
        identity_center: ARN of the instance of IAM Identity Center.
        admins: Groups of IAM Identity Center that administer Argo CD.
        identity_center_region: Region of the instance. Default: that of the stack.

    See: https://docs.aws.amazon.com/eks/latest/userguide/argocd-register-clusters.html (read 2026-11-25)
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: eks.ICluster,
        identity_center: str,
        admins: Sequence[str],
        identity_center_region: str | None = None,
    ) -> None:
        super().__init__(scope, id)
        stack = cdk.Stack.of(self)
        # EKS validates the trust policy, and AWS's has no conditions.
        service = iam.ServicePrincipal("capabilities.eks.amazonaws.com")
        #: Role of Argo CD, which has an access entry and no permissions in IAM.
        self.role = iam.Role(self, "Role", assumed_by=service.with_session_tags())
        entry = access_entry(self, "Entry", cluster=cluster, role=self.role, policies=_POLICIES)
        capability = eks.CfnCapability
        people = [capability.SsoIdentityProperty(id=group, type="SSO_GROUP") for group in admins]
        self.resource = capability(
            self,
            "Resource",
            capability_name="argocd",
            cluster_name=cluster.cluster_name,
            type="ARGOCD",
            role_arn=self.role.role_arn,
            delete_propagation_policy="RETAIN",
            configuration=capability.CapabilityConfigurationProperty(
                argo_cd=capability.ArgoCdProperty(
                    aws_idc=capability.AwsIdcProperty(
                        idc_instance_arn=identity_center, idc_region=identity_center_region or stack.region
                    ),
                    namespace=_NAMESPACE,
                    rbac_role_mappings=[capability.ArgoCdRoleMappingProperty(role="ADMIN", identities=people)],
                )
            ),
        )
        # With an entry that EKS creates, this one would be refused: it is in use.
        self.resource.add_dependency(entry)
        #: Address of Argo CD, for people.
        self.url = self.resource.attr_configuration_argo_cd_server_url
        #: ARN of the cluster, which is its name in Argo CD.
        self.cluster_arn = stack.format_arn(service="eks", resource="cluster", resource_name=cluster.cluster_name)
