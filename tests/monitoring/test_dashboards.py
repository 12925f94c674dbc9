"""Dashboards, read from their JSON."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import dashboard as models
from grafana_foundation_sdk.models import text as text_panel

from support.dashboard_look import LINES
from support.rule_tests import promtool
from ultracluster.catalogue.ec2 import instance_type
from ultracluster.catalogue.monitoring import AMAZON_PROMETHEUS_PLUGIN
from ultracluster.monitoring.alerts import ALERTS, GRAFANA, RUNBOOKS, rules
from ultracluster.monitoring.collectors import RemoteWrite, node_collectors
from ultracluster.monitoring.dashboards import cloudwatch_dashboards, dashboards
from ultracluster.monitoring.dashboards._common import OF_JOBS, OF_NODES
from ultracluster.monitoring.names import METRICS, SLURM_JOB_STATES, SLURM_NODE_STATES
from ultracluster.monitoring.names._all import OTHERS

LABELS = {**{name: metric.labels for name, metric in METRICS.items()}, **OTHERS}
# What an alert tells apart beside its node: see PROBLEM.
OF_A_PROBLEM = {"xid", "path"}
METRIC = re.compile(r"\b[a-z]\w*:\w+:\w+\b|\bultracluster_\w+\b")
TEXTS = {uid: text for uid, text in dashboards().items() if uid != RUNBOOKS}
BOARDS = {uid: json.loads(text) for uid, text in TEXTS.items()}


def panels(board: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from (panel for panel in board["panels"] if panel["type"] != "row")


QUERIES = [
    pytest.param(target["expr"], id=f"{uid}-{panel['title']}-{target['refId']}")
    for uid, board in BOARDS.items()
    for panel in panels(board)
    for target in panel["targets"]
]


@pytest.mark.parametrize("expression", QUERIES)
def test_a_query_reads_our_metrics_only(expression: str) -> None:
    names = METRIC.findall(re.sub(r'"[^"]*"|\[[^]]*\]', "", expression))
    assert names
    assert set(names) <= set(LABELS)


@pytest.mark.parametrize("expression", QUERIES)
def test_a_query_matches_and_groups_by_labels_that_its_metrics_have(expression: str) -> None:
    names = METRIC.findall(re.sub(r'"[^"]*"|\[[^]]*\]', "", expression))
    known = {label for name in names for label in LABELS[name]} | (OF_A_PROBLEM if "problem" in expression else set())
    grouped = re.findall(r"\b(?:by|on|ignoring) \(([^)]*)\)", expression)
    matched = re.findall(r'(\w+)=~?"', expression)
    assert {label.strip() for group in grouped for label in group.split(",")} | set(matched) <= known


@pytest.mark.parametrize("expression", QUERIES)
def test_a_query_stays_within_the_chosen_cluster(expression: str) -> None:
    for name, matchers in re.findall(r"\b([a-z]\w*:\w+(?::\w+)*)(\{[^}]*\})?", re.sub(r"\[[^]]*\]", "", expression)):
        assert 'cluster="$cluster"' in matchers, name


@pytest.mark.parametrize("uid", BOARDS)
def test_a_legend_names_labels_that_the_query_leaves(uid: str) -> None:
    for panel in panels(BOARDS[uid]):
        for target in panel["targets"]:
            names = METRIC.findall(re.sub(r'"[^"]*"|\[[^]]*\]', "", target["expr"]))
            known = {label for name in names for label in LABELS[name]} | OF_A_PROBLEM
            outer = re.match(r"(?:max|sum|count|group) by \(([^)]*)\)", target["expr"])
            if outer:
                known = {label.strip() for label in outer.group(1).split(",")}
            used = set(re.findall(r"\{\{(\w+)\}\}", target.get("legendFormat", "")))
            assert used <= known, (panel["title"], used - known)


def test_lines_have_a_legend_and_the_ten_worst_their_values() -> None:
    every = (*BOARDS.values(), *map(json.loads, cloudwatch_dashboards().values()))
    drawn = [panel for board in every for panel in panels(board) if "legend" in panel["options"]]
    assert {panel["type"] for panel in drawn} == {"timeseries", "state-timeline"}
    shown, tables = 0, []
    for panel in drawn:
        legend = panel["options"]["legend"]
        assert legend["showLegend"] == (panel["type"] == "timeseries"), panel["title"]
        ten = re.findall(r"(top|bottom)k\(\d|(LIMIT 10)", json.dumps(panel["targets"]))
        is_table = panel["type"] == "timeseries" and bool(ten)
        assert (legend["displayMode"], legend["calcs"]) == (("table", ["lastNotNull"]) if is_table else ("list", []))
        if is_table:
            tables.append(panel["title"])
            assert legend["sortDesc"] == any("bottom" not in end for end in ten), panel["title"]
        shown += legend["showLegend"]
    assert shown > 80
    assert {"Hottest GPUs", "Clock against the job's median", "GPU power by node"} <= set(tables)


@pytest.mark.parametrize("uid", BOARDS)
def test_a_panel_has_a_description_and_a_unique_id(uid: str) -> None:
    board = BOARDS[uid]
    assert max(Counter(panel["id"] for panel in board["panels"]).values()) == 1
    for panel in panels(board):
        assert len(panel["description"]) > 10, panel["title"]


@pytest.mark.parametrize("uid", BOARDS)
def test_the_reader_chooses_the_data_source(uid: str) -> None:
    first = BOARDS[uid]["templating"]["list"][0]
    assert (first["name"], first["type"]) == ("datasource", "datasource")
    for panel in panels(BOARDS[uid]):
        assert panel["datasource"]["uid"] == "${datasource}"
        assert {target["datasource"]["uid"] for target in panel["targets"]} == {"${datasource}"}


@pytest.mark.parametrize("uid", [uid for uid, board in BOARDS.items() if "query_result" in json.dumps(board)])
def test_a_node_is_selected_by_its_name_or_id(uid: str) -> None:
    """Grafana's own reading of a regex: the first match that has the group, each of them anywhere in the series."""
    (variable,) = [item for item in BOARDS[uid]["templating"]["list"] if item["name"] == "node"]
    pattern = re.sub(r"\(\?<(\w+)>", r"(?P<\1>", re.fullmatch("/(.*)/g", variable["regex"])[1])  # type: ignore[index]
    options = {
        '{instance="i-0a",node="train-2",shown="train-2 i-0a"} 1 1764170000000': ("train-2 i-0a", "i-0a"),
        '{node="train-3",shown="train-3 i-0b",instance="i-0b"} 1 1764170000000': ("train-3 i-0b", "i-0b"),
        '{instance="i-0c",shown=" i-0c"} 1 1764170000000': ("i-0c", "i-0c"),
    }
    for series, (text, value) in options.items():
        groups: dict[str, str] = {}
        for match in re.finditer(pattern, series):
            groups = {name: group for name, group in match.groupdict().items() if group} | groups
        assert groups == {"text": text, "value": value}


