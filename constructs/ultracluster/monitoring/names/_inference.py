"""Metrics of models that are served, by vLLM or SGLang.

vLLM's names: https://docs.vllm.ai/en/latest/design/metrics.html (read 2026-11-20). SGLang's:
https://docs.sglang.io/docs/references/production_metrics (read 2026-11-26); each stage of a pipeline counts requests.
"""

from ultracluster.monitoring.names._metric import MODEL, aggregated, recorded

_BY = ", ".join(MODEL)
_FIRST_STAGE = 'pp_rank=~"0?"'


def _either(vllm: str, sglang: str, *, over: str = "{}") -> str:
    return f"sum by ({_BY}) ({over.format(f'vllm:{vllm}')} or {over.format(f'sglang:{sglang}')})"


def _rate(vllm: str, sglang: str = "") -> str:
    return _either(vllm, sglang or vllm, over="rate({}[5m])")


def _quantile(histogram: str, quantile: float = 0.95) -> str:
    bucket = f"{histogram}_seconds_bucket"
    each = f"rate(vllm:{bucket}[5m]) or rate(sglang:{bucket}[5m])"
    return f"histogram_quantile({quantile}, sum by ({_BY}, le) ({each}))"


INFERENCE_METRICS = (
    aggregated("model:inference_requests_running:sum", "count", "Requests that are served.",
               expr=_either("num_requests_running", f"num_running_reqs{{{_FIRST_STAGE}}}")),
    aggregated("model:inference_requests_waiting:sum", "count", "Requests that wait.",
               expr=_either("num_requests_waiting", f"num_queue_reqs{{{_FIRST_STAGE}}}")),
    recorded("ultracluster_inference_kv_cache_usage_ratio", "ratio", "The fullest key-value cache.", MODEL,
             "vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc", "sglang:token_usage"),
    aggregated("model:inference_prompt_tokens:sum_rate5m", "per_second", "Tokens of prompts.",
               expr=_rate("prompt_tokens_total")),
    aggregated("model:inference_generation_tokens:sum_rate5m", "per_second", "Tokens generated.",
               expr=_rate("generation_tokens_total")),
    aggregated("model:inference_time_to_first_token_seconds:p95_rate5m", "seconds",
               "Time to the first token, 95th percentile.", expr=_quantile("time_to_first_token")),
    *(
        aggregated(f"model:inference_{name}_seconds:{short}_rate5m", "seconds", f"{text}, {words}.",
                   expr=_quantile(name, quantile))
        for name, text in (("time_to_first_token", "Time to the first token"),
                           ("inter_token_latency", "Time between two tokens"))
        for short, words, quantile in (("p50", "median", 0.5), ("p99", "99th percentile", 0.99))
    ),
    aggregated("model:inference_requests:sum_rate5m", "per_second", "Requests that ended, for whatever reason.",
               expr=_rate("request_success_total", "num_requests_total")),
    aggregated("model:inference_request_errors:ratio_rate5m", "ratio",
               "Share of the requests that were aborted or failed.",
               expr=_rate('request_success_total{finished_reason=~"abort|error"}', "num_aborted_requests_total")
               + f" / ({_rate('request_success_total', 'num_requests_total')} > 0)"),
    aggregated("model:inference_prefix_cache_hits:ratio_rate5m", "ratio",
               "Share of the tokens of prompts that were in the prefix cache.",
               expr=_rate("prefix_cache_hits_total", "cached_tokens_total")
               + f" / ({_rate('prefix_cache_queries_total', 'prompt_tokens_total')} > 0)"),
    aggregated("model:inference_e2e_request_latency_seconds:p95_rate5m", "seconds",
               "Time of a request, 95th percentile.", expr=_quantile("e2e_request_latency")),
)  # fmt: skip
