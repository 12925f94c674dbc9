"""Warnings that a cluster file accepts."""

import aws_cdk as cdk
from constructs import IConstruct

from ultracluster.clusterfile import ClusterFile, warnings
from ultracluster.rules import Rule, registered


def construct_warnings() -> set[str]:
    """Return the ids of the warnings that constructs add themselves."""
    return {rule.warning_id for rule in registered(Rule).values() if rule.kind == "warning"}


def acknowledge_accepted(scope: IConstruct, cluster: ClusterFile) -> None:
    """Acknowledge the warnings of constructs below a scope that the cluster file accepts."""
    for warning in warnings(cluster):
        if warning.accepted is not None and warning.id in construct_warnings():
            cdk.Validations.of(scope).acknowledge(cdk.Acknowledgment(id=warning.id, reason=warning.accepted))
