"""Alerts of one cause: which of them are sent, and that none is sent before its cause is known."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from support import story_batches
from support.rule_tests import all_rules, promtool
from support.stories import Played, stories
from ultracluster.monitoring.names import PROBLEM, PROBLEM_CAUSE, PROBLEM_FIRST, PROBLEM_START

#: Messages of a story, each with what its alert distinguishes.
SENT = {
    "XID 79 and a check of IMEX, which fails on for an hour after the XID is over": {
        "GpuXidFatal 79", "NodeUnhealthy imex"
    },
    "XID 79 and the check of the devices, and ten minutes later another check of the node fails": {
        "GpuXidFatal 79", "NodeUnhealthy local-scratch"
    },
    "a node lacks an EFA card for hours, and an hour later another check of it fails": {
        "EfaDeviceMissing", "NodeUnhealthy imex"
    },
    "XID 119 on a node, and twenty minutes later XID 48 on another GPU of it": {"GpuXidReset 119", "GpuXidReset 48"},
    "XID 79 and 119 of one GPU in two minutes, which its check shows for an hour": {"GpuXidFatal 79"},
    "a check fails for two minutes of a boot, and a GPU is missing for as long": set(),
    "XID 48 with its counter, which stays for hours because nobody resets the GPU": {"GpuXidReset 48"},
}  # fmt: skip


def sent(played: Played) -> set[str]:
    """Return the alerts of nodes that fire for two minutes without a cause."""
    result = set()
    for minute, alerts in played.firing.items():
        before = played.firing.get(minute - 1, [])
        result |= {
            " ".join(labels[key] for key in ("alertname", "check", "xid") if labels.get(key))
            for labels in alerts
            if labels["severity"] == "critical" and not labels.get("cause") and labels in before
        }
    return result


@pytest.mark.parametrize("name", SENT)
def test_a_message_is_sent_for_each_fault_of_a_node_while_its_cause_lasts(name: str) -> None:
    (story,) = [story for story in stories() if story.name == name]
    assert sent(story_batches.played(story)) == SENT[name]


# Three faults of one cause, of which the first alone is sent: XID 79, the check of the devices and a missing GPU.
_LABELS = 'cluster="llama", instance="i-1", instance_type="p5.48xlarge", zone="use2-az1", group="train"'
_FAULTS: Mapping[str, str] = {
    f'{PROBLEM}{{{_LABELS}, problem="GpuXidFatal", xid="79"}}': "_x9 1x100",
    f'{PROBLEM}{{{_LABELS}, problem="GpuXidReset", xid="119"}}': "_x9 1x100",
    f'{PROBLEM}{{{_LABELS}, problem="NodeUnhealthy", check="devices"}}': "_x11 1x98",
    f'{PROBLEM}{{{_LABELS}, problem="GpuMissing"}}': "_x10 2x99",
}


@pytest.mark.parametrize("first", ["causes", "alerts"])
def test_no_alert_fires_before_its_cause_is_known_whichever_group_is_evaluated_first(
    first: str, tmp_path: Path
) -> None:
    # At the interval of a workspace: where the cause is recorded after the alerts, they see it half a minute later.
    recorded = [rule for rule in all_rules() if rule.get("record") in (PROBLEM_START, PROBLEM_FIRST, PROBLEM_CAUSE)]
    assert len(recorded) == 3
    alerts = [rule for rule in all_rules() if rule.get("alert") in ("GpuXidReset", "NodeUnhealthy", "GpuMissing")]
    groups = {"causes": recorded, "alerts": alerts}
    order = sorted(groups, key=lambda name: name != first)
    text = {"groups": [{"name": name, "interval": "30s", "rules": rules} for name, rules in groups.items()]}
    (tmp_path / "rules.yaml").write_text(json.dumps(text))
    firing = 'ALERTS{alertstate="firing", cause'
    test = {
        "interval": "30s",
        "input_series": [{"series": series, "values": values} for series, values in _FAULTS.items()],
        "promql_expr_test": [
            *({"expr": f'{firing}=""}}', "eval_time": f"{second}s"} for second in range(270, 3000, 30)),
            {"expr": f'count({firing}="GpuXidFatal"}})', "eval_time": "20m",
             "exp_samples": [{"labels": "{}", "value": 3}]},
        ],
    }  # fmt: skip
    promtool(tmp_path, [test], evaluation_interval="30s", group_eval_order=order)
