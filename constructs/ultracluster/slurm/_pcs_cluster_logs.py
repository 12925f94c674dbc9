"""Logs of a Slurm controller on AWS PCS, delivered to CloudWatch."""

import aws_cdk as cdk
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from ultracluster.planning import checked
from ultracluster.slurm._interfaces import IPcsCluster
from ultracluster.slurm._launch_alarms import launch_alarms
from ultracluster.slurm._log_group import LogGroupGrants, log_group, log_group_arn

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
    | `PCS_SCHEDULER_AUDIT_LOGS` | calls of Slurm's interfaces: who submitted, changed or canceled what |
    | `PCS_JOBCOMP_LOGS` | a record for each job that ended, with its nodes and instances |
    | `PCS_SCALING_LOGS` | each launch, registration and failure of a node, with its reason |

    The log group is kept when the stack is deleted. CloudWatch prescribes the beginning of its name, because it
    limits the size of the policy for delivered logs. See
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/AWS-logs-and-resource-policy.html (read 2026-11-22)

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
        name = f"/aws/vendedlogs/pcs/{cluster.cluster_id}"
        #: Log group; each log type has its streams.
        self.log_group: logs.ILogGroup = log_group(self, name, retention=retention, key=key)
        destination = logs.CfnDeliveryDestination(
            # Names of destinations and sources are unique in an account and a region.
            self,
            "Destination",
            name=cluster.cluster_id,
            destination_resource_arn=log_group_arn(self, name),
        )
        destination.node.add_dependency(self.log_group)
        # One after the other: CloudWatch Logs refuses a change of a source or destination while another one of it is
        # under way: https://github.com/hashicorp/terraform-provider-aws/issues/42194 (read 2026-11-26). Besides, a
        # delivery refers to its source by name, which is no reference.
        before: cdk.CfnResource = destination
        destination_arn = destination.attr_arn
        for kind, log_type in _LOG_TYPES.items():
            source_name = f"{cluster.cluster_id}-{kind}"
            source = logs.CfnDeliverySource(
                self,
                f"{kind}Source",
                name=source_name,
                resource_arn=cluster.cluster_arn,
                log_type=log_type,
            )
            delivery = logs.CfnDelivery(
                self,
                f"{kind}Delivery",
                delivery_source_name=source_name,
                delivery_destination_arn=destination_arn,
            )
            source.add_resource_dependency(before)
            delivery.add_resource_dependency(source)
            before = delivery
        #: Alarms `LaunchesFail`, `LaunchesRefused` and `BootsFail`, on nodes that cannot be launched or do not boot.
        self.alarms = launch_alarms(self, self.log_group, cluster.cluster_id)

    @property
    def grants(self) -> LogGroupGrants:
        """Permissions on the log group."""
        return LogGroupGrants(self.log_group)
