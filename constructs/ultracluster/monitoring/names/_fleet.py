"""Metrics of a cluster as a whole: its nodes, its scheduler, and the metrics pipeline.

Sources:

- Slurm 25.11's own endpoints: https://slurm.schedmd.com/metrics.html; the states by name as NVIDIA's and others'
  collectors list them from a live controller (read 2026-11-21).
- Kueue: https://kueue.sigs.k8s.io/docs/reference/metrics/; kube-state-metrics:
  https://github.com/kubernetes/kube-state-metrics/tree/main/docs/metrics (read 2026-11-20).
- The agent's own: https://github.com/prometheus/prometheus (storage/remote, read 2026-11-20).
"""

from ultracluster.monitoring.names._metric import CLUSTER, NODE, aggregated, recorded

_BY = ", ".join(NODE)

#: Scrape jobs that run once for a cluster.
SOURCES = ("slurm-nodes", "kube-state-metrics", "kueue")
# Slurm's page counts under `powering_up` the nodes that power down: https://github.com/SchedMD/slurm,
# src/plugins/metrics/openmetrics/openmetrics.c (tags slurm-25-11-7-1 and slurm-26-05-3-1, read 2026-11-21).
SLURM_NODE_STATES = (
    "alloc", "idle", "mixed", "down", "drain", "fail", "noresp", "maint", "powered_down", "powering_up",
)  # fmt: skip
#: States of the jobs of a queue that are recorded.
SLURM_QUEUE_STATES = ("pending", "running")
SLURM_JOB_STATES = ("pending", "running", "completing", "failed", "node_failed", "timeout")


def _by_state(metric: str, states: tuple[str, ...], by: str = "cluster") -> str:
    return " or ".join(
        f'label_replace(max by ({by}) ({metric}_{state}), "state", "{state}", "", "")' for state in states
    )


_FLEET = (
    aggregated("group:ultracluster_node_up:sum", "count", "Nodes that answer."),
    aggregated("cluster:ultracluster_node_up:sum", "count", "Nodes that answer."),
    aggregated("cluster:ultracluster_gpus:count", "count", "GPUs that answer.",
               expr="sum by (cluster) (node:ultracluster_gpus:count)"),
    aggregated("cluster:ultracluster_gpus_in_jobs:count", "count", "GPUs that a job has.",
               "count by (cluster, instance, gpu) (ultracluster_gpu_job_info)"),
    aggregated("cluster:ultracluster_gpus_in_jobs:ratio", "ratio", "Share of the GPUs that a job has.",
               expr="cluster:ultracluster_gpus_in_jobs:count / cluster:ultracluster_gpus:count"),
    aggregated("cluster:ultracluster_gpu_tensor_active_ratio:avg", "ratio", "Tensor activity, mean over all GPUs."),
    aggregated("cluster:ultracluster_gpu_power_watts:sum", "watts", "Power that all GPUs draw."),
    aggregated("cluster:ultracluster_goodput_ratio:avg", "ratio",
               "Goodput of the jobs that report it, weighted by their GPUs.",
               expr="sum by (cluster) (job:ultracluster_goodput_ratio:avg1h * on (cluster, job_id) "
               "job:ultracluster_gpus:count) / "
               "sum by (cluster) (job:ultracluster_gpus:count and on (cluster, job_id) "
               "job:ultracluster_goodput_ratio:avg1h)"),
)  # fmt: skip

