#!/usr/bin/env bash
# Create the IMEX domain of a job on an UltraServer, so that its GPUs reach each other's memory over NVLink.
#
#   imex.sh
#
# Slurm's prolog runs it, as root, on each node of the job. After AWS's own prolog:
# https://docs.aws.amazon.com/pcs/latest/userguide/capacity-blocks-nvidia-imex.html (read 2026-11-21). Two things differ.
# The domain holds the job's nodes of this node group only: a group is one UltraServer, and NVLink ends there. And a
# domain that does not start refuses the job, which would run over EFA unnoticed.
#
# Exit code 0: the domain is there, or the job shares its nodes and gets none. 1: it could not be created, and the reason
# is in /run/ultracluster/health/imex.
set -Eeuo pipefail
export LC_ALL=C

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
# Slurm gives its prolog no path to rely on.
[ -n "$root" ] || PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
health=$root/run/ultracluster/health
config=$root/etc/nvidia-imex/nodes_config.cfg
channels=$root/dev/nvidia-caps-imex-channels
service=nvidia-imex.service
job=${SLURM_JOB_ID:?is set by Slurm}
node=${SLURMD_NODENAME:?is set by Slurm}
nodes=${SLURM_JOB_NODELIST:-${SLURM_NODELIST:?is set by Slurm}}

state() {
    mkdir -p "$health"
    printf '%s\n' "$1" >"$health/.imex"
    mv "$health/.imex" "$health/imex"
}

fail() {
    trap - ERR
    state "failed: $*" || true
    echo "imex: job $job: $*" >&2
    exit 1
}

trap 'fail "line $LINENO: $BASH_COMMAND"' ERR

# Use the release that runs: AWS PCS installs several, none of them in PATH.
scontrol() {
    local pid program
    pid=$(systemctl show --property MainPID --value slurmd.service 2>/dev/null) || pid=0
    [[ $pid =~ ^[1-9][0-9]*$ ]] || pid=$(pgrep --oldest --exact slurmd)
    program=$(readlink "$root/proc/$pid/exe")
    timeout --kill-after=5 30 "$root${program%/*/*}/bin/scontrol" "$@"
}

# Print the addresses of the job's nodes in this node group, in the controller's order: all nodes must write the same file.
addresses() {
    scontrol --oneliner --all show node "$nodes" |
        awk -v group="${node%-*}-" '{
            name = address = ""
            for (i = 1; i <= NF; i++) {
                if ($i ~ /^NodeName=/) name = substr($i, 10)
                if ($i ~ /^NodeAddr=/) address = substr($i, 10)
            }
            rest = substr(name, length(group) + 1)
            if (index(name, group) == 1 && rest ~ /^[0-9]+$/) print address
        }'
}

# https://docs.nvidia.com/multi-node-nvlink-systems/imex-guide/imexchannels.html
make_channel() {
    local major
    [ -e "$channels/channel0" ] && return
    major=$(awk '$2 == "nvidia-caps-imex-channels" { print $1 }' "$root/proc/devices")
    [ -n "$major" ] || fail "the driver has no IMEX channels"
    mkdir -p "$channels"
    mknod --mode=666 "$channels/channel0" c "$major" 0
}

# A configuration must never change under the service: the other jobs would lose their channels.
restart() {
    timeout --kill-after=5 15 systemctl stop "$service" || systemctl kill --signal=KILL "$service" || true
    mv "$config.new" "$config"
    timeout --kill-after=5 60 systemctl start "$service" || fail "$service did not start within 60 s"
}

main() {
    local found jobs try
    # IMEX is of the whole node: on a shared one it would be taken from under others.
    jobs=("$root"/run/ultracluster/jobs/*)
    case ${SLURM_JOB_OVERSUBSCRIBE:-${#jobs[@]}} in
        # This Slurm has no such record: the job is the only one here.
        NO | TOPO | 1) ;;
        *)
            echo "imex: job $job is not --exclusive, so that it has no NVLink between its nodes"
            return
            ;;
    esac
    systemctl is-enabled --quiet "$service" || fail "$service is not enabled in the image"
    # A controller that fails over is away for a minute, and Slurm would drain all nodes of the job for good.
    for try in 1 2 3; do
        [ "$try" -eq 1 ] || sleep "${ULTRACLUSTER_SETTLE:-15}"
        if found=$(addresses); then break; fi
        [ "$try" -lt 3 ] || fail "the controller has no addresses of the nodes of the job"
    done
    [ -n "$found" ] || fail "no node of $nodes is of the group of $node"
    make_channel
    mkdir -p "${config%/*}"
    printf '%s\n' "$found" >"$config.new"
    restart
    state ok
}

main "$@"
