# shellcheck shell=bash
fail() {
    echo "$SLURM_JOB_NAME: $*" >&2
    exit 2
}

# Containers see what the nodes mount.
container=()
if [ -n "$IMAGE" ] && [ -z "${PAYLOAD:-}" ]; then
    container=(--container-image="$IMAGE")
    for mount in $mounts; do
        container+=(--container-mounts="$mount:$mount")
        case $PWD/ in "$mount"/*) container+=(--container-workdir="$PWD") ;; esac
    done
fi
