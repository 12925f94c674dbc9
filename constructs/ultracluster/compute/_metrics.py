"""CloudWatch metrics and alarms of Auto Scaling groups."""

from collections.abc import Mapping

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch

from ultracluster.cloudwatch import AlarmDefinition, Alarms, ResourceMetrics

# A launch of a GPU instance takes minutes; a choice of this library.
_MISSING_MINUTES = 15


class AutoScalingGroupMetrics(ResourceMetrics):
    """Metrics of an Auto Scaling group by its name. AWS publishes them every minute if the group collects them.

    Groups of this library do. Metrics of GPUs, EFA and disks are in Prometheus.

    See: https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-metrics.html (read 2026-11-22)
    """

    namespace = "AWS/AutoScaling"
    dimension = "AutoScalingGroupName"

    def metric_desired_capacity(self) -> cloudwatch.Metric:
        """Desired capacity of the group."""
        return self.metric("GroupDesiredCapacity")

    def metric_in_service_instances(self) -> cloudwatch.Metric:
        """Instances in service, without those that are pending or terminating."""
        return self.metric("GroupInServiceInstances")

    def metric_missing_instances(self) -> cloudwatch.MathExpression:
        """Desired capacity less the instances in service: capacity that EC2 does not have."""
        return self._expression(
            "desired - running",
            "Missing instances",
            desired=self.metric_desired_capacity(),
            running=self.metric_in_service_instances(),
        )

    def alarm_definitions(self) -> Mapping[str, AlarmDefinition]:
        """Alarms by name."""
        return {
            "InstancesMissing": self._alarm(
                self.metric_missing_instances,
                0,
                _MISSING_MINUTES,
                "More than {threshold} instances of the Auto Scaling group are missing for {minutes} minutes: its "
                "activities have the reason, such as InsufficientInstanceCapacity",
            )
        }


def auto_scaling_group_alarms(owner: cdk.Resource, auto_scaling_group_name: str) -> Alarms:
    """Return the alarms of an Auto Scaling group."""
    return Alarms(owner, AutoScalingGroupMetrics(auto_scaling_group_name, owner).alarm_definitions())
