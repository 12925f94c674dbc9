"""One job: its progress, and its slowest nodes."""

from functools import partial

from ultracluster.monitoring.dashboards._common import CLUSTER, JOB, LEAST, MOST, TO_NODE, named, of, together
from ultracluster.monitoring.dashboards._spec import Dashboard, Query, series, stat, table

_JOB = 'job_id="$job"'
_here = partial(of, within=_JOB)


def _of_nodes(metric: str, *, over: str = "{}", at: str = "") -> str:
    """Return a metric of the nodes of a job; `at` is a moment, such as ` @ end()`."""
    info = f'node_job:ultracluster_gpu_job_info:max{{cluster="$cluster", job_id="$job"}}{at}'
    nodes = f"group by (cluster, instance) ({info})"
    return over.format(f'{metric}{{cluster="$cluster"}}{at} and on (cluster, instance) {nodes}')


_ACTIVE = "node:ultracluster_gpu_tensor_active_ratio:avg"
_LEAST_ACTIVE = f"{_of_nodes(_ACTIVE)} and {_of_nodes(_ACTIVE, at=' @ end()', over='bottomk(10, {})')}"
_CHECKPOINT = ((None, "green"), (1, "orange"), (2, "red"))

JOB_DASHBOARD = Dashboard(
    uid="ultracluster-job",
    title="Job",
    about="Does the job progress? If it is slow or hung: which node, which GPU, or the network.",
    variables=(CLUSTER, JOB),
    rows={
        "Now": (
            stat("GPUs", "GPUs that the job has.", (_here("job:ultracluster_gpus:count"),), width=4, unit="none"),
            stat("Step", "The step that the job is at, as reported by the job.", (_here("ultracluster_job_step"),),
                 width=4, unit="none"),
            stat("MFU", "Model FLOPs utilisation, as reported by the job.", (_here("ultracluster_job_mfu_ratio"),),
                 width=4, unit="percentunit"),
            stat("Goodput, last hour", "Share of the last hour that went into steps that were kept.",
                 (_here("job:ultracluster_goodput_ratio:avg1h"),), width=4, unit="percentunit"),
            stat("Checkpoint age", "What a failure now would cost.",
                 (_here("ultracluster_job_checkpoint_age_seconds"),), width=4, unit="s"),
            stat("Intervals since the checkpoint", "Above 1 a checkpoint is late, above 2 it is missing.",
                 (together("{} / {}", "ultracluster_job_checkpoint_age_seconds",
                           "ultracluster_job_checkpoint_interval_seconds", within=_JOB),),
                 width=4, steps=_CHECKPOINT),
        ),
        "Whose": (
            table("Owner", "As Slurm has them; in Kubernetes the account is the namespace.",
                  (_here("ultracluster_job_info"),), width=12, height=4,
                  columns={"user": "User", "account": "Account", "partition": "Partition", "name": "Name"}),
            stat("Startup", "Time from the start of the job to its first step: what each restart costs.",
                 (_here("ultracluster_job_startup_seconds"),), width=4, unit="s"),
            stat("Checkpoint", "Time that the last checkpoint took.", (_here("ultracluster_job_checkpoint_seconds"),),
                 width=4, unit="s"),
            stat("GPU hours", "Of the time that is shown.",
                 (_here("job:ultracluster_gpus:count", over="sum_over_time({}[$__range:1m]) / 60"),), width=4),
        ),
        "Progress": (
            series("Tokens per second", "A dip is a checkpoint or a straggler, a zero a hang or a restart.",
                   (_here("job:train_tokens:sum_rate5m", "tokens"),)),
            series("Time of a step", "Slow growth: heat, or the input. Jumps: one node, or the network.",
                   (_here("ultracluster_job_step_seconds", "step"),), unit="s"),
            series("Loss", "As reported by the job.", (_here("ultracluster_job_loss", "loss"),), unit="none"),
            series("Busy or hung", "Kernels at 100 percent with idle tensor cores: a collective waits for somebody "
                   "who does not come. Look at the stragglers below.",
                   (_here("job:ultracluster_gpu_utilization_ratio:avg", "any kernel"),
                    _here("job:ultracluster_gpu_tensor_active_ratio:avg", "tensor cores"),
                    _here("job:ultracluster_gpus_computing:ratio", "GPUs that make progress"),
                    _here("job:ultracluster_gpus_idle:ratio", "idle GPUs")),
                   unit="percentunit", least=0, most=1),
            series("Time that is lost, by cause", "Startup after a restart, checkpoints, and steps that are repeated.",
                   (_here("job_cause:train_lost_seconds:sum_rate5m", "{{cause}}"),), unit="percentunit", least=0),
            series("Power of the job", "Follows the work: it falls when GPUs wait.",
                   (_here("job:ultracluster_gpu_power_watts:sum", "power"),), unit="watt"),
        ),
        "Slowest nodes": (
            series("Clock against the job's median",
                   "The ten slowest nodes. Below 90 percent of the median a node makes all others wait.",
                   (_here("node_job:ultracluster_gpu_sm_clock_hertz:ratio_avg10m", "{{node}} {{instance}}",
                          over=LEAST),),
                   unit="percentunit", steps=((None, "red"), (0.9, "green")), to=TO_NODE),
            series("Time in collectives against the job's median", "Who comes last to a collective waits least in it: "
                   "the node far below 100 percent is the one that the others wait for.",
                   (_here("node_job:nccl_collective_exec_time_microseconds:ratio", "{{node}} {{instance}}",
                          over=LEAST),),
                   unit="percentunit", to=TO_NODE),
            series("EFA of its nodes against the job's median", "Bytes that the ten lowest nodes send. A node far "
                   "below the others, while steps are slow, is the one that they wait for.",
                   (_here("node_job:node_amazonefa_tx_bytes:ratio_rate5m", "{{node}} {{instance}}", over=LEAST),),
                   unit="percentunit", least=0, to=TO_NODE),
            table("Network nodes", "Where its nodes are: fewer network nodes are shorter ways.",
                  (Query(expr=_of_nodes("ultracluster_node_topology_info",
                                        over="count by (network_node_1, network_node_2, network_node_3, ultraserver) "
                                        "({})")),),
                  width=16,
                  columns={"network_node_1": "First", "network_node_2": "Second", "network_node_3": "Third",
                           "ultraserver": "UltraServer", "Value": "Nodes"}),
            series("NCCL bus bandwidth",
                   "By size of the message. Compare with the figure of the NCCL test for this many nodes.",
                   (_here("job_collective:nccl_bus_bandwidth_gbs:avg", "{{collective}} {{message_size}}", over=MOST),),
                   unit="GBs"),
            series("Tensor activity by node", "The ten least active nodes of the job.",
                   (Query(expr=named(_LEAST_ACTIVE), legend="{{node}} {{instance}}"),), width=12,
                   unit="percentunit", to=TO_NODE),
            table("Problems of its nodes", "Alerts of the nodes of the job. Empty is good.",
                  (Query(expr=_of_nodes("ultracluster_node_problem",
                                       over="max by (instance, node, problem, xid, path) ({})")),),
                  width=12, to=TO_NODE,
                  columns={"instance": "Node", "node": "Name", "problem": "Problem", "xid": "XID", "path": "Path"}),
        ),
    },
)  # fmt: skip
