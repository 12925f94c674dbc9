"""The metrics of jobs: what their GPUs do, and what their programs say under the contract of docs/metrics.md.

NCCL's are those of the Inspector: https://github.com/NVIDIA/nccl, plugins/profiler/inspector (commit 5067397c of
2026-06-11, read 2026-11-20). vLLM's: https://docs.vllm.ai/en/latest/design/metrics.html (read 2026-11-20).
"""

from ultracluster.metrics.metric import JOB, NODE, Metric, Profile, Unit, of

_BY = ", ".join(JOB)
MODEL = ("cluster", "model_name")
_NCCL = (*JOB, "collective", "message_size")


def _job(what: str, unit: Unit, text: str, expression: str, *, counter: bool = False) -> Metric:
    return Metric(name=f"job:{what}", unit=unit, help=text, labels=JOB, expression=expression, counter=counter)


def _over_gpus(aggregation: str, metric: str) -> str:
    # The info is the left side: a GPU that two jobs share counts for both, and nothing is ambiguous.
    return f"{aggregation} by ({_BY}) (gpu:job:info * on (cluster, instance, gpu) group_left () {metric})"


def _model(what: str, unit: Unit, text: str, expression: str) -> Metric:
    return Metric(name=f"inference:{what}", unit=unit, help=text, labels=MODEL, expression=expression)


def _quantile(quantile: float, histogram: str) -> str:
    return (
        f"histogram_quantile({quantile:g}, "
        f"sum by (cluster, model_name, le) (rate(vllm:{histogram}_seconds_bucket[5m])))"
    )


_GPUS = (
    _job("gpus:count", "count", "GPUs that the job has.", f"sum by ({_BY}) (gpu:job:info)"),
    _job("nodes:count", "count", "Nodes that the job has.",
         f"count by ({_BY}) (count by (cluster, job_id, instance) (gpu:job:info))"),
    Metric(name="job:node:info", unit="info", labels=(*NODE, "job_id"), help="Which jobs a node works for.",
           expression=f"max by ({', '.join(NODE)}, job_id) (gpu:job:info)"),
    _job("utilization:ratio", "ratio", "Share of time with any kernel, mean over the GPUs; a hung job has 1.",
         _over_gpus("avg", "gpu:utilization:ratio")),
    _job("tensor_active:ratio", "ratio", "Tensor activity, mean over the GPUs.",
         _over_gpus("avg", "gpu:tensor_active:ratio")),
    _job("power:watts", "watts", "Power that the GPUs draw.", _over_gpus("sum", "gpu:power:watts")),
    _job("idle_gpus:ratio", "ratio", "Share of the GPUs that did nothing.",
         f"{_over_gpus('avg', '(gpu:engine_active:ratio < bool 0.01)')}"),
    # How far a GPU's clock is below that of the others of its job: the slowest of a job makes all wait.
    Metric(name="node:clock_of_job:ratio", unit="ratio", labels=(*NODE, "job_id"),
           help="Clock of the node's slowest GPU, over ten minutes, as a share of the median over its job.",
           expression=f"min by ({', '.join(NODE)}, job_id) (gpu:job:info * on (cluster, instance, gpu) group_left () "
           f"avg_over_time(gpu:sm_clock:hertz[10m])) / on ({_BY}) group_left () quantile by ({_BY}) (0.5, "
           "gpu:job:info * on (cluster, instance, gpu) group_left () avg_over_time(gpu:sm_clock:hertz[10m]))"),
)  # fmt: skip

