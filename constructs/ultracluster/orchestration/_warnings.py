"""Warnings of a cluster file, as annotations of the CDK."""

import aws_cdk as cdk
from constructs import Construct

from ultracluster.clusterfile import ClusterFile, warnings
from ultracluster.compute import DECLARED_TYPE, UNPINNED_IMAGE
from ultracluster.storage import EXISTING_BUCKET, EXISTING_LUSTRE, LINK_WARNINGS

# Constructs add these themselves.
_NEWER_THAN_FACTS = tuple(
    f"ultracluster:{id}"
    for id in (
        "slurm-version",
        "slurm-size",
        "kubernetes-version",
        "kubernetes-scaling-tier",
    )
)
_FROM_CONSTRUCTS = (
    *(DECLARED_TYPE, UNPINNED_IMAGE, EXISTING_BUCKET.warning_id, EXISTING_LUSTRE.warning_id),
    *(*LINK_WARNINGS, *_NEWER_THAN_FACTS),
)


def acknowledge_accepted(scope: Construct, cluster: ClusterFile) -> None:
    """Acknowledge the warnings of a control plane that the file accepts: versions and sizes newer than the facts."""
    for warning in warnings(cluster):
        if warning.id in _NEWER_THAN_FACTS and warning.accepted is not None:
            cdk.Validations.of(scope).acknowledge(cdk.Acknowledgment(id=warning.id, reason=warning.accepted))


def add_warnings(scope: Construct, cluster: ClusterFile) -> None:
    """Add the warnings of the file to a scope, and acknowledge those of constructs that the file accepts."""
    for warning in warnings(cluster):
        from_construct, reason = warning.id in _FROM_CONSTRUCTS, warning.accepted
        if not from_construct and reason is None:
            cdk.Validations.of(scope).add_warning(warning.id, warning.message)
        elif from_construct and reason is not None:
            cdk.Validations.of(cdk.Stack.of(scope)).acknowledge(cdk.Acknowledgment(id=warning.id, reason=reason))
