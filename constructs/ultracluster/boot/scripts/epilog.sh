#!/bin/bash
# Slurm's epilog: root runs it on each node of a job after the job. It leaves nothing of the job behind: no processes, no
# shared memory, no name in the metrics. A node that cannot be cleaned is drained with the reason.
#
#   epilog.sh
#
# Exit code 0: nothing is left. 1: something is. https://slurm.schedmd.com/prolog_epilog.html (read 2026-11-21)
set -Eeuo pipefail
export LC_ALL=C

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
# Slurm gives its epilog no path to rely on.
[ -n "$root" ] || PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
bin=$root/usr/local/sbin/ultracluster
run=$root/run/ultracluster
job=${SLURM_JOB_ID:?is set by Slurm}
uid=${SLURM_JOB_UID:-0}
# Seconds for the epilogs of other jobs.
wait=${ULTRACLUSTER_LOCK_WAIT:-60}

# slurmd keeps what a script prints to itself, unless the script fails.
log() {
    echo "epilog: job $job: $*" >&2
    timeout 2 logger --tag epilog -- "job $job: $*" || true
}

# Set own to the files that have no other job.
unmap_gpus() {
    local file jobs
    for file in "$run"/hpc-jobs/*; do
        [ -f "$file" ] || continue
        mapfile -t jobs <"$file"
        if [ "${jobs[*]}" = "$job" ]; then
            own+=("$file")
            continue
        fi
        # Written in one step: an exporter reads it at any time.
        grep -vxF "$job" "$file" >"$run/.hpc-job-$job" || true
        if [ -s "$run/.hpc-job-$job" ]; then mv "$run/.hpc-job-$job" "$file"; else rm -f "$run/.hpc-job-$job" "$file"; fi
    done
}

# Succeed if the user is a person, who has no other job on this node. Users of the system begin below 1000, nobody is 65534.
is_gone() {
    local file other
    [[ $uid =~ ^[0-9]+$ ]] && [ "$uid" -ge 1000 ] && [ "$uid" -ne 65534 ] || return 1
    for file in "$run"/jobs/*; do
        [ -f "$file" ] || continue
        # An epilog of another job removes them.
        read -r other 2>/dev/null <"$file" || other=""
        if [ "$other" = "$uid" ]; then return 1; fi
    done
}

# Succeed if no process is left: pgrep exits with 1 for none, and with more if it failed.
is_quiet() {
    local rc=0
    pgrep --uid "$uid" >/dev/null || rc=$?
    [ "$rc" -eq 1 ]
}

# End processes that left the job's control group, as daemons do: first SIGTERM, then SIGKILL.
end_processes() {
    local signal try
    for signal in TERM KILL; do
        is_quiet && return
        pkill "-$signal" --uid "$uid" || true
        for try in 1 2 3 4 5 6 7 8 9 10; do
            is_quiet && return
            sleep 0.3
        done
    done
    return "$try"
}

remove_shared_memory() {
    find "$root/dev/shm" -mindepth 1 -xdev -uid "$uid" -delete 2>/dev/null || log "something is left in /dev/shm"
    local kind option column line lines words
    while read -r kind option; do
        # All of it first: bash reads from an offset in bytes, which a removal moves.
        [ -r "$root/proc/sysvipc/$kind" ] || continue
        mapfile -t lines <"$root/proc/sysvipc/$kind"
        read -r -a words <<<"${lines[0]}"
        for column in "${!words[@]}"; do [ "${words[column]}" != uid ] || break; done
        for line in "${lines[@]:1}"; do
            read -r -a words <<<"$line"
            [ "${words[column]}" = "$uid" ] || continue
            ipcrm "$option" "${words[1]}" 2>/dev/null || log "$kind ${words[1]} is left"
        done
    done <<<$'shm --shmem-id\nsem --semaphore-id\nmsg --queue-id'
}

main() {
    local left rc=0 own=()
    [ -d "$run/jobs" ] && [ -d "$run/hpc-jobs" ] && [ -d "$run/health" ] || mkdir -p "$run/jobs" "$run/hpc-jobs" "$run/health"
    # Others could hold a lock that they may read.
    umask 077
    exec 8>"$run/node-scripts.lock"
    umask 022
    flock --shared --wait "$wait" 8 || log "an update of the scripts has run for $wait s"
    umask 077
    exec 9>"$run/epilog.lock"
    umask 022
    # Many jobs may end at once, each with processes that take seconds to end. Slurm would drain the node for a failure.
    flock --wait "$wait" 9 || log "epilogs of other jobs have run for $wait s"
    unmap_gpus || log "the names of its GPUs in the metrics are left"
    [ ! -x "$bin-container-homes" ] || "$bin-container-homes" "$uid" 8>&- 9>&- || log "a container of it may be left"
    rm -rf "${own[@]}" "$run/jobs/$job" "${root}/var/lib/ultracluster/job-metrics/$job"
    is_gone || return 0
    if ! end_processes; then
        left=$(pgrep --uid "$uid" | paste -s -d ' ') || left=""
        # node-scripts.sh tries again: a file system on which they wait may come back. It says that all is well if
        # no job is listed.
        printf '%s %s\n' "$job" "$uid" >>"$run/epilog-failed"
        echo "failed: processes of job $job cannot be killed: $left" >"$run/health/.epilog"
        mv "$run/health/.epilog" "$run/health/epilog"
        log "its processes cannot be killed: $left"
        # Slurm drains a node whose epilog fails, whatever the state of the breaker. If the controller does not answer,
        # the next check of the minute drains.
        timeout --kill-after=5 45 "$bin-drain-on-failure" --now epilog 8>&- || rc=$?
        [ "$rc" -ne 0 ] || exit 1
    fi
    remove_shared_memory
}

main "$@"