SLURM_METRICS = (
    recorded("ultracluster_slurm_nodes", "count", "Nodes by Slurm's state; drain is a flag beside the "
             "others, and powering_up has those that power down, up to Slurm 26.05.3 at least.", (*CLUSTER, "state"),
             expr=_by_state("slurm_nodes", SLURM_NODE_STATES)),
    recorded("ultracluster_slurm_jobs", "count", "Jobs by Slurm's state.", (*CLUSTER, "state"),
             expr=_by_state("slurm_jobs", SLURM_JOB_STATES)),
    # slurm_partition_jobs has jobs that have ended too.
    recorded("ultracluster_slurm_partition_jobs", "count", "Jobs of a queue that wait or run.",
             (*CLUSTER, "partition", "state"),
             expr=_by_state("slurm_partition_jobs", SLURM_QUEUE_STATES, "cluster, partition")),
    # Each login node has them.
    recorded("ultracluster_slurm_blocked_jobs", "count", "Jobs that wait for a reason that Slurm does not end by "
             "itself, although enough nodes of their queue are idle, by reason.", (*CLUSTER, "reason"),
             "ultracluster_blocked_jobs"),
    recorded("ultracluster_slurm_accounting_queue", "count", "Records that the controller could not send to slurmdbd "
             "yet.", CLUSTER, "slurm_slurmdbd_queue_size"),
    recorded("ultracluster_slurm_partition_gpus_in_jobs", "count", "GPUs that the jobs of a queue have, from Slurm "
             "26.05 on: 25.11 does not count them.", (*CLUSTER, "partition"), "slurm_partition_jobs_gpus_alloc"),
)  # fmt: skip

#: Checks of nodes of Kubernetes, each with an annotation of its own.
NODE_CHECKS = ("alltoall", "dcgm", "gate", "nccl")
_BREAKERS = " or ".join(
    f'kube_node_annotations{{annotation_ultracluster_breaker_{check}="open"}}' for check in NODE_CHECKS
)

KUBERNETES_METRICS = (
    aggregated("cluster:kube_node_status_condition_ready:sum", "count", "Nodes of Kubernetes that are ready.",
               'kube_node_status_condition{condition="Ready", status="true"}'),
    recorded("ultracluster_kube_node_not_ready", "bool",
             "Nodes of Kubernetes that are not ready; only those have a series.", (*CLUSTER, "node"),
             expr='max by (cluster, node) (kube_node_status_condition{condition="Ready", status=~"false|unknown"}) '
             "== 1"),
    recorded("ultracluster_kube_accelerator_unhealthy", "bool",
             "Nodes with unhealthy accelerators, as EKS's agent reports.", (*CLUSTER, "node"),
             expr="max by (cluster, node) (kube_node_status_condition"
             '{condition="AcceleratedHardwareReady", status="false"}) == 1'),
    recorded("ultracluster_kube_node_breaker_open", "bool",
             "Nodes that a check found bad, and that the limit or the mode keeps in service.",
             (*CLUSTER, "node", "action"),
             expr=f"label_replace(max by (cluster, node) ({_BREAKERS}) == 1 unless on (cluster, node) "
             'kube_node_spec_unschedulable == 1, "action", "cordon", "", "")'),
    aggregated("cluster_phase:kube_pod_status_phase:sum", "count", "Pods by phase."),
    aggregated("cluster_queue:kueue_pending_workloads:sum", "count", "Workloads that wait, by queue."),
    aggregated("cluster_queue:kueue_admitted_active_workloads:sum", "count",
               "Admitted workloads that are not finished, by queue."),
    aggregated("cluster_queue:kueue_evicted_workloads:changes6h", "count",
               "Workloads that Kueue evicted in 6 hours because pods were not ready, without the first one, by queue.",
               expr="sum by (cluster, cluster_queue) "
               '(changes(kueue_evicted_workloads_total{reason="PodsReadyTimeout"}[6h]))'),
    aggregated("cluster_queue:kueue_admission_wait_time_seconds:p95_rate15m", "seconds",
               "Time that workloads waited, 95th percentile, by queue.",
               expr="histogram_quantile(0.95, sum by (cluster, cluster_queue, le) "
               "(rate(kueue_admission_wait_time_seconds_bucket[15m])))"),
)  # fmt: skip

