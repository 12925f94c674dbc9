"""The queries of the dashboards, with a reader's choices filled in."""

import json
import re
from collections.abc import Iterator, Mapping

from synthetic.shortened import shorter

from ultracluster.metrics.dashboard_files import dashboards

#: What is empty while nothing is wrong: panel by its dashboard and title.
EMPTY_WHEN_WELL = {
    "fleet": {"Problems", "Problems over time", "XIDs by policy", "Uncorrectable memory errors", "NVLink errors"},
    "job": {"Problems of its nodes"},
    "network": {"Dropped packets by device", "Nodes without all their EFA devices"},
    "node": {"Problems", "XIDs"},
    "pipeline": {"Exporters that do not answer"},
    "scheduler": {"Nodes not ready"},
    "storage": {"Mounts that are not well"},
}
#: What none of the injected faults does: panel -> the metrics that stay silent.
NOT_INJECTED = {
    ("fleet", "XIDs by policy"): {"node:xid_watch:count", "node:xid_application:count"},
    ("fleet", "Uncorrectable memory errors"): {"gpu:row_remap_failed:bool"},
    ("fleet", "NVLink errors"): {"gpu:nvlink_crc_errors:total", "gpu:nvlink_recovery_failures:total"},
    ("fleet", "Throttled by heat"): {"gpu:thermal_throttle:seconds_total"},
    ("network", "Nodes without all their EFA devices"): {"node:efa_devices_expected:count"},
    ("node", "Reasons to slow down"): {"gpu:clock_event:count"},
    ("pipeline", "Exporters that do not answer"): {"pipeline:exporter_up:bool"},
    ("scheduler", "Nodes not ready"): {"kube:accelerator_unhealthy:bool"},
}


def queries(chosen: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Dashboard, title of the panel and query, for every query of every panel; where several may be chosen, all are."""
    for uid, text in dashboards().items():
        board = json.loads(text)
        several = {variable["name"] for variable in board["templating"]["list"] if variable.get("includeAll")}
        values = {name: ".*" if name in several else value for name, value in chosen.items()}
        for panel in board["panels"]:
            for target in panel.get("targets", ()):
                filled = re.sub(r"\$(\w+)", lambda found: values.get(found[1], ".*"), target["expr"])  # noqa: B023
                # On the fast clock: a step of a minute is none yet when the cluster is half a minute old.
                filled = re.sub(r"\[(\w+):(\w+)]", lambda found: f"[{shorter(found[1])}:{shorter(found[2])}]", filled)
                yield uid.removeprefix("ultracluster-"), panel["title"], filled


def silent(board: str, title: str, query: str) -> bool:
    """Whether a query has nothing to say of the injected faults."""
    return any(name in query for name in NOT_INJECTED.get((board, title), ()))
