# shellcheck shell=bash
# Tensor parallel inside an NVLink domain, pipeline parallel between the groups of tensor parallelism. The first node
# serves: https://docs.sglang.io/docs/references/multi_node_deployment/multi_node.md (read 2026-11-23)
# shellcheck disable=SC2329  # each node runs it
node() {
    local model=$1 across=()
    shift
    [ "$stages" -eq 1 ] || across=(--pp-size="$stages")
    if [ "$SLURM_JOB_NUM_NODES" -gt 1 ]; then
        across+=(--nnodes="$SLURM_JOB_NUM_NODES" --node-rank="$SLURM_PROCID" --dist-init-addr="$head:${MASTER_PORT:-29500}")
    fi
    exec python3 -m sglang.launch_server --model-path "$model" --tp-size="$tensor_parallel" --host=0.0.0.0 \
        --port="${SGLANG_PORT:-30000}" --enable-metrics "${across[@]}" "$@"
}

[ -n "${PAYLOAD:-}" ] || [ $# -gt 0 ] ||
    fail "name the model: sbatch $SLURM_JOB_NAME.sbatch MODEL [ARGUMENTS OF sglang.launch_server]"
echo "$SLURM_JOB_NAME: http://$head:${SGLANG_PORT:-30000}/v1 once the model is loaded"
serves_on "${SGLANG_PORT:-30000}" &>/dev/null &
run_on_nodes bash -c "$(declare -f node); node \"\$@\"" node "$@"
