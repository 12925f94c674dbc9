"""Models that are served."""

from functools import partial

from ultracluster.monitoring.dashboards._common import CLUSTER, of
from ultracluster.monitoring.dashboards._spec import Dashboard, Variable, series

_MODEL = Variable(
    name="model", title="Model", metric="model:inference_requests_running:sum", label="model_name", several=True
)
_here = partial(of, within='model_name=~"$model"')

INFERENCE = Dashboard(
    uid="ultracluster-inference",
    title="Inference",
    about="Do users wait, and is the cache or the load the reason?",
    variables=(CLUSTER, _MODEL),
    rows={
        "Latency": (
            series("Time to the first token, 95th percentile",
                   "What a user feels first. It grows with the requests that wait.",
                   (_here("model:inference_time_to_first_token_seconds:p95_rate5m", "{{model_name}}"),),
                   least=0, width=12, unit="s"),
            series("Time of a request, 95th percentile", "From the question to the last token.",
                   (_here("model:inference_e2e_request_latency_seconds:p95_rate5m", "{{model_name}}"),),
                   least=0, width=12, unit="s"),
            series("Time to the first token, median and 99th percentile", "Far apart: some requests wait for others.",
                   (_here("model:inference_time_to_first_token_seconds:p50_rate5m", "{{model_name}} median"),
                    _here("model:inference_time_to_first_token_seconds:p99_rate5m", "{{model_name}} 99 %")),
                   least=0, width=12, unit="s"),
            series("Time between two tokens", "How fast an answer appears. It grows with the size of the batch.",
                   (_here("model:inference_inter_token_latency_seconds:p50_rate5m", "{{model_name}} median"),
                    _here("model:inference_inter_token_latency_seconds:p99_rate5m", "{{model_name}} 99 %")),
                   least=0, width=12, unit="s"),
        ),
        "Results": (
            series("Requests that ended", "In a second.",
                   (_here("model:inference_requests:sum_rate5m", "{{model_name}}"),), least=0),
            series("Aborted or failed", "Share of the requests.",
                   (_here("model:inference_request_errors:ratio_rate5m", "{{model_name}}"),), least=0,
                   unit="percentunit"),
            series("Prefix cache", "Share of the tokens of prompts that need no computation.",
                   (_here("model:inference_prefix_cache_hits:ratio_rate5m", "{{model_name}}"),), least=0, most=1,
                   unit="percentunit"),
        ),
        "Load": (
            series("Requests", "Requests that wait for long: more replicas.",
                   (_here("model:inference_requests_running:sum", "{{model_name}} served"),
                    _here("model:inference_requests_waiting:sum", "{{model_name}} waiting")), width=12, least=0),
            series("Requests by server", "One that has requests, and is not among those with tokens, hangs.",
                   (_here("server:inference_requests_running:sum", "{{model_name}} {{job_id}} {{instance}}"),
                    _here("ultracluster_inference_progress", "tokens from {{model_name}} {{job_id}} {{instance}}")),
                   width=12, least=0),
            series("Key-value cache", "The fullest replica. At 100 percent requests are preempted and recomputed.",
                   (_here("ultracluster_inference_kv_cache_usage_ratio", "{{model_name}}"),),
                   width=12, unit="percentunit", least=0, most=1),
            series("Tokens per second", "Generated, and read from prompts.",
                   (_here("model:inference_generation_tokens:sum_rate5m", "{{model_name}} generated"),
                    _here("model:inference_prompt_tokens:sum_rate5m", "{{model_name}} of prompts")), width=12, least=0),
        ),
    },
)  # fmt: skip
