"""Tags of a cluster file on the resources of a scope."""

import aws_cdk as cdk
from constructs import IConstruct

from ultracluster.clusterfile import ClusterFile

# A tag in a launch template is a new version of it, for which PCS and EKS replace each node; see decision 0018.
_NODES = ["AWS::EC2::LaunchTemplate"]


def add_tags(scope: IConstruct, cluster: ClusterFile) -> None:
    """Add the tags of a cluster file to every resource of a scope, except to what nodes are launched from."""
    for key, value in cluster.tags.items():
        cdk.Tags.of(scope).add(key, value, exclude_resource_types=_NODES)
