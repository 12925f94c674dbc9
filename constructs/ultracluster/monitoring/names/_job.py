"""Metrics of jobs: their GPUs, and what programs report under the contract of docs/guides/monitoring.md.

NCCL's are those of the Inspector: https://github.com/NVIDIA/nccl, plugins/profiler/inspector (commit 5067397c of
2026-06-11, read 2026-11-20). vLLM's: https://docs.vllm.ai/en/latest/design/metrics.html (read 2026-11-20).
"""

from ultracluster.monitoring.names._metric import JOB, NODE, Metric, Profile, Unit, of

_BY = ", ".join(JOB)
MODEL = ("cluster", "model_name")
_NCCL = (*JOB, "collective", "message_size")


def _job(name: str, unit: Unit, text: str, expression: str, *, counter: bool = False) -> Metric:
    return Metric(name=name, unit=unit, help=text, labels=JOB, expr=expression, counter=counter)


def _over_gpus(aggregation: str, metric: str) -> str:
    # The info is the left side: a GPU that two jobs share counts for both, and nothing is ambiguous.
    return f"{aggregation} by ({_BY}) (ultracluster_gpu_job_info * on (cluster, instance, gpu) group_left () {metric})"


def _model(name: str, unit: Unit, text: str, expression: str) -> Metric:
    return Metric(name=name, unit=unit, help=text, labels=MODEL, expr=expression)


def _quantile(quantile: float, histogram: str) -> str:
    return (
        f"histogram_quantile({quantile:g}, "
        f"sum by (cluster, model_name, le) (rate(vllm:{histogram}_seconds_bucket[5m])))"
    )


_GPUS = (
    _job("job:ultracluster_gpus:count", "count", "GPUs that the job has.",
         f"sum by ({_BY}) (ultracluster_gpu_job_info)"),
    _job("job:ultracluster_nodes:count", "count", "Nodes that the job has.",
         f"count by ({_BY}) (count by (cluster, job_id, instance) (ultracluster_gpu_job_info))"),
    Metric(name="node_job:ultracluster_gpu_job_info:max", unit="info", labels=(*NODE, "job_id"),
           help="Which jobs a node works for.",
           expr=f"max by ({', '.join(NODE)}, job_id) (ultracluster_gpu_job_info)"),
    _job("job:ultracluster_gpu_utilization_ratio:avg", "ratio",
         "Share of time with any kernel, mean over the GPUs; a hung job has 1.",
         _over_gpus("avg", "ultracluster_gpu_utilization_ratio")),
    _job("job:ultracluster_gpu_tensor_active_ratio:avg", "ratio", "Tensor activity, mean over the GPUs.",
         _over_gpus("avg", "ultracluster_gpu_tensor_active_ratio")),
    _job("job:ultracluster_gpu_power_watts:sum", "watts", "Power that the GPUs draw.",
         _over_gpus("sum", "ultracluster_gpu_power_watts")),
    _job("job:ultracluster_gpus_idle:ratio", "ratio", "Share of the GPUs that did nothing.",
         f"{_over_gpus('avg', '(ultracluster_gpu_engine_active_ratio < bool 0.01)')}"),
    # How far a GPU's clock is below that of the others of its job: the slowest of a job makes all wait.
    Metric(name="node_job:ultracluster_gpu_sm_clock_hertz:ratio_avg10m", unit="ratio", labels=(*NODE, "job_id"),
           help="Clock of the node's slowest GPU, over ten minutes, as a share of the median over its job.",
           expr=f"min by ({', '.join(NODE)}, job_id) (ultracluster_gpu_job_info * on (cluster, instance, gpu) "
           f"group_left () "
           f"avg_over_time(ultracluster_gpu_sm_clock_hertz[10m])) / on ({_BY}) group_left () quantile by ({_BY}) (0.5, "
           "ultracluster_gpu_job_info * on (cluster, instance, gpu) group_left () "
           "avg_over_time(ultracluster_gpu_sm_clock_hertz[10m]))"),
)  # fmt: skip

