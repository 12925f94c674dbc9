"""Base of created and imported EKS clusters."""

from typing import cast

import aws_cdk as cdk
import jsii
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam

from ultracluster.eks._access import admin_arn, admin_id
from ultracluster.eks._grants import EksClusterGrants
from ultracluster.eks._metrics import EksClusterMetrics
from ultracluster.planning import stack_of

_API_SERVER_PORT = 443


@jsii.implements(ec2.IConnectable)
class EksClusterBase(cdk.Resource):
    """Base of created and imported clusters."""

    #: Cluster as a resource of the CDK.
    cluster: eks.ICluster
    cluster_name: str
    cluster_arn: str
    _connections: ec2.Connections
    _granted_arn: str

    @property
    def connections(self) -> ec2.Connections:
        """Network connections of the control plane; the default port is that of the API server."""
        return self._connections

    @property
    def grants(self) -> EksClusterGrants:
        """Permissions on the cluster."""
        return EksClusterGrants(self._granted_arn, self._add_admin)

    @property
    def metrics(self) -> EksClusterMetrics:
        """CloudWatch metrics of the control plane."""
        return EksClusterMetrics(self.cluster_name, self)

    def _set(
        self,
        *,
        name: str,
        endpoint: str,
        certificate_authority: str,
        security_group_id: str,
        vpc: ec2.IVpc,
        created: eks.CfnCluster | None = None,
    ) -> None:
        # Policies of other stacks do not refer to the resource: its access entries refer to their roles.
        self._granted_arn = stack_of(self).format_arn(service="eks", resource="cluster", resource_name=name)
        self.cluster_name, self.cluster_arn = name, self._granted_arn
        if created is not None:
            self.cluster_name, self.cluster_arn = created.ref, created.attr_arn
        self.cluster = eks.Cluster.from_cluster_attributes(
            self,
            "Attributes",
            cluster_name=self.cluster_name,
            cluster_endpoint=endpoint,
            cluster_certificate_authority_data=certificate_authority,
            cluster_security_group_id=security_group_id,
            vpc=vpc,
        )
        self._connections = ec2.Connections(
            security_groups=[self.cluster.cluster_security_group], default_port=ec2.Port.tcp(_API_SERVER_PORT)
        )

    def _add_admin(self, admin: str | iam.IRole | iam.IUser) -> eks.CfnAccessEntry:
        arn = admin_arn(admin)
        id = f"Admin-{admin_id(self, arn)}"
        if (existing := self.node.try_find_child(id)) is not None:
            return cast(eks.CfnAccessEntry, existing)
        entry = eks.CfnAccessEntry
        return entry(
            self,
            id,
            cluster_name=self.cluster_name,
            principal_arn=arn,
            type="STANDARD",
            access_policies=[
                entry.AccessPolicyProperty(
                    access_scope=entry.AccessScopeProperty(type="cluster"),
                    policy_arn=f"arn:{cdk.Aws.PARTITION}:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy",
                )
            ],
        )
