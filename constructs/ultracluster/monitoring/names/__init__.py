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

from ultracluster.monitoring.names._all import FAMILIES as FAMILIES
from ultracluster.monitoring.names._all import METRICS as METRICS
from ultracluster.monitoring.names._all import OTHERS as OTHERS
from ultracluster.monitoring.names._all import metrics as metrics
from ultracluster.monitoring.names._fleet import CAPACITY_END as CAPACITY_END
from ultracluster.monitoring.names._fleet import CLUSTER_METRICS as CLUSTER_METRICS
from ultracluster.monitoring.names._fleet import ENDING_NODES as ENDING_NODES
from ultracluster.monitoring.names._fleet import EXPECTED_NODES as EXPECTED_NODES
from ultracluster.monitoring.names._fleet import JOB_CAUSE as JOB_CAUSE
from ultracluster.monitoring.names._fleet import JOB_PROBLEM as JOB_PROBLEM
from ultracluster.monitoring.names._fleet import KUBERNETES_METRICS as KUBERNETES_METRICS
from ultracluster.monitoring.names._fleet import NODE_CHECKS as NODE_CHECKS
from ultracluster.monitoring.names._fleet import PROBLEM as PROBLEM
from ultracluster.monitoring.names._fleet import PROBLEM_CAUSE as PROBLEM_CAUSE
from ultracluster.monitoring.names._fleet import PROBLEM_DAY as PROBLEM_DAY
from ultracluster.monitoring.names._fleet import PROBLEM_FIRST as PROBLEM_FIRST
from ultracluster.monitoring.names._fleet import PROBLEM_START as PROBLEM_START
from ultracluster.monitoring.names._fleet import SLURM_JOB_STATES as SLURM_JOB_STATES
from ultracluster.monitoring.names._fleet import SLURM_METRICS as SLURM_METRICS
from ultracluster.monitoring.names._fleet import SLURM_NODE_STATES as SLURM_NODE_STATES
from ultracluster.monitoring.names._fleet import SLURM_QUEUE_STATES as SLURM_QUEUE_STATES
from ultracluster.monitoring.names._fleet import UNNAMED_PROBLEM as UNNAMED_PROBLEM
from ultracluster.monitoring.names._fleet import UNOWNED_PROBLEM as UNOWNED_PROBLEM
from ultracluster.monitoring.names._gpu import CLOCK_EVENTS_WINDOW as CLOCK_EVENTS_WINDOW
from ultracluster.monitoring.names._gpu import DCGM_METRICS as DCGM_METRICS
from ultracluster.monitoring.names._gpu import POD_OF_JOB as POD_OF_JOB
from ultracluster.monitoring.names._gpu import RESTART_SELECTOR as RESTART_SELECTOR
from ultracluster.monitoring.names._gpu import XID_WINDOW as XID_WINDOW
from ultracluster.monitoring.names._job import JOB_INFO as JOB_INFO
from ultracluster.monitoring.names._job import OUTAGE as OUTAGE
from ultracluster.monitoring.names._metric import NODE as NODE
from ultracluster.monitoring.names._metric import Metric as Metric
from ultracluster.monitoring.names._metric import Profile as Profile
from ultracluster.monitoring.names._metric import Source as Source
from ultracluster.monitoring.names._node import EFA_COUNTERS as EFA_COUNTERS
from ultracluster.monitoring.names._node import EFA_COUNTERS_FULL as EFA_COUNTERS_FULL
from ultracluster.monitoring.names._reading import read_from_exporters as read_from_exporters
from ultracluster.monitoring.names._reading import reads as reads
