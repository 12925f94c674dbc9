# shellcheck shell=bash
# Containers see what the nodes mount. One list: of an option given twice, Slurm passes the last to the nodes.
container=()
if [ -n "$IMAGE" ] && [ -z "${PAYLOAD:-}" ]; then
    case $IMAGE in
        /* | ./* | dockerd://* | podman://*) ;;
        *) [ -z "$shared" ] || IMAGE=$(imported "$IMAGE") ;;
    esac
    container=(--container-image="$IMAGE")
    list=""
    for mount in $mounts; do
        list+=${list:+,}$mount:$mount
        case $PWD/ in "$mount"/*) container+=(--container-workdir="$PWD") ;; esac
    done
    [ -z "$list" ] || container+=(--container-mounts="$list")
fi
