"""The role of EKS nodes."""

from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster.security import NodeRole
from ultracluster.security.managed_policies import add_managed_policy


class EksNodeRole(Construct):
    """The role of the nodes of a cluster: it joins them, lets them pull images, and lets Session Manager in.

    What pods may do is no business of their node: add-ons and jobs get roles of their own by EKS Pod Identity.

    See: https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html (read 2026-11-21)
    """

    def __init__(self, scope: Construct, id: str) -> None:
        super().__init__(scope, id)
        made = NodeRole(self, "Node")
        #: The role.
        self.role: iam.IRole = made.role
        #: What self-managed nodes are launched with.
        self.instance_profile: iam.IInstanceProfile = made.instance_profile
        assert isinstance(made.role, iam.Role)
        for name in ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly"):
            add_managed_policy(made.role, name, "EKS's guide asks for it by name, and AWS keeps it in step with EKS")

    def let_in(self, cluster: eks.ICluster) -> eks.CfnAccessEntry:
        """Let nodes with this role join a cluster that EKS does not manage the nodes of.

        EKS makes the entry itself for managed node groups, and CloudFormation then refuses another one.

        See: https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html (read 2026-11-21)
        """
        return eks.CfnAccessEntry(
            self,
            "Entry",
            cluster_name=cluster.cluster_name,
            principal_arn=self.role.role_arn,
            type="EC2_LINUX",
        )
