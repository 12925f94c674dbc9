"""Dashboard of goodput and cost."""

from ultracluster.monitoring.dashboards.builder._common import CLUSTER, TO_JOB, of
from ultracluster.monitoring.dashboards.builder._spec import Dashboard, Panel, Query, Row

GOODPUT = Dashboard(
    uid="ultracluster-goodput",
    title="Goodput and cost",
    about="How much of what is paid for turns into training that is kept, and where does the rest go?",
    variables=(CLUSTER,),
    rows=(
        Row(
            title="Now",
            panels=(
                Panel(kind="stat", title="Goodput", width=6, height=4, unit="percentunit",
                      queries=(of("cluster:ultracluster_goodput_ratio:avg"),),
                      why="Share of the last hour that went into steps that were kept, weighted by GPUs."),
                Panel(kind="stat", title="GPUs in jobs", width=6, height=4, unit="percentunit",
                      queries=(of("cluster:ultracluster_gpus_in_jobs:ratio"),),
                      why="Share of the GPUs that a job has."),
                Panel(kind="stat", title="Idle GPU hours, last day", width=6, height=4,
                      queries=(Query(expr='sum_over_time((cluster:ultracluster_gpus:count{cluster="$cluster"} - '
                                     '(cluster:ultracluster_gpus_in_jobs:count{cluster="$cluster"} or '
                                     'cluster:ultracluster_gpus:count{cluster="$cluster"} * 0))'
                                     "[1d:30s]) / 120"),),
                      why="GPUs without a job, times hours. Times the price of a GPU hour it is what idling cost."),
                Panel(kind="stat", title="Energy of the GPUs, last day", width=6, height=4, unit="watth",
                      queries=(of("ultracluster_gpu_energy_joules_total", over="sum(increase({}[1d])) / 3600"),),
                      why="Of the boards alone, without fans and hosts."),
            ),
        ),
        Row(
            title="Where it goes",
            panels=(
                Panel(kind="timeseries", title="GPUs: there, in jobs, at work", least=0, width=12,
                      queries=(of("cluster:ultracluster_gpus:count", "there"),
                               of("cluster:ultracluster_gpus_in_jobs:count", "in jobs"),
                               of("ultracluster_gpu_tensor_active_ratio", "at work", over="sum({})")),
                      why="`At work` is the sum of tensor activity: how many GPUs would do the same at full speed."),
                Panel(kind="timeseries", title="Goodput by job", least=0, width=12, unit="percentunit", to=TO_JOB,
                      queries=(of("job:ultracluster_goodput_ratio:avg1h", "{{job_id}}"),),
                      why="What is missing went into restarts, waiting, and steps that were lost."),
                Panel(kind="timeseries", title="Restarts by job, last hour", least=0, width=8, to=TO_JOB,
                      queries=(of("ultracluster_job_restarts_total", "{{job_id}}", over="increase({}[1h])"),),
                      why="Each costs the time since the last checkpoint, and the start."),
                Panel(kind="timeseries", title="Checkpoint age by job", least=0, width=8, unit="s", to=TO_JOB,
                      queries=(of("ultracluster_job_checkpoint_age_seconds", "{{job_id}}"),),
                      why="What a failure now would cost."),
                Panel(kind="timeseries", title="MFU by job", least=0, width=8, unit="percentunit", to=TO_JOB,
                      queries=(of("ultracluster_job_mfu_ratio", "{{job_id}}"),), why="As the jobs say themselves."),
            ),
        ),
    ),
)  # fmt: skip
