# shellcheck shell=bash
# veRL runs on Ray: the first node is its head, and starts the training once all nodes have joined.
# https://verl.readthedocs.io/en/latest/start/multinode.html (read 2026-11-21)
# shellcheck disable=SC2329  # each node runs it
node() {
    local ray=(ray start --num-gpus="$gpus_per_node" --num-cpus="${SLURM_CPUS_ON_NODE:-$(nproc)}" --disable-usage-stats)
    if [ "${node_rank:?}" -gt 0 ]; then
        # Until the head is there. The head's exit code is the job's: a worker leaves when the head is gone.
        until "${ray[@]}" --address="${head:?}:6379"; do sleep 2; done
        while ray status --address="${head:?}:6379" >/dev/null 2>&1; do sleep 10; done
        ray stop
        return 0
    fi
    "${ray[@]}" --head --port=6379
    until [ "$(ray list nodes --format=json --filter=state=ALIVE --limit=10000 | grep -c '"node_id"')" -ge "${nodes:?}" ]; do
        sleep 2
    done
    local code=0 module=verl.trainer.main_ppo split=()
    # Else all nodes generate and train in turn.
    if [ "${rollout_nodes:-0}" -gt 0 ]; then
        module=verl.experimental.one_step_off_policy.main_ppo
        split=(actor_rollout_ref.hybrid_engine=False rollout.nnodes="$rollout_nodes" rollout.n_gpus_per_node="$gpus_per_node")
    fi
    python3 ${reporter:+"$reporter"} -m "$module" trainer.nnodes="$((${nodes:?} - ${rollout_nodes:-0}))" \
        trainer.n_gpus_per_node="$gpus_per_node" trainer.default_local_dir="$RUN" trainer.resume_mode=auto "${split[@]}" \
        "$@" || code=$?
    ray stop
    return "$code"
}
