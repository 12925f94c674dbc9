# shellcheck shell=bash
# The job waits for requests, which is no hang; and its collector reads the metrics of the server on this node: those that
# rules read, since it takes 256 KB of a file and 2,000 series of a job.
served='vllm:(num_requests_(running|waiting)|(gpu|kv)_cache_usage_perc|(prompt|generation)_tokens_total|request_success_total'
served+='|prefix_cache_(hits|queries)_total|(e2e_request_latency|time_to_first_token|inter_token_latency)_seconds_bucket)'
served+='|sglang:(num_(running|queue)_reqs|token_usage|(prompt|generation|cached|realtime)_tokens_total'
served+='|num_(aborted_)?requests_total|inter_token_latency_seconds_count'
served+='|(e2e_request_latency|time_to_first_token|inter_token_latency)_seconds_bucket)'

# Write the metrics of the server at a port until the job ends, without those of vLLM that match a pattern.
serves_on() {
    [ -d "$metrics" ] || return 0
    echo "train_service 1" >"$metrics/service.prom"
    # A server that does not answer has no metrics, not old ones.
    while :; do
        if curl --silent --fail --max-time 10 "http://127.0.0.1:$1/metrics" |
            grep -E "^($served)[{ ]" | grep -vE "^vllm:(${2:-none})[{ ]" >"$metrics/.serving"; then
            mv "$metrics/.serving" "$metrics/serving.prom"
        else
            rm -f "$metrics/serving.prom"
        fi
        sleep 30
    done
}
