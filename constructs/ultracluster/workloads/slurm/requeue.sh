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

# Print the nodes that the user of this job excludes: those of Slurm's list that the tests did not add.
excluded() {
    local list nodes=""
    list=$(scontrol show job "$component" --oneliner | sed -n 's/.* ExcNodeList=\([^ ]*\).*/\1/p')
    [ -n "$list" ] && [ "$list" != "(null)" ] || return 0
    [ ! -e "$left_out" ] || read -r _ nodes <"$left_out" || true
    scontrol show hostnames "$list" | { grep --invert-match --line-regexp --fixed-strings "${nodes//,/$'\n'}" || true; } |
        paste --serial --delimiters=,
}

# Let Slurm give this job, once it is queued again, the nodes that its tests left out. They may be repaired before it starts,
# which its next tests see, and it may need them to start. Slurm refuses this for a job that ends.
#
# Also where Slurm queues it again, for a node that is lost: srun may end this script before the signal comes.
# shellcheck disable=SC2329  # the trap runs it
take_back() {
    trap '' TERM
    [ -e "$left_out" ] || return 0
    ! scontrol update "jobid=$component" "excnodelist=$(excluded)" 2>/dev/null || rm -f "$left_out"
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
    others=$(sinfo --noheader --partition="$SLURM_JOB_PARTITION" --Node --format='%N %T' |
        awk '$2 !~ /^(down|drain|fail|error|maint|unknown|inval|future)|\*$/ { print $1 }' | sort --unique |
        grep --invert-match --line-regexp --fixed-strings --count "${all//,/$'\n'}") || true
    if [ "${others:-0}" -lt "$SLURM_JOB_NUM_NODES" ]; then
        echo "$SLURM_JOB_NAME: $SLURM_JOB_PARTITION has $others nodes without $all, and the job needs $SLURM_JOB_NUM_NODES"
        return 0
    fi
    echo "$SLURM_JOB_NAME: queued again without $all"
    # A requeue ends this script; the signal before the end leaves it the time. Only a pending job takes the list, and
    # only a held one does not start before it has the list.
    trap '' TERM
    if ! scontrol requeuehold "$this_job"; then
        trap 'exit 143' TERM
        return 0
    fi
    trap - EXIT
    echo "$((${SLURM_RESTART_COUNT:-0} + 1)) $without" >"$left_out" || true
    # Slurm kills this script KillWait after the requeue, 30 s by default, and a job that nobody releases waits for ever.
    for _ in {1..50}; do
        if scontrol update "jobid=$component" "excnodelist=$all"; then break; fi
        sleep 0.2
    done
    scontrol release "$this_job"
    exit 0
}
