# shellcheck shell=bash
# Dynamo: some nodes compute prompts, the others tokens, and NIXL moves the keys and values between them. Its default,
# UCX, is slow over EFA: LIBFABRIC is chosen. Workers and API find each other in etcd: a directory that nodes share tells
# none of them what another one wrote, for Dynamo watches it with inotify.
# https://github.com/ai-dynamo/dynamo, docs/kubernetes/cloud-providers/eks/efa.md (commit 0c21bf2, read 2026-11-24),
# docs/pages/backends/vllm/multi-node.md and lib/runtime/src/storage/kv/file.rs (read 2026-11-26)
# shellcheck disable=SC2329  # one node runs it
store() {
    exec etcd --data-dir="$(mktemp -d)" --unsafe-no-fsync --log-level=warn \
        --listen-client-urls="http://0.0.0.0:${ETCD_ENDPOINTS##*:}" --advertise-client-urls="${ETCD_ENDPOINTS:?}"
}

# Return once etcd listens: a worker that starts before it ends.
# shellcheck disable=SC2329  # each node runs it
joined() {
    local address=${ETCD_ENDPOINTS#http://}
    until (: <>"/dev/tcp/${address/://}") 2>/dev/null; do sleep 1; done
}

# shellcheck disable=SC2329  # one node runs it
frontend() {
    joined
    exec python3 -m dynamo.frontend --http-port="${port:?}"
}

# shellcheck disable=SC2329  # each node runs it
worker() {
    local role=$1 model=$2
    shift 2
    joined
    # As NVIDIA's test over EFA: tests/deploy/efa/disagg-efa.yaml of Dynamo, which needs no privileges but IPC_LOCK and
    # SYS_PTRACE (pull request 12915). Through shared memory, libfabric copies memory of GPUs as if it were the host's:
    # https://github.com/ofiwg/libfabric/issues/12328 (read 2026-11-27)
    if [ -n "$(ls "${ULTRACLUSTER_ROOT:-}/sys/class/infiniband" 2>/dev/null)" ]; then
        export FI_PROVIDER=efa FI_EFA_USE_DEVICE_RDMA=1 FI_EFA_ENABLE_SHM_TRANSFER=0
    fi
    exec python3 -m dynamo.vllm --model "$model" --tensor-parallel-size="${gpus_per_node:?}" --disaggregation-mode="$role" \
        --kv-transfer-config='{"kv_connector":"NixlConnector","kv_role":"kv_both","kv_connector_extra_config":{"backends":["LIBFABRIC"]}}' \
        "$@"
}
