"""Queries of Grafana's CloudWatch data source: metrics of a file system, and logs."""

from collections.abc import Mapping
from typing import Any

from ultracluster.monitoring.dashboards._spec import FsxQuery, LogsQuery

SOURCE = {"type": "cloudwatch", "uid": "${cloudwatch}"}
_NAMESPACE, _FILE_SYSTEM = "AWS/FSx", "FileSystemId"
#: The variable of the file system. Only Lustre has this metric, of all that FSx has.
FILE_SYSTEM: Mapping[str, Any] = {
    "name": "file_system",
    "label": "File system",
    "datasource": SOURCE,
    "query": {
        "queryType": "dimensionValues",
        "region": "default",
        "namespace": _NAMESPACE,
        "metricName": "FreeDataStorageCapacity",
        "dimensionKey": _FILE_SYSTEM,
        "dimensionFilters": {},
        "refId": "variable",
    },
}
# Types of a query and of its editor in Grafana's data source.
_SEARCH, _INSIGHTS, _BUILDER, _CODE = 0, 1, 0, 1
_MOST_LINES = 10


def targets(query: FsxQuery, ref: str) -> list[dict[str, Any]]:
    """Return the targets of a query; a second target divides the sum of a minute, which is hidden."""
    id = ref.lower()
    common = {"datasource": SOURCE, "region": "default", "period": "60", "queryMode": "Metrics"}
    result: dict[str, Any] = {**common, "refId": ref, "id": id, "namespace": _NAMESPACE}
    if query.worst_of:
        # A request takes one query of this kind: a panel has no other.
        # https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch-metrics-insights-limits.html
        # (read 2026-11-21)
        sql = (
            f'SELECT MAX({query.metric}) FROM SCHEMA("{_NAMESPACE}", {_FILE_SYSTEM}, {query.worst_of}) '
            f"WHERE {_FILE_SYSTEM} = '$file_system' GROUP BY {query.worst_of} ORDER BY MAX() DESC LIMIT {_MOST_LINES}"
        )
        return [{**result, "metricQueryType": _INSIGHTS, "metricEditorMode": _CODE, "sqlExpression": sql}]
    result |= {
        "metricQueryType": _SEARCH,
        "metricEditorMode": _BUILDER,
        "metricName": query.metric,
        "dimensions": {_FILE_SYSTEM: "$file_system", **dict(query.dimensions)},
        "matchExact": True,
        "statistic": "Sum" if query.per_second else "Maximum",
        "label": query.legend,
    }
    if not query.per_second:
        return [result]
    rate = {"refId": f"{ref}rate", "id": f"{id}_rate", "expression": f"{id}/PERIOD({id})", "label": query.legend}
    kind = {"metricQueryType": _SEARCH, "metricEditorMode": _CODE, "namespace": ""}
    return [{**result, "hide": True}, {**common, **rate, **kind}]


def log_group_variable(prefix: str) -> dict[str, Any]:
    """Return the fields of a variable of log groups: its text is their name, its value their ARN."""
    query = {"queryType": "logGroups", "region": "default", "logGroupPrefix": prefix, "refId": "variable"}
    return {"datasource": SOURCE, "query": query}


def logs_target(query: LogsQuery, ref: str) -> dict[str, Any]:
    """Return the target of a query over the selected log group."""
    return {
        "refId": ref,
        "id": "",
        "datasource": SOURCE,
        "queryMode": "Logs",
        "region": "default",
        "expression": query.expression,
        "logGroups": [{"arn": "${log_group}", "name": "${log_group:text}"}],
    }
