"""The dashboard of logs, which CloudWatch Logs answers; no CloudWatch runs here."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_iam as iam
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import cloudwatch
from grafana_foundation_sdk.models import dashboard as models

from ultracluster.catalogue.schedulers import eks_add_ons
from ultracluster.clusterfile import loads
from ultracluster.eks._add_ons import _settings
from ultracluster.eks._pod_logs import pod_log_values
from ultracluster.monitoring import cluster_dashboards, describe
from ultracluster.monitoring.dashboards import cloudwatch_dashboards, dashboards
from ultracluster.observability import CloudWatchGrants

EXAMPLES = Path(__file__).parents[2] / "examples"
ADD_ON = "kubernetes: {add-ons: {amazon-cloudwatch-observability: default}, "
LOGS = "kubernetes: {logs: true, "
# Fields of the events, of `_node_logs.py` and of Fluent Bit as the add-on configures it:
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Container-Insights-setup-logs-FluentBit.html (read
# 2026-11-24); @ marks those that CloudWatch Logs Insights has itself.
FIELDS = {
    "/ultracluster/": {"@logStream", "job", "source", "message", "cluster"},
    "/aws/containerinsights/llama/application": {
        "kubernetes.host", "kubernetes.pod_name", "job", "kubernetes.container_name", "log",
    },
}  # fmt: skip


def board(log_groups: str) -> dict[str, Any]:
    insights = log_groups.startswith("/aws")
    (text,) = cloudwatch_dashboards(lustre=False, log_groups=log_groups, container_insights=insights).values()
    result: dict[str, Any] = json.loads(text)
    return result


def queries(of: dict[str, Any]) -> list[dict[str, Any]]:
    return [target for panel in of["panels"] if panel["type"] != "row" for target in panel["targets"]]


@pytest.mark.parametrize("log_groups", FIELDS)
def test_queries_read_the_fields_that_events_have(log_groups: str) -> None:
    for query in queries(board(log_groups)):
        fields = query["expression"].splitlines()[0].removeprefix("fields ")
        read = set(re.findall(r"([@\w.]+)\)? as |([@\w.]+), \"none\"", fields))
        assert {name or other for name, other in read} - {"none"} <= FIELDS[log_groups]
        defined = set(re.findall(r" as (\w+)", query["expression"])) | {"@timestamp"}
        used = re.findall(r"(\w+) like|sort (@?\w+)|by (.*)$|display (.*)$", query["expression"], re.MULTILINE)
        assert {name for words in used for word in words if word for name in word.split(", ")} <= defined


@pytest.mark.parametrize("log_groups", FIELDS)
def test_a_query_reads_the_log_group_that_was_selected_and_is_not_repeated(log_groups: str) -> None:
    """Reading is billed by the size of what is searched."""
    dashboard = board(log_groups)
    assert dashboard["refresh"] == ""
    assert next(item for item in dashboard["templating"]["list"] if item["name"] == "log_group")["query"] == {
        "queryType": "logGroups", "region": "default", "logGroupPrefix": log_groups, "refId": "variable",
    }  # fmt: skip
    for query in queries(dashboard):
        assert query["logGroups"] == [{"arn": "${log_group}", "name": "${log_group:text}"}]
        assert re.search(r"limit \d+", query["expression"])


@pytest.mark.parametrize(
    ("log_groups", "job", "of_job", "of_another"),
    [
        ("/ultracluster/", "1001", "1001", "10017"),
        ("/aws/containerinsights/llama/application", "pretrain", "pretrain", "pretrain-2"),
    ],
)
def test_a_job_has_its_lines(log_groups: str, job: str, of_job: str, of_another: str) -> None:
    for query in queries(board(log_groups)):
        pattern = re.findall(r"job_id like /(.*?)/", query["expression"])[0]
        wanted = re.compile(pattern.replace("${job:raw}", job))
        assert wanted.search(of_job)
        assert not wanted.search(of_another)
        assert re.compile(pattern.replace("${job:raw}", ".*")).search("none"), "by default lines of no job, too"


def test_without_a_job_a_pod_has_the_lines_of_the_job_that_its_name_begins_with() -> None:
    for query in queries(board("/aws/containerinsights/llama/application")):
        assert "((ispresent(job) and job_id like /^(${job:raw})$/) or (not ispresent(job) and" in query["expression"]
        _, pattern = re.findall(r"job_id like /(.*?)/", query["expression"])
        wanted = re.compile(pattern.replace("${job:raw}", "pretrain"))
        assert wanted.search("pretrain-train-node-0-3-x8zkq")
        assert not wanted.search("finetune-0")


def test_a_line_of_a_pod_has_its_node_and_the_name_of_its_job() -> None:
    """Fluent Bit has LuaJIT in it; its own record has tables in tables, as here."""
    text = pod_log_values()["containerLogs"]["fluentBit"]["config"]["extraFiles"]["application-log.conf"]
    (code,) = re.findall("^    code (.*)$", text, re.MULTILINE)
    script = """
    for _, labels in ipairs({
        {["batch.kubernetes.io/job-name"] = "pretrain-node-0", ["jobset.sigs.k8s.io/jobset-name"] = "pretrain"},
        {["batch.kubernetes.io/job-name"] = "finetune"}, {app = "web"}, false
    }) do
        local record = {log = "step 1", kubernetes = {host = "ip-10-0-1-2", labels = labels or nil}}
        local code, time, result = job("application.x", 17, record)
        print(code, time, result.log, result.node, result.job, result.kubernetes.labels)
    end
    print(job("application.x", 17, {log = "a pod that is gone"}))
    """
    done = subprocess.run(["luajit", "-"], input=code + script, capture_output=True, text=True, check=True)
    *lines, last = done.stdout.splitlines()
    assert [line.split("\t") for line in lines] == [
        ["2", "17", "step 1", "ip-10-0-1-2", job, "nil"] for job in ("pretrain", "finetune", "nil", "nil")
    ]
    assert last.startswith("2\t17\ttable")


def test_the_pipeline_of_pods_has_every_stage_and_an_end_of_its_logs() -> None:
    text = pod_log_values()["containerLogs"]["fluentBit"]["config"]["extraFiles"]["application-log.conf"]
    sections = [dict(line.split(maxsplit=1) for line in body.splitlines() if line.strip())
                for body in re.split(r"^\[\w+\]$", text, flags=re.MULTILINE)[1:]]  # fmt: skip
    assert [section["Name"] for section in sections] == ["tail", "kubernetes", "lua", "cloudwatch_logs"]
    # Of one tag, or a stage is skipped; and the prefix is the tag with the path of the files.
    assert {section.get("Tag") or section["Match"] for section in sections} == {"application.*"}
    assert sections[1]["Kube_Tag_Prefix"] == "application" + sections[0]["Path"].replace("/", ".").removesuffix("*.log")
    assert sections[3]["log_group_name"] == "/aws/containerinsights/${CLUSTER_NAME}/application"
    assert sections[3]["log_retention_days"] == "90"
    # Helm reads the text as a template.
    assert "{{" not in text


def test_another_clusters_job_of_the_same_number_is_not_shown() -> None:
    for query in queries(board("/ultracluster/")):
        (pattern,) = re.findall(r"of_cluster like /(.*?)/", query["expression"])
        wanted = re.compile(pattern.replace("${cluster:raw}", "llama"))
        # Nodes without metrics do not know their cluster.
        assert [bool(wanted.search(name)) for name in ("llama", "none", "llama-2", "orca")] == [
            True,
            True,
            False,
            False,
        ]


def test_dashboards_of_a_job_and_a_node_lead_to_their_logs() -> None:
    links = {
        uid: [link["url"] for link in json.loads(text)["links"] if "url" in link]
        for uid, text in dashboards(logs=True).items()
    }
    assert {uid: urls for uid, urls in links.items() if urls} == {
        "ultracluster-job": ["/d/ultracluster-logs?var-cluster=${cluster}&var-job=${job}"],
        "ultracluster-node": ["/d/ultracluster-logs?var-cluster=${cluster}&var-node=${node}"],
    }
    assert "ultracluster-logs" not in "".join(dashboards().values()), "a link to a dashboard that does not exist"


def test_in_kubernetes_the_links_hand_on_names_as_the_logs_have_them() -> None:
    """Metrics have the id of the instance, and the namespace and a slash before the job."""
    boards = {uid: json.loads(text) for uid, text in dashboards(logs=True, container_insights=True).items()}
    for kind, value, name in (("node", "ip-10-0-1-2.ec2.internal", "ip-10-0-1-2.ec2.internal"),
                              ("job", "research/pretrain-node", "pretrain-node"), ("job", "1001", "1001")):  # fmt: skip
        board = boards[f"ultracluster-{kind}"]
        (url,) = [link["url"] for link in board["links"] if "url" in link]
        assert url == f"/d/ultracluster-logs?var-cluster=${{cluster}}&var-{kind}=${{{kind}_name}}"
        (variable,) = [item for item in board["templating"]["list"] if item["name"] == f"{kind}_name"]
        assert variable["hide"] == 2
        pattern = variable["regex"].removeprefix("/").removesuffix("/") or "(.*)"
        result = re.fullmatch(pattern.replace("\\/", "/"), value)
        assert result is not None
        assert result[1] == name
        assert json.loads(json.dumps(models.Dashboard.from_json(board), cls=JSONEncoder)) == board


def test_grafanas_own_model_knows_every_field() -> None:
    for log_groups in FIELDS:
        dashboard = board(log_groups)
        assert json.loads(json.dumps(models.Dashboard.from_json(dashboard), cls=JSONEncoder)) == dashboard
        for query in queries(dashboard):
            known = cloudwatch.LogsQuery.from_json(query)
            assert json.loads(json.dumps(known, cls=JSONEncoder)) == query


@pytest.mark.parametrize(
    ("example", "more", "log_groups"),
    [
        ("slurm-minimal", "", "/ultracluster/"),
        ("eks-minimal", "", ""),
        ("eks-minimal", ADD_ON, "/aws/containerinsights/{}/application"),
        ("eks-minimal", LOGS, "/aws/containerinsights/{}/application"),
        ("hyperpod-slurm", "", "/ultracluster/"),
    ],
)
def test_a_cluster_has_the_dashboard_where_something_sends_its_logs(example: str, more: str, log_groups: str) -> None:
    cluster = loads(
        (EXAMPLES / f"{example}.yaml").read_text().replace("kubernetes: {", more or "kubernetes: {"), example
    )
    boards, groups = cluster_dashboards(cluster, lustre=False)
    assert (groups or "") == log_groups.format(cluster.name)
    assert ("ultracluster-logs" in boards) is bool(log_groups)
    lines = [line for line in describe(cluster).lines if line.startswith("logs:")]
    assert bool(lines) is not bool(log_groups)
    assert all("kubernetes: {logs: true}" in line for line in lines)


def test_the_key_of_logs_creates_the_add_on_without_metrics_that_are_billed() -> None:
    text = (EXAMPLES / "eks-minimal.yaml").read_text()
    plain, logs, add_on = (
        loads(text.replace("kubernetes: {", more or "kubernetes: {"), "x") for more in ("", LOGS, ADD_ON)
    )
    assert eks_add_ons.LOGS not in plain.kubernetes.requested_add_ons
    assert logs.kubernetes.requested_add_ons == add_on.kubernetes.requested_add_ons == (eks_add_ons.LOGS,)
    keys = ("containerInsights", "applicationSignals", "dcgmExporter", "neuronMonitor")
    off = {key: {"enabled": False} for key in keys}
    assert _settings(eks_add_ons.LOGS, logs) == {**off, **pod_log_values()}
    # Who requests the add-on itself gets all of it.
    assert _settings(eks_add_ons.LOGS, add_on) is None


def test_grafana_may_search_these_log_groups_and_no_other() -> None:
    stack = cdk.Stack(cdk.App(analytics_reporting=False), "S")
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    CloudWatchGrants.read_logs(role, "/ultracluster/")
    (policy,) = assertions.Template.from_stack(stack).find_resources("AWS::IAM::Policy").values()
    lists, reads = policy["Properties"]["PolicyDocument"]["Statement"]
    assert (lists["Resource"], lists["Action"]) == (
        "*", ["logs:DescribeLogGroups", "logs:GetQueryResults", "logs:StopQuery"],
    )  # fmt: skip
    assert reads["Resource"]["Fn::Join"][1][-1] == ":log-group:/ultracluster/*"
