# shellcheck shell=bash
[ -n "${PAYLOAD:-}" ] || [ $# -gt 0 ] ||
    fail "give veRL's settings: sbatch rl.sbatch data.train_files=... actor_rollout_ref.model.path=..."
export gpus_per_node
train bash -c "$(declare -f node); node_rank=\$SLURM_PROCID node \"\$@\"" node "$@"
