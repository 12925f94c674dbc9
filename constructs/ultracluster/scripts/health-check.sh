#!/usr/bin/env bash
# Checks in seconds whether this node can take a job: GPUs, ECC, XIDs, NVLink, clocks, EFA devices, mounts.
#
#   health-check.sh [--patience SECONDS] [--forget-xids]
#
#   --patience      how long it tries again while something is wrong (default: 0); at boot drivers take their time
#   --forget-xids   XIDs so far are of no concern any more: the GPUs were reset, or somebody has looked
#
# What the node should have stands in /etc/ultracluster/health, a name and a value on each line. Exit code 0: all is
# well. 1: something is wrong. 2: wrong usage. `ok` or `failed: REASON` stands in /run/ultracluster/health/devices.
set -Eeuo pipefail
export LC_ALL=C

# Where the node's / stands: nothing on a node, a directory in a test.
root=${ULTRACLUSTER_ROOT:-}
# Slurm gives its prolog no path to rely on.
[ -n "$root" ] || PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
health=$root/run/ultracluster/health
run=$root/run/ultracluster/devices
wanted=$root/etc/ultracluster/health
# Seconds for each command: a GPU that has fallen off the bus can hang whoever asks for it.
limit=${ULTRACLUSTER_CHECK_LIMIT:-10}
patience=0
forget=no
code=1
gpus=0 nvlinks=0 efa=0 xids=""
problems=""

state() {
    mkdir -p "$health"
    printf '%s\n' "$1" >"$health/.devices"
    mv "$health/.devices" "$health/devices"
}

fail() {
    trap - ERR
    state "failed: $*" || true
    echo "health-check: failed: $*" >&2
    exit "$code"
}

usage() { code=2 && fail "$@"; }
problem() { problems+="${problems:+; }$*"; }

trap 'fail "line $LINENO: $BASH_COMMAND"' ERR

read_arguments() {
    while [ $# -gt 0 ]; do
        case $1 in
            --forget-xids) forget=yes ;;
            --patience)
                [[ ${2:-} =~ ^[0-9]{1,3}$ ]] || usage "--patience is 0 to 999 seconds, got '${2:-}'"
                patience=$2
                shift
                ;;
            *) usage "unknown argument $1; known: --patience, --forget-xids" ;;
        esac
        shift
    done
}

read_wanted() {
    local name value
    [ -r "$wanted" ] || usage "there is no $wanted"
    while read -r name value; do
        case $name in
            gpus) gpus=$value ;;
            nvlinks) nvlinks=$value ;;
            efa) efa=$value ;;
            xids) xids=$value ;;
            *) usage "$wanted: unknown name $name" ;;
        esac
    done <"$wanted"
}

# Runs a command with its output in a file, and its exit code in another: 124 or 137 when it took too long.
ask() {
    local name=$run/$1 told=0
    shift
    timeout --kill-after=1 "$limit" "$@" >"$name.out" 2>&1 </dev/null || told=$?
    echo "$told" >"$name.code"
}

# Whether one of the commands ended well; else why not is a problem.
answered() {
    local told what=$2
    told=$(cat "$run/$1.code")
    case $told in
        0) return 0 ;;
        124 | 137) problem "$what does not answer within $limit s" ;;
        *) problem "$what says: $(awk 'NF { last = $0 } END { print substr(last, 1, 120) }' "$run/$1.out")" ;;
    esac
    return 1
}

# All that takes long, at the same time.
ask_all() {
    local since
    since=$(cat "$run/xids-since" 2>/dev/null || true)
    if [ "$gpus" -gt 0 ]; then
        ask gpus nvidia-smi --format=csv,noheader,nounits \
            --query-gpu=index,ecc.mode.current,ecc.errors.uncorrected.volatile.total,clocks_event_reasons.hw_slowdown &
        ask rows nvidia-smi --format=csv,noheader,nounits \
            --query-remapped-rows=gpu_bus_id,remapped_rows.pending,remapped_rows.failure &
        [ "$nvlinks" -eq 0 ] || ask nvlink nvidia-smi nvlink --status &
        ask kernel journalctl --dmesg --boot --no-pager --quiet --output=cat ${since:+"--since=@$since"} &
    fi
    wait
}

