"""Who may write to a workspace of Amazon Managed Service for Prometheus, and who may read it."""

from typing import cast

from aws_cdk import aws_iam as iam
from constructs import Construct

WRITE_ACTIONS = ("aps:RemoteWrite",)
# Listing and describing serve the discovery of data sources only; ours is provisioned.
# https://docs.aws.amazon.com/grafana/latest/userguide/AMG-manage-permissions.html (read 2026-11-21)
QUERY_ACTIONS = ("aps:GetLabels", "aps:GetMetricMetadata", "aps:GetSeries", "aps:QueryMetrics")


class PrometheusGrants:
    """Who may use a workspace.

    Args:
        scope: Where the policies belong: beside the workspace, so that a role may live in another stack.
        arn: ARN of the workspace; nothing else is granted.
    """

    def __init__(self, scope: Construct, arn: str) -> None:
        self._scope = scope
        self._arn = arn

    def write(self, role: iam.IRole) -> None:
        """Let a role write samples."""
        self._policy("Write", WRITE_ACTIONS).attach_to_role(role)

    def query(self, role: iam.IRole) -> None:
        """Let a role query."""
        self._policy("Query", QUERY_ACTIONS).attach_to_role(role)

    def _policy(self, id: str, actions: tuple[str, ...]) -> iam.ManagedPolicy:
        made = self._scope.node.try_find_child(id)
        if made is not None:
            return cast(iam.ManagedPolicy, made)
        statement = iam.PolicyStatement(actions=list(actions), resources=[self._arn])
        return iam.ManagedPolicy(self._scope, id, statements=[statement])
