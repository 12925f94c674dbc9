"""Find the bad nodes of a gang by pairs of its pods, which run an all-reduce."""

from __future__ import annotations

import contextlib
import statistics
import subprocess
from collections import Counter
from collections.abc import Generator, Sequence
from typing import Any

Pair = tuple[int, int]
Round = tuple[list[Pair], bool]
Result = dict[str, Any]

_SHARE_OF_MEDIAN = 0.8
_PAIRS_OF_A_MEDIAN = 3


def nvlink_domain() -> str:
    """Return the NVLink domain of this node, as NCCL compares it, or an empty text.

    GPUs whose domain is their node have zeros, or N/A: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/issues/626
    shows the lines (read 2026-11-27).
    """
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        command = ["nvidia-smi", "--query", "--id=0"]
        lines = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout.splitlines()
        fabric = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        cluster = fabric.get("ClusterUUID", "")
        if set(cluster) <= set("0123456789abcdef-") and cluster.strip("0-"):
            return f"{cluster}.{fabric.get('CliqueId')}"
    return ""


def judge(
    pods: Sequence[dict[str, Any]], facts: dict[str, Any], nccl: bool
) -> Generator[Round, list[Result], dict[int, str]]:
    """Yield rounds of pairs, receive their results, and return the reasons of bad pods by index.

    A round has its pairs, and whether they use NVLink between nodes. A result is {"error": text} or
    {"rates": {bytes: GB/s}}, with the floors of `facts`, also by bytes.
    """
    bad = {pod["index"]: pod["reason"] for pod in pods if pod["reason"]}
    rest = [pod["index"] for pod in pods if not pod["reason"]]
    if not nccl:
        return bad
    domains = {pod["index"]: pod["domain"] for pod in pods if pod["index"] in rest}
    # A pod that is alone in its domain pairs over EFA.
    nodes = Counter(domains.values())
    domains = {index: name if nodes[name] > 1 else "" for index, name in domains.items()}
    bad |= yield from _slow_pods(rest, domains, facts, nvlink=True)
    if any(domains.values()):
        bad |= yield from _slow_pods([pod for pod in rest if pod not in bad], {}, facts, nvlink=False)
    return bad


def _slow_pods(
    pods: Sequence[int], domains: dict[int, str], facts: dict[str, Any], *, nvlink: bool
) -> Generator[Round, list[Result], dict[int, str]]:
    """Test pods in pairs inside their domains, and each of a slow pair again with one of a good pair."""
    pairs: list[Pair] = []
    alone: dict[str, int] = {}
    for pod in pods:
        other = alone.pop(domains.get(pod, ""), None)
        if other is None:
            alone[domains.get(pod, "")] = pod
        else:
            pairs.append((other, pod))
    bad: dict[int, str] = {}
    if not pairs:
        return bad
    suspects, good = list(alone.values()), list[int]()
    results = yield pairs, nvlink
    largest = [max(rates.items())[1] for rates in map(_rates, results) if rates]
    least = _SHARE_OF_MEDIAN * statistics.median(largest) if len(largest) >= _PAIRS_OF_A_MEDIAN else 0
    for pair, result in zip(pairs, results, strict=True):
        (suspects if slow(result, facts["floors"], least) else good).extend(pair)
    if not good:
        print(f"gate: no pair is good, which shows no bad node: {slow(results[0], facts['floors'], least)}", flush=True)
    while suspects:
        free, again = list(good), list[Pair]()
        for pod in suspects:
            partner = next((each for each in free if domains.get(each) == domains.get(pod)), None)
            if partner is not None:
                free.remove(partner)
                again.append((pod, partner))
        # None of those that are left has a good pair in its domain.
        if not again:
            break
        results = yield again, nvlink
        for (suspect, _), result in zip(again, results, strict=True):
            if reason := slow(result, facts["floors"], least):
                bad[suspect] = reason if nvlink else f"{reason}, without NVLink between nodes"
        suspects = [pod for pod in suspects if pod not in dict(again)]
    return bad


def _rates(result: Result) -> dict[int, float]:
    return {int(size): float(rate) for size, rate in result.get("rates", {}).items()}


def slow(result: Result, floors: dict[str, float], least: float) -> str:
    """Return why a pair is slow, or an empty text."""
    if "error" in result:
        return f"all-reduce {result['error']}"
    rates = _rates(result)
    for size, rate in rates.items():
        floor = float(floors.get(str(size), least if size == max(rates) else 0))
        if rate < floor:
            return f"all-reduce of {size / 2**30:g} GiB at {rate:.4g} GB/s, below {floor:.4g}"
    return ""