_PIPELINE = (
    recorded("ultracluster_source_up", "bool", "Whether a target scraped once for a cluster answers: Slurm's "
             "controller, kube-state-metrics, Kueue; no series if its agent is silent.", (*CLUSTER, "job"),
             f'last_over_time(up{{job=~"{"|".join(SOURCES)}"}}[2m])'),
    recorded("ultracluster_exporter_up", "bool", "Whether an exporter answers; no series if the node is silent.",
             (*NODE, "job"), 'last_over_time(up{instance_type!=""}[2m])'),
    aggregated("scrape_job:scrape_samples_post_metric_relabeling:sum", "count",
               "Samples of the last scrape that were sent on: the active series."),
    recorded("ultracluster_remote_write_lag_seconds", "seconds", "How far a node's agent is behind in sending.", NODE,
             "prometheus_remote_storage_highest_timestamp_in_seconds - ignoring (remote_name, url) "
             "group_right () prometheus_remote_storage_queue_highest_sent_timestamp_seconds"),
    # Dropped samples have no series before the first one.
    aggregated("node:ultracluster_remote_write_samples_lost:sum_rate5m", "per_second",
               "Samples that a node's agent could not send.",
               expr=f"sum by ({_BY}) (rate(prometheus_remote_storage_samples_failed_total[5m])) + "
               f"(sum by ({_BY}) (rate(prometheus_remote_storage_samples_dropped_total[5m])) or "
               f"sum by ({_BY}) (rate(prometheus_remote_storage_samples_failed_total[5m])) * 0)"),
    recorded("ultracluster_textfile_error", "bool", "Whether node_exporter cannot parse a text file on a node.", NODE,
             "node_textfile_scrape_error"),
    recorded("ultracluster_textfile_age_seconds", "seconds", "Age of the oldest text file on a node.", NODE,
             'time() - node_textfile_mtime_seconds{file=~".*/ultracluster_(node|mounts|drain|replace)[.]prom"}'),
)  # fmt: skip

#: Metrics of every cluster, with any scheduler.
CLUSTER_METRICS = (*_FLEET, *_PIPELINE)
FLEET_METRICS = (*_FLEET, *SLURM_METRICS, *KUBERNETES_METRICS, *_PIPELINE)

#: Expected nodes of a group, from the cluster file, while its capacity runs; see `rules`.
EXPECTED_NODES = "ultracluster_group_expected_nodes"
#: When the instances of a group's Capacity Block or training plan end, from the cluster file, see `rules`.
CAPACITY_END = "ultracluster_group_capacity_end_timestamp_seconds"
#: Nodes of a group from the drain before that end on, from the cluster file, see `rules`.
ENDING_NODES = "ultracluster_group_ending_nodes"
#: Problems of nodes, one series for each problem of a node. Its labels are those
#: of a node, `problem` (the name of an alert) and what the alert distinguishes, such as `xid` or `path`.
PROBLEM = "ultracluster_node_problem"
#: Problems of jobs, one series for each problem of a job, with the labels of its owner and `problem`.
JOB_PROBLEM = "ultracluster_job_problem"
#: The same before they have the name of the node, and the owner of the job.
UNNAMED_PROBLEM = "ultracluster_node_problem_without_name"
UNOWNED_PROBLEM = "ultracluster_job_problem_without_owner"
#: When each critical alert of a node began, remembered for a quarter of an hour after its end.
PROBLEM_START = "ultracluster_node_problem_start_timestamp_seconds"
#: The first of them on a node within half an hour, the cause of those that begin after it.
PROBLEM_FIRST = "ultracluster_node_problem_first_timestamp_seconds"
#: Those that began within half an hour after another one, named by `cause`, while that one lasts.
PROBLEM_CAUSE = "ultracluster_node_problem_cause_info"
#: When the last critical alert on the hardware of a node began, within a day.
PROBLEM_DAY = "ultracluster_node_last_problem_timestamp_seconds"
#: Causes of a stall of a job: alerts on the job are silent, because those of the nodes or of a file system are sent.
JOB_CAUSE = "job:ultracluster_node_problem:count"
