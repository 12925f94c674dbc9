"""Metrics of jobs: their GPUs, and what programs report under the contract of docs/guides/jobs.md.

NCCL's are those of the Inspector: https://github.com/NVIDIA/nccl, plugins/profiler/inspector (commit 5067397c of
2026-06-11, read 2026-11-20).
"""

from ultracluster.monitoring.names._metric import JOB, LEVELS, NODE, Profile, aggregated, recorded

_BY = ", ".join(JOB)
_NODE_JOB = ", ".join(LEVELS["node_job"])


def _over_gpus(aggregation: str, metric: str, by: str = _BY) -> str:
    # The info is the left side: a GPU that two jobs share counts for both, and nothing is ambiguous.
    return f"{aggregation} by ({by}) (ultracluster_gpu_job_info * on (cluster, instance, gpu) group_left () {metric})"


# Thresholds are judgment. A collective that waits keeps a few multiprocessors at 100 % of the time, and nothing else:
# it polls flags in its own memory. It draws 152 of 700 W on an H100 (https://github.com/NVIDIA/nccl/issues/1550), and
# 97 of 350 W on an L40S (https://github.com/wtdcode/vllm-backport/issues/14, both read 2026-11-26). An FP32 or FP64
# program has no tensor activity and keeps all multiprocessors busy, or the memory, or draws power; so does decoding
# with few requests. What NVLink carries hardly shows in the memory: 100 GB/s are 3 % of the bandwidth of an H100's.
_NONE = "ultracluster_gpu_utilization_ratio * 0"  # of a GPU without NVLink, or without a limit of its power
_POWER = "ultracluster_gpu_power_watts / ultracluster_gpu_power_limit_watts"
# Of several communicators that wait, each keeps up to 32 multiprocessors.
_WORKS = (
    "((ultracluster_gpu_tensor_active_ratio >= bool 0.01) + (ultracluster_gpu_memory_active_ratio >= bool 0.05) + "
    f"(ultracluster_gpu_sm_active_ratio >= bool 0.5) * (({_POWER} or {_NONE} + 1) >= bool 0.4) + "
    f"((ultracluster_gpu_nvlink_tx_bytes_per_second or {_NONE}) >= bool 1e8) + "
    f"(({_POWER} or {_NONE}) >= bool 0.6) > bool 0)"
)
# An H100 whose collective of NCCL 2.28 waits has 0.00001 of the memory active; one of a small model, whose ranks mostly
# wait for each other, 0.004, and copies to the host 0.016 (measured on 2026-11-28).
_SPINS = (
    f"((ultracluster_gpu_utilization_ratio > bool 0.9) * ({_WORKS} == bool 0) * "
    "(ultracluster_gpu_memory_active_ratio < bool 0.003))"
)
_START = "ultracluster_job_start_timestamp_seconds"
_TRAINS = "ultracluster_job_training_start_timestamp_seconds"
_STALL = "ultracluster_job_stall_start_timestamp_seconds"
_COMPUTED = "ultracluster_job_computed_timestamp_seconds"
_WAITS = "job:ultracluster_gpus_computing:ratio < 0.1"
#: Nodes of jobs on which a file system does not answer.
OUTAGE = (
    f"count by ({_BY}) (node_job:ultracluster_gpu_job_info:max and on (cluster, instance) "
    "ultracluster_node_mount_outage)"
)
# Below 10 MB/s are logs, metrics and heartbeats.
_SAVES = (
    "(ultracluster_job_checkpoint_in_progress == 1 or job:ultracluster_lustre_write_bytes:sum_rate5m > 1e7 or "
    "job:node_network_transmit_bytes:max_rate5m > 1e7 or "
    f"{OUTAGE})"
)
# A rank that works on its CPU with several processes, as a compiler and a tokeniser do, takes more of it than those
# that wait, each of which polls on one CPU or two. One process alone looks like them.
_CPU = (
    "(node_job:ultracluster_gpu_job_info:max * on (cluster, instance) group_left () "
    "node:ultracluster_cpu_busy:ratio_rate5m)"
)
_BUSY = f"max by ({_BY}) ({_CPU}) - quantile by ({_BY}) (0.5, {_CPU}) > 0.1"
# Once, from the start of a run, and not after the third start in two hours: a job that hangs at each start must be
# reported. A program that reports and was started again in place has a count of its restarts, and no step yet.
_BEGINS = (
    f"({_START} > time() - 2100 unless on ({_BY}) sum_over_time(job:ultracluster_gpus_computing:ratio[1h:5m]) > 3 "
    f"unless on ({_BY}) changes({_START}[2h]) > 1 or ultracluster_job_restarts_total and on ({_BY}) "
    f"last_over_time(ultracluster_job_step[2h])) unless on ({_BY}) ultracluster_job_step unless on ({_BY}) "
    "changes(ultracluster_job_restarts_total[2h]) > 1"
)
_SEEN = "node_job:ultracluster_job_seen_timestamp_seconds:max"
_WELL = "node:ultracluster_well_timestamp_seconds:max"
# Those that come from a job of the scheduler, or from the pod of a server.
_SERVERS = 'vllm:num_requests_running{job_id!=""}', 'sglang:num_running_reqs{job_id!=""}'
_SENT = (
    "node_job:ultracluster_gpu_job_info:max * on (cluster, instance) group_left () "
    "node:node_amazonefa_tx_bytes:sum_rate5m"
)
# A GPU whose process has ended or waits goes to its idle clock, and nobody waits for its clock.
_CLOCK = (
    "(avg_over_time(ultracluster_gpu_sm_clock_hertz[10m]) and on (cluster, instance, gpu) "
    "ultracluster_gpu_engine_active_ratio > 0.01)"
)
# A Kubernetes job has the name of its namespace, which is its team's.
_OF_KUBERNETES = (
    'label_replace(label_replace(job:ultracluster_gpus:count{job_id=~".+/.+"}, "account", "$1", "job_id", "(.+)/.+"), '
    '"name", "$1", "job_id", ".+/(.+)") * 0 + 1'
)
#: Labels of the owner of a job.
JOB_INFO = ("user", "account", "partition", "name")
_GPUS = (
    aggregated("job:ultracluster_gpus:count", "count", "GPUs that the job has.",
               expr=f"sum by ({_BY}) (ultracluster_gpu_job_info)"),
    recorded("ultracluster_job_info", "info",
             "Whose the job is: user, account, partition and name in Slurm; namespace and name in Kubernetes.",
             (*JOB, *JOB_INFO), expr=f"topk by ({_BY}) (1, max by ({_BY}, {', '.join(JOB_INFO)}) "
             f"(ultracluster_slurm_job_info) or {_OF_KUBERNETES})"),
    recorded("ultracluster_job_running", "bool",
             "Jobs that Slurm runs, by its login nodes, or of which a pod runs, by kube-state-metrics.", JOB,
             expr=f"max by ({_BY}) (ultracluster_slurm_job_info or ultracluster_kube_pod_job_info * on (cluster, "
             "namespace, pod) group_left () (max by (cluster, namespace, pod) "
             '(kube_pod_status_phase{phase="Running"}) == 1))'),
    aggregated("account_user:ultracluster_gpus:sum", "count", "GPUs that the jobs of an account and user have.",
               expr="sum by (cluster, account, user) (job:ultracluster_gpus:count * on (cluster, job_id) "
               "group_left (account, user) ultracluster_job_info)"),
    aggregated("job:ultracluster_nodes:count", "count", "Nodes that the job has.",
               "count by (cluster, job_id, instance) (ultracluster_gpu_job_info)"),
    aggregated("node_job:ultracluster_gpu_job_info:max", "info", "Which jobs a node works for."),
    # Both read what they wrote before: there is no other memory. Two minutes are four evaluations.
    recorded(_START, "timestamp_seconds",
             "Start of the run: when the job's GPUs were first seen, without a gap of two minutes since.", JOB,
             expr=f"last_over_time({_START}[2m]) and on ({_BY}) job:ultracluster_gpus:count or "
             "job:ultracluster_gpus:count * 0 + time()"),
    aggregated(_SEEN, "timestamp_seconds",
               "When a node was last seen at work for a job, within two hours, or within a day if the job still runs.",
               expr=f"node_job:ultracluster_gpu_job_info:max * 0 + time() or last_over_time({_SEEN}[5m]) > "
               f"time() - 7200 or last_over_time({_SEEN}[5m]) > time() - 86400 and on ({_BY}) "
               "(job:ultracluster_gpus:count or ultracluster_job_running)"),
    # `up` ends two minutes after the last sample, and the info of a job after five: a node that fails at work is later
    # seen at work than well, and a node that was given back the other way round. A Prometheus that discovers nodes
    # marks the series of one that is gone as stale, target by target: with the first, the node is no longer well.
    aggregated(_WELL, "timestamp_seconds", "When all exporters of a node last answered, within a day.",
               expr=f'(min by ({", ".join(NODE)}) (last_over_time(up{{instance_type!=""}}[2m])) == 1 '
               'and on (cluster, instance) count by (cluster, instance) (up{instance_type!=""}) >= '
               'count by (cluster, instance) (last_over_time(up{instance_type!=""}[2m]))) * 0 + time() or '
               f"last_over_time({_WELL}[5m]) > time() - 86400"),
    aggregated("job:ultracluster_node_up:count", "count", "Nodes that the job has and that answer.",
               expr=f"count by ({_BY}) (node_job:ultracluster_gpu_job_info:max and on (cluster, instance) "
               'last_over_time(up{instance_type!=""}[2m]))'),
    recorded("ultracluster_job_service", "bool",
             "Whether the job is a server, which may wait for requests: it reports that, a pod of it has the label, or "
             "it has metrics of vLLM or SGLang and no steps. Others have no series.", JOB,
             expr=f'max by ({_BY}) (max_over_time(train_service[1h]) or kube_pod_labels{{service="true"}} or '
             + " or ".join(f"last_over_time({metric}[1h]) * 0 + 1" for metric in _SERVERS)
             + f") == 1 unless on ({_BY}) train_step"),
    aggregated("job:ultracluster_gpus_computing:ratio", "ratio",
               "Share of the GPUs that make progress: tensor cores, memory or most multiprocessors are active, NVLink "
               "carries data, or 60 % of the power is drawn.",
               expr=_over_gpus("avg", _WORKS)),
    aggregated("job:ultracluster_gpus_spinning:ratio", "ratio",
               "Share of the GPUs that run a kernel without progress, as in a collective that waits.",
               expr=_over_gpus("avg", _SPINS)),
    aggregated("job:ultracluster_lustre_write_bytes:sum_rate5m", "bytes_per_second",
               "What the job's nodes write to Lustre.",
               expr=f"sum by ({_BY}) (node_job:ultracluster_gpu_job_info:max * on (cluster, instance) group_left () "
               "sum by (cluster, instance) (rate(ultracluster_lustre_write_bytes_total[5m])))"),
    aggregated("job:node_network_transmit_bytes:max_rate5m", "bytes_per_second",
               "What the one of the job's nodes that sends most sends over IP (ENA), without EFA.",
               expr=f"max by ({_BY}) (node_job:ultracluster_gpu_job_info:max * on (cluster, instance) group_left () "
               "node:node_network_transmit_bytes:sum_rate5m)"),
    aggregated("job:ultracluster_gpu_utilization_ratio:avg", "ratio",
               "Share of time with any kernel, mean over the GPUs; a hung job has 1.",
               expr=_over_gpus("avg", "ultracluster_gpu_utilization_ratio")),
    aggregated("job:ultracluster_gpu_tensor_active_ratio:avg", "ratio", "Tensor activity, mean over the GPUs.",
               expr=_over_gpus("avg", "ultracluster_gpu_tensor_active_ratio")),
    aggregated("job:ultracluster_gpu_power_watts:sum", "watts", "Power that the GPUs draw.",
               expr=_over_gpus("sum", "ultracluster_gpu_power_watts")),
    aggregated("job:ultracluster_gpus_idle:ratio", "ratio", "Share of the GPUs that did nothing.",
               expr=_over_gpus("avg", "(ultracluster_gpu_engine_active_ratio < bool 0.01)")),
    # What a node sends over EFA, against the others of its job: pipeline and expert parallelism are uneven. Of two
    # nodes the median is the mean: one that sends less than a third of what the other sends is below half of it.
    aggregated("node_job:node_amazonefa_tx_bytes:ratio_rate5m", "ratio",
               "What the node sends over EFA as a share of the median over its job, of two nodes or more; none below "
               "100 MB/s.",
               expr=f"({_SENT}) / on ({_BY}) group_left () (quantile by ({_BY}) (0.5, {_SENT}) > 1e8 and on ({_BY}) "
               "job:ultracluster_nodes:count > 1)"),
    # How far a GPU's clock is below that of the others of its job: the slowest of a job makes all wait.
    aggregated("node_job:ultracluster_gpu_sm_clock_hertz:ratio_avg10m", "ratio",
               "Clock of the node's slowest GPU at work, over ten minutes, as a share of the median over its job.",
               expr=f"{_over_gpus('min', _CLOCK, _NODE_JOB)} / on ({_BY}) group_left () quantile by ({_BY}) (0.5, "
               f"ultracluster_gpu_job_info * on (cluster, instance, gpu) group_left () {_CLOCK})"),
)  # fmt: skip


