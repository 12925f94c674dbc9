"""Alerts on nodes before the start of their capacity, in the drain before its end, and after it."""

import json
from pathlib import Path
from typing import Any

import pytest

from support import yaml12
from support.alert_cases import Series
from support.rule_tests import firing_test, needed, promtool
from ultracluster import clusterfile
from ultracluster.monitoring import cluster_rules
from ultracluster.monitoring.alerts import ALERTS, rules
from ultracluster.monitoring.names import CAPACITY_END, ENDING_NODES, EXPECTED_NODES, Profile

_HOUR = 3600
# The clock of promtool begins in 1970.
_START, _DRAIN, _END = 2 * _HOUR, 9 * _HOUR, 10 * _HOUR
_GROUP = ("llama", "train")
_BLOCK = "kind: capacity-block, starts: 2026-12-04, ends: 2026-12-18"


def fires(directory: Path, alert: str, series: Series, answers: list[tuple[int, bool]], **times: Any) -> None:
    """Compare, at minutes, with the rules of a cluster with three nodes of a capacity and a login node."""
    times = times or {"starts": {_GROUP: _START}, "drains": {_GROUP: _DRAIN}, "ends": {_GROUP: _END}}
    inventory = {_GROUP: 3, ("llama", "login"): 1}
    texts = rules(Profile.BASIC, inventory=inventory, cluster="llama", **times).values()
    among = [rule for text in texts for group in yaml12.load(text)["groups"] for rule in group["rules"]]
    group = {"name": "one", "rules": needed(alert, among)}
    (directory / "rules.yaml").write_text(json.dumps({"groups": [group]}))
    promtool(directory, [firing_test(alert, series, answers)])


def node(number: int, values: str, group: str = "train") -> Series:
    labels = f'cluster="llama", job="node", instance="i-{number}", instance_type="p5en.48xlarge", zone="z"'
    return {f'up{{{labels}, group="{group}"}}': values}


LOGIN = node(0, "1x700", "login")


def test_nodes_are_missing_between_the_start_of_their_capacity_and_its_end(tmp_path: Path) -> None:
    answers = [(60, False), (125, False), (140, False), (155, True), (590, True), (610, False), (690, False)]
    fires(tmp_path, "NodesMissing", LOGIN, answers)


def test_a_node_that_boots_with_its_capacity_is_not_missing(tmp_path: Path) -> None:
    nodes = LOGIN | node(1, "_x130 1x300 _x300") | node(2, "_x132 1x600") | node(3, "_x134 1x600")
    fires(tmp_path, "NodesMissing", nodes, [(60, False), (160, False), (400, False), (470, True), (610, False)])


def test_nodes_without_times_are_missing_at_once(tmp_path: Path) -> None:
    fires(tmp_path, "NodesMissing", LOGIN, [(10, False), (20, True), (690, True)], starts={})


def slurm(state: str, values: str) -> Series:
    return {f'slurm_nodes_{state}{{cluster="llama"}}': values}


def test_the_drain_before_an_end_alerts_nobody(tmp_path: Path) -> None:
    answers = [(570, False), (600, False), (690, False)]
    fires(tmp_path, "SlurmNodesDrained", slurm("drain", "0x540 3x160"), answers)


def test_a_drained_node_beside_those_of_an_end_does(tmp_path: Path) -> None:
    fires(tmp_path, "SlurmNodesDrained", slurm("drain", "1x540 4x160"), [(35, True), (600, True), (690, True)])


def test_nodes_that_power_up_are_not_down_and_a_lost_one_counts_once(tmp_path: Path) -> None:
    """Slurm 25.11 sets the flag of nodes that do not respond while they power up, and of a node in `down*`."""
    series = slurm("noresp", "0x10 16x14 0x30 1x60") | slurm("powering_up", "0x10 16x14 0x90")
    series |= slurm("down", "0x54 1x60") | slurm("fail", "0x120")
    fires(tmp_path, "SlurmNodesDown", series, [(22, False), (24, False), (50, False), (70, True)])
    test = firing_test("SlurmNodesDown", series, [(70, True)])
    expected = {"expr": ALERTS["SlurmNodesDown"].expr, "exp_samples": [{"labels": '{cluster="llama"}', "value": 1}]}
    test["promql_expr_test"][0] |= expected
    promtool(tmp_path, [test])


def test_nodes_that_an_end_took_are_not_down(tmp_path: Path) -> None:
    fires(tmp_path, "SlurmNodesDown", slurm("down", "0x599 3x100"), [(620, False), (690, False)])


@pytest.mark.parametrize(("values", "minute"), [("1x699", 300), ("1x699", 570), ("0x599 4x100", 690)])
def test_other_nodes_are_down(values: str, minute: int, tmp_path: Path) -> None:
    fires(tmp_path, "SlurmNodesDown", slurm("down", values), [(minute, True)])


def file(orchestrator: str, capacity: str, **_: Any) -> clusterfile.ClusterFile:
    admins = '{admins: ["arn:aws:iam::123456789012:role/platform"]}'
    text = f"name: night\nregion: us-east-2\nzone: use2-az1\norchestrator: {orchestrator}\n"
    text += f"kubernetes: {admins}\n" if "kubernetes" in orchestrator else ""
    return clusterfile.loads(
        text + f"nodes: {{train: {{type: p5en.48xlarge, count: 16, capacity: {capacity}}}}}\n", "c"
    )


_START_2026, _TERMINATED = 1_796_384_700, 1_797_591_600  # 2026-12-04T11:45 and 2026-12-18T11:00 UTC
_PLAN = "training-plan: 'arn:aws:sagemaker:us-east-2:123456789012:training-plan/p'"


@pytest.mark.parametrize(
    ("orchestrator", "capacity", "end", "drain"),
    [
        ("slurm", f"reservation: cr-0123456789abcdef0, {_BLOCK}", _TERMINATED, _TERMINATED - _HOUR),
        # EKS scales to zero 40 minutes before the end.
        ("kubernetes", f"reservation: cr-0123456789abcdef0, {_BLOCK}", _TERMINATED - 600, None),
        ("kubernetes", "reservation: cr-0123456789abcdef0, kind: odcr, starts: 2026-12-04", None, None),
        ("hyperpod-slurm", f"{_PLAN}, starts: 2026-12-04, ends: 2026-12-18", _TERMINATED, _TERMINATED),
    ],
)
def test_the_times_are_those_of_the_cluster_file(
    orchestrator: str, capacity: str, end: int | None, drain: int | None
) -> None:
    text = cluster_rules(file(orchestrator, f"{{{capacity}}}"))["recording.yaml"]
    until = "" if end is None else f" and vector(time()) < {end}"
    assert f'{EXPECTED_NODES}\n        expr: "vector(16) and vector(time()) >= {_START_2026}{until}"' in text
    assert (f'{CAPACITY_END}\n        expr: "vector({end})"' in text) == (end is not None)
    assert (f'{ENDING_NODES}\n        expr: "vector(16) and vector(time()) >= {drain}"' in text) == (drain is not None)


def test_nobody_expects_nodes_that_a_command_starts() -> None:
    capacity = "{reservation: cr-0123456789abcdef0, kind: capacity-block, ends: 2026-12-18%s}"
    assert "train" not in file("kubernetes", capacity % "").expected_nodes
    assert file("kubernetes", capacity % ", active: true").expected_nodes["train"] == 16
