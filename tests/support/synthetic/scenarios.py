"""Fault scenarios, and the time from each fault to its notification.

    python -m synthetic.scenarios [RULES.yaml ...]

prints the table of docs/operations/verification.md; rules of other people are evaluated beside ours, on the same
samples and the same fast clock.
"""

import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from support.synthetic.cluster import SyntheticCluster
from support.synthetic.fleet import JOBS


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A fault.

    Args:
        name: What happens.
        state: The state that the nodes are put into.
        nodes: Which nodes.
        alerts: Alerts that must be notified.
        inhibited: Alerts that fire too, and are held back because another says it all.
        not_notified: Alerts that fire without a notification.
    """

    name: str
    state: str
    nodes: tuple[int, ...]
    alerts: tuple[str, ...]
    inhibited: tuple[str, ...] = ()
    not_notified: tuple[str, ...] = ()


#: All at once, on nodes apart from each other. GpuMissing says what GpuXidFatal has said.
SCENARIOS = (
    Scenario(name="XID 79: a GPU has fallen off the bus", state="xid79", nodes=(1,), alerts=("GpuXidFatal",),
             inhibited=("GpuMissing",)),
    Scenario(name="Uncorrectable memory error, XID 48", state="ecc", nodes=(3,),
             alerts=("GpuXidReset",), inhibited=("GpuEccUncorrected",)),
    Scenario(name="An NVLink flaps", state="nvlink", nodes=(5,), alerts=("NvlinkErrors",)),
    Scenario(name="An EFA device drops packets", state="efa", nodes=(7,), alerts=("EfaReceiveDrops",)),
    Scenario(name="A GPU at 62 % of its clock", state="straggler", nodes=(9,), alerts=("StragglerClock",)),
    Scenario(name="A job hangs in a collective", state="hung", nodes=tuple(JOBS["1002"]), alerts=("JobHung",),
             inhibited=("JobStepStalled",)),
    Scenario(name="A job writes no checkpoint", state="stale", nodes=(JOBS["1003"][0],), alerts=("CheckpointStale",)),
    # The others of its job wait for it: JobHung is silent while a node of its job has a critical alert.
    Scenario(name="A node of a job dies", state="lost", nodes=(JOBS["1004"][-1],), alerts=("NodeLost", "NodesMissing")),
    Scenario(name="Lustre falls back to TCP", state="tcp", nodes=(11,), alerts=("LustreOverTcp",)),
    Scenario(name="XID 31: the program's own fault", state="xid31", nodes=(13,), alerts=(),
             not_notified=("GpuXidApplication",)),
    Scenario(name="Exporters are upgraded to DCGM 4.7's names", state="upgraded", nodes=tuple(range(14, 18)),
             alerts=()),
)  # fmt: skip


def settle(cluster: SyntheticCluster) -> None:
    """Wait until everything is there and nothing is wrong: at the start a fast clock is faster than the samples."""
    gpus = 8 * len(cluster.fleet)
    cluster.until("all GPUs", lambda: value(cluster, "sum(cluster:ultracluster_gpus:count)") == gpus)
    cluster.until("a healthy cluster", lambda: not cluster.firing())


def inject(cluster: SyntheticCluster) -> dict[str, float]:
    """All faults, and when each came."""
    since = {scenario.name: cluster.inject(scenario.state, *scenario.nodes) for scenario in SCENARIOS}
    cluster.inject("hung", *JOBS["1004"][:-1])
    return since


def value(cluster: SyntheticCluster, expression: str) -> float:
    """The only value of an expression; 0 when there is none."""
    result = cluster.query(expression)
    return float(result[0]["value"][1]) if result else 0


def main(files: list[str]) -> None:
    """Print the table."""
    with (
        tempfile.TemporaryDirectory() as directory,
        SyntheticCluster(Path(directory), extra_rules=tuple(map(Path, files))) as cluster,
    ):
        settle(cluster)
        cluster.notifications.clear()
        at_rest = time.time()
        time.sleep(20)
        print("| scenario | alert | seconds to webhook |\n|---|---|---|")
        quiet = sorted(
            {item["labels"]["alertname"] for when, _, item in cluster.notifications if when >= at_rest} - {"Watchdog"}
        )
        print(f"| healthy, 20 s | {', '.join(quiet) or 'none'} | |")
        since = inject(cluster)
        last = time.time()
        time.sleep(60)
        status: dict[tuple[str, str], float] = {}
        for when, _, item in cluster.notifications:
            if when >= last and item["status"] == "firing":
                status.setdefault((item["labels"]["alertname"], item["labels"].get("instance", "")), when)
        for scenario in SCENARIOS:
            instances = {cluster.fleet[number].instance for number in scenario.nodes}
            named = [(alert, when) for (alert, where), when in status.items() if where in instances]
            named += [
                (alert, when) for (alert, where), when in status.items() if not where and alert in scenario.alerts
            ]
            shown = [f"{alert}: {when - since[scenario.name]:.0f}" for alert, when in sorted(set(named))]
            print(f"| {scenario.name} | {'; '.join(shown) or 'none'} | |")
        others = {alert for (alert, where) in status if not where}
        print("of the cluster as a whole:", ", ".join(sorted(others)))


if __name__ == "__main__":
    main(sys.argv[1:])