def _of_run(quantile: float, metric: str, windows: dict[str, int], step: str = "") -> str:
    """Return a quantile over the longest window that is within the run: a job of the same name may have run before."""
    terms = (
        f"quantile_over_time({quantile}, {metric}[{window}{step}]) and on ({_BY}) time() - {_START} > {seconds}"
        for window, seconds in windows.items()
    )
    return f"({' or '.join(terms)})"


_SIX_HOURS = {f"{hours}h": 3600 * hours for hours in range(6, 0, -1)}
_DAY = {f"{hours}h": 3600 * hours for hours in (24, 20, 16, 12, 10, 8, 7, 6, 4, 2, 1)}
_MFU, _STEP_SECONDS, _LOSS = (f"ultracluster_job_{name}" for name in ("mfu_ratio", "step_seconds", "loss"))
_MFU_RATIO = f"{_of_run(0.5, _MFU, _SIX_HOURS)} / (avg_over_time({_MFU}[15m]) > 0)"
_MFU_CREEPS = (
    f'label_replace({_of_run(0.9, _MFU, _DAY, ":15m")} / (avg_over_time({_MFU}[1h]) > 0), "of", "day", "", "")'
)
_TRAINING = (
    recorded("ultracluster_job_step", "number", "Step that the job is at.", JOB, "train_step"),
    recorded("ultracluster_job_finished", "bool", "Whether the training is finished while its program still runs, as "
             "the job reports it.", JOB, "train_finished"),
    recorded("ultracluster_job_step_seconds", "seconds",
             "Time of the last step, or the mean of 15 minutes of a job that reports its steps alone.", JOB,
             expr=f"max by ({_BY}) (train_step_seconds) or 900 / (max by ({_BY}) (increase(train_step[15m])) > 0)"),
    aggregated("job:train_tokens:sum_rate5m", "per_second", "Tokens trained on."),
    aggregated("job:ultracluster_job_step_seconds:ratio", "ratio",
               "Step time over 15 minutes, as a multiple of the run's own median over six hours, after an hour.",
               expr=f"avg_over_time({_STEP_SECONDS}[15m]) / {_of_run(0.5, _STEP_SECONDS, _SIX_HOURS)}"),
    recorded("ultracluster_job_mfu_ratio", "ratio", "Model FLOPs utilisation, as the job reports it.", JOB,
             "train_mfu_ratio"),
    # Not the time of a step, where there is an MFU: a batch that doubles takes twice as long. The best of a day finds
    # what creeps: a median of six hours follows it.
    aggregated("job:ultracluster_job_slowdown:ratio", "ratio",
               "How much slower the job is than usual, after an hour: its median MFU over six hours as a multiple of "
               "that "
               "of 15 minutes, or the best of a day of that of an hour; without an MFU the ratio of the step time.",
               expr=f"max by ({_BY}) ({_MFU_RATIO} or {_MFU_CREEPS}) or on ({_BY}) "
               "job:ultracluster_job_step_seconds:ratio"),
    recorded("ultracluster_job_loss", "number", "Loss of the last step; one rank that is not a number makes it none.",
             JOB, expr=f"avg by ({_BY}) (train_loss)"),
    aggregated("job:ultracluster_job_loss:ratio", "ratio",
               "Loss, as a multiple of the run's own median over six hours, after a quarter of an hour.",
               expr=f"{_LOSS} / ({_of_run(0.5, _LOSS, {**_SIX_HOURS, '15m': 900})} > 0)"),
    recorded("ultracluster_job_checkpoint_timestamp_seconds", "timestamp_seconds",
             "When the last checkpoint was complete.", JOB, "train_last_checkpoint_timestamp_seconds"),
    recorded("ultracluster_job_restarts_total", "count", "How often the job was started again.", JOB,
             "train_restarts_total"),
    # A program that starts again in place reports no checkpoint, and what was lost before it is lost.
    recorded(_TRAINS, "timestamp_seconds", "First step of the job's program, which has started again if no step was "
             "reported for two minutes, or if the count of restarts changes.", JOB,
             expr=f"last_over_time({_TRAINS}[2m]) and on ({_BY}) ultracluster_job_step unless on ({_BY}) "
             "changes(ultracluster_job_restarts_total[2m]) > 0 or ultracluster_job_step * 0 + time()"),
    recorded("ultracluster_job_checkpoint_age_seconds", "seconds",
             "Time since the last checkpoint, or since the first step of the program: what a failure now would cost.",
             JOB, expr=f"time() - max by ({_BY}) (train_last_checkpoint_timestamp_seconds or {_TRAINS} and on ({_BY}) "
             "(train_last_checkpoint_timestamp_seconds or train_checkpoint_interval_seconds)) and on "
             f"({_BY}) {_TRAINS}"),
    recorded("ultracluster_job_checkpoint_interval_seconds", "seconds",
             "Time that the job means to leave between checkpoints.", JOB, "train_checkpoint_interval_seconds"),
    recorded("ultracluster_job_checkpoint_seconds", "seconds", "Time that the last checkpoint took.", JOB,
             "train_checkpoint_seconds"),
    recorded("ultracluster_job_checkpoint_in_progress", "bool",
             "Whether the training waits for a checkpoint, as the job reports it.", JOB,
             "train_checkpoint_in_progress"),
    # It reads what it wrote before, as the start of the run does.
    recorded(_STALL, "timestamp_seconds", "Since when less than a tenth of the job's GPUs make progress.", JOB,
             expr=f"last_over_time({_STALL}[2m]) and on ({_BY}) {_WAITS} or ({_WAITS}) * 0 + time()"),
    recorded(_COMPUTED, "timestamp_seconds", "When more than half of the job's GPUs last made progress.", JOB,
             expr=f"(job:ultracluster_gpus_computing:ratio > 0.5) * 0 + time() or last_over_time({_COMPUTED}[5m]) and "
             f"on ({_BY}) job:ultracluster_gpus:count"),
    # Nothing that is written excuses a stall of more than half an hour: a checkpoint that never ends is an alert.
    recorded("ultracluster_job_saving", "bool",
             "Whether the GPUs have waited for less than half an hour while the job saves: it reports a checkpoint, "
             "its nodes write to Lustre or send over IP (ENA), or a file system of them does not answer; or for less "
             "than a quarter while one of them computes, as in an evaluation on one rank. Other jobs have no series.",
             JOB, expr=f"(time() - {_STALL} < 1800) * 0 + 1 and on ({_BY}) {_SAVES} or (time() - {_STALL} < 900) * 0 "
                       f"+ 1 "
             f"and on ({_BY}) job:ultracluster_gpus_computing:ratio > 0"),
    recorded("ultracluster_job_preparing", "bool",
             "Whether the GPUs have waited for less than 35 minutes before the first step of a run, or while the job "
             "reports that ranks wait for one; or for less than 20 while the CPUs of a node of it are busier than "
             "those of most by a tenth. Other jobs have no series.", JOB,
             expr=f"(time() - {_STALL} < 2100) * 0 + 1 and on ({_BY}) (train_waiting == 1 or {_BEGINS}) or "
             f"(time() - {_STALL} < 1200) * 0 + 1 and on ({_BY}) ({_BUSY})"),
    recorded("ultracluster_job_startup_seconds", "seconds",
             "Time from the start of the job, or of its program, to the first step.", JOB, "train_startup_seconds"),
    aggregated("job_cause:train_lost_seconds:sum_rate5m", "ratio",
               "Share of the time that went into nothing that was kept, by cause: startup, checkpoint, repeated."),
    # A rate over an hour is too low until the hour is over. While the job restarts it reports nothing, which is 0.
    aggregated("job:train_productive_seconds:rate5m", "ratio",
               "Share of the last minutes that went into steps that were kept.",
               expr=f"clamp_max(max by ({_BY}) (rate(train_productive_seconds_total[5m])), 1) or "
               f"job:ultracluster_gpus:count * 0 and on ({_BY}) max by ({_BY}) "
               "(last_over_time(train_productive_seconds_total[1h]))"),
    aggregated("job:ultracluster_goodput_ratio:avg1h", "ratio",
               "Share of the last hour that went into steps that were kept.",
               expr="avg_over_time(job:train_productive_seconds:rate5m[1h])"),
)  # fmt: skip

_COLLECTIVES = (
    aggregated("job_collective:nccl_bus_bandwidth_gbs:avg", "gb_per_s",
               "Bus bandwidth of NCCL's collectives, mean over the ranks, by size of the message.",
               "nccl_bus_bandwidth_gbs", profile=Profile.STANDARD),
    aggregated("node_job:nccl_collective_exec_time_microseconds:ratio", "ratio",
               "Shortest time of the node's collectives as a share of the median over the job: who comes last waits "
               "least, so the node that all others wait for is far below 1.",
               expr=f"min by ({_NODE_JOB}) (nccl_collective_exec_time_microseconds "
               "/ on (cluster, job_id, comm_name, collective, message_size) group_left () "
               "quantile by (cluster, job_id, comm_name, collective, message_size) "
               "(0.5, nccl_collective_exec_time_microseconds))",
               profile=Profile.STANDARD),
    recorded("ultracluster_job_nccl_missing_ranks", "count",
             "Ranks that NCCL's RAS subsystem does not reach any more.", JOB, "ultracluster_nccl_ras_missing_ranks"),
)  # fmt: skip


JOB_METRICS = (*_GPUS, *_TRAINING, *_COLLECTIVES)
