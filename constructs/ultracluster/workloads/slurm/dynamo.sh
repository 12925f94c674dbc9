# shellcheck shell=bash
# The first nodes compute prompts, and the first of them has the API too.
# shellcheck disable=SC2329  # each node runs it
node() {
    local role=decode
    [ "$SLURM_PROCID" -ge "${prefill:?}" ] || role=prefill
    worker "$role" "$@" &
    [ "$SLURM_PROCID" -gt 0 ] || frontend &
    # The first that ends, ends the job.
    wait -n
}

prefill=${PREFILL:-$prefill_nodes}
[ -n "${PAYLOAD:-}" ] || [ $# -gt 0 ] || fail "name the model: sbatch dynamo.sbatch MODEL [ARGUMENTS OF vllm serve]"
[ "$prefill" -ge 1 ] && [ "$prefill" -lt "$SLURM_JOB_NUM_NODES" ] ||
    fail "PREFILL=$prefill of $SLURM_JOB_NUM_NODES nodes: use 1 to $((SLURM_JOB_NUM_NODES - 1))"
port=${DYNAMO_PORT:-8000}
export DYN_DISCOVERY_BACKEND=file DYN_FILE_KV=$shared/$USER/dynamo/$SLURM_JOB_ID DYN_REQUEST_PLANE=tcp DYN_EVENT_PLANE=zmq
mkdir -p "$DYN_FILE_KV" || fail "cannot make $DYN_FILE_KV: have your administrator make your directory in $shared"
export prefill port gpus_per_node
echo "$SLURM_JOB_NAME: http://$head:$port/v1 once the model is loaded; $prefill of $SLURM_JOB_NUM_NODES nodes compute prompts"
run_on_nodes bash -c "$(declare -f frontend worker node); node \"\$@\"" node "$@"
