"""The rules on the activity of GPUs, with what loads of a real H100 have: `support/h100`."""

import json
from pathlib import Path
from typing import Any

import pytest

from support import h100
from support.rule_tests import needed, promtool

#: Loads whose GPU waits in a kernel for another rank.
WAITING = {"hang", "spin"}
#: Loads that use a good part of the GPU. The others leave most of it unused, and go on.
WORKING = {"bf16", "fp32", "fp64", "decode", "sort", "train1.4B", "train-110M-batch1"}


def series(load: dict[str, Any], of: str) -> list[dict[str, str]]:
    labels = 'cluster="llama", instance="train-1", gpu="0"'
    values = {
        "ultracluster_gpu_utilization_ratio": load["utilization"],
        "ultracluster_gpu_engine_active_ratio": load["engine"],
        "ultracluster_gpu_sm_active_ratio": load["sm"],
        "ultracluster_gpu_tensor_active_ratio": load["tensor"],
        "ultracluster_gpu_memory_active_ratio": load["memory"],
        "ultracluster_gpu_power_watts": load["watts"],
        "ultracluster_gpu_power_limit_watts": 700,
    }
    metrics = {f"{name}{{{labels}}}": value for name, value in values.items()}
    metrics[f'ultracluster_gpu_job_info{{{labels}, job_id="{of}"}}'] = 1
    return [{"series": name, "values": f"{value}x3"} for name, value in metrics.items()]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("job:ultracluster_gpus_spinning:ratio", WAITING),
        (
            "job:ultracluster_gpus_computing:ratio",
            WORKING,
        ),
        ("job:ultracluster_gpus_idle:ratio", {"idle", "copy"}),
    ],
)
def test_loads_of_a_real_gpu_differ_in_the_rules(tmp_path: Path, rule: str, expected: set[str]) -> None:
    (record,) = needed(rule, [item for item in needed(rule) if item.get("record") == rule])
    (tmp_path / "rules.yaml").write_text(json.dumps({"groups": [{"name": "one", "rules": [record]}]}))
    tests = []
    for load in h100.loads():
        name = load["load"]
        sample = {"labels": f'{{cluster="llama", job_id="{name}"}}', "value": int(name in expected)}
        query = {"expr": f'{rule}{{job_id="{name}"}} > bool 0', "eval_time": "2m", "exp_samples": [sample]}
        tests.append({"interval": "1m", "input_series": series(load, name), "promql_expr_test": [query]})
    promtool(tmp_path, tests)
