"""Interface of a workspace of Amazon Managed Service for Prometheus."""

from typing import Protocol

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from ultracluster.cloudwatch import Alarms
from ultracluster.observability._prometheus_grants import PrometheusGrants
from ultracluster.observability._prometheus_metrics import PrometheusMetrics


class IPrometheusWorkspace(cdk.IResource, iam.IGrantable, Protocol):
    """A workspace of Amazon Managed Service for Prometheus. As a principal of grants it is its alert manager."""

    @property
    def workspace_arn(self) -> str:
        """ARN."""

    @property
    def workspace_id(self) -> str:
        """Id, `ws-...`."""

    @property
    def region(self) -> str:
        """Region of the workspace, which may be another one than that of the stack."""

    @property
    def query_url(self) -> str:
        """URL of queries."""

    @property
    def remote_write_url(self) -> str:
        """URL that samples are written to."""

    @property
    def grants(self) -> PrometheusGrants:
        """Permissions on the workspace."""

    @property
    def metrics(self) -> PrometheusMetrics:
        """CloudWatch metrics of the workspace."""

    @property
    def alarms(self) -> Alarms:
        """CloudWatch alarms of the workspace; `add` or `add_all` creates them."""
