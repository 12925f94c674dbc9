"""CloudWatch metrics of an AWS PCS cluster."""

from aws_cdk import aws_cloudwatch as cloudwatch

from ultracluster.cloudwatch import ResourceMetrics


class PcsClusterMetrics(ResourceMetrics):
    """Numbers of instances of all node groups, by the id of the cluster. PCS publishes them every minute.

    PCS has no metrics of single node groups. Metrics of nodes, GPUs and jobs are in Prometheus.

    See: https://docs.aws.amazon.com/pcs/latest/userguide/monitoring-cloudwatch_metrics.html (read 2026-11-23)
    """

    namespace = "AWS/PCS"
    dimension = "ClusterId"

    def metric_actual_capacity(self) -> cloudwatch.Metric:
        """Running instances, allocated to jobs or not."""
        return self.metric("ActualCapacity")

    def metric_capacity_utilization(self) -> cloudwatch.Metric:
        """Running instances that are allocated to jobs, as a fraction of all running instances."""
        return self.metric("CapacityUtilization")

    def metric_desired_capacity(self) -> cloudwatch.Metric:
        """Running and pending instances."""
        return self.metric("DesiredCapacity")

    def metric_idle_capacity(self) -> cloudwatch.Metric:
        """Running instances that are not allocated to jobs."""
        return self.metric("IdleCapacity")

    def metric_utilized_capacity(self) -> cloudwatch.Metric:
        """Running instances that are allocated to jobs."""
        return self.metric("UtilizedCapacity")

    def metric_pending_capacity(self) -> cloudwatch.MathExpression:
        """Instances that PCS launches, or that EC2 has no capacity for."""
        return self._expression(
            "desired - actual",
            "Pending instances",
            desired=self.metric_desired_capacity(),
            actual=self.metric_actual_capacity(),
        )
