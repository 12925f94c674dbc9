"""Metrics of models that are served, by vLLM or SGLang.

vLLM's names: https://docs.vllm.ai/en/latest/design/metrics.html (read 2026-11-20). SGLang's:
https://docs.sglang.io/docs/references/production_metrics, and what it counts when: https://github.com/sgl-project/sglang,
python/sglang/srt/observability/metrics_collector.py (read 2026-11-26). Each stage of a pipeline counts requests. With
priorities there is a series for each beside the total, whose `priority` is empty. Tokens count when their request ends,
and the time between two tokens, and `realtime_tokens`, at once. Requests that were aborted while they waited are not
among those that ended.
"""

from ultracluster.monitoring.names._metric import MODEL, SERVER, aggregated, recorded

_BY = ", ".join(MODEL)
_SERVER = ", ".join(SERVER)
_TOTAL = 'pp_rank=~"0?", priority=""'
# What a server counts as it goes on, not at the end of a request.
_DECODES = (
    "rate(vllm:generation_tokens_total[5m])",
    "rate(sglang:generation_tokens_total[5m])",
    "rate(sglang:inter_token_latency_seconds_count[5m])",
    'rate(sglang:realtime_tokens_total{mode="decode"}[5m])',
)
_READS = "rate(vllm:prompt_tokens_total[5m])", "rate(sglang:prompt_tokens_total[5m])"
_GENERATES = "(vllm:generation_tokens_total or sglang:generation_tokens_total)"


def _either(vllm: str, sglang: str, *, over: str = "{}", by: str = _BY) -> str:
    return f"sum by ({by}) ({over.format(f'vllm:{vllm}')} or {over.format(f'sglang:{sglang}')})"


def _rate(vllm: str, sglang: str = "") -> str:
    return _either(vllm, sglang or vllm, over="rate({}[5m])")


def _quantile(histogram: str, quantile: float = 0.95) -> str:
    bucket = f"{histogram}_seconds_bucket"
    each = f"rate(vllm:{bucket}[5m]) or rate(sglang:{bucket}[5m])"
    return f"histogram_quantile({quantile}, sum by ({_BY}, le) ({each}))"


def _moves(rates: tuple[str, ...]) -> str:
    return f"max by ({_SERVER}) ({' or '.join(f'{rate} > 0' for rate in rates)}) * 0 + 1"


_ENDED = _rate("request_success_total", "num_requests_total")
_FAILED = _rate('request_success_total{finished_reason=~"abort|error"}', "num_aborted_requests_total")

INFERENCE_METRICS = (
    aggregated("model:inference_requests_running:sum", "count", "Requests that are served.",
               expr=_either("num_requests_running", f"num_running_reqs{{{_TOTAL}}}")),
    aggregated("model:inference_requests_waiting:sum", "count", "Requests that wait.",
               expr=_either("num_requests_waiting", f"num_queue_reqs{{{_TOTAL}}}")),
    # One server of a model may hang beside others that answer.
    aggregated("server:inference_requests_running:sum", "count", "Requests that a server serves.",
               expr=_either("num_requests_running", f"num_running_reqs{{{_TOTAL}}}", by=_SERVER)),
    recorded("ultracluster_inference_progress", "bool",
             "Whether a server has generated a token within five minutes, or, of one that generates none as for "
             "embeddings, "
             "read one. Others have no series.", SERVER,
             expr=f"{_moves(_DECODES)} or {_moves(_READS)} unless on ({_SERVER}) max by ({_SERVER}) ({_GENERATES}) > "
                  f"0"),
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
               expr=_ENDED),
    aggregated("model:inference_request_errors:ratio_rate5m", "ratio",
               "Share of the requests that were aborted or failed.",
               expr=f"{_FAILED} / ({_ENDED} > 0 >= {_FAILED} or {_FAILED} > 0)"),
    aggregated("model:inference_prefix_cache_hits:ratio_rate5m", "ratio",
               "Share of the tokens of prompts that were in the prefix cache.",
               expr=_rate("prefix_cache_hits_total", "cached_tokens_total")
               + f" / ({_rate('prefix_cache_queries_total', 'prompt_tokens_total')} > 0)"),
    aggregated("model:inference_e2e_request_latency_seconds:p95_rate5m", "seconds",
               "Time of a request, 95th percentile.", expr=_quantile("e2e_request_latency")),
)  # fmt: skip
