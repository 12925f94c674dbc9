"""Slurm and Kueue."""

from ultracluster.monitoring.dashboards._common import CLUSTER, OF_JOBS, OF_NODES, OF_PODS, TO_JOB, of
from ultracluster.monitoring.dashboards._spec import Dashboard, series, table

SCHEDULER = Dashboard(
    uid="ultracluster-scheduler",
    title="Scheduler",
    about="What runs, what waits, and which nodes take no jobs? A cluster has either Slurm's panels or Kubernetes's.",
    variables=(CLUSTER,),
    rows={
        "Jobs": (
            table("Jobs with GPUs", "By Slurm's or Kubernetes's name for it.",
                  (of("job:ultracluster_gpus:count", over="max by (job_id) ({})"),),
                  height=9, to=TO_JOB, columns={"job_id": "Job", "Value": "GPUs"}),
            series("GPUs in jobs", "The gap is idle GPUs: nothing waits, or what waits does not fit.",
                   (of("cluster:ultracluster_gpus_in_jobs:count", "in jobs"),
                    of("cluster:ultracluster_gpus:count", "there")), least=0, width=16, height=9),
        ),
        "Slurm": (
            series("Nodes by state", "Nodes in drain or down take no jobs: `sinfo -R` prints the reason.",
                   (of("ultracluster_slurm_nodes", "{{state}}"),), least=0, colours=OF_NODES, width=12),
            series("Jobs by state",
                   "node_failed is a node that went away under a job; the job is requeued if it has requested that.",
                   (of("ultracluster_slurm_jobs", "{{state}}"),), least=0, colours=OF_JOBS, width=12),
            series("Jobs by queue", "Running, and waiting: `squeue --start` prints when a job is expected to begin.",
                   (of("ultracluster_slurm_partition_jobs", "{{partition}} {{state}}"),), least=0, width=12),
            series("Jobs that Slurm does not start", "Enough nodes of their queue are idle. `squeue` prints the "
                   "reason of each.",
                   (of("ultracluster_slurm_blocked_jobs", "{{reason}}"),), least=0, width=12),
            series("GPUs by queue", "GPUs that the running jobs of each queue have. Slurm counts them from 26.05 on.",
                   (of("ultracluster_slurm_partition_gpus_in_jobs", "{{partition}}"),), least=0, width=12),
        ),
        "Kubernetes": (
            series("Nodes ready", "As the control plane sees them.",
                   (of("cluster:kube_node_status_condition_ready:sum", "ready"),), least=0),
            table("Nodes not ready", "Not ready, or with accelerators that EKS's agent finds unwell.",
                  (of("ultracluster_kube_node_not_ready", over="max by (node) ({})"),
                   of("ultracluster_kube_accelerator_unhealthy", over="max by (node) ({})")), columns={"node": "Node"}),
            series("Pods by phase", "Pending pods wait for nodes or a quota.",
                   (of("cluster_phase:kube_pod_status_phase:sum", "{{phase}}"),), least=0, colours=OF_PODS),
            series("Workloads that wait, by queue", "Suspended until the quota has room for all their pods.",
                   (of("cluster_queue:kueue_pending_workloads:sum", "{{cluster_queue}}"),), least=0),
            series("Workloads admitted, by queue", "Let in and not finished.",
                   (of("cluster_queue:kueue_admitted_active_workloads:sum", "{{cluster_queue}}"),), least=0),
            series("Time waited, 95th percentile", "From the creation of a workload to its admission.",
                   (of("cluster_queue:kueue_admission_wait_time_seconds:p95_rate15m", "{{cluster_queue}}"),),
                   least=0, unit="s"),
        ),
    },
)  # fmt: skip
