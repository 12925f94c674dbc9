"""Anomaly detector of a workspace of Amazon Managed Service for Prometheus."""

import re
from collections.abc import Iterator

import aws_cdk as cdk
from aws_cdk import aws_aps as l1
from constructs import Construct

from ultracluster.observability._iprometheus_workspace import IPrometheusWorkspace
from ultracluster.observability._prometheus_rules import environment_problems
from ultracluster.observability._prometheus_workspace import workspace_of
from ultracluster.planning import checked, known, text_problem
from ultracluster.rules import Refusal, error

_DETECTOR = error("prometheus-anomaly-detector", "The service limits the length and the interval of a query.")
# The service's own model: amp/2020-08-01/service-2.json of https://github.com/boto/botocore (1.44.5, read 2026-11-21).
_ALIAS = re.compile(r"[0-9A-Za-z][-.0-9A-Z_a-z]{0,63}", re.ASCII)
_QUERY_CHARACTERS = 8_192
_LEAST_S, _MOST_S = 30, 86_400


class AnomalyDetector(Construct):
    """A Random Cut Forest over one query, which writes expected values and a score into the workspace.

    Each series of the query is a model that is paid for: use one series for a cluster, not one for each GPU.

    Args:
        alias: Name of the detector and of the series that it writes.
        workspace: The workspace, its ARN or its id. It must be in the account and region of the stack.
        query: PromQL.
        interval: Interval of evaluation, 30 s to a day. Default: a minute.

    Raises:
        Refusal: If an argument has a wrong type; or a text or the interval is not valid, or the workspace is in
            another region; all at once.

    See: https://docs.aws.amazon.com/prometheus/latest/userguide/prometheus-anomaly-detection.html (read 2026-11-21)
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        alias: str,
        workspace: IPrometheusWorkspace | str,
        query: str,
        interval: cdk.Duration | None = None,
    ) -> None:
        super().__init__(scope, id)
        every = interval or cdk.Duration.minutes(1)
        target = workspace_of(self, workspace)
        form = "1 to 64 letters, digits, dots, hyphens and underscores"
        problems = [
            *text_problem("alias", alias, _ALIAS, form),
            *environment_problems(self, target),
            *_problems(query, every),
        ]
        if problems:
            raise Refusal(self, problems)
        self.resource = l1.CfnAnomalyDetector(
            self,
            "Resource",
            alias=alias,
            workspace=target.workspace_arn,
            evaluation_interval_in_seconds=int(every.to_seconds()),
            configuration=l1.CfnAnomalyDetector.AnomalyDetectorConfigurationProperty(
                random_cut_forest=l1.CfnAnomalyDetector.RandomCutForestConfigurationProperty(query=query)
            ),
            # A cluster that is switched off is no anomaly.
            missing_data_action=l1.CfnAnomalyDetector.MissingDataActionProperty(skip=True),
        )


def _problems(query: str, every: cdk.Duration) -> Iterator[str]:
    if known(query) and not 1 <= len(query.strip()) <= _QUERY_CHARACTERS:
        yield _DETECTOR(f"query must be PromQL of 1 to {_QUERY_CHARACTERS:,} characters, got {len(query.strip()):,}")
    seconds = every.to_milliseconds() / 1000
    if seconds % 1 or not _LEAST_S <= seconds <= _MOST_S:
        yield _DETECTOR(f"interval must be {_LEAST_S} to {_MOST_S:,} whole seconds, got {seconds:g}")
