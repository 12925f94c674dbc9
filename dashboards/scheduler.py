"""Slurm and Kueue."""

from dashboards.common import CLUSTER, OF_JOBS, OF_NODES, OF_PODS, TO_JOB, of
from dashboards.spec import Dashboard, Panel, Row

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
                      queries=(of("job:gpus:count", over="max by (job_id) ({})"),),
                      columns={"job_id": "Job", "Value": "GPUs"}, why="By Slurm's or Kubernetes's name for it."),
                Panel(kind="timeseries", title="GPUs in jobs", least=0, width=16, height=9,
                      queries=(of("cluster:gpus_in_jobs:count", "in jobs"), of("cluster:gpus:count", "there")),
                      why="The gap is idle GPUs: nothing waits, or what waits does not fit."),
            ),
        ),
        Row(
            title="Slurm",
            panels=(
                Panel(kind="timeseries", title="Nodes by state", least=0, colours=OF_NODES,
                      queries=(of("slurm:nodes:count", "{{state}}"),),
                      why="Nodes in drain or down take no jobs: `sinfo -R` says why."),
                Panel(kind="timeseries", title="Jobs by state", least=0, colours=OF_JOBS,
                      queries=(of("slurm:jobs:count", "{{state}}"),),
                      why="node_failed is a node that went away under a job; the job is requeued if it asked for it."),
                Panel(kind="timeseries", title="Jobs by queue", least=0,
                      queries=(of("slurm:partition_jobs:count", "{{partition}}"),), why="Running and waiting."),
            ),
        ),
        Row(
            title="Kubernetes",
            panels=(
                Panel(kind="timeseries", title="Nodes ready", least=0,
                      queries=(of("kube:nodes_ready:count", "ready"),), why="As the control plane sees them."),
                Panel(kind="table", title="Nodes not ready",
                      queries=(of("kube:node_not_ready:bool", over="max by (node) ({})"),
                               of("kube:accelerator_unhealthy:bool", over="max by (node) ({})")),
                      columns={"node": "Node"}, why="Not ready, or with accelerators that EKS's agent finds unwell."),
                Panel(kind="timeseries", title="Pods by phase", least=0, colours=OF_PODS,
                      queries=(of("kube:pods:count", "{{phase}}"),), why="Pending pods wait for nodes or a quota."),
                Panel(kind="timeseries", title="Workloads that wait, by queue", least=0,
                      queries=(of("kueue:pending:count", "{{cluster_queue}}"),),
                      why="Suspended until the quota has room for all their pods."),
                Panel(kind="timeseries", title="Workloads let in, by queue", least=0,
                      queries=(of("kueue:admitted:count", "{{cluster_queue}}"),), why="Let in and not finished."),
                Panel(kind="timeseries", title="Time waited, 95th percentile", least=0, unit="s",
                      queries=(of("kueue:wait_p95:seconds", "{{cluster_queue}}"),),
                      why="From the making of a workload to the moment it is let in."),
            ),
        ),
    ),
)  # fmt: skip
