# shellcheck shell=bash
# One task on each node, with all CPUs that the node has; the first that fails ends the others.
run_on_nodes() {
    if [ -n "${PAYLOAD:-}" ]; then set -- bash -c "$PAYLOAD"; fi
    [ "${#container[@]}" -eq 0 ] || set -- bash -c "$(declare -f over_efa has_plugin tune_for_aws); over_efa; exec \"\$@\"" over_efa "$@"
    srun --ntasks-per-node=1 --cpu-bind=none --kill-on-bad-exit=1 "${container[@]}" "$@"
}

# The address by which the other nodes find the first one, where this script runs.
head=$(hostname)
export head nodes=$SLURM_JOB_NUM_NODES
