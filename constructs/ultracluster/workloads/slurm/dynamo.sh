# shellcheck shell=bash
# The first nodes compute prompts, and the first of them has the API and etcd too.
# shellcheck disable=SC2329  # each node runs it
node() {
    local role=decode code=0 others=$of_prompts
    [ "$SLURM_PROCID" -ge "${prefill:?}" ] || { role=prefill others=$of_tokens; }
    if [ "$SLURM_PROCID" -eq 0 ]; then
        store &
        frontend &
    fi
    # Each node is a vLLM of its own, whose metrics are not those of the API.
    DYN_SYSTEM_PORT=$system_port worker "$role" "$@" &
    # In a shell of its own: its end is not that of the job.
    (serves_on "$system_port" "$others" &>/dev/null &)
    # The first process that ends, ends the job: srun ends the other nodes only if a task fails.
    wait -n || code=$?
    return $((code ? code : 1))
}

prefill=${PREFILL:-$prefill_nodes}
[ -n "${PAYLOAD:-}" ] || [ $# -gt 0 ] || fail "name the model: sbatch dynamo.sbatch MODEL [ARGUMENTS OF vllm serve]"
[ "$prefill" -ge 1 ] && [ "$prefill" -lt "$SLURM_JOB_NUM_NODES" ] ||
    fail "PREFILL=$prefill of $SLURM_JOB_NUM_NODES nodes: use 1 to $((SLURM_JOB_NUM_NODES - 1))"
port=${DYNAMO_PORT:-8000} system_port=${DYNAMO_SYSTEM_PORT:-8081}
# A request passes through two workers, and both would count it.
of_prompts='prompt_tokens_total|prefix_cache_(hits|queries)_total|time_to_first_token_seconds_bucket'
of_tokens='generation_tokens_total|request_success_total|(e2e_request_latency|inter_token_latency)_seconds_bucket'
export DYN_DISCOVERY_BACKEND=etcd ETCD_ENDPOINTS=http://$head:${ETCD_PORT:-2379} DYN_REQUEST_PLANE=tcp DYN_EVENT_PLANE=zmq
export prefill port gpus_per_node system_port of_prompts of_tokens metrics served
echo "$SLURM_JOB_NAME: http://$head:$port/v1 once the model is loaded; $prefill of $SLURM_JOB_NUM_NODES nodes compute prompts"
run_on_nodes bash -c "$(declare -f store joined frontend worker serves_on node); node \"\$@\"" node "$@"
