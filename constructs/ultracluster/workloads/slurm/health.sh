# shellcheck shell=bash
# The prolog has checked GPUs, EFA devices and mounts of every node by now; what takes longer is left.
if [ -n "${PAYLOAD:-}" ]; then
    srun --ntasks-per-node=1 --cpu-bind=none bash -c "$PAYLOAD"
else
    code=0
    srun --ntasks-per-node=1 --cpu-bind=none bash -c "$(declare -f software); software \"\$@\"" software "${floors[@]}" || code=1
    "${ULTRACLUSTER_ROOT:-}/usr/local/sbin/ultracluster-deep-check" --nccl no --dcgm "${LEVEL:-2}" || code=$?
    exit "$code"
fi
