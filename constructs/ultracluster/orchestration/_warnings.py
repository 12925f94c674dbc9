"""Warnings of a cluster file, as annotations of the CDK."""

import aws_cdk as cdk
from constructs import Construct

from ultracluster.clusterfile import ClusterFile, warnings
from ultracluster.planning import stack_of
from ultracluster.security import acknowledge_accepted, construct_warnings


def add_warnings(scope: Construct, cluster: ClusterFile) -> None:
    """Add the warnings of the file to a scope, and acknowledge those of constructs that the file accepts."""
    acknowledge_accepted(stack_of(scope), cluster)
    for warning in warnings(cluster):
        if warning.accepted is None and warning.id not in construct_warnings():
            cdk.Validations.of(scope).add_warning(warning.id, warning.message)
