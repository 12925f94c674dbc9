"""Metrics that recording rules write, and the exporter metrics that each is recorded from.

Names follow Prometheus' conventions (https://prometheus.io/docs/practices/naming/ and .../rules/, read 2026-11-22):

- `ultracluster_<subsystem>_<name>_<unit>`: a metric of an exporter under one name for every release of the exporter,
  in base units, one series for each GPU, node, mount or job. Counters end in `_total`, metadata in `_info`. Counts and
  values that are 0 or 1 have no unit.
- `level:metric:operations`: an aggregation. The level names the labels that remain (`gpu`, `node`, `job`, `model`,
  `group`, `cluster`; `node_xid` is one series for each node and XID). The metric is the aggregated one, without
  `_total` if a rate was taken. The operations are the newest first: `sum_rate5m` is a sum of rates over five minutes.
  A ratio of two metrics is `ratio`.
"""

from ultracluster.monitoring.names._all import FAMILIES, METRICS, OTHERS, metrics
from ultracluster.monitoring.names._fleet import (
    CAPACITY_END,
    CLUSTER_METRICS,
    EXPECTED_NODES,
    JOB_CAUSE,
    JOB_PROBLEM,
    KUBERNETES_METRICS,
    NODE_CHECKS,
    PROBLEM,
    PROBLEM_CAUSE,
    PROBLEM_FIRST,
    PROBLEM_START,
    SLURM_JOB_STATES,
    SLURM_METRICS,
    SLURM_NODE_STATES,
)
from ultracluster.monitoring.names._gpu import (
    CLOCK_EVENTS_WINDOW,
    DCGM_METRICS,
    POD_OF_JOB,
    RESTART_SELECTOR,
    XID_WINDOW,
)
from ultracluster.monitoring.names._job import JOB_INFO, OUTAGE
from ultracluster.monitoring.names._metric import NODE, Metric, Profile, Source
from ultracluster.monitoring.names._node import EFA_COUNTERS, EFA_COUNTERS_FULL
from ultracluster.monitoring.names._reading import read_from_exporters, reads

__all__ = [
    "CAPACITY_END",
    "CLOCK_EVENTS_WINDOW",
    "CLUSTER_METRICS",
    "DCGM_METRICS",
    "EFA_COUNTERS",
    "EFA_COUNTERS_FULL",
    "EXPECTED_NODES",
    "FAMILIES",
    "JOB_CAUSE",
    "JOB_INFO",
    "JOB_PROBLEM",
    "KUBERNETES_METRICS",
    "METRICS",
    "NODE",
    "NODE_CHECKS",
    "OTHERS",
    "OUTAGE",
    "POD_OF_JOB",
    "PROBLEM",
    "PROBLEM_CAUSE",
    "PROBLEM_FIRST",
    "PROBLEM_START",
    "RESTART_SELECTOR",
    "SLURM_JOB_STATES",
    "SLURM_METRICS",
    "SLURM_NODE_STATES",
    "XID_WINDOW",
    "Metric",
    "Profile",
    "Source",
    "metrics",
    "read_from_exporters",
    "reads",
]
