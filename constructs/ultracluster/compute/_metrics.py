"""CloudWatch metrics of Auto Scaling groups."""

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch

_PERIOD = cdk.Duration.minutes(1)


class AutoScalingGroupMetrics:
    """Metrics of an Auto Scaling group, which publishes them every minute if it collects them.

    Groups of this library do. Metrics of GPUs, EFA and disks are in Prometheus.

    See: https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-metrics.html (read 2026-11-22)

    Args:
        auto_scaling_group_name: Name of the group.
    """

    def __init__(self, auto_scaling_group_name: str) -> None:
        self._name = auto_scaling_group_name

    def metric(self, name: str, statistic: str = "Average", *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """Return a metric of the group.

        Args:
            name: Name in CloudWatch, such as `GroupStandbyInstances`.
            statistic: Statistic. Default: Average.
            period: Default: one minute.
        """
        return cloudwatch.Metric(
            namespace="AWS/AutoScaling",
            metric_name=name,
            dimensions_map={"AutoScalingGroupName": self._name},
            statistic=statistic,
            period=period or _PERIOD,
        )

    def metric_desired_capacity(self) -> cloudwatch.Metric:
        """Instances that the group is to have."""
        return self.metric("GroupDesiredCapacity")

    def metric_in_service_instances(self) -> cloudwatch.Metric:
        """Running instances, without those that start or end."""
        return self.metric("GroupInServiceInstances")

    def metric_missing_instances(self) -> cloudwatch.MathExpression:
        """Instances that the group is to have and that do not run: capacity that EC2 does not have."""
        return cloudwatch.MathExpression(
            expression="desired - running",
            using_metrics={"desired": self.metric_desired_capacity(), "running": self.metric_in_service_instances()},
            label="Missing instances",
            period=_PERIOD,
        )
