"""Logs of Slurm nodes in CloudWatch."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from ultracluster.boot import NodeScript, node_logs
from ultracluster.planning import checked, checked_method, stack_of
from ultracluster.slurm._interfaces import IPcsCluster
from ultracluster.slurm._log_group import LogGroupGrants, log_group


class PcsNodeLogs(Construct):
    """Logs of the nodes of a `PcsCluster` in CloudWatch, in the log group `/ultracluster/CLUSTER_ID/nodes`.

    Nodes send their boot, the kernel's log, slurmd, prolog, epilog, health checks and the logs of AWS PCS, each into a
    stream with the id of its instance. A node that is terminated while it boots leaves its log.

        PcsComputeNodeGroup(..., boot=[node_logs.script, boot])

    The log group is kept when the stack is deleted. The role of the nodes may write to it.

    Args:
        cluster: Slurm cluster.
        retention: How long CloudWatch keeps the logs. Default: three months.
        key: Key of the log group. Its policy must be the stack's to change, or must allow CloudWatch Logs
            already. Default: CloudWatch's own encryption.
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: IPcsCluster,
        retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
        key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, id)
        name = f"/ultracluster/{cluster.cluster_id}/nodes"
        #: Log group; each instance has its stream.
        self.log_group: logs.ILogGroup = log_group(self, name, retention=retention, key=key)
        #: Script that sends the logs of a node; it must be the first of `boot`.
        self.script: NodeScript = node_logs(log_group=name, region=stack_of(self).region)
        # Not of the role: its stack would refer to this one.
        policy = iam.Policy(self, "Write")
        self.grants.write(policy)
        policy.attach_to_role(cluster.node_role)

    @property
    def grants(self) -> "PcsNodeLogsGrants":
        """Permissions on the log group."""
        return PcsNodeLogsGrants(self.log_group)


class PcsNodeLogsGrants(LogGroupGrants):
    """Permissions on the logs of nodes."""

    @checked_method
    def write(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to create streams in the log group, and to write to them."""
        return iam.Grant.add_to_principal(
            grantee=grantee,
            actions=["logs:CreateLogStream", "logs:PutLogEvents"],
            resource_arns=[self._group.log_group_arn],
        )


def node_log_group(
    scope: Construct,
    id: str,
    *,
    cluster: str,
    role: iam.IGrantable,
    retention: logs.RetentionDays,
    key: kms.IKey | None,
) -> str:
    """Create the log group of the nodes of a cluster that is not of PCS, allow a role to write, and return its name.

    The log group outlives its stack, so that its name has a part of the id of the stack.

    Args:
        scope: Scope of the log group.
        id: Id of its construct.
        cluster: Name of the cluster.
        role: Role of the nodes.
        retention: How long CloudWatch keeps the logs.
        key: Key of the log group, or None for CloudWatch's own encryption.
    """
    stack_uuid = cdk.Fn.select(2, cdk.Fn.split("/", stack_of(scope).stack_id))
    name = f"/ultracluster/{cluster}-{cdk.Fn.select(0, cdk.Fn.split('-', stack_uuid))}/nodes"
    group = log_group(Construct(scope, id), name, retention=retention, key=key)
    PcsNodeLogsGrants(group).write(role)
    return group.log_group_name