def test_the_newest_job_is_the_first_to_select_and_the_map_of_gpus_is_of_the_selected_groups() -> None:
    orders = {
        (uid, variable["name"]): variable["sort"]
        for uid, board in BOARDS.items()
        for variable in board["templating"]["list"]
        if variable["type"] == "query"
    }
    newest = {key for key, order in orders.items() if order == models.VariableSort.NATURAL_DESC}
    assert newest == {key for key in orders if key[1] == "job"} != set()
    (map_,) = [panel for panel in panels(BOARDS["ultracluster-fleet"]) if panel["title"] == "GPUs by node"]
    assert 'group=~"$group"' in map_["targets"][0]["expr"]


def test_a_table_of_nodes_has_their_names() -> None:
    tables = [
        (panel, rename)
        for board in BOARDS.values()
        for panel in panels(board)
        for change in panel.get("transformations", ())
        if "instance" in (rename := change["options"].get("renameByName", {}))
    ]
    assert len(tables) >= 7
    for panel, rename in tables:
        assert rename["node"] == "Name", panel["title"]
        assert "ultracluster_node_name_info" in panel["targets"][0]["expr"] or "_problem" in panel["targets"][0]["expr"]


def test_every_panel_of_the_network_is_of_the_selected_place() -> None:
    for panel in panels(BOARDS["ultracluster-network"]):
        for target in panel["targets"]:
            for label in ("network_node_2", "network_node_3", "ultraserver"):
                assert f'{label}=~"${label}"' in target["expr"], panel["title"]


