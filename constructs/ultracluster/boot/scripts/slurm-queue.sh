# shellcheck shell=bash
# Export jobs of Slurm on login nodes, for node-metrics.sh, which includes this.
# shellcheck disable=SC2154  # variables of the script

# Whose the running jobs are: one call a run. A name may contain any character, so it is the last field.
slurm_jobs() {
    local squeue lines state id user account partition title
    family ultracluster_slurm_job_info gauge "User, account, partition and name of a running job."
    squeue=$(slurm_program squeue) || { queue_state "failed: there is no squeue" && return; }
    lines=$(timeout 20 "$squeue" --noheader --states=RUNNING,PENDING --format='%T|%A|%u|%a|%P|%D|%r|%j' 2>&1) || {
        queue_state "failed: squeue does not answer: ${lines##*$'\n'}" && return
    }
    queue_state ok
    while IFS='|' read -r state id user account partition _ _ title; do
        [ "$state" = RUNNING ] && [[ $id =~ ^[0-9]+$ ]] || continue
        printf 'ultracluster_slurm_job_info{job_id="%s",user="%s",account="%s",partition="%s",name="%.100s"} 1\n' "$id" \
            "${user//$unclean/_}" "${account//$unclean/_}" "${partition//$unclean/_}" "${title//$unclean/_}"
    done < <(grep '^RUNNING|' <<<"$lines" || true)
    blocked "$lines"
}

# Write the state of the item squeue, which the next run exports. Without its jobs, alerts of lost jobs cannot fire.
queue_state() {
    mkdir -p "$software" && printf '%s\n' "$1" >"$software/.squeue" && mv "$software/.squeue" "$software/squeue"
}

# Count jobs that Slurm does not start by itself, although enough nodes of one of their queues are idle. Not those that a
# person holds, that wait for a time, for other jobs, or for a limit of all jobs of a team. A refused account or QOS is a
# sentence. 1024 nodes are 1K. https://slurm.schedmd.com/job_reason_codes.html (read 2026-11-28)
blocked() {
    local sinfo idle pending
    pending=$(awk -F '|' -v OFS='|' '
        $1 != "PENDING" { next }
        $7 ~ /^Job.s account not permitted/ { $7 = "AccountNotAllowed" }
        $7 ~ /^Job.s QOS not permitted/ { $7 = "QOSNotAllowed" }
        $7 ~ /^launch.failed.requeued.held$/ { $7 = "LaunchFailedRequeuedHeld" }
        $7 ~ /^((Account|QOS)NotAllowed|BadConstraints|DependencyNeverSatisfied|Invalid(Account|QOS)|JobHoldMaxRequeue|LaunchFailedRequeuedHeld|Partition(Node|Time)Limit|ReservationDeleted|(Assoc|QOS)Max[A-Za-z]+PerJob(Limit)?)$/ {
            print $5, $6, $7
        }' <<<"$1")
    [ -n "$pending" ] && sinfo=$(slurm_program sinfo) || return 0
    idle=$(timeout 20 "$sinfo" --noheader --format='%R|%T|%D' 2>/dev/null) || return 0
    family ultracluster_blocked_jobs gauge "Jobs that Slurm does not start by itself beside idle nodes."
    awk -F '|' '
        function nodes(text) { return text * (text ~ /K$/ ? 1024 : 1) }
        FNR == NR { if ($2 == "idle") idle[$1] += nodes($3); next }
        {
            number = split($1, queues, ",")
            for (of = 1; of <= number; of++) if (idle[queues[of]] >= nodes($2)) { count[$3]++; break }
        }
        END { for (reason in count) printf "ultracluster_blocked_jobs{reason=\"%s\"} %d\n", reason, count[reason] }
    ' <(printf '%s\n' "$idle") <(printf '%s\n' "$pending")
}
