"""Logs of a Slurm controller on AWS PCS, delivered to CloudWatch."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from ultracluster.planning import checked
from ultracluster.slurm._interfaces import IPcsCluster

# https://docs.aws.amazon.com/pcs/latest/userguide/monitoring-overview.html and monitoring_scaling-logs.html
# (read 2026-11-22)
_LOG_TYPES = {
    "Scheduler": "PCS_SCHEDULER_LOGS",
    "Audit": "PCS_SCHEDULER_AUDIT_LOGS",
    "JobCompletion": "PCS_JOBCOMP_LOGS",
    "Scaling": "PCS_SCALING_LOGS",
}


class PcsClusterLogs(Construct):
    """Logs of a `PcsCluster` in CloudWatch, in the log group `/aws/vendedlogs/pcs/CLUSTER_ID`.

    | log type | content |
    |---|---|
    | `PCS_SCHEDULER_LOGS` | slurmctld, slurmdbd, slurmrestd |
    | `PCS_SCHEDULER_AUDIT_LOGS` | calls of Slurm's interfaces: who submitted, changed or cancelled what |
    | `PCS_JOBCOMP_LOGS` | a record for each job that ended, with its nodes and instances |
    | `PCS_SCALING_LOGS` | each launch, registration and failure of a node, with its reason |

    The log group is kept when the stack is deleted. CloudWatch prescribes the beginning of its name, because it
    limits the size of the policy for delivered logs. See
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/AWS-logs-and-resource-policy.html (read 2026-11-22)

    Args:
        cluster: Slurm cluster.
        retention: How long CloudWatch keeps the logs. Default: three months.
        encryption_key: Key of the log group. Its policy must be the stack's to change, or must allow CloudWatch Logs
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
        encryption_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, id)
        name = f"/aws/vendedlogs/pcs/{cluster.cluster_id}"
        # CloudWatch wants the ARN without the `:*` at its end.
        arn = cdk.Stack.of(self).format_arn(
            service="logs", resource="log-group", resource_name=name, arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME
        )
        if encryption_key is not None:
            _allow_logs(encryption_key, cdk.Stack.of(self).region, arn)
        #: Log group; each log type has its streams.
        self.log_group: logs.ILogGroup = logs.LogGroup(
            self,
            "LogGroup",
            log_group_name=name,
            retention=retention,
            encryption_key=encryption_key,
            removal_policy=cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        self.node.default_child = self.log_group.node.default_child
        destination = logs.CfnDeliveryDestination(
            # Names of destinations and sources are unique in an account and a region.
            self,
            "Destination",
            name=cluster.cluster_id,
            destination_resource_arn=arn,
        )
        destination.node.add_dependency(self.log_group)
        for kind, log_type in _LOG_TYPES.items():
            source = logs.CfnDeliverySource(
                self,
                f"{kind}Source",
                name=f"{cluster.cluster_id}-{kind}",
                resource_arn=cluster.cluster_arn,
                log_type=log_type,
            )
            delivery = logs.CfnDelivery(
                self,
                f"{kind}Delivery",
                delivery_source_name=source.name,
                delivery_destination_arn=destination.attr_arn,
            )
            # The source is referred to by its name, which is no reference.
            delivery.node.add_dependency(source)

    @property
    def grants(self) -> "PcsClusterLogsGrants":
        """Permissions on the log group."""
        return PcsClusterLogsGrants(self.log_group)


class PcsClusterLogsGrants:
    """Permissions on the logs of a cluster."""

    def __init__(self, group: logs.ILogGroup) -> None:
        self._group = group

    def read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to read and to search the logs."""
        return iam.Grant.add_to_principal(
            grantee=grantee,
            actions=["logs:FilterLogEvents", "logs:GetLogEvents", "logs:StartQuery"],
            resource_arns=[self._group.log_group_arn],
        )


def _allow_logs(key: kms.IKey, region: str, log_group_arn: str) -> None:
    """Allow CloudWatch Logs to use a key for a log group alone.

    See: https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html (read 2026-11-22)
    """
    key.add_to_resource_policy(
        iam.PolicyStatement(
            principals=[iam.ServicePrincipal(f"logs.{region}.amazonaws.com")],
            actions=["kms:Decrypt*", "kms:Describe*", "kms:Encrypt*", "kms:GenerateDataKey*", "kms:ReEncrypt*"],
            resources=["*"],
            conditions={"ArnLike": {"kms:EncryptionContext:aws:logs:arn": log_group_arn}},
        )
    )
