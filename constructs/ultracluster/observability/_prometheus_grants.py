"""Permissions on a workspace of Amazon Managed Service for Prometheus."""

from aws_cdk import aws_iam as iam

from ultracluster.planning import checked_method

WRITE_ACTIONS = ("aps:RemoteWrite",)
# Without listing and describing workspaces, which only the discovery of data sources calls.
# https://docs.aws.amazon.com/grafana/latest/userguide/AMG-manage-permissions.html (read 2026-11-21)
QUERY_ACTIONS = ("aps:GetLabels", "aps:GetMetricMetadata", "aps:GetSeries", "aps:QueryMetrics")


class PrometheusGrants:
    """Permissions on one workspace.

    A grant adds to the policy of the principal. To keep the policy in another stack than the role, grant to
    `iam.Role.from_role_name(scope, id, role.role_name)` there.

    Args:
        workspace_arn: ARN of the workspace.
    """

    def __init__(self, workspace_arn: str) -> None:
        self._arn = workspace_arn

    @checked_method
    def write(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to write samples."""
        return self._grant(grantee, WRITE_ACTIONS)

    @checked_method
    def query(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to query."""
        return self._grant(grantee, QUERY_ACTIONS)

    def _grant(self, grantee: iam.IGrantable, actions: tuple[str, ...]) -> iam.Grant:
        return iam.Grant.add_to_principal(grantee=grantee, actions=list(actions), resource_arns=[self._arn])
