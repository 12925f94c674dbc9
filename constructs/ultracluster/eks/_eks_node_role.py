"""IAM role of EKS nodes."""

from aws_cdk import aws_eks_v2 as eks
from constructs import Construct

from ultracluster.planning import checked, checked_method
from ultracluster.security import NodeRole, add_managed_policy


class EksNodeRole(NodeRole):
    """Role of the nodes of a cluster: it joins them, and allows them to pull images and to use Session Manager.

    Pods do not use it: add-ons and jobs have roles of their own by EKS Pod Identity.
    If the VPC CNI of an existing cluster has no role of its own, add the managed policy `AmazonEKS_CNI_Policy` to it.

    See: https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html (read 2026-11-21)
    """

    @checked
    def __init__(self, scope: Construct, id: str) -> None:
        super().__init__(scope, id)
        for name in ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly"):
            add_managed_policy(self, name, "The guide of EKS names this policy, and AWS maintains it with EKS")

    @checked_method
    def add_access_entry(self, cluster: eks.ICluster) -> eks.CfnAccessEntry:
        """Allow self-managed nodes with this role to join a cluster.

        EKS creates the entry of managed node groups itself, and CloudFormation then refuses a second one.

        See: https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html (read 2026-11-21)
        """
        return eks.CfnAccessEntry(
            self, "Entry", cluster_name=cluster.cluster_name, principal_arn=self.role_arn, type="EC2_LINUX"
        )
