"""Bad pods of a gang on several UltraServers, found by the rates of their pairs."""

import importlib
import json
import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any

import pytest

from support import ROOT, h100

SIZE = str(16 * 2**30)
NVLINK, EFA = 700.0, 180.0


@pytest.fixture
def pairs(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "constructs/ultracluster/boot/scripts"))
    monkeypatch.delitem(sys.modules, "ultracluster_gate_pairs", raising=False)
    return importlib.import_module("ultracluster_gate_pairs")


def bad_pods(
    pairs: ModuleType, domains: str, *, bad: Iterable[int] = (), slow: Iterable[tuple[int, bool]] = ()
) -> dict[int, str]:
    """Bad pods of a gang.

    Args:
        pairs: The module.
        domains: Domain of each pod, a letter; a hyphen for none.
        bad: Pods that fail the test of their own node.
        slow: Pods with a slow link, and whether it is NVLink.
    """
    letters = domains.replace("-", "\0")
    pods = [
        {"index": index, "reason": "7 of 8 GPUs" if index in bad else "", "domain": name.strip("\0")}
        for index, name in enumerate(letters)
    ]
    links = set(slow)

    def rate(first: int, second: int, nvlink: bool) -> float:
        over_nvlink = nvlink and domains[first] == domains[second] != "-"
        if {(first, over_nvlink), (second, over_nvlink)} & links:
            return 90.0
        return NVLINK if over_nvlink else EFA

    rounds: Any = pairs.judge(pods, {"floors": {}}, nccl=True)
    try:
        tested, nvlink = next(rounds)
        while True:
            tested, nvlink = rounds.send([{"rates": {SIZE: rate(first, second, nvlink)}} for first, second in tested])
    except StopIteration as end:
        result: dict[int, str] = end.value
        return result


@pytest.mark.parametrize(
    "domains", ["a" * 9 + "b" * 9, "a" * 18 + "b" * 18, "a" * 5 + "b" * 4 + "c", "-" * 7, "abcdef"]
)
def test_healthy_pods_are_good(pairs: ModuleType, domains: str) -> None:
    assert bad_pods(pairs, domains) == {}


def test_a_bad_node_leaves_the_healthy_ones_of_two_ultraservers(pairs: ModuleType) -> None:
    assert bad_pods(pairs, "a" * 18 + "b" * 18, bad=[3]) == {3: "7 of 8 GPUs"}


@pytest.mark.parametrize("pod", [0, 8, 9, 17])
@pytest.mark.parametrize(("nvlink", "how"), [(True, ""), (False, ", without NVLink between nodes")])
def test_a_slow_link_is_that_of_its_pod(pairs: ModuleType, pod: int, nvlink: bool, how: str) -> None:
    least = 0.8 * (NVLINK if nvlink else EFA)
    reason = f"all-reduce of 16 GiB at 90 GB/s, below {least:.4g}{how}"
    assert bad_pods(pairs, "a" * 9 + "b" * 9, slow=[(pod, nvlink)]) == {pod: reason}


@pytest.mark.parametrize("domains", ["-" * 8, "abcdefgh", "aabbccdd"])
def test_efa_is_tested_where_nodes_share_no_domain_or_a_small_one(pairs: ModuleType, domains: str) -> None:
    assert list(bad_pods(pairs, domains, slow=[(5, False)])) == [5]


def test_the_rates_are_read_where_nccl_logs_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU, NCCL 2.28 logs after the program's last line."""
    monkeypatch.syspath_prepend(str(ROOT / "constructs/ultracluster/boot/scripts"))
    module = importlib.import_module("ultracluster_all_reduce")
    output = h100.text("all-reduce")
    assert output.strip().endswith("NCCL INFO ENV/Plugin: Closing env plugin ncclEnvDefault")
    assert json.loads(module.last_line(output))["rates"]["268435456"] == pytest.approx(1.69, abs=0.01)
