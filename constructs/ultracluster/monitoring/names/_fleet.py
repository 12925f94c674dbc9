"""Metrics of a cluster as a whole: its nodes, its scheduler, and the metrics pipeline.

Sources:

- Slurm 25.11's own endpoints: https://slurm.schedmd.com/metrics.html; the states by name as NVIDIA's and others'
  collectors list them from a live controller (read 2026-11-21).
- Kueue: https://kueue.sigs.k8s.io/docs/reference/metrics/; kube-state-metrics:
  https://github.com/kubernetes/kube-state-metrics/tree/main/docs/metrics (read 2026-11-20).
- The agent's own: https://github.com/prometheus/prometheus (storage/remote, read 2026-11-20).
"""

from ultracluster.monitoring.names._metric import NODE, Metric, Unit

_BY = ", ".join(NODE)
CLUSTER = ("cluster",)
GROUP = ("cluster", "group")

#: Scrape jobs that run once for a cluster.
SOURCES = ("slurm-nodes", "kube-state-metrics", "kueue")
# Slurm's page counts under `powering_up` the nodes that power down: https://github.com/SchedMD/slurm,
# src/plugins/metrics/openmetrics/openmetrics.c (tags slurm-25-11-7-1 and slurm-26-05-3-1, read 2026-11-21).
SLURM_NODE_STATES = (
    "alloc",
    "idle",
    "mixed",
    "down",
    "drain",
    "fail",
    "noresp",
    "maint",
    "powered_down",
    "powering_up",
)
SLURM_JOB_STATES = ("pending", "running", "completing", "failed", "node_failed", "timeout")


def _cluster(name: str, unit: Unit, text: str, expression: str, *, labels: tuple[str, ...] = CLUSTER) -> Metric:
    return Metric(name=name, unit=unit, help=text, labels=labels, expr=expression)


def _by_state(metric: str, states: tuple[str, ...]) -> str:
    return " or ".join(
        f'label_replace(max by (cluster) ({metric}_{state}), "state", "{state}", "", "")' for state in states
    )


_FLEET = (
    _cluster("group:ultracluster_node_up:sum", "count", "Nodes that answer.",
             "sum by (cluster, group) (ultracluster_node_up)",
             labels=GROUP),
    _cluster("cluster:ultracluster_node_up:sum", "count", "Nodes that answer.",
             "sum by (cluster) (ultracluster_node_up)"),
    _cluster("cluster:ultracluster_gpus:count", "count", "GPUs that answer.",
             "sum by (cluster) (node:ultracluster_gpus:count)"),
    _cluster("cluster:ultracluster_gpus_in_jobs:count", "count", "GPUs that a job has.",
             "count by (cluster) (count by (cluster, instance, gpu) (ultracluster_gpu_job_info))"),
    _cluster("cluster:ultracluster_gpus_in_jobs:ratio", "ratio", "Share of the GPUs that a job has.",
             "cluster:ultracluster_gpus_in_jobs:count / cluster:ultracluster_gpus:count"),
    _cluster("cluster:ultracluster_gpu_tensor_active_ratio:avg", "ratio", "Tensor activity, mean over all GPUs.",
             "avg by (cluster) (ultracluster_gpu_tensor_active_ratio)"),
    _cluster("cluster:ultracluster_gpu_power_watts:sum", "watts", "Power that all GPUs draw.",
             "sum by (cluster) (ultracluster_gpu_power_watts)"),
    _cluster("cluster:ultracluster_goodput_ratio:avg", "ratio",
             "Goodput of the jobs that report it, weighted by their GPUs.",
             "sum by (cluster) (job:ultracluster_goodput_ratio:avg1h * on (cluster, job_id) "
             "job:ultracluster_gpus:count) / "
             "sum by (cluster) (job:ultracluster_gpus:count and on (cluster, job_id) "
             "job:ultracluster_goodput_ratio:avg1h)"),
)  # fmt: skip

SLURM_METRICS = (
    _cluster("ultracluster_slurm_nodes", "count", "Nodes by Slurm's state; drain is a flag beside the "
             "others, and powering_up has those that power down, up to Slurm 26.05.3 at least.",
             _by_state("slurm_nodes", SLURM_NODE_STATES), labels=(*CLUSTER, "state")),
    _cluster("ultracluster_slurm_jobs", "count", "Jobs by Slurm's state.", _by_state("slurm_jobs", SLURM_JOB_STATES),
             labels=(*CLUSTER, "state")),
    _cluster("ultracluster_slurm_partition_jobs", "count", "Jobs of a queue.",
             "max by (cluster, partition) (slurm_partition_jobs)", labels=(*CLUSTER, "partition")),
)  # fmt: skip

