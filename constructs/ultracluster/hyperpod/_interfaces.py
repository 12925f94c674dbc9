"""Interface of a HyperPod cluster, created or imported, and permissions on it."""

from typing import Protocol

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam

from ultracluster.planning import checked_method

# https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsagemaker.html (read 2026-11-23)
_READ = ("sagemaker:DescribeCluster", "sagemaker:DescribeClusterNode", "sagemaker:ListClusterNodes")
_REPAIR = ("sagemaker:BatchRebootClusterNodes", "sagemaker:BatchReplaceClusterNodes")


class HyperPodGrants:
    """Permissions on a cluster."""

    def __init__(self, cluster_arn: str) -> None:
        self._arn = cluster_arn

    @checked_method
    def read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to describe the cluster and its nodes."""
        return iam.Grant.add_to_principal(grantee=grantee, actions=list(_READ), resource_arns=[self._arn])

    @checked_method
    def repair(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to describe the cluster and its nodes, and to reboot and replace nodes."""
        return iam.Grant.add_to_principal(grantee=grantee, actions=[*_READ, *_REPAIR], resource_arns=[self._arn])


class IHyperPodCluster(cdk.IResource, ec2.IConnectable, iam.IGrantable, Protocol):
    """A HyperPod cluster. As a principal of grants it is the execution role of its nodes."""

    @property
    def cluster_name(self) -> str:
        """Name."""

    @property
    def cluster_arn(self) -> str:
        """ARN."""

    @property
    def role(self) -> iam.IRole:
        """Execution role of the nodes whose group has no other."""

    @property
    def grants(self) -> HyperPodGrants:
        """Permissions on the cluster."""
