# shellcheck shell=bash
# Queue this job again without some nodes, under the same number, so that others take their place. It returns if the
# queue has too few nodes for that.
requeue_without() {
    local without=$1 before others
    before=$(scontrol show job "$SLURM_JOB_ID" --oneliner | sed -n 's/.* ExcNodeList=\([^ ]*\).*/\1/p')
    [ -z "$before" ] || [ "$before" = "(null)" ] || without=$before,$without
    # Nodes that run jobs, or will: not a drained spare.
    others=$(sinfo --noheader --partition="$SLURM_JOB_PARTITION" --Node --format='%N %T' |
        awk '$2 !~ /^(down|drain|fail|error|maint|unknown|inval|future)|\*$/ { print $1 }' | sort --unique |
        grep --invert-match --line-regexp --fixed-strings --count "$(scontrol show hostnames "$without")") || true
    if [ "${others:-0}" -lt "$SLURM_JOB_NUM_NODES" ]; then
        echo "$SLURM_JOB_NAME: $SLURM_JOB_PARTITION has $others nodes without $without, and the job needs $SLURM_JOB_NUM_NODES"
        return 0
    fi
    echo "$SLURM_JOB_NAME: queued again without $without"
    # A requeue ends this script; the signal before the end leaves it the time. Only a pending job takes the list, and
    # only a held one does not start before it has the list.
    trap '' TERM
    scontrol requeuehold "$SLURM_JOB_ID" || return 0
    # Slurm kills this script KillWait after the requeue, 30 s by default, and a job that nobody releases waits for ever.
    for _ in {1..50}; do
        if scontrol update "jobid=$SLURM_JOB_ID" "excnodelist=$without"; then break; fi
        sleep 0.2
    done
    scontrol release "$SLURM_JOB_ID"
    exit 0
}
