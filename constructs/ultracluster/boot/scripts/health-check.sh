#!/bin/bash
# Check in seconds whether this node can take a job: GPUs, ECC, XIDs, NVLink, its fabric, clocks, EFA, mounts, the time.
#
#   health-check.sh [--patience SECONDS] [--recent SECONDS] [--forget-xids]
#
#   --patience      how long it tries again while something is wrong (default: 0); at boot drivers take their time
#   --recent        a result that is at most this old is taken as it is (default: 0), for jobs that start together
#   --forget-xids   ignore the XIDs until now: the GPUs were reset, or an administrator has checked them
#
# What the node should have is in /etc/ultracluster/health, a name and a value on each line. Exit code 0: all is
# well. 1: something is wrong. 2: wrong usage. `ok` or `failed: REASON` is in /run/ultracluster/health/devices.
set -Eeuo pipefail
export LC_ALL=C

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
# Slurm gives its prolog no path to rely on.
[ -n "$root" ] || PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
health=$root/run/ultracluster/health
run=$root/run/ultracluster/devices
wanted=$root/etc/ultracluster/health
# Seconds for each command: a GPU that has fallen off the bus can block every program that reads it.
# shellcheck disable=SC2034 # of concurrent-commands.sh
limit=${ULTRACLUSTER_CHECK_LIMIT:-10}
patience=0 recent=0 forget=no
# Seconds for a fabric manager that has just been restarted: without it each job would fail, and with it none does.
registration=${ULTRACLUSTER_REGISTRATION:-30}
# shellcheck disable=SC2034 # status.sh reads them
script=health-check result=$health/devices code=1
gpus=0 nvlinks=0 efa=0 xids="" nvlink_xids="" nvlink_harmless=""
problems=""

problem() { problems+="${problems:+; }$*"; }

#INCLUDE status.sh

read_arguments() {
    while [ $# -gt 0 ]; do
        case $1 in
            --forget-xids) forget=yes ;;
            --patience | --recent)
                [[ ${2:-} =~ ^[0-9]{1,3}$ ]] || usage "$1 is 0 to 999 seconds, got '${2:-}'"
                printf -v "${1#--}" %s "$2"
                shift
                ;;
            *) usage "unknown argument $1; known: --patience, --recent, --forget-xids" ;;
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
            nvlink-xids) nvlink_xids=$value ;;
            nvlink-harmless) nvlink_harmless=$value ;;
            # A newer version of the list may have more names.
            *) echo "health-check: $wanted: unknown name $name is ignored" >&2 ;;
        esac
    done <"$wanted"
}

#INCLUDE concurrent-commands.sh

query_gpus() {
    query gpus nvidia-smi --format=csv,noheader,nounits \
        "--query-gpu=index,ecc.mode.current,ecc.errors.uncorrected.volatile.total,$1.hw_slowdown"
}

# Run the slow commands concurrently.
ask_all() {
    local since
    begin
    # Without chrony the clock is not checked.
    ! command -v chronyc >/dev/null || query clock chronyc -n -c tracking
    if [ "$gpus" -eq 0 ]; then
        await
        return
    fi
    read -r since 2>/dev/null <"$run/xids-since" || since=""
    query rows nvidia-smi --format=csv,noheader,nounits \
        --query-remapped-rows=gpu_bus_id,remapped_rows.pending,remapped_rows.failure
    [ "$nvlinks" -eq 0 ] || query nvlink nvidia-smi nvlink --status
    [ "$nvlinks" -eq 0 ] || query fabric nvidia-smi --format=csv,noheader,nounits \
        --query-gpu=index,fabric.state,fabric.status
    query kernel journalctl --dmesg --boot --no-pager --quiet --output=cat ${since:+"--since=@$since"}
    query_gpus clocks_event_reasons
    await
    # Drivers before 535 have the second name only.
    [[ $(<"$run/gpus.out") == *"not a valid field"* ]] || return 0
    begin
    query_gpus clocks_throttle_reasons
    await
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
    [ "$found" -ge "$gpus" ] || problem "$found of $gpus GPUs are there"
}