check_gpus() {
    local index ecc errors slow found=0
    answered gpus nvidia-smi || true
    while IFS=, read -r index ecc errors slow; do
        [[ $index =~ ^[0-9]+$ ]] || continue
        found=$((found + 1))
        [ "${ecc// /}" != Disabled ] || problem "GPU $index has ECC off"
        [[ ! ${errors// /} =~ ^[1-9][0-9]*$ ]] || problem "GPU $index has ${errors// /} uncorrected ECC errors since the boot"
        # Under the next job it would be slower than all the others, which wait for it.
        [ "${slow# }" != Active ] || problem "the hardware of GPU $index slows its clocks down"
    done <"$run/gpus.out"
    [ "$found" -eq "$gpus" ] || problem "$found of $gpus GPUs are there"
}

check_rows() {
    local bus pending failed
    answered rows "nvidia-smi about remapped rows" || return 0
    while IFS=, read -r bus pending failed; do
        case ${pending// /} in Yes | 1) problem "GPU $bus wants a reset to remap rows of its memory" ;; esac
        case ${failed// /} in Yes | 1) problem "GPU $bus could not remap a row of its memory" ;; esac
    done <"$run/rows.out"
}

# "Link 3: 26.562 GB/s" is up; "Link 3: <inactive>" is not.
check_nvlink() {
    local gpu up
    answered nvlink "nvidia-smi nvlink" || return 0
    while read -r gpu up; do
        [ "$up" -eq "$nvlinks" ] || problem "GPU $gpu has $up of $nvlinks NVLinks up"
    done < <(awk '$1 == "GPU" { gpu = $2; sub(":", "", gpu); up[gpu] += 0 }
        $1 == "Link" && /GB\/s/ { up[gpu]++ }
        END { for (gpu in up) print gpu, up[gpu] }' "$run/nvlink.out" | sort -n)
}

# NVRM: Xid (PCI:0000:b9:00): 79, pid=1234, name=python, GPU has fallen off the bus.
check_xids() {
    local bus xid
    answered kernel "the kernel's log" || return 0
    while read -r bus xid; do
        [[ " $xids " != *" $xid "* ]] || problem "XID $xid on GPU $bus"
    done < <(sed -nE 's/^.*NVRM: Xid \((PCI:)?([0-9a-fA-F:.]+)\): ([0-9]+).*/\2 \3/p' "$run/kernel.out" | sort -u)
}

check_efa() {
    local device driver found=0 port
    for device in "$root"/sys/class/infiniband/*; do
        driver=$(readlink "$device/device/driver" 2>/dev/null) || continue
        [ "${driver##*/}" = efa ] || continue
        found=$((found + 1))
        port=$(cat "$device/ports/1/state" 2>/dev/null) || continue
        [[ $port == *ACTIVE* ]] || problem "EFA device ${device##*/} is ${port#*: }"
    done
    [ "$found" -eq "$efa" ] || problem "$found of $efa EFA devices are there"
}

# The mounts are read every minute by a check of their own, which hangs where this one must not.
check_mounts() {
    local path said age
    [ -s "$root/etc/ultracluster/mounts" ] || return 0
    read -r said 2>/dev/null <"$health/mounts" || said=""
    case $said in
        ok) ;;
        failed:*) problem "${said#failed: }" ;;
        *) problem "the mounts have not been checked since the boot" ;;
    esac
    while read -r path _; do
        awk -v path="$path" '$5 == path { found = 1 } END { exit !found }' "$root/proc/self/mountinfo" ||
            problem "$path is not mounted"
    done <"$root/etc/ultracluster/mounts"
    age=$((EPOCHSECONDS - $(stat -c %Y "$health/mounts" 2>/dev/null || echo "$EPOCHSECONDS")))
    [ "$age" -lt 900 ] || problem "the mounts were last checked $age s ago"
}

check_all() {
    problems=""
    ask_all
    if [ "$gpus" -gt 0 ]; then
        check_gpus
        check_rows
        [ "$nvlinks" -eq 0 ] || check_nvlink
        check_xids
    fi
    check_efa
    check_mounts
}

main() {
    read_arguments "$@"
    read_wanted
    # What dcgm-exporter reads, and does without for good when it is not there as it starts.
    mkdir -p "$run" "$root/run/ultracluster/hpc-jobs"
    # Several jobs may start on a node at once.
    exec 9>"$run/lock"
    flock --wait 60 9 || fail "another check has run for a minute"
    if [ "$forget" = yes ]; then printf '%s\n' "$EPOCHSECONDS" >"$run/xids-since"; fi
    check_all
    while [ -n "$problems" ] && [ "$SECONDS" -lt "$patience" ]; do
        sleep 5
        check_all
    done
    [ -z "$problems" ] || fail "$problems"
    state ok
}

main "$@"