_TRAINING = (
    _job("step:number", "number", "Step that the job is at.", f"max by ({_BY}) (train_step)"),
    _job("step:seconds", "seconds", "Time of the last step.", f"max by ({_BY}) (train_step_seconds)"),
    _job("tokens:per_second", "per_second", "Tokens trained on.", f"sum by ({_BY}) (rate(train_tokens_total[5m]))"),
    _job("mfu:ratio", "ratio", "Model FLOPs utilisation, as the job says.", f"max by ({_BY}) (train_mfu_ratio)"),
    _job("loss:number", "number", "Loss of the last step; one rank that is not a number makes it none.",
         f"avg by ({_BY}) (train_loss)"),
    _job("checkpoint:timestamp_seconds", "timestamp_seconds", "When the last checkpoint was complete.",
         f"max by ({_BY}) (train_last_checkpoint_timestamp_seconds)"),
    _job("checkpoint_age:seconds", "seconds", "Time since the last checkpoint: what a failure now would cost.",
         f"time() - max by ({_BY}) (train_last_checkpoint_timestamp_seconds)"),
    _job("checkpoint_interval:seconds", "seconds", "Time that the job means to leave between checkpoints.",
         f"max by ({_BY}) (train_checkpoint_interval_seconds)"),
    _job("restarts:total", "count", "How often the job was started again.", f"max by ({_BY}) (train_restarts_total)",
         counter=True),
    # A rate over an hour is too low until the hour is over; and while the job starts again it says nothing: that is 0.
    _job("productive:ratio", "ratio", "Share of the last minutes that went into steps that were kept.",
         f"clamp_max(max by ({_BY}) (rate(train_productive_seconds_total[5m])), 1) or job:gpus:count * 0"
         f" and on ({_BY}) max by ({_BY}) (last_over_time(train_productive_seconds_total[1h]))"),
    _job("goodput:ratio", "ratio", "Share of the last hour that went into steps that were kept.",
         "avg_over_time(job:productive:ratio[1h])"),
)  # fmt: skip

_COLLECTIVES = (
    Metric(name="job:nccl_bus_bandwidth:gb_per_s", unit="gb_per_s", labels=_NCCL, profile=Profile.STANDARD,
           help="Bus bandwidth of NCCL's collectives, mean over the ranks, by size of the message.",
           expression=f"avg by ({', '.join(_NCCL)}) (label_replace(nccl_bus_bandwidth_gbs, "
           '"job_id", "$1", "slurm_job_id", "(.+)"))'),
    Metric(name="node:nccl_time_of_job:ratio", unit="ratio", labels=(*NODE, "job_id"), profile=Profile.STANDARD,
           help="Shortest time of the node's collectives as a share of the median over the job: who comes last waits "
           "least, so the node that all others wait for is far below 1.",
           expression=f"min by ({', '.join(NODE)}, job_id) (label_replace(nccl_collective_exec_time_microseconds "
           "/ on (cluster, slurm_job_id, comm_name, collective, message_size) group_left () "
           "quantile by (cluster, slurm_job_id, comm_name, collective, message_size) "
           '(0.5, nccl_collective_exec_time_microseconds), "job_id", "$1", "slurm_job_id", "(.+)"))'),
    Metric(name="job:nccl_ranks_missing:count", unit="count", labels=JOB,
           help="Ranks that NCCL's RAS subsystem does not reach any more.",
           expression=f"max by ({_BY}) (ultracluster_nccl_ras_missing_ranks)"),
)  # fmt: skip

_INFERENCE = (
    _model("requests_running:count", "count", "Requests that are served.",
           "sum by (cluster, model_name) (vllm:num_requests_running)"),
    _model("requests_waiting:count", "count", "Requests that wait.",
           "sum by (cluster, model_name) (vllm:num_requests_waiting)"),
    Metric(name="inference:kv_cache:ratio", unit="ratio", labels=MODEL, help="The fullest key-value cache.",
           sources=of("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc")),
    _model("prompt_tokens:per_second", "per_second", "Tokens of prompts.",
           "sum by (cluster, model_name) (rate(vllm:prompt_tokens_total[5m]))"),
    _model("generated_tokens:per_second", "per_second", "Tokens generated.",
           "sum by (cluster, model_name) (rate(vllm:generation_tokens_total[5m]))"),
    _model("first_token_p95:seconds", "seconds", "Time to the first token, 95th percentile.",
           _quantile(0.95, "time_to_first_token")),
    _model("request_p95:seconds", "seconds", "Time of a request, 95th percentile.",
           _quantile(0.95, "e2e_request_latency")),
)  # fmt: skip

JOB_METRICS = (*_GPUS, *_TRAINING, *_COLLECTIVES)
INFERENCE_METRICS = _INFERENCE
