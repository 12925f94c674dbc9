"""A detector of what is unusual in a metric."""

import aws_cdk as cdk
from aws_cdk import aws_aps as l1
from constructs import Construct


class AnomalyDetector(Construct):
    """A Random Cut Forest over one query, which writes what it expects into the workspace.

    Each series of the query is a model that is paid for: take one series a cluster, not one a GPU.

    Args:
        alias: Name of it, and of what it writes.
        workspace_arn: The workspace.
        query: PromQL, over metrics of ours.
        interval: How often it looks. Default: every minute.

    See: https://docs.aws.amazon.com/prometheus/latest/userguide/prometheus-anomaly-detection.html (read 2026-11-21)
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        alias: str,
        workspace_arn: str,
        query: str,
        interval: cdk.Duration | None = None,
    ) -> None:
        super().__init__(scope, id)
        self.resource = l1.CfnAnomalyDetector(
            self,
            "Resource",
            alias=alias,
            workspace=workspace_arn,
            evaluation_interval_in_seconds=int((interval or cdk.Duration.minutes(1)).to_seconds()),
            configuration=l1.CfnAnomalyDetector.AnomalyDetectorConfigurationProperty(
                random_cut_forest=l1.CfnAnomalyDetector.RandomCutForestConfigurationProperty(query=query)
            ),
            # A cluster that is switched off is no anomaly.
            missing_data_action=l1.CfnAnomalyDetector.MissingDataActionProperty(skip=True),
        )
