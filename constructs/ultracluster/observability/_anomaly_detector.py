"""A detector of what is unusual in a metric."""

import re
from collections.abc import Iterator

import aws_cdk as cdk
from aws_cdk import aws_aps as l1
from constructs import Construct

from ultracluster.observability._checks import arn_problem, known, text_problem

# The service's own model: amp/2020-08-01/service-2.json of https://github.com/boto/botocore (1.44.5, read 2026-11-21).
_ALIAS = re.compile(r"[0-9A-Za-z][-.0-9A-Z_a-z]{0,63}", re.ASCII)
_QUERY_CHARACTERS = 8_192
_LEAST_S, _MOST_S = 30, 86_400


class AnomalyDetector(Construct):
    """A Random Cut Forest over one query, which writes what it expects into the workspace.

    Each series of the query is a model that is paid for: take one series a cluster, not one a GPU.

    Args:
        alias: Name of it, and of what it writes.
        workspace_arn: The workspace.
        query: PromQL.
        interval: How often it looks, 30 s to a day. Default: every minute.

    Raises:
        ValueError: When a text or a time is not what the service takes, or the workspace is elsewhere; all at once.

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
        every = interval or cdk.Duration.minutes(1)
        problems = list(_problems(alias, workspace_arn, query, every, cdk.Stack.of(self).region))
        if problems:
            raise ValueError(f"{self.node.path}: {'; '.join(problems)}")
        self.resource = l1.CfnAnomalyDetector(
            self,
            "Resource",
            alias=alias,
            workspace=workspace_arn,
            evaluation_interval_in_seconds=int(every.to_seconds()),
            configuration=l1.CfnAnomalyDetector.AnomalyDetectorConfigurationProperty(
                random_cut_forest=l1.CfnAnomalyDetector.RandomCutForestConfigurationProperty(query=query)
            ),
            # A cluster that is switched off is no anomaly.
            missing_data_action=l1.CfnAnomalyDetector.MissingDataActionProperty(skip=True),
        )


def _problems(alias: str, workspace_arn: str, query: str, every: cdk.Duration, region: str) -> Iterator[str]:
    form = "1 to 64 letters, digits, dots, hyphens and underscores"
    yield from text_problem("alias", alias, _ALIAS, form)
    # It is a resource of the workspace, and CloudFormation makes those in its own region alone.
    yield from arn_problem("workspace_arn", workspace_arn, "arn:aws:aps:REGION:ACCOUNT:workspace/ws-...", region=region)
    if known(query) and not 1 <= len(query.strip()) <= _QUERY_CHARACTERS:
        yield f"query must be PromQL of 1 to {_QUERY_CHARACTERS:,} characters, got {len(query.strip()):,}"
    seconds = every.to_milliseconds() / 1000
    if seconds % 1 or not _LEAST_S <= seconds <= _MOST_S:
        yield f"interval must be {_LEAST_S} to {_MOST_S:,} whole seconds, got {seconds:g}"
