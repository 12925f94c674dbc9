"""Permissions of Slurm nodes to write metrics."""

from aws_cdk import aws_iam as iam
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from ultracluster.clusterfile import ClusterFile
from ultracluster.observability import Observability, PrometheusWorkspace, allow_topology
from ultracluster.slurm._metrics import remote_write_parameter
from ultracluster.slurm._node_health import publish_topic, replacement_limits
from ultracluster.slurm._pcs_cluster import PcsCluster
from ultracluster.slurm._pcs_node_role import PcsNodeRole


def add_metrics_access(
    scope: Construct,
    cluster: ClusterFile,
    controller: PcsCluster,
    login_role: PcsNodeRole,
    observability: Observability,
) -> None:
    """Allow nodes to write metrics, and publish the URL of a workspace that is known at deployment only."""
    # By name, so that the policies belong to this scope: its stack refers to that of the roles, not the reverse.
    # With a name of its own, a policy's logical id does not carry the name of the Stage.
    roles = [
        iam.Role.from_role_name(scope, id, role.role_name, default_policy_name=policy)
        for id, role, policy in (
            ("MetricsNodeRole", controller.node_role, "WriteMetrics"),
            ("MetricsLoginRole", login_role, "WriteLoginMetrics"),
        )
    ]
    workspace = observability.workspace
    for role in roles:
        workspace.grants.write(role)
        allow_topology(role)
    if isinstance(workspace, PrometheusWorkspace):
        parameter = ssm.StringParameter(
            scope,
            "RemoteWriteUrlParameter",
            parameter_name=remote_write_parameter(cluster),
            string_value=workspace.remote_write_url,
            description=f"Where the nodes of {cluster.name} write their metrics",
        )
        for role in roles:
            iam.Grant.add_to_principal(
                grantee=role, actions=["ssm:GetParameter"], resource_arns=[parameter.parameter_arn]
            )
    if replacement_limits(cluster):
        publish_topic(scope, cluster, roles[0], observability.topic)
