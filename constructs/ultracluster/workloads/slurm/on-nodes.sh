# shellcheck shell=bash
# NVIDIA's NeMo image has EFA's plugin where NCCL does not look, beside one for InfiniBand, and runs over TCP otherwise.
# The variables of an image replace those of the job, so that its container sets them.
# https://github.com/NVIDIA-NeMo/Megatron-Bridge (tag v0.4.2), docker/Dockerfile.fw_base, and
# https://github.com/NVIDIA-NeMo/RL/issues/1973 (read 2026-11-26)
# shellcheck disable=SC2329  # each node runs it
over_efa() {
    local libraries=/opt/amazon/aws-ofi-nccl/lib
    if [ -d "$libraries" ]; then
        export FI_PROVIDER=efa NCCL_NET_PLUGIN=ofi LD_LIBRARY_PATH=$libraries:/opt/amazon/efa/lib:${LD_LIBRARY_PATH:-}
    fi
    exec "$@"
}

# One task on each node, with all CPUs that the node has; the first that fails ends the others.
run_on_nodes() {
    if [ -n "${PAYLOAD:-}" ]; then set -- bash -c "$PAYLOAD"; fi
    [ "${#container[@]}" -eq 0 ] || set -- bash -c "$(declare -f over_efa); over_efa \"\$@\"" over_efa "$@"
    srun --ntasks-per-node=1 --cpu-bind=none --kill-on-bad-exit=1 "${container[@]}" "$@"
}

# The address by which the other nodes find the first one, where this script runs.
head=$(hostname)
export head nodes=$SLURM_JOB_NUM_NODES
