"""The metrics of a cluster as a whole: its fleet, its scheduler, and the pipeline that brings all of these.

Sources:

- Slurm 25.11's own endpoints: https://slurm.schedmd.com/metrics.html; the states by name as NVIDIA's and others'
  collectors list them from a live controller (read 2026-11-21).
- Kueue: https://kueue.sigs.k8s.io/docs/reference/metrics/; kube-state-metrics:
  https://github.com/kubernetes/kube-state-metrics/tree/main/docs/metrics (read 2026-11-20).
- The agent's own: https://github.com/prometheus/prometheus (storage/remote, read 2026-11-20).
"""

from ultracluster.metrics.metric import NODE, Metric, Unit

_BY = ", ".join(NODE)
CLUSTER = ("cluster",)
GROUP = ("cluster", "group")

#: Who is asked once for a cluster, by the names of the jobs in `scraping` and `agent`.
SOURCES = ("slurm-nodes", "kube-state-metrics", "kueue")
# Slurm's page says under `powering_up` how many power down: https://github.com/SchedMD/slurm,
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


def _cluster(what: str, unit: Unit, text: str, expression: str, *, labels: tuple[str, ...] = CLUSTER) -> Metric:
    return Metric(name=what, unit=unit, help=text, labels=labels, expression=expression)


def _by_state(metric: str, states: tuple[str, ...]) -> str:
    return " or ".join(
        f'label_replace(max by (cluster) ({metric}_{state}), "state", "{state}", "", "")' for state in states
    )


_FLEET = (
    _cluster("group:nodes:count", "count", "Nodes that answer.", "sum by (cluster, group) (node:up:bool)",
             labels=GROUP),
    _cluster("cluster:nodes:count", "count", "Nodes that answer.", "sum by (cluster) (node:up:bool)"),
    _cluster("cluster:gpus:count", "count", "GPUs that answer.", "sum by (cluster) (node:gpus:count)"),
    _cluster("cluster:gpus_in_jobs:count", "count", "GPUs that a job has.",
             "count by (cluster) (count by (cluster, instance, gpu) (gpu:job:info))"),
    _cluster("cluster:gpu_allocation:ratio", "ratio", "Share of the GPUs that a job has.",
             "cluster:gpus_in_jobs:count / cluster:gpus:count"),
    _cluster("cluster:tensor_active:ratio", "ratio", "Tensor activity, mean over all GPUs.",
             "avg by (cluster) (gpu:tensor_active:ratio)"),
    _cluster("cluster:power:watts", "watts", "Power that all GPUs draw.", "sum by (cluster) (gpu:power:watts)"),
    _cluster("cluster:goodput:ratio", "ratio", "Goodput of the jobs that say theirs, weighted by their GPUs.",
             "sum by (cluster) (job:goodput:ratio * on (cluster, job_id) job:gpus:count) / "
             "sum by (cluster) (job:gpus:count and on (cluster, job_id) job:goodput:ratio)"),
)  # fmt: skip