_TRAINING = (
    _job("ultracluster_job_step", "number", "Step that the job is at.", f"max by ({_BY}) (train_step)"),
    _job("ultracluster_job_step_seconds", "seconds", "Time of the last step.", f"max by ({_BY}) (train_step_seconds)"),
    _job("job:train_tokens:sum_rate5m", "per_second", "Tokens trained on.",
         f"sum by ({_BY}) (rate(train_tokens_total[5m]))"),
    _job("ultracluster_job_mfu_ratio", "ratio", "Model FLOPs utilisation, as the job reports it.",
         f"max by ({_BY}) (train_mfu_ratio)"),
    _job("ultracluster_job_loss", "number", "Loss of the last step; one rank that is not a number makes it none.",
         f"avg by ({_BY}) (train_loss)"),
    _job("ultracluster_job_checkpoint_timestamp_seconds", "timestamp_seconds", "When the last checkpoint was complete.",
         f"max by ({_BY}) (train_last_checkpoint_timestamp_seconds)"),
    _job("ultracluster_job_checkpoint_age_seconds", "seconds",
         "Time since the last checkpoint: what a failure now would cost.",
         f"time() - max by ({_BY}) (train_last_checkpoint_timestamp_seconds)"),
    _job("ultracluster_job_checkpoint_interval_seconds", "seconds",
         "Time that the job means to leave between checkpoints.",
         f"max by ({_BY}) (train_checkpoint_interval_seconds)"),
    _job("ultracluster_job_restarts_total", "count", "How often the job was started again.",
         f"max by ({_BY}) (train_restarts_total)",
         counter=True),
    # A rate over an hour is too low until the hour is over. While the job restarts it reports nothing, which is 0.
    _job("job:train_productive_seconds:rate5m", "ratio",
         "Share of the last minutes that went into steps that were kept.",
         f"clamp_max(max by ({_BY}) (rate(train_productive_seconds_total[5m])), 1) or job:ultracluster_gpus:count * 0"
         f" and on ({_BY}) max by ({_BY}) (last_over_time(train_productive_seconds_total[1h]))"),
    _job("job:ultracluster_goodput_ratio:avg1h", "ratio", "Share of the last hour that went into steps that were kept.",
         "avg_over_time(job:train_productive_seconds:rate5m[1h])"),
)  # fmt: skip

_COLLECTIVES = (
    Metric(name="job_collective:nccl_bus_bandwidth_gbs:avg", unit="gb_per_s", labels=_NCCL, profile=Profile.STANDARD,
           help="Bus bandwidth of NCCL's collectives, mean over the ranks, by size of the message.",
           expr=f"avg by ({', '.join(_NCCL)}) (label_replace(nccl_bus_bandwidth_gbs, "
           '"job_id", "$1", "slurm_job_id", "(.+)"))'),
    Metric(name="node_job:nccl_collective_exec_time_microseconds:ratio", unit="ratio", labels=(*NODE, "job_id"),
           profile=Profile.STANDARD,
           help="Shortest time of the node's collectives as a share of the median over the job: who comes last waits "
           "least, so the node that all others wait for is far below 1.",
           expr=f"min by ({', '.join(NODE)}, job_id) (label_replace(nccl_collective_exec_time_microseconds "
           "/ on (cluster, slurm_job_id, comm_name, collective, message_size) group_left () "
           "quantile by (cluster, slurm_job_id, comm_name, collective, message_size) "
           '(0.5, nccl_collective_exec_time_microseconds), "job_id", "$1", "slurm_job_id", "(.+)"))'),
    Metric(name="ultracluster_job_nccl_missing_ranks", unit="count", labels=JOB,
           help="Ranks that NCCL's RAS subsystem does not reach any more.",
           expr=f"max by ({_BY}) (ultracluster_nccl_ras_missing_ranks)"),
)  # fmt: skip

_INFERENCE = (
    _model("model:vllm_num_requests_running:sum", "count", "Requests that are served.",
           "sum by (cluster, model_name) (vllm:num_requests_running)"),
    _model("model:vllm_num_requests_waiting:sum", "count", "Requests that wait.",
           "sum by (cluster, model_name) (vllm:num_requests_waiting)"),
    Metric(name="ultracluster_inference_kv_cache_usage_ratio", unit="ratio", labels=MODEL,
           help="The fullest key-value cache.",
           sources=of("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc")),
    _model("model:vllm_prompt_tokens:sum_rate5m", "per_second", "Tokens of prompts.",
           "sum by (cluster, model_name) (rate(vllm:prompt_tokens_total[5m]))"),
    _model("model:vllm_generation_tokens:sum_rate5m", "per_second", "Tokens generated.",
           "sum by (cluster, model_name) (rate(vllm:generation_tokens_total[5m]))"),
    _model("model:vllm_time_to_first_token_seconds:p95_rate5m", "seconds", "Time to the first token, 95th percentile.",
           _quantile(0.95, "time_to_first_token")),
    _model("model:vllm_e2e_request_latency_seconds:p95_rate5m", "seconds", "Time of a request, 95th percentile.",
           _quantile(0.95, "e2e_request_latency")),
)  # fmt: skip

JOB_METRICS = (*_GPUS, *_TRAINING, *_COLLECTIVES)
INFERENCE_METRICS = _INFERENCE
