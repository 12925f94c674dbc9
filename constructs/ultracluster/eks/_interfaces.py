"""Interfaces of an EKS cluster and of its managed node groups, created or imported."""

from typing import Protocol

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam

from ultracluster.eks._grants import EksClusterGrants, EksNodeGroupGrants
from ultracluster.eks._metrics import EksClusterMetrics


class IEksCluster(cdk.IResource, ec2.IConnectable, Protocol):
    """An EKS cluster. `cluster` is what constructs of the CDK take."""

    @property
    def cluster(self) -> eks.ICluster:
        """Cluster as a resource of the CDK."""

    @property
    def cluster_name(self) -> str:
        """Name."""

    @property
    def cluster_arn(self) -> str:
        """ARN."""

    @property
    def grants(self) -> EksClusterGrants:
        """Permissions on the cluster."""

    @property
    def metrics(self) -> EksClusterMetrics:
        """CloudWatch metrics of the control plane."""


class IEksNodeGroup(cdk.IResource, ec2.IConnectable, iam.IGrantable, Protocol):
    """A managed node group of EKS. As a principal of grants it is the role of its nodes."""

    @property
    def name(self) -> str:
        """Name."""

    @property
    def node_group_arn(self) -> str:
        """ARN."""

    @property
    def node_role(self) -> iam.IRole:
        """Role of the nodes."""

    @property
    def grants(self) -> EksNodeGroupGrants:
        """Permissions on the group."""
