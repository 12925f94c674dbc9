"""Queries of Grafana's CloudWatch data source for a file system's metrics."""

from typing import Any

from grafana_foundation_sdk.builders import cloudwatch
from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.models import dashboard as models
from grafana_foundation_sdk.models.cloudwatch import MetricEditorMode, MetricQueryType

from ultracluster.monitoring.dashboards.builder._spec import FsxQuery

SOURCE = models.DataSourceRef(type_val="cloudwatch", uid="${cloudwatch}")
_NAMESPACE, _FILE_SYSTEM, _MINUTE = "AWS/FSx", "FileSystemId", "60"
_MOST_LINES = 10


def variables() -> list[Any]:
    """Return the variables for the data source and the Lustre file system."""
    return [
        builders.DatasourceVariable("cloudwatch").label("CloudWatch").type("cloudwatch"),
        builders.QueryVariable("file_system")
        .label("File system")
        .datasource(SOURCE)
        .query(
            {
                "queryType": "dimensionValues",
                "region": "default",
                "namespace": _NAMESPACE,
                # Only Lustre has it, of all that FSx has.
                "metricName": "FreeDataStorageCapacity",
                "dimensionKey": _FILE_SYSTEM,
                "dimensionFilters": {},
                "refId": "variable",
            }
        )
        .refresh(models.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(models.VariableSort.NATURAL_ASC),
    ]


def targets(query: FsxQuery, ref: str) -> list[cloudwatch.MetricsQuery]:
    """Return the targets of a query; a second target divides the sum of a minute, which is hidden."""
    result = (
        cloudwatch.MetricsQuery()
        .ref_id(ref)
        .datasource(SOURCE)
        .region("default")
        .namespace(_NAMESPACE)
        .period(_MINUTE)
        .id(ref.lower())
    )
    if query.worst_of:
        # A request takes one query of this kind: a panel has no other.
        # https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch-metrics-insights-limits.html
        # (read 2026-11-21)
        return [
            result.metric_query_type(MetricQueryType.INSIGHTS)
            .metric_editor_mode(MetricEditorMode.CODE)
            .sql_expression(
                f'SELECT MAX({query.metric}) FROM SCHEMA("{_NAMESPACE}", {_FILE_SYSTEM}, {query.worst_of}) '
                f"WHERE {_FILE_SYSTEM} = '$file_system' GROUP BY {query.worst_of} ORDER BY MAX() DESC "
                f"LIMIT {_MOST_LINES}"
            )
        ]
    result = (
        result.metric_query_type(MetricQueryType.SEARCH)
        .metric_editor_mode(MetricEditorMode.BUILDER)
        .metric_name(query.metric)
        .dimensions({_FILE_SYSTEM: "$file_system", **dict(query.dimensions)})
        .match_exact(True)
        .statistic("Sum" if query.per_second else "Maximum")
        .label(query.legend)
    )
    if not query.per_second:
        return [result]
    rate = (
        cloudwatch.MetricsQuery()
        .ref_id(f"{ref}rate")
        .datasource(SOURCE)
        .region("default")
        .metric_query_type(MetricQueryType.SEARCH)
        .metric_editor_mode(MetricEditorMode.CODE)
        .expression(f"{ref.lower()}/PERIOD({ref.lower()})")
        .id(f"{ref.lower()}_rate")
        .period(_MINUTE)
        .label(query.legend)
    )
    return [result.hide(True), rate]
