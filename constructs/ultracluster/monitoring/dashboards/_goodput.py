"""Dashboard of goodput and cost."""

from ultracluster.monitoring.dashboards._common import CLUSTER, TO_JOB, of, together
from ultracluster.monitoring.dashboards._spec import Dashboard, series, stat

GOODPUT = Dashboard(
    uid="ultracluster-goodput",
    title="Goodput and cost",
    about="How much of what is paid for turns into training that is kept, and where does the rest go?",
    variables=(CLUSTER,),
    rows={
        "Now": (
            stat("Goodput", "Share of the last hour that went into steps that were kept, weighted by GPUs.",
                 (of("cluster:ultracluster_goodput_ratio:avg"),), width=6, unit="percentunit"),
            stat("GPUs in jobs", "Share of the GPUs that a job has.", (of("cluster:ultracluster_gpus_in_jobs:ratio"),),
                 width=6, unit="percentunit"),
            stat("Idle GPU hours, last day",
                 "GPUs without a job, times hours. Times the price of a GPU hour it is what idling cost.",
                 (together("sum_over_time(({0} - ({1} or {0} * 0))[1d:30s]) / 120", "cluster:ultracluster_gpus:count",
                           "cluster:ultracluster_gpus_in_jobs:count"),), width=6),
            stat("Energy of the GPUs, last day", "Of the boards alone, without fans and hosts.",
                 (of("ultracluster_gpu_energy_joules_total", over="sum(increase({}[1d])) / 3600"),),
                 width=6, unit="watth"),
        ),
        "Where it goes": (
            series("GPUs: there, in jobs, at work",
                   "`At work` is the sum of tensor activity: how many GPUs would do the same at full speed.",
                   (of("cluster:ultracluster_gpus:count", "there"),
                    of("cluster:ultracluster_gpus_in_jobs:count", "in jobs"),
                    of("ultracluster_gpu_tensor_active_ratio", "at work", over="sum({})")), least=0, width=12),
            series("Goodput by job", "What is missing went into restarts, waiting, and steps that were lost.",
                   (of("job:ultracluster_goodput_ratio:avg1h", "{{job_id}}"),),
                   least=0, width=12, unit="percentunit", to=TO_JOB),
            series("Restarts by job, last hour", "Each costs the time since the last checkpoint, and the start.",
                   (of("ultracluster_job_restarts_total", "{{job_id}}", over="increase({}[1h])"),), least=0, to=TO_JOB),
            series("Checkpoint age by job", "What a failure now would cost.",
                   (of("ultracluster_job_checkpoint_age_seconds", "{{job_id}}"),), least=0, unit="s", to=TO_JOB),
            series("MFU by job", "As the jobs say themselves.", (of("ultracluster_job_mfu_ratio", "{{job_id}}"),),
                   least=0, unit="percentunit", to=TO_JOB),
        ),
    },
)  # fmt: skip
