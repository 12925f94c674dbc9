"""CloudWatch metrics of an EKS control plane."""

from aws_cdk import aws_cloudwatch as cloudwatch

from ultracluster.cloudwatch import ResourceMetrics


class EksClusterMetrics(ResourceMetrics):
    """Metrics of the control plane, by the name of the cluster. EKS publishes them from Kubernetes 1.28 on.

    See: https://docs.aws.amazon.com/eks/latest/userguide/cloudwatch.html (read 2026-11-22)
    """

    namespace = "AWS/EKS"
    dimension = "ClusterName"
    statistic = "Sum"

    def metric_executing_seats(self) -> cloudwatch.Metric:
        """Seats of API Priority and Fairness in use; the scaling tier limits them."""
        return self.metric("apiserver_flowcontrol_current_executing_seats")

    def metric_scheduling_attempts(self) -> cloudwatch.Metric:
        """Attempts of the scheduler to place a pod."""
        return self.metric("scheduler_schedule_attempts_total")