check_rows() {
    local bus pending failed
    answered rows "nvidia-smi about remapped rows" || return 0
    while IFS=, read -r bus pending failed; do
        case ${pending// /} in Yes | 1) problem "GPU $bus needs a reset to remap rows of its memory" ;; esac
        case ${failed// /} in Yes | 1) problem "GPU $bus could not remap a row of its memory" ;; esac
    done <"$run/rows.out"
}

# "Link 3: 26.562 GB/s" is up, in whatever unit; "Link 3: <inactive>" is not. Without NVLink the output is empty.
check_nvlink() {
    local lines line gpu=0 up=()
    answered nvlink "nvidia-smi nvlink" || return 0
    mapfile -t lines <"$run/nvlink.out"
    [[ ${lines[*]} == *[![:space:]]* ]] || problem "no GPU has NVLink"
    for line in "${lines[@],,}"; do
        case $line in
            gpu\ [0-9]*) line=${line#gpu } gpu=${line%%[!0-9]*} up[gpu]=0 ;;
            *inactive* | *disabled* | *down* | *n/a*) ;;
            [[:blank:]]*link\ [0-9]*) up[gpu]=$((${up[gpu]:-0} + 1)) ;;
        esac
    done
    for gpu in "${!up[@]}"; do
        [ "${up[gpu]}" -ge "$nvlinks" ] || problem "GPU $gpu has ${up[gpu]} of $nvlinks NVLinks up"
    done
}

# Check that the fabric manager has registered each GPU: CUDA fails before, though the links are up.
# https://github.com/NVIDIA/NVSentinel/issues/889 (read 2026-11-27). GPUs before Hopper have N/A, old drivers no field.
check_fabric() {
    local gpu state status
    [[ $(<"$run/fabric.out") != *"not a valid field"* ]] || return 0
    answered fabric "nvidia-smi about the fabric" || return 0
    while IFS=, read -r gpu state status; do
        case ${state# },${status# } in
            "Completed,Success"* | "Completed,"*"N/A"* | "Completed,"*"Not Supported"*) ;;
            "Not Started,"* | "In Progress,"* | "Completed,"*) problem "GPU $gpu is not in the NVLink fabric:$state,$status" ;;
        esac
    done <"$run/fabric.out"
}

# NVRM: Xid (PCI:0000:b9:00): 79, pid=1234, name=python, GPU has fallen off the bus.
check_xids() {
    local bus xid action
    answered kernel "the kernel's log" && grep -q "NVRM: Xid" "$run/kernel.out" || return 0
    while read -r bus xid; do
        [[ " $xids " != *" $xid "* ]] || problem "XID $xid on GPU $bus"
    done < <(sed -nE 's/^.*NVRM: Xid \((PCI:)?([0-9a-fA-F:.]+)\): ([0-9]+).*/\2 \3/p' "$run/kernel.out" | sort -u)
    # The driver's own decision, XID 154, counts, whichever XID led to it. Drivers without it have sub-codes. See
    # https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/error-recovery-and-response-flags.html (read 2026-11-23).
    while IFS=$'\t' read -r bus xid action; do
        problem "XID $xid on GPU $bus: $action"
    done < <(recovery_actions "$nvlink_xids" "$nvlink_harmless" <"$run/kernel.out" | sort)
}

#INCLUDE recovery-actions.sh

# The fifth field of chronyc tracking is the offset of the clock in seconds: 0 as well while chrony has no server, which
# is no proof that the time is wrong. A credential of Slurm is valid for 60 s (DEFAULT_TTL in
# https://github.com/SchedMD/slurm, src/plugins/auth/slurm/auth_slurm.h, read 2026-11-21): on a node that is farther off
# every step of a job would fail, long before the job reports it.
check_clock() {
    local off
    [ "${codes[clock]:-}" = 0 ] || return 0
    IFS=, read -r _ _ _ _ off _ <"$run/clock.out" || true
    [[ $off =~ ^-?([0-9]{1,12})\.[0-9]+$ ]] || return 0
    [ "${BASH_REMATCH[1]}" -lt 10 ] || problem "the clock is ${BASH_REMATCH[1]} s off"
}

