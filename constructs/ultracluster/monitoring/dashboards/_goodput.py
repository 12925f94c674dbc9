"""Dashboard of goodput and cost."""

from ultracluster.monitoring.dashboards._common import CLUSTER, TO_JOB, TO_NODE, of, together
from ultracluster.monitoring.dashboards._spec import Dashboard, Variable, series, stat, table

_PRICE = Variable(name="price", title="USD for a GPU hour", text="4")
_BY_ACCOUNT = "sum by (account, user) (sum_over_time({}[$__range:1m])) / 60"
# Problems of the hardware of a node: not of its disks, its clock, its file systems, a program, or its peers.
_HARDWARE = (
    'ultracluster_node_problem{{cluster="$cluster", problem=~"(Gpu|Nv|Pcie|Efa).+|Node(Lost|Unhealthy|Flapping)|'
    'AcceleratorUnhealthy|FabricManagerDown", problem!~"GpuXidApplication|GpuMetric.+|EfaReceiveDrops|EfaPathTrouble|'
    'EfaRetransmits", check!="mounts"}}'
)
_FATAL = 'ultracluster_node_problem{{cluster="$cluster", problem=~"NodeLost|GpuXidFatal"}}'


def _bad(problems: str, offset: str = "") -> str:
    # Of two minutes: an alert waits, and a scrape that is missed is no failure.
    return f"group by (instance, node) (count_over_time({problems}[10m]{offset}) > 3)"


def _begins(problems: str) -> str:
    """Return how often nodes began to have a problem, after ten minutes without."""
    began = f"{_bad(problems)} unless on (instance) {_bad(problems, ' offset 10m')}"
    return f"count_over_time(({began})[$__range:10m])"


GOODPUT = Dashboard(
    uid="ultracluster-goodput",
    title="Goodput and cost",
    about="How much of what is paid for turns into training that is kept, and where does the rest go?",
    variables=(CLUSTER, _PRICE),
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
        "By account": (
            table("GPU hours and cost", "Of the time that is shown, at the price above: enter yours, for it depends on "
                  "the purchase option. In Kubernetes the account is the namespace.",
                  (of("account_user:ultracluster_gpus:sum", over=_BY_ACCOUNT),
                   of("account_user:ultracluster_gpus:sum", over=f"{_BY_ACCOUNT} * $price")),
                  width=12, columns={"account": "Account", "user": "User", "Value #A": "GPU hours",
                                     "Value #B": "USD"}),
            series("GPUs by account", "GPUs that the jobs of each account have.",
                   (of("account_user:ultracluster_gpus:sum", "{{account}}", over="sum by (account) ({})"),),
                   width=12, least=0),
        ),
        "Failures": (
            table("Nodes that fail again", "How often the hardware of a node began to have alerts after ten minutes "
                  "without, and the hours in which it had any, in the time that is shown: replace the first ones. 30 "
                  "days show lemons.",
                  (together(_begins(_HARDWARE)), together(f"count_over_time(({_bad(_HARDWARE)})[$__range:10m]) / 6")),
                  columns={"instance": "Node", "node": "Name", "Value #A": "Times", "Value #B": "Hours with an alert"},
                  width=12, to=TO_NODE),
            stat("Mean time to failure", "Hours of a node for each time that one was lost or had a fatal XID, in the "
                 "time that is shown. Without a failure: no data.",
                 (together(f"sum(sum_over_time({{0}}[$__range:1m])) / 60 / sum({_begins(_FATAL)})",
                           "cluster:ultracluster_node_up:sum"),),
                 width=6, height=8, unit="h"),
            stat("ETTR", "Effective training time ratio: time in steps that were kept, as a share of the time in which "
                 "jobs that report it ran, in the time that is shown. https://arxiv.org/abs/2410.21680 defines it.",
                 (together("sum(sum_over_time(({0} * on (cluster, job_id) {1})[$__range:1m])) / "
                           "sum(sum_over_time(({1} and on (cluster, job_id) {0})[$__range:1m]))",
                           "job:train_productive_seconds:rate5m", "job:ultracluster_gpus:count"),),
                 width=6, height=8, unit="percentunit"),
            series("Time that is lost, by cause", "Over all jobs that report it, weighted by their GPUs.",
                   (together("sum by (cause) ({0} * on (cluster, job_id) group_left () {1}) / "
                             "scalar(sum({1} and on (cluster, job_id) {0}))",
                             "job_cause:train_lost_seconds:sum_rate5m", "job:ultracluster_gpus:count",
                             legend="{{cause}}"),), width=12, least=0, unit="percentunit"),
            series("Startup and checkpoint by job", "What a restart and a checkpoint cost.",
                   (of("ultracluster_job_startup_seconds", "{{job_id}} startup"),
                    of("ultracluster_job_checkpoint_seconds", "{{job_id}} checkpoint")), width=12, least=0, unit="s",
                   to=TO_JOB),
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
            series("MFU by job", "As reported by the jobs.", (of("ultracluster_job_mfu_ratio", "{{job_id}}"),),
                   least=0, unit="percentunit", to=TO_JOB),
        ),
    },
)  # fmt: skip
