"""Models that are served."""

from ultracluster.monitoring.dashboards.builder._common import CLUSTER, of
from ultracluster.monitoring.dashboards.builder._spec import Dashboard, Panel, Row, Variable

_MODEL = Variable(
    name="model", title="Model", metric="model:vllm_num_requests_running:sum", label="model_name", several=True
)
_WITHIN = 'model_name=~"$model"'

INFERENCE = Dashboard(
    uid="ultracluster-inference",
    title="Inference",
    about="Do users wait, and is the cache or the load the reason?",
    variables=(CLUSTER, _MODEL),
    rows=(
        Row(
            title="Latency",
            panels=(
                Panel(kind="timeseries", title="Time to the first token, 95th percentile", least=0, width=12, unit="s",
                      queries=(of("model:vllm_time_to_first_token_seconds:p95_rate5m", "{{model_name}}",
                                  within=_WITHIN),),
                      why="What a user feels first. It grows with the requests that wait."),
                Panel(kind="timeseries", title="Time of a request, 95th percentile", least=0, width=12, unit="s",
                      queries=(of("model:vllm_e2e_request_latency_seconds:p95_rate5m", "{{model_name}}",
                                  within=_WITHIN),),
                      why="From the question to the last token."),
            ),
        ),
        Row(
            title="Load",
            panels=(
                Panel(kind="timeseries", title="Requests", least=0,
                      queries=(of("model:vllm_num_requests_running:sum", "{{model_name}} served", within=_WITHIN),
                               of("model:vllm_num_requests_waiting:sum", "{{model_name}} waiting", within=_WITHIN)),
                      why="Requests that wait for long: more replicas."),
                Panel(kind="timeseries", title="Key-value cache", unit="percentunit", least=0, most=1,
                      queries=(of("ultracluster_inference_kv_cache_usage_ratio", "{{model_name}}", within=_WITHIN),),
                      why="The fullest replica. At 100 percent requests are preempted and recomputed."),
                Panel(kind="timeseries", title="Tokens per second", least=0,
                      queries=(of("model:vllm_generation_tokens:sum_rate5m", "{{model_name}} generated",
                                  within=_WITHIN),
                               of("model:vllm_prompt_tokens:sum_rate5m", "{{model_name}} of prompts",
                                  within=_WITHIN)),
                      why="Generated, and read from prompts."),
            ),
        ),
    ),
)  # fmt: skip
