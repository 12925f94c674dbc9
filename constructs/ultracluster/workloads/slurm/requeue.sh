# shellcheck shell=bash
# Nodes that the tests of this job left out, after the number of the start for which they did.
left_out=$RUN/ultracluster-left-out-$SLURM_JOB_ID
# The number of the last task of an array is that of the array, which scontrol takes for all its tasks:
# https://slurm.schedmd.com/job_array.html (read 2026-11-28). A job that a task submits has the variables of that task.
this_job=$SLURM_JOB_ID
[ "${SLURM_ARRAY_JOB_ID:-}" != "$this_job" ] || this_job+=_$SLURM_ARRAY_TASK_ID
# A heterogeneous job is queued as a whole, and this script runs on its first component. The others may exclude others.
component=$this_job
[ "${SLURM_JOB_ID_HET_GROUP_0:-}" != "$this_job" ] || component+=+0

# Run a command until slurmctld answers, which it does not while it starts again. For a backup, which takes over after
# SlurmctldTimeout, Slurm's commands wait for one and a half times that, 180 s by default: slurm_send_recv_controller_msg of
# https://github.com/SchedMD/slurm, tag slurm-25-11-7-1 (read 2026-11-28).
answered() {
    local end=$((SECONDS + 180))
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 5
    done
}

# Print fields of this job, one component of a heterogeneous job on a line.
fields() { answered squeue --noheader --states=all --jobs="$this_job" "$@"; }

# Print the nodes that the user of this job excludes: those of Slurm's list that the tests did not add.
excluded() {
    local list nodes=""
    list=$(fields --format="%A %x") || return 1
    list=$(awk -v job="$SLURM_JOB_ID" '$1 == job { print $2 }' <<<"$list")
    [ -n "$list" ] || return 0
    [ ! -e "$left_out" ] || read -r _ nodes <"$left_out" || true
    scontrol show hostnames "$list" | { grep --invert-match --line-regexp --fixed-strings "${nodes//,/$'\n'}" || true; } |
        paste --serial --delimiters=,
}

# Queue this job again, unless Slurm does so or ends it: scontrol would bring back one that its user has cancelled, and whose
# step has ended before the signal came to this script.
#
# Slurm 24.05 and newer requeue a job that they preempt, and that ends in the grace time. One that also requeues itself
# would be requeued once more at its next end: GRACE_PREEMPT in src/slurmctld/proc_req.c and job_mgr.c of
# https://github.com/SchedMD/slurm, tag slurm-25-11-7-1 (read 2026-11-27).
requeue() {
    local version shown refused=no preempted="RUNNING +[1-9]"
    version=$(scontrol --version)
    while true; do
        shown=$(fields --Format=State,PreemptTime) || return 1
        [[ $shown == *RUNNING* ]] || return 0
        if [[ $shown =~ $preempted ]] &&
            printf '%s\n' 24.05 "${version##* }" | sort --version-sort --check=silent; then
            return 0
        fi
        # Refused by a slurmctld that answers: not for a restart.
        [ "$refused" = no ] || return 1
        trap '' TERM
        ! scontrol requeue "$this_job" || return 0
        refused=yes
    done
}

# Let Slurm give this job, once it is queued again, the nodes that its tests left out. They may be repaired before it starts,
# which its next tests see, and it may need them to start. Slurm refuses this for a job that ends.
#
# Also where Slurm queues it again, for a node that is lost: srun may end this script before the signal comes.
# shellcheck disable=SC2329  # the trap runs it
take_back() {
    trap '' TERM
    local nodes
    [ -e "$left_out" ] && nodes=$(excluded) || return 0
    ! scontrol update "jobid=$component" "excnodelist=$nodes" 2>/dev/null || rm -f "$left_out"
}
trap take_back EXIT
trap 'exit 143' TERM

# Queue this job again without some nodes, under the same number, so that others take their place. It returns if the
# queue has too few nodes for that.
requeue_without() {
    local without=$1 start="" nodes="" all others
    all=$(excluded)
    # It is empty if the disk was full.
    [ ! -e "$left_out" ] || read -r start nodes <"$left_out" || true
    # The tests before this start of the program; those before an earlier one are of nodes that may be repaired.
    [ "$start" != "${SLURM_RESTART_COUNT:-0}" ] || without=$nodes,$without
    all+=${all:+,}$without
    # Nodes that run jobs, or will: not a drained spare.
    others=$(answered sinfo --noheader --partition="$SLURM_JOB_PARTITION" --Node --format='%N %T')
    others=$(awk '$2 !~ /^(down|drain|fail|error|maint|unknown|inval|future)|\*$/ { print $1 }' <<<"$others" | sort --unique |
        grep --invert-match --line-regexp --fixed-strings --count "${all//,/$'\n'}") || true
    if [ "$others" -lt "$SLURM_JOB_NUM_NODES" ]; then
        log "$SLURM_JOB_PARTITION has $others nodes without $all, and the job needs $SLURM_JOB_NUM_NODES"
        return 0
    fi
    log "queued again without $all"
    if ! requeue; then
        trap 'exit 143' TERM
        return 0
    fi
    trap - EXIT
    echo "$((${SLURM_RESTART_COUNT:-0} + 1)) $without" >"$left_out" || true
    # Only a pending job takes the list. Slurm starts none before its script has ended, which it kills KillWait after the
    # requeue, 30 s by default: _job_runnable_test1 in src/slurmctld/job_scheduler.c of the same tag (read 2026-11-28).
    for _ in {1..50}; do
        if scontrol update "jobid=$component" "excnodelist=$all"; then break; fi
        sleep 0.2
    done
    exit 0
}