_SCHEDULERS = (
    _cluster("slurm:nodes:count", "count", "Nodes by Slurm's state; drain is a flag beside the "
             "others, and powering_up has those that power down, up to Slurm 26.05.3 at least.",
             _by_state("slurm_nodes", SLURM_NODE_STATES), labels=(*CLUSTER, "state")),
    _cluster("slurm:jobs:count", "count", "Jobs by Slurm's state.", _by_state("slurm_jobs", SLURM_JOB_STATES),
             labels=(*CLUSTER, "state")),
    _cluster("slurm:partition_jobs:count", "count", "Jobs of a queue.",
             "max by (cluster, partition) (slurm_partition_jobs)", labels=(*CLUSTER, "partition")),
    _cluster("kube:nodes_ready:count", "count", "Nodes of Kubernetes that are ready.",
             'sum by (cluster) (kube_node_status_condition{condition="Ready", status="true"})'),
    _cluster("kube:node_not_ready:bool", "bool", "Nodes of Kubernetes that are not ready; only those have a series.",
             'max by (cluster, node) (kube_node_status_condition{condition="Ready", status=~"false|unknown"}) == 1',
             labels=(*CLUSTER, "node")),
    _cluster("kube:accelerator_unhealthy:bool", "bool", "Nodes whose accelerators EKS's agent finds unwell.",
             "max by (cluster, node) (kube_node_status_condition"
             '{condition="AcceleratedHardwareReady", status="false"}) == 1', labels=(*CLUSTER, "node")),
    _cluster("kube:pods:count", "count", "Pods by phase.", "sum by (cluster, phase) (kube_pod_status_phase)",
             labels=(*CLUSTER, "phase")),
    _cluster("kueue:pending:count", "count", "Workloads that wait, by queue.",
             "sum by (cluster, cluster_queue) (kueue_pending_workloads)", labels=(*CLUSTER, "cluster_queue")),
    _cluster("kueue:admitted:count", "count", "Workloads that were let in and are not finished, by queue.",
             "sum by (cluster, cluster_queue) (kueue_admitted_active_workloads)", labels=(*CLUSTER, "cluster_queue")),
    _cluster("kueue:wait_p95:seconds", "seconds", "Time that workloads waited, 95th percentile, by queue.",
             "histogram_quantile(0.95, sum by (cluster, cluster_queue, le) "
             "(rate(kueue_admission_wait_time_seconds_bucket[15m])))", labels=(*CLUSTER, "cluster_queue")),
)  # fmt: skip

_PIPELINE = (
    _cluster("pipeline:source_up:bool", "bool", "Whether what is asked once for a cluster answers: Slurm's controller, "
             "kube-state-metrics, Kueue; none when who asks is silent.",
             f'max by (cluster, job) (last_over_time(up{{job=~"{"|".join(SOURCES)}"}}[2m]))',
             labels=(*CLUSTER, "job")),
    _cluster("pipeline:exporter_up:bool", "bool", "Whether an exporter answers; none when the node is silent.",
             f'max by ({_BY}, job) (last_over_time(up{{instance_type!=""}}[2m]))', labels=(*NODE, "job")),
    _cluster("pipeline:samples:count", "count", "Samples of the last scrape that were sent on: the active series.",
             "sum by (cluster, job) (scrape_samples_post_metric_relabeling)", labels=(*CLUSTER, "job")),
    _cluster("pipeline:lag:seconds", "seconds", "How far a node's agent is behind in sending.",
             f"max by ({_BY}) (prometheus_remote_storage_highest_timestamp_in_seconds - ignoring (remote_name, url) "
             "group_right () prometheus_remote_storage_queue_highest_sent_timestamp_seconds)", labels=NODE),
    # Dropped samples have no series before the first one.
    _cluster("pipeline:samples_lost:per_second", "per_second", "Samples that a node's agent could not send.",
             f"sum by ({_BY}) (rate(prometheus_remote_storage_samples_failed_total[5m])) + "
             f"(sum by ({_BY}) (rate(prometheus_remote_storage_samples_dropped_total[5m])) or "
             f"sum by ({_BY}) (rate(prometheus_remote_storage_samples_failed_total[5m])) * 0)", labels=NODE),
    _cluster("pipeline:textfile_age:seconds", "seconds", "Age of the oldest of our text files on a node.",
             f'max by ({_BY}) (time() - node_textfile_mtime_seconds{{file=~".*ultracluster_node.*"}})', labels=NODE),
)  # fmt: skip

FLEET_METRICS = (*_FLEET, *_SCHEDULERS, *_PIPELINE)

#: How many nodes of a group there should be: written into the rules from the cluster file, see `rules`.
EXPECTED_NODES = "group:nodes_expected:count"
#: What is wrong with a node, one series for each problem that it has: the health view of a fleet. Its labels are those
#: of a node, `problem` (the name of an alert) and what the alert tells apart, such as `xid` or `path`.
PROBLEM = "node:problem:number"
