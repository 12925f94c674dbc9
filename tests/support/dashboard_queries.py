"""The queries of the dashboards, with a reader's choices filled in."""

import json
import re
from collections.abc import Iterator, Mapping

from support.synthetic.shortened import shorter
from ultracluster.monitoring.dashboards import dashboards

#: What is empty while nothing is wrong: panel by its dashboard and title.
EMPTY_WHEN_WELL = {
    "fleet": {"Problems", "Problems over time", "XIDs by policy", "Uncorrectable memory errors", "NVLink errors"},
    "goodput": {"Nodes that fail again", "Mean time to failure"},
    "job": {"Problems of its nodes"},
    "network": {"Dropped packets by device", "Problems by network node", "Nodes without all their EFA devices"},
    "node": {"Problems", "XIDs"},
    "pipeline": {"Exporters that do not answer"},
    "scheduler": {"Nodes not ready"},
    "storage": {"Mounts that are not well"},
}
#: What none of the injected faults does: panel -> the metrics that stay silent.
NOT_INJECTED = {
    ("fleet", "XIDs by policy"): {
        "node_xid:ultracluster_gpu_xid_errors_watch:sum",
        "node_xid:ultracluster_gpu_xid_errors_application:sum",
    },
    ("fleet", "Uncorrectable memory errors"): {"ultracluster_gpu_row_remap_failed"},
    ("fleet", "NVLink errors"): {
        "ultracluster_gpu_nvlink_crc_errors_total",
        "ultracluster_gpu_nvlink_recovery_failures_total",
    },
    ("fleet", "Throttled by heat"): {"ultracluster_gpu_thermal_throttle_seconds_total"},
    ("network", "Nodes without all their EFA devices"): {"ultracluster_node_expected_efa_devices"},
    ("node", "Reasons to slow down"): {"ultracluster_gpu_clock_events"},
    ("pipeline", "Exporters that do not answer"): {"ultracluster_exporter_up"},
    ("scheduler", "Jobs that Slurm does not start"): {"ultracluster_slurm_blocked_jobs"},
    ("scheduler", "Nodes not ready"): {"ultracluster_kube_accelerator_unhealthy"},
    ("storage", "Nodes that Lustre evicted"): {"ultracluster_node_lustre_evictions"},
}


def queries(chosen: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Dashboard, title of the panel and query, for every query of every panel; where several may be chosen, all are."""
    for uid, text in dashboards().items():
        board = json.loads(text)
        several = {variable["name"] for variable in board["templating"]["list"] if variable.get("includeAll")}
        values = {name: ".*" if name in several else value for name, value in chosen.items()} | {"__range": "1h"}
        values |= {item["name"]: item["query"] for item in board["templating"]["list"] if item["type"] == "textbox"}
        for panel in board["panels"]:
            for target in panel.get("targets", ()):
                filled = re.sub(r"\$(\w+)", lambda result: values.get(result[1], ".*"), target["expr"])  # noqa: B023
                # On the fast clock: a step of a minute is none yet when the cluster is half a minute old.
                filled = re.sub(
                    r"\[(\w+):(\w+)]", lambda result: f"[{shorter(result[1])}:{shorter(result[2])}]", filled
                )
                yield uid.removeprefix("ultracluster-"), panel["title"], filled


def silent(board: str, title: str, query: str) -> bool:
    """True if a query has no result with the injected faults."""
    return any(name in query for name in NOT_INJECTED.get((board, title), ()))
