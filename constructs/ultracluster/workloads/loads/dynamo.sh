# shellcheck shell=bash
# Dynamo: some nodes compute prompts, the others tokens, and NIXL moves the keys and values between them. Its default,
# UCX, is slow over EFA: LIBFABRIC is chosen. Workers find each other in a directory that all nodes share.
# https://github.com/ai-dynamo/dynamo, docs/kubernetes/cloud-providers/eks/efa.md (commit 0c21bf2) and
# examples/backends/vllm/launch (read 2026-11-24)
# shellcheck disable=SC2329  # each node runs it
frontend() {
    exec python3 -m dynamo.frontend --http-port="${port:?}"
}

# shellcheck disable=SC2329  # each node runs it
worker() {
    local role=$1 model=$2
    shift 2
    exec python3 -m dynamo.vllm --model "$model" --tensor-parallel-size="${gpus_per_node:?}" --disaggregation-mode="$role" \
        --kv-transfer-config='{"kv_connector":"NixlConnector","kv_role":"kv_both","kv_connector_extra_config":{"backends":["LIBFABRIC"]}}' \
        "$@"
}
