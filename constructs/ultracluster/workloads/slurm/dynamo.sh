# shellcheck shell=bash
# The first nodes compute prompts, and the first of them has the API and etcd too.
# shellcheck disable=SC2329  # each node runs it
node() {
    local role=decode code=0
    [ "$SLURM_PROCID" -ge "${prefill:?}" ] || role=prefill
    if [ "$SLURM_PROCID" -eq 0 ]; then
        store &
        frontend &
    fi
    worker "$role" "$@" &
    # The first process that ends, ends the job: srun ends the other nodes only if a task fails.
    wait -n || code=$?
    return $((code ? code : 1))
}

prefill=${PREFILL:-$prefill_nodes}
[ -n "${PAYLOAD:-}" ] || [ $# -gt 0 ] || fail "name the model: sbatch dynamo.sbatch MODEL [ARGUMENTS OF vllm serve]"
[ "$prefill" -ge 1 ] && [ "$prefill" -lt "$SLURM_JOB_NUM_NODES" ] ||
    fail "PREFILL=$prefill of $SLURM_JOB_NUM_NODES nodes: use 1 to $((SLURM_JOB_NUM_NODES - 1))"
port=${DYNAMO_PORT:-8000}
export DYN_DISCOVERY_BACKEND=etcd ETCD_ENDPOINTS=http://$head:${ETCD_PORT:-2379} DYN_REQUEST_PLANE=tcp DYN_EVENT_PLANE=zmq
export prefill port gpus_per_node
echo "$SLURM_JOB_NAME: http://$head:$port/v1 once the model is loaded; $prefill of $SLURM_JOB_NUM_NODES nodes compute prompts"
serves_on "$port" &>/dev/null &
run_on_nodes bash -c "$(declare -f store joined frontend worker node); node \"\$@\"" node "$@"
