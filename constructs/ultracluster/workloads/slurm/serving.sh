# shellcheck shell=bash
# The job waits for requests, which is no hang; and its collector reads the metrics of the server on this node.
serves_on() {
    [ -d "$metrics" ] || return 0
    echo "train_service 1" >"$metrics/service.prom"
    # A server that does not answer has no metrics, not old ones.
    while :; do
        if curl --silent --fail --max-time 10 "http://127.0.0.1:$1/metrics" |
            grep -E '^(vllm|sglang):' >"$metrics/.serving"; then
            mv "$metrics/.serving" "$metrics/serving.prom"
        else
            rm -f "$metrics/serving.prom"
        fi
        sleep 30
    done
}
