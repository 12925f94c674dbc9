"""The dashboard of a file system's servers, which CloudWatch answers; no CloudWatch runs here."""

import json
import re
from collections.abc import Iterator
from typing import Any

import aws_cdk as cdk
from aws_cdk import assertions
from aws_cdk import aws_sns as sns
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import dashboard as models

from ultracluster.monitoring.dashboards import cloudwatch_dashboards
from ultracluster.storage import LustreFileSystem

TEXTS = cloudwatch_dashboards()
(BOARD,) = map(json.loads, TEXTS.values())
_SQL = re.compile(r'SELECT MAX\((\w+)\) FROM SCHEMA\("AWS/FSx", FileSystemId, (\w+)\) WHERE .*')
# Metrics and their dimensions, as AWS has them:
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/fs-metrics.html (read 2026-11-21)
FSX = {
    "NetworkThroughputUtilization": {"FileServer"},
    "FileServerDiskThroughputUtilization": {"FileServer"},
    "CPUUtilization": {"FileServer"},
    "DiskIopsUtilization": {"StorageTargetId"},
    "StorageCapacityUtilization": {"StorageTargetId"},
    "AgeOfOldestQueuedMessage": {"Publisher"},
    "DataReadBytes": set(),
    "DataWriteBytes": set(),
    "MetadataOperations": set(),
    "DiskReadOperations": {"StorageTargetId"},
    "DiskWriteOperations": {"StorageTargetId"},
}


def panels() -> Iterator[dict[str, Any]]:
    yield from (panel for panel in BOARD["panels"] if panel["type"] != "row")


def asked() -> Iterator[tuple[str, set[str]]]:
    """Metric and dimensions, beside the file system, of every target that has one."""
    for panel in panels():
        for target in panel["targets"]:
            if "sqlExpression" in target:
                metric, dimension = _SQL.fullmatch(target["sqlExpression"]).groups()  # type: ignore[union-attr]
                yield metric, {dimension}
            elif "expression" not in target:
                yield target["metricName"], target["dimensions"].keys() - {"FileSystemId"}


def test_every_metric_is_one_that_fsx_has_with_the_dimensions_that_it_has() -> None:
    assert dict(asked()) == FSX


def test_what_alarms_call_somebody_for_is_there_to_be_looked_at() -> None:
    stack = cdk.Stack(cdk.App(analytics_reporting=False), "S")
    lustre = LustreFileSystem.from_lustre_file_system_attributes(
        stack, "Lustre", file_system_id="fs-0123456789abcdef0", mount_name="fsx"
    )
    lustre.alarms.add_all(sns.Topic(stack, "T"))
    alarms = assertions.Template.from_stack(stack).find_resources("AWS::CloudWatch::Alarm").values()
    watched = {
        metric
        for alarm in alarms
        for metric in re.findall(r'SELECT MAX\((\w+)\)|"MetricName": "(\w+)"', json.dumps(alarm))
    }
    # The queues of exports and imports are one metric.
    assert len(watched) == len(alarms) - 1
    assert {query or name for query, name in watched} <= dict(asked()).keys()


def test_a_panel_has_one_query_of_metrics_insights_for_a_request_takes_no_more() -> None:
    for panel in panels():
        assert sum("sqlExpression" in target for target in panel["targets"]) <= 1
        if any("sqlExpression" in target for target in panel["targets"]):
            assert len(panel["targets"]) == 1


def test_all_stays_within_the_chosen_file_system_and_data_source() -> None:
    for panel in panels():
        assert panel["datasource"] == {"type": "cloudwatch", "uid": "${cloudwatch}"}
        for target in panel["targets"]:
            assert target["datasource"] == panel["datasource"]
            within = target.get("sqlExpression", "") + json.dumps(target.get("dimensions", {}))
            assert "$file_system" in within or "expression" in target
    assert [item["name"] for item in BOARD["templating"]["list"]] == ["cloudwatch", "file_system"]


def test_sums_of_a_minute_are_shown_for_a_second() -> None:
    for panel in panels():
        hidden = {target["id"] for target in panel["targets"] if target.get("hide")}
        shown = {target["expression"] for target in panel["targets"] if "expression" in target}
        assert shown == {f"{id}/PERIOD({id})" for id in hidden}
        if panel["fieldConfig"]["defaults"]["unit"] in ("Bps", "ops"):
            assert hidden


def test_grafanas_own_model_knows_every_field() -> None:
    assert json.loads(json.dumps(models.Dashboard.from_json(BOARD), cls=JSONEncoder)) == BOARD
