# shellcheck shell=bash
[ -n "${PAYLOAD:-}" ] || [ $# -gt 0 ] || [[ ${overrides[*]} == *data.train_files=* ]] ||
    fail "give veRL's settings: sbatch rl.sbatch data.train_files=... data.val_files=... actor_rollout_ref.model.path=..."
rollout_nodes=${ROLLOUT:-$rollout}
[ "$rollout_nodes" -lt "$SLURM_JOB_NUM_NODES" ] || fail "ROLLOUT=$rollout_nodes of $SLURM_JOB_NUM_NODES nodes leaves none that trains"
export gpus_per_node rollout_nodes request_seconds
train bash -c "$(declare -f node joined remove_old stop_at_request); node_rank=\$SLURM_PROCID node \"\$@\"" node "${overrides[@]}" "$@"
