# shellcheck shell=bash
# The prolog has checked GPUs, EFA devices and mounts of every node by now; what takes longer is left.
if [ -n "${PAYLOAD:-}" ]; then
    srun --ntasks-per-node=1 --cpu-bind=none bash -c "$PAYLOAD"
else
    code=0
    program=${ULTRACLUSTER_ROOT:-}/usr/local/sbin/ultracluster-software-check
    srun --ntasks-per-node=1 --cpu-bind=none "$program" "${oldest_of_node[@]}" || code=1
    # What a container image has is the same on all nodes.
    [ -z "${IMAGE:-}" ] || srun --nodes=1 --ntasks=1 --container-image="$IMAGE" \
        bash -c "$(cat "$program")" software-check "${oldest_of_image[@]}" || code=1
    "${ULTRACLUSTER_ROOT:-}/usr/local/sbin/ultracluster-deep-check" --nccl no --dcgm "${LEVEL:-2}" || code=$?
    exit "$code"
fi