def test_for_amazons_plugin_every_data_source_is_of_its_type() -> None:
    for text in dashboards(data_source=AMAZON_PROMETHEUS_PLUGIN).values():
        assert '"prometheus"' not in text
        assert json.loads(text)["templating"]["list"][0]["query"] == AMAZON_PROMETHEUS_PLUGIN


def test_rejects_another_data_source() -> None:
    with pytest.raises(ValueError, match="must be prometheus or grafana-amazonprometheus-datasource, got 'loki'"):
        dashboards(data_source="loki")


def test_links_lead_to_dashboards_and_hand_on_what_they_ask_for() -> None:
    for uid, board in BOARDS.items():
        for panel in panels(board):
            for link in panel["fieldConfig"]["defaults"].get("links", []):
                target, label = re.findall(r"^/d/([\w-]+)\?.*var-(\w+)=", link["url"])[0]
                requested = {variable["name"] for variable in BOARDS[target]["templating"]["list"]}
                assert label in requested, (uid, panel["title"])


@pytest.mark.parametrize("uid", BOARDS)
def test_a_number_that_is_not_there_is_neither_nought_nor_green(uid: str) -> None:
    # Without GPUs' metrics `GPUs missing` has no value; Grafana gives that the color of the first step.
    for panel in panels(BOARDS[uid]):
        if panel["type"] == "stat":
            (mapping,) = panel["fieldConfig"]["defaults"]["mappings"]
            assert mapping["options"]["match"] == "null+nan"
            assert mapping["options"]["result"]["text"] == "No data"
            assert "noValue" not in panel["fieldConfig"]["defaults"]


def test_every_state_of_slurm_has_a_colour_and_no_good_one_is_red() -> None:
    assert set(OF_NODES) == set(SLURM_NODE_STATES)
    assert set(OF_JOBS) == set(SLURM_JOB_STATES)
    red = {state for states in (OF_NODES, OF_JOBS) for state, colour in states.items() if "red" in colour}
    assert red == {"down", "fail", "noresp", "failed", "node_failed"}
    (drawn,) = [item for item in panels(BOARDS["ultracluster-scheduler"]) if item["title"] == "Nodes by state"]
    result = {
        item["matcher"]["options"]: item["properties"][0]["value"]["fixedColor"]
        for item in drawn["fieldConfig"]["overrides"]
    }
    assert result == OF_NODES
    assert set(result.values()) <= set(LINES)


def test_the_way_from_the_fleet_leads_to_jobs_and_nodes() -> None:
    links = json.dumps([panel["fieldConfig"] for panel in panels(BOARDS["ultracluster-fleet"])])
    assert "/d/ultracluster-job?" in links
    assert "/d/ultracluster-node?" in links


