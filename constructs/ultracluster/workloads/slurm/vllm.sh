# shellcheck shell=bash
# Tensor parallel inside a node, pipeline parallel between nodes:
# https://docs.vllm.ai/en/latest/serving/parallelism_scaling.html (read 2026-11-21)
# shellcheck disable=SC2329  # each node runs it
node() {
    local model=$1 across=()
    shift
    if [ "$SLURM_JOB_NUM_NODES" -gt 1 ]; then
        across=(--pipeline-parallel-size="$SLURM_JOB_NUM_NODES" --nnodes="$SLURM_JOB_NUM_NODES"
            --node-rank="$SLURM_PROCID" --master-addr="$head")
        [ "$SLURM_PROCID" -eq 0 ] || across+=(--headless)
    fi
    exec vllm serve "$model" --tensor-parallel-size="$gpus_per_node" "${across[@]}" "$@"
}

[ -n "${PAYLOAD:-}" ] || [ $# -gt 0 ] || fail "name the model: sbatch inference.sbatch MODEL [ARGUMENTS OF vllm serve]"
echo "$SLURM_JOB_NAME: http://$head:${VLLM_PORT:-8000}/v1 once the model is loaded"
export gpus_per_node
run_on_nodes bash -c "$(declare -f node); node \"\$@\"" node "$@"