check_efa() {
    local device found=0 port
    for device in "$root"/sys/class/infiniband/*; do
        [ "$device/device/driver" -ef "$root/sys/bus/pci/drivers/efa" ] || continue
        found=$((found + 1))
        read -r port 2>/dev/null <"$device/ports/1/state" || continue
        [[ $port == *ACTIVE* ]] || problem "EFA device ${device##*/} is ${port#*: }"
    done
    [ "$found" -ge "$efa" ] || problem "$found of $efa EFA devices are there"
}

# Read the result of mount-check.sh, which runs every minute and may hang on a broken mount.
check_mounts() {
    local path status checked age
    [ -s "$root/etc/ultracluster/mounts" ] || return 0
    read -r status 2>/dev/null <"$health/mounts" || status=""
    case $status in
        ok | ok:*) ;;
        failed:*) problem "${status#failed: }" ;;
        *) problem "the mounts have not been checked since the boot" ;;
    esac
    while read -r path _; do
        awk -v path="$path" '$5 == path { found = 1 } END { exit !found }' "$root/proc/self/mountinfo" ||
            problem "$path is not mounted"
    done <"$root/etc/ultracluster/mounts"
    # By the time since the boot: the time of day may be corrected by more than that.
    read -r checked 2>/dev/null <"$root/run/ultracluster/mounts/checked" || checked=$(uptime)
    age=$(($(uptime) - checked))
    [ "$age" -lt 900 ] || problem "the mounts were last checked $age s ago"
}

check_all() {
    problems=""
    ask_all
    if [ "$gpus" -gt 0 ]; then
        check_gpus
        check_rows
        if [ "$nvlinks" -gt 0 ]; then
            check_nvlink
            check_fabric
        fi
        check_xids
    fi
    check_clock
    check_efa
    check_mounts
}

# Succeed if the last result is recent, and set last to it.
is_recent() {
    local written
    [ "$recent" -gt 0 ] && [ "$forget" = no ] || return 1
    written=$(stat -c %Y "$health/devices" 2>/dev/null) || return 1
    # A result of the future is of a time of day that was corrected.
    [ "$written" -le "$EPOCHSECONDS" ] && [ $((EPOCHSECONDS - written)) -le "$recent" ] || return 1
    read -r last <"$result"
}

# Succeed if the last result is recent; it is the result of this check then.
take_recent() {
    is_recent || return 1
    [ "$last" != ok ] || return 0
    # The state stays as old as it is: jobs that start often would renew it for ever.
    log "$last" >&2
    trap - ERR
    exit 1
}

main() {
    local began last
    read_arguments "$@"
    read_wanted
    # Written in one step: it needs no lock.
    if is_recent && [ "$last" = ok ]; then return 0; fi
    began=$(uptime)
    # What dcgm-exporter reads, and does without for good when it is not there as it starts.
    [ -d "$run" ] && [ -d "$root/run/ultracluster/hpc-jobs" ] || mkdir -p "$run" "$root/run/ultracluster/hpc-jobs"
    # Several jobs may start on a node at once.
    # Others could hold a lock that they may read.
    umask 077
    exec 9>"$run/lock"
    umask 022
    flock --wait 60 9 || fail "another check has run for a minute"
    ! take_recent || return 0
    if [ "$forget" = yes ]; then printf '%s\n' "$EPOCHSECONDS" >"$run/xids-since"; fi
    check_all
    [[ $problems != *"fabric: "@(Not Started|In Progress)* || $patience -gt $registration ]] || patience=$registration
    while [ -n "$problems" ] && [ $(($(uptime) - began)) -lt "$patience" ]; do
        sleep 5
        check_all
    done
    [ -z "$problems" ] || fail "$problems"
    state ok
}

main "$@"
