"""Slurm and Kueue."""

from ultracluster.monitoring.dashboards.builder._common import CLUSTER, OF_JOBS, OF_NODES, OF_PODS, TO_JOB, of
from ultracluster.monitoring.dashboards.builder._spec import Dashboard, Panel, Row

SCHEDULER = Dashboard(
    uid="ultracluster-scheduler",
    title="Scheduler",
    about="What runs, what waits, and which nodes take no jobs? A cluster has either Slurm's panels or Kubernetes's.",
    variables=(CLUSTER,),
    rows=(
        Row(
            title="Jobs",
            panels=(
                Panel(kind="table", title="Jobs with GPUs", width=8, height=9, to=TO_JOB,
                      queries=(of("job:ultracluster_gpus:count", over="max by (job_id) ({})"),),
                      columns={"job_id": "Job", "Value": "GPUs"}, why="By Slurm's or Kubernetes's name for it."),
                Panel(kind="timeseries", title="GPUs in jobs", least=0, width=16, height=9,
                      queries=(of("cluster:ultracluster_gpus_in_jobs:count", "in jobs"),
                               of("cluster:ultracluster_gpus:count", "there")),
                      why="The gap is idle GPUs: nothing waits, or what waits does not fit."),
            ),
        ),
        Row(
            title="Slurm",
            panels=(
                Panel(kind="timeseries", title="Nodes by state", least=0, colours=OF_NODES,
                      queries=(of("ultracluster_slurm_nodes", "{{state}}"),),
                      why="Nodes in drain or down take no jobs: `sinfo -R` says why."),
                Panel(kind="timeseries", title="Jobs by state", least=0, colours=OF_JOBS,
                      queries=(of("ultracluster_slurm_jobs", "{{state}}"),),
                      why="node_failed is a node that went away under a job; the job is requeued if it asked for it."),
                Panel(kind="timeseries", title="Jobs by queue", least=0,
                      queries=(of("ultracluster_slurm_partition_jobs", "{{partition}}"),), why="Running and waiting."),
            ),
        ),
        Row(
            title="Kubernetes",
            panels=(
                Panel(kind="timeseries", title="Nodes ready", least=0,
                      queries=(of("cluster:kube_node_status_condition_ready:sum", "ready"),),
                      why="As the control plane sees them."),
                Panel(kind="table", title="Nodes not ready",
                      queries=(of("ultracluster_kube_node_not_ready", over="max by (node) ({})"),
                               of("ultracluster_kube_accelerator_unhealthy", over="max by (node) ({})")),
                      columns={"node": "Node"}, why="Not ready, or with accelerators that EKS's agent finds unwell."),
                Panel(kind="timeseries", title="Pods by phase", least=0, colours=OF_PODS,
                      queries=(of("cluster_phase:kube_pod_status_phase:sum", "{{phase}}"),),
                      why="Pending pods wait for nodes or a quota."),
                Panel(kind="timeseries", title="Workloads that wait, by queue", least=0,
                      queries=(of("cluster_queue:kueue_pending_workloads:sum", "{{cluster_queue}}"),),
                      why="Suspended until the quota has room for all their pods."),
                Panel(kind="timeseries", title="Workloads admitted, by queue", least=0,
                      queries=(of("cluster_queue:kueue_admitted_active_workloads:sum", "{{cluster_queue}}"),),
                      why="Let in and not finished."),
                Panel(kind="timeseries", title="Time waited, 95th percentile", least=0, unit="s",
                      queries=(of("cluster_queue:kueue_admission_wait_time_seconds:p95_rate15m", "{{cluster_queue}}"),),
                      why="From the creation of a workload to its admission."),
            ),
        ),
    ),
)  # fmt: skip
