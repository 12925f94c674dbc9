# shellcheck shell=bash
# Tensor parallel inside an NVLink domain, pipeline parallel between the groups of tensor parallelism:
# https://docs.vllm.ai/en/latest/serving/parallelism_scaling.html (read 2026-11-21)
# shellcheck disable=SC2329  # each node runs it
node() {
    local model=$1 across=()
    shift
    [ "$stages" -eq 1 ] || across=(--pipeline-parallel-size="$stages")
    if [ "$SLURM_JOB_NUM_NODES" -gt 1 ]; then
        across+=(--nnodes="$SLURM_JOB_NUM_NODES" --node-rank="$SLURM_PROCID" --master-addr="$head")
        [ "$SLURM_PROCID" -eq 0 ] || across+=(--headless)
    fi
    exec vllm serve "$model" --port="${PORT:-8000}" --tensor-parallel-size="$tensor_parallel" "${across[@]}" "$@"
}

[ -n "${PAYLOAD:-}" ] || [ $# -gt 0 ] || fail "name the model: sbatch inference.sbatch MODEL [ARGUMENTS OF vllm serve]"
echo "$SLURM_JOB_NAME: http://$head:${PORT:-8000}/v1 once the model is loaded"
serves_on "${PORT:-8000}" &>/dev/null &
run_on_nodes bash -c "$(declare -f node); node \"\$@\"" node "$@"
