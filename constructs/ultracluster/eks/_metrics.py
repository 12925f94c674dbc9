"""CloudWatch metrics of an EKS control plane."""

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch


class EksClusterMetrics:
    """Metrics of the control plane, which EKS publishes every minute from Kubernetes 1.28 on.

    See: https://docs.aws.amazon.com/eks/latest/userguide/cloudwatch.html (read 2026-11-22)

    Args:
        cluster_name: Name of the cluster.
    """

    def __init__(self, cluster_name: str) -> None:
        self._name = cluster_name

    def metric(self, name: str, statistic: str = "Sum", *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """Return a metric of the control plane.

        Args:
            name: Name in CloudWatch, such as `scheduler_schedule_attempts_total`.
            statistic: Statistic. Default: Sum.
            period: Default: one minute.
        """
        return cloudwatch.Metric(
            namespace="AWS/EKS",
            metric_name=name,
            dimensions_map={"ClusterName": self._name},
            statistic=statistic,
            period=period or cdk.Duration.minutes(1),
        )

    def metric_executing_seats(self) -> cloudwatch.Metric:
        """Seats of API Priority and Fairness in use; the scaling tier limits them."""
        return self.metric("apiserver_flowcontrol_current_executing_seats")

    def metric_scheduling_attempts(self) -> cloudwatch.Metric:
        """Attempts of the scheduler to place a pod."""
        return self.metric("scheduler_schedule_attempts_total")
