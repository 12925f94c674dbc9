"""Interfaces of a Slurm cluster and of its node groups, created or imported."""

from typing import Protocol

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam

from ultracluster.slurm._grants import PcsClusterGrants, PcsNodeGroupGrants
from ultracluster.slurm._pcs_metrics import PcsClusterMetrics


class IPcsCluster(cdk.IResource, ec2.IConnectable, iam.IGrantable, Protocol):
    """A Slurm cluster of AWS PCS. As a principal of grants it is the default role of its nodes."""

    @property
    def cluster_id(self) -> str:
        """Id, such as `pcs_abc123`."""

    @property
    def cluster_arn(self) -> str:
        """ARN."""

    @property
    def slurm_version(self) -> str:
        """Version of Slurm, such as `25.11`."""

    @property
    def node_role(self) -> iam.IRole:
        """Role of the nodes whose group has no instance profile of its own."""

    @property
    def instance_profile_arn(self) -> str:
        """ARN of the instance profile of that role."""

    @property
    def grants(self) -> PcsClusterGrants:
        """Permissions on the cluster."""

    @property
    def metrics(self) -> PcsClusterMetrics:
        """CloudWatch metrics: instances of all node groups."""


class IPcsComputeNodeGroup(cdk.IResource, ec2.IConnectable, iam.IGrantable, Protocol):
    """A compute node group of AWS PCS. As a principal of grants it is the role of its nodes."""

    @property
    def node_group_id(self) -> str:
        """Id, such as `pcs_abc123`."""

    @property
    def node_group_arn(self) -> str:
        """ARN."""

    @property
    def name(self) -> str:
        """Name of the group."""

    @property
    def node_role(self) -> iam.IRole:
        """Role of the nodes."""

    @property
    def grants(self) -> PcsNodeGroupGrants:
        """Permissions on the group and its nodes."""
