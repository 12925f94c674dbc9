"""One job: is it getting on, and who holds it up."""

from ultracluster.monitoring.dashboards.builder._common import CLUSTER, JOB, LEAST, MOST, TO_NODE, of, of_nodes
from ultracluster.monitoring.dashboards.builder._spec import Dashboard, Panel, Query, Row

_JOB = 'job_id="$job"'
_ACTIVE = "node:ultracluster_gpu_tensor_active_ratio:avg"
_LEAST_ACTIVE = f"{of_nodes(_ACTIVE)} and {of_nodes(_ACTIVE, at=' @ end()', over='bottomk(10, {})')}"
_CHECKPOINT = ((None, "green"), (1, "orange"), (2, "red"))

JOB_DASHBOARD = Dashboard(
    uid="ultracluster-job",
    title="Job",
    about="Is the job getting on? If it is slow or hung: which node, which GPU, or the network.",
    variables=(CLUSTER, JOB),
    rows=(
        Row(
            title="Now",
            panels=(
                Panel(kind="stat", title="GPUs", width=4, height=4, unit="none",
                      queries=(of("job:ultracluster_gpus:count", within=_JOB),), why="GPUs that the job has."),
                Panel(kind="stat", title="Step", width=4, height=4, unit="none",
                      queries=(of("ultracluster_job_step", within=_JOB),),
                      why="The step that the job is at, as it says itself."),
                Panel(kind="stat", title="MFU", width=4, height=4, unit="percentunit",
                      queries=(of("ultracluster_job_mfu_ratio", within=_JOB),),
                      why="Model FLOPs utilisation, as the job says itself."),
                Panel(kind="stat", title="Goodput, last hour", width=4, height=4, unit="percentunit",
                      queries=(of("job:ultracluster_goodput_ratio:avg1h", within=_JOB),),
                      why="Share of the last hour that went into steps that were kept."),
                Panel(kind="stat", title="Checkpoint age", width=4, height=4, unit="s",
                      queries=(of("ultracluster_job_checkpoint_age_seconds", within=_JOB),),
                      why="What a failure now would cost."),
                Panel(kind="stat", title="Intervals since the checkpoint", width=4, height=4, steps=_CHECKPOINT,
                      queries=(Query(expr=f'ultracluster_job_checkpoint_age_seconds{{cluster="$cluster", {_JOB}}} / '
                                     f'ultracluster_job_checkpoint_interval_seconds{{cluster="$cluster", {_JOB}}}'),),
                      why="Above 1 a checkpoint is late, above 2 it is missing."),
            ),
        ),
        Row(
            title="Progress",
            panels=(
                Panel(kind="timeseries", title="Tokens per second", width=8,
                      queries=(of("job:train_tokens:sum_rate5m", "tokens", within=_JOB),),
                      why="A dip is a checkpoint or a straggler, a zero a hang or a restart."),
                Panel(kind="timeseries", title="Time of a step", width=8, unit="s",
                      queries=(of("ultracluster_job_step_seconds", "step", within=_JOB),),
                      why="Slow growth: heat, or the input. Jumps: one node, or the network."),
                Panel(kind="timeseries", title="Loss", width=8, unit="none",
                      queries=(of("ultracluster_job_loss", "loss", within=_JOB),), why="As the job says itself."),
                Panel(kind="timeseries", title="Busy or hung", width=12, unit="percentunit", least=0, most=1,
                      queries=(of("job:ultracluster_gpu_utilization_ratio:avg", "any kernel", within=_JOB),
                               of("job:ultracluster_gpu_tensor_active_ratio:avg", "tensor cores", within=_JOB),
                               of("job:ultracluster_gpus_idle:ratio", "idle GPUs", within=_JOB)),
                      why="Kernels at 100 percent with idle tensor cores: a collective waits for somebody who does not "
                      "come. Look at the stragglers below."),
                Panel(kind="timeseries", title="Power of the job", width=12, unit="watt",
                      queries=(of("job:ultracluster_gpu_power_watts:sum", "power", within=_JOB),),
                      why="Follows the work: it falls when GPUs wait."),
            ),
        ),
        Row(
            title="Who holds it up",
            panels=(
                Panel(kind="timeseries", title="Clock against the job's median", width=8, unit="percentunit",
                      steps=((None, "red"), (0.9, "green")), to=TO_NODE,
                      queries=(of("node_job:ultracluster_gpu_sm_clock_hertz:ratio_avg10m", "{{instance}}", within=_JOB,
                                  over=LEAST),),
                      why="The ten slowest nodes. Below 90 percent of the median a node makes all others wait."),
                Panel(kind="timeseries", title="Time in collectives against the job's median", width=8,
                      unit="percentunit", to=TO_NODE,
                      queries=(of("node_job:nccl_collective_exec_time_microseconds:ratio", "{{instance}}", within=_JOB,
                                  over=LEAST),),
                      why="Who comes last to a collective waits least in it: the node far below 100 percent is the "
                      "one that the others wait for."),
                Panel(kind="timeseries", title="NCCL bus bandwidth", width=8, unit="GBs",
                      queries=(of("job_collective:nccl_bus_bandwidth_gbs:avg", "{{collective}} {{message_size}}",
                                  within=_JOB,
                                  over=MOST),),
                      why="By size of the message. Compare with the figure of the NCCL test for this many nodes."),
                Panel(kind="timeseries", title="Tensor activity by node", width=12, unit="percentunit", to=TO_NODE,
                      queries=(Query(expr=_LEAST_ACTIVE, legend="{{instance}}"),),
                      why="The ten least active nodes of the job."),
                Panel(kind="table", title="Problems of its nodes", width=12, to=TO_NODE,
                      queries=(Query(expr=of_nodes("ultracluster_node_problem",
                                             over="max by (instance, problem, xid, path) ({})")),),
                      columns={"instance": "Node", "problem": "Problem", "xid": "XID", "path": "Path"},
                      why="What alerts say about the nodes that the job has. Empty is good."),
            ),
        ),
    ),
)  # fmt: skip
