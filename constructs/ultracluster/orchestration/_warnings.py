"""Warnings of a cluster file, as annotations of the CDK."""

import aws_cdk as cdk
from constructs import Construct

from ultracluster.clusterfile import ClusterFile, warnings
from ultracluster.rules import registered


def _from_constructs() -> set[str]:
    """Return the ids of the warnings that constructs add themselves."""
    return {rule.warning_id for rule in registered() if rule.kind == "warning"}


def acknowledge_accepted(scope: Construct, cluster: ClusterFile) -> None:
    """Acknowledge the warnings of constructs that the file accepts."""
    for warning in warnings(cluster):
        if warning.accepted is not None and warning.id in _from_constructs():
            cdk.Validations.of(scope).acknowledge(cdk.Acknowledgment(id=warning.id, reason=warning.accepted))


def add_warnings(scope: Construct, cluster: ClusterFile) -> None:
    """Add the warnings of the file to a scope, and acknowledge those of constructs that the file accepts."""
    acknowledge_accepted(cdk.Stack.of(scope), cluster)
    for warning in warnings(cluster):
        if warning.accepted is None and warning.id not in _from_constructs():
            cdk.Validations.of(scope).add_warning(warning.id, warning.message)