KUBERNETES_METRICS = (
    _cluster("cluster:kube_node_status_condition_ready:sum", "count", "Nodes of Kubernetes that are ready.",
             'sum by (cluster) (kube_node_status_condition{condition="Ready", status="true"})'),
    _cluster("ultracluster_kube_node_not_ready", "bool",
             "Nodes of Kubernetes that are not ready; only those have a series.",
             'max by (cluster, node) (kube_node_status_condition{condition="Ready", status=~"false|unknown"}) == 1',
             labels=(*CLUSTER, "node")),
    _cluster("ultracluster_kube_accelerator_unhealthy", "bool",
             "Nodes with unhealthy accelerators, as EKS's agent reports.",
             "max by (cluster, node) (kube_node_status_condition"
             '{condition="AcceleratedHardwareReady", status="false"}) == 1', labels=(*CLUSTER, "node")),
    _cluster("cluster_phase:kube_pod_status_phase:sum", "count", "Pods by phase.",
             "sum by (cluster, phase) (kube_pod_status_phase)",
             labels=(*CLUSTER, "phase")),
    _cluster("cluster_queue:kueue_pending_workloads:sum", "count", "Workloads that wait, by queue.",
             "sum by (cluster, cluster_queue) (kueue_pending_workloads)", labels=(*CLUSTER, "cluster_queue")),
    _cluster("cluster_queue:kueue_admitted_active_workloads:sum", "count",
             "Admitted workloads that are not finished, by queue.",
             "sum by (cluster, cluster_queue) (kueue_admitted_active_workloads)", labels=(*CLUSTER, "cluster_queue")),
    _cluster("cluster_queue:kueue_admission_wait_time_seconds:p95_rate15m", "seconds",
             "Time that workloads waited, 95th percentile, by queue.",
             "histogram_quantile(0.95, sum by (cluster, cluster_queue, le) "
             "(rate(kueue_admission_wait_time_seconds_bucket[15m])))", labels=(*CLUSTER, "cluster_queue")),
)  # fmt: skip

_PIPELINE = (
    _cluster("ultracluster_source_up", "bool",
             "Whether a target scraped once for a cluster answers: Slurm's controller, "
             "kube-state-metrics, Kueue; no series if its agent is silent.",
             f'max by (cluster, job) (last_over_time(up{{job=~"{"|".join(SOURCES)}"}}[2m]))',
             labels=(*CLUSTER, "job")),
    _cluster("ultracluster_exporter_up", "bool", "Whether an exporter answers; no series if the node is silent.",
             f'max by ({_BY}, job) (last_over_time(up{{instance_type!=""}}[2m]))', labels=(*NODE, "job")),
    _cluster("scrape_job:scrape_samples_post_metric_relabeling:sum", "count",
             "Samples of the last scrape that were sent on: the active series.",
             "sum by (cluster, job) (scrape_samples_post_metric_relabeling)", labels=(*CLUSTER, "job")),
    _cluster("ultracluster_remote_write_lag_seconds", "seconds", "How far a node's agent is behind in sending.",
             f"max by ({_BY}) (prometheus_remote_storage_highest_timestamp_in_seconds - ignoring (remote_name, url) "
             "group_right () prometheus_remote_storage_queue_highest_sent_timestamp_seconds)", labels=NODE),
    # Dropped samples have no series before the first one.
    _cluster("node:ultracluster_remote_write_samples_lost:sum_rate5m", "per_second",
             "Samples that a node's agent could not send.",
             f"sum by ({_BY}) (rate(prometheus_remote_storage_samples_failed_total[5m])) + "
             f"(sum by ({_BY}) (rate(prometheus_remote_storage_samples_dropped_total[5m])) or "
             f"sum by ({_BY}) (rate(prometheus_remote_storage_samples_failed_total[5m])) * 0)", labels=NODE),
    _cluster("ultracluster_textfile_age_seconds", "seconds", "Age of the oldest text file on a node.",
             f'max by ({_BY}) (time() - node_textfile_mtime_seconds{{file=~".*ultracluster_node.*"}})', labels=NODE),
)  # fmt: skip

#: Metrics of every cluster, with any scheduler.
CLUSTER_METRICS = (*_FLEET, *_PIPELINE)
FLEET_METRICS = (*_FLEET, *SLURM_METRICS, *KUBERNETES_METRICS, *_PIPELINE)

#: Expected nodes of a group, from the cluster file, see `rules`.
EXPECTED_NODES = "ultracluster_group_expected_nodes"
#: Problems of nodes, one series for each problem of a node. Its labels are those
#: of a node, `problem` (the name of an alert) and what the alert tells apart, such as `xid` or `path`.
PROBLEM = "ultracluster_node_problem"