@pytest.mark.parametrize("uid", BOARDS)
def test_rows_are_full_and_panels_do_not_overlap(uid: str) -> None:
    taken: set[tuple[int, int]] = set()
    for panel in BOARDS[uid]["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells


@pytest.mark.parametrize("uid", BOARDS)
def test_grafanas_own_model_knows_every_field(uid: str) -> None:
    # What it doesn't know it leaves out, so a field of another name or place would be gone.
    assert json.loads(json.dumps(models.Dashboard.from_json(json.loads(TEXTS[uid])), cls=JSONEncoder)) == BOARDS[uid]


@pytest.mark.parametrize("expression", [item for item in QUERIES if re.search("(top|bottom)k", str(item.values[0]))])
def test_the_ten_are_chosen_once_or_are_few(expression: str) -> None:
    # Chosen for each moment, ten become dozens of lines: only rare errors may be.
    assert "@ end()" in expression or "> 0" in expression or "amazonefa_rx_drops" in expression


def test_the_runbook_of_an_alert_is_the_panel_that_it_links_to() -> None:
    board = json.loads(dashboards()[RUNBOOKS])
    titles = {panel["id"]: panel["title"] for panel in panels(board)}
    linked = {}
    for group in yaml.safe_load(rules()["alerts.yaml"])["groups"]:
        for rule in group["rules"]:
            if "alert" in rule:
                path, _, number = rule["annotations"]["runbook_url"].partition("?viewPanel=")
                assert path == f"{GRAFANA}/d/{RUNBOOKS}"
                linked[rule["alert"]] = titles[int(number)]
    assert linked
    assert linked == {name: name for name in linked}
    for panel in panels(board):
        assert ALERTS[panel["title"]].actions[0] in panel["options"]["content"]


def test_gpus_of_jobs_that_report_no_lost_time_lower_no_share(tmp_path: Path) -> None:
    (panel,) = [
        item for item in panels(BOARDS["ultracluster-goodput"]) if item["title"] == "Time that is lost, by cause"
    ]
    series = {
        'job_cause:train_lost_seconds:sum_rate5m{cluster="c", job_id="1", cause="startup"}': "0.4x9",
        'job_cause:train_lost_seconds:sum_rate5m{cluster="c", job_id="1", cause="repeated"}': "0.1x9",
        'job:ultracluster_gpus:count{cluster="c", job_id="1"}': "8x9",
        'job:ultracluster_gpus:count{cluster="c", job_id="2"}': "24x9",
    }
    expected = [
        {"labels": f'{{cause="{cause}"}}', "value": value} for cause, value in (("startup", 0.4), ("repeated", 0.1))
    ]
    query = {"expr": panel["targets"][0]["expr"].replace("$cluster", "c"), "eval_time": "2m", "exp_samples": expected}
    given = [{"series": name, "values": values} for name, values in series.items()]
    promtool(tmp_path, [{"interval": "1m", "input_series": given, "promql_expr_test": [query]}], files=())


def test_runbooks_name_the_reboot_before_a_reset_of_a_gpu_which_the_exporter_uses() -> None:
    p5 = instance_type("p5.48xlarge")
    to = RemoteWrite(region="us-east-2", parameter="/x")
    units = node_collectors(p5, cluster="llama", group="train", efa_devices=32, to=to).units
    unit = "ultracluster-metrics-dcgm"
    assert f"{unit}.service" in units
    names = [name for name, alert in ALERTS.items() if "--gpu-reset" in alert.runbook]
    assert {"GpuXidReset", "GpuRecoveryRequired", "GpuEccUncorrected", "GpuRowRemapPending", "NvswitchFatal"} <= {
        *names
    }
    for name in names:
        steps = "\n".join(ALERTS[name].actions)
        reset = (f"systemctl stop {unit}", "nvidia-smi --gpu-reset", f"systemctl start {unit}")
        positions = [steps.index(f"`sudo {command}") for command in ("reboot", *reset)]
        assert positions == sorted(positions)


def test_a_command_of_a_runbook_that_needs_root_has_it() -> None:
    """A session of SSM is no root, and Ubuntu hides the kernel's log and that of services from others."""
    privileged = re.compile(
        r"^(dmesg|journalctl|lnetctl|lspci|nvidia-smi --gpu-reset|systemctl (re)?st(art|op)|mkdir) "
    )
    for alert in ALERTS.values():
        for command in re.findall(r"`([^`]+)`", alert.runbook.partition("```")[0]):
            assert not privileged.match(command), (alert.name, command)
            assert not re.search(r"(?<!sudo tee )/run/ultracluster/\S*since$", command), (alert.name, command)
            assert not re.match(r"kubectl describe workload(?!.*--namespace)", command), (alert.name, command)


def test_grafanas_own_model_knows_the_runbooks() -> None:
    board = json.loads(dashboards()[RUNBOOKS])
    assert json.loads(json.dumps(models.Dashboard.from_json(board), cls=JSONEncoder)) == board
    for panel in panels(board):
        assert (
            json.loads(json.dumps(text_panel.Options.from_json(panel["options"]), cls=JSONEncoder)) == panel["options"]
        )
