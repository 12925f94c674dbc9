#!/bin/bash
# Slurm's prolog: root runs it on each node of a job before the job does. A node that is not well is drained with the
# reason, and the job starts on others.
#
#   prolog.sh
#
# Exit code 0: the job may start here. 1: it may not. https://slurm.schedmd.com/prolog_epilog.html (read 2026-11-21)
set -Eeuo pipefail
export LC_ALL=C

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
# Slurm gives its prolog no path to rely on.
[ -n "$root" ] || PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
bin=$root/usr/local/sbin/ultracluster
run=$root/run/ultracluster
metrics=$root/var/lib/ultracluster/job-metrics
job=${SLURM_JOB_ID:?is set by Slurm}
# Seconds for the epilogs of other jobs.
wait=${ULTRACLUSTER_LOCK_WAIT:-60}

# slurmd keeps what a script prints to itself, unless the script fails.
log() {
    echo "prolog: job $job: $*" >&2
    timeout 2 logger --tag prolog -- "job $job: $*" || true
}

# Slurm drains a node whose prolog fails, whatever the state of the breaker. So where the breaker or the mode keeps
# this node in service, the job starts: on a broken node it fails, and a wrong check would take all nodes. So it does
# where the controller is too slow to count drains, as when the check of the devices fails on many nodes at once. A
# script of the cluster file that failed is no check that may be wrong.
#
# A check that ended without a result, such as one that was killed, has failed too: without a result nothing would drain
# the node within the limit, and Slurm would beyond it.
refuse() {
    local rc try reason=""
    if ! grep -qs '^failed' "$run/health/$1"; then
        mkdir -p "$run/health"
        printf 'failed: the check ended with code %s and without a result\n' "$2" >"$run/health/.prolog-$job"
        mv "$run/health/.prolog-$job" "$run/health/$1"
    fi
    read -r reason 2>/dev/null <"$run/health/$1" || true
    for try in 1 2 3; do
        [ "$try" -eq 1 ] || sleep "${ULTRACLUSTER_SETTLE:-3}"
        rc=0
        timeout --kill-after=5 45 "$bin-drain-on-failure" --now "$1" 8>&- || rc=$?
        case $rc in 0 | 3) break ;; esac
    done
    # Of many jobs that start at once, one drains the node, and others may wait too long for their turn.
    if [ "$rc" -eq 3 ] && [ "$1" != script ]; then
        log "$1: $reason; the node stays in service, and the job starts"
        return 0
    elif [ "$rc" -ne 0 ] && [ "$1" = devices ] && [ ! -e "$run/drain/drained" ]; then
        log "$1: $reason; the controller does not answer; the node stays in service, and the job starts"
        return 0
    fi
    log "refused: $1: $reason"
    touch "$run/prolog-refused"
    exit 1
}

# For dcgm-exporter (--hpc-job-mapping-dir): a file for each GPU, a job on each line.
# https://github.com/NVIDIA/dcgm-exporter (commit d5e5f51 of 2026-05-12, README and internal/pkg/transformation/hpc.go)
map_gpus() {
    # `192(x63),96` is 192.
    local gpu words=() listed gpus jobs=("$run"/jobs/*) cpus=${SLURM_JOB_CPUS_PER_NODE:-}
    cpus=${cpus%%[^0-9]*}
    IFS=, read -r -a words <<<"${SLURM_JOB_GPUS:-}"
    # It requested none; those of a node that it has to itself, with all CPUs, are its own.
    if [ "${#words[@]}" -eq 0 ] && [ "${#jobs[@]}" -eq 1 ] && [ "${cpus:-0}" -ge "$(nproc)" ]; then
        gpus=$(awk '$1 == "gpus" { print $2 }' "$root/etc/ultracluster/health")
        for ((gpu = 0; gpu < gpus; gpu++)); do words+=("$gpu"); done
    fi
    for gpu in "${words[@]}"; do
        [[ $gpu =~ ^[0-9]+$ ]] || continue
        listed=()
        [ ! -s "$run/hpc-jobs/$gpu" ] || mapfile -t listed <"$run/hpc-jobs/$gpu"
        [[ " ${listed[*]} " == *" $job "* ]] || printf '%s\n' "$job" >>"$run/hpc-jobs/$gpu"
    done
}

# The job writes its metrics into a directory of its own. Not in /run: the user could fill the node's memory.
make_metrics_directory() {
    install -d -m 700 -o "${SLURM_JOB_UID:?}" "$metrics/$job"
}

main() {
    local users
    [ -d "$run/jobs" ] && [ -d "$run/hpc-jobs" ] || mkdir -p "$run/jobs" "$run/hpc-jobs"
    # First of all: SSH to this node is for users with a job on it, and the batch script may run before this prolog is done.
    trap '[ "$?" -eq 0 ] || rm -f "$run/jobs/$job"' EXIT
    printf '%s\n' "${SLURM_JOB_UID:-}" >"$run/.job-$job"
    mv "$run/.job-$job" "$run/jobs/$job"
    # No update of these scripts between the steps. What hangs in the driver must not keep the lock.
    # Others could hold a lock that they may read.
    umask 077
    exec 8>"$run/node-scripts.lock"
    umask 022
    flock --shared --wait "$wait" 8 || log "an update of the scripts has run for $wait s"
    # The epilog cleans up after users who have no job here any more: it must not meet the first process of this one. An
    # epilog that begins from here on sees this job; those that have begun are done when the lock is free. Each has it for
    # seconds, and many may wait for it: that is no reason to refuse a job.
    umask 077
    exec 9>"$run/epilog.lock"
    umask 022
    flock --wait "$wait" 9 || log "epilogs of other jobs have run for $wait s"
    # Names in metrics are not worth a job.
    map_gpus || log "its GPUs could not be mapped for metrics"
    # Users of a directory are not known before.
    [ ! -x "$bin-container-homes" ] || [ -z "${SLURM_JOB_UID:-}" ] || "$bin-container-homes" "$SLURM_JOB_UID" 8>&- 9>&- ||
        log "the directories of Enroot do not belong to the user"
    make_metrics_directory || log "it has no directory for metrics"
    exec 9>&-
    # Of jobs that start together the first checks.
    "$bin-health-check" --recent 30 8>&- || refuse devices "$?"
    # On AWS PCS; HyperPod runs no scripts of the cluster file.
    [ ! -x "$bin-boot-guard" ] || "$bin-boot-guard" --scripts 8>&-
    [ ! -e "$run/health/script" ] || refuse script 1
    # The node has read no users yet: Slurm starts none of their jobs.
    read -r users 2>/dev/null <"$run/health/users" || users=""
    [[ $users != failed* ]] || refuse users 1
    # Users of a directory are not known before. The check of the mounts has passed.
    [ ! -x "$bin-user-directories" ] || [ -z "${SLURM_JOB_UID:-}" ] ||
        timeout --kill-after=5 20 "$bin-user-directories" "$SLURM_JOB_UID" 8>&- ||
        log "the directory on the shared file system does not belong to the user"
    if [ -x "$bin-imex" ]; then "$bin-imex" 8>&- || refuse imex "$?"; fi
}

main "$@"
