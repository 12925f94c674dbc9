# shellcheck shell=bash
# Slurm sends USR1 to this script some minutes before the job has to stop. The training finds CHECKPOINT_REQUEST then,
# writes a checkpoint and ends with exit code 0; the job queues again, and goes on where it was.

# By default, each job has a directory of its own. That of a new job must have no run of another one: of a cluster that was
# there before, or of earlier job files, which named the directory by the kind of the job alone.
if [ -z "$run_is_given" ] && [ "${SLURM_RESTART_COUNT:-0}" -eq 0 ]; then
    for earlier in "${RUN%/*}" "$RUN"; do
        [ ! -e "$earlier/ultracluster-job.json" ] ||
            fail "$earlier has the run of another job: RUN=$earlier continues it, and RUN=DIRECTORY starts a new one elsewhere"
    done
fi
(umask go-w && mkdir -p "$RUN") || fail "cannot make $RUN: have your administrator make your directory there, or set RUN"
# Checkpoints are programs: pickle starts what is in them.
if [ -z "$run_is_given" ]; then
    for directory in "${RUN%/*/*}" "${RUN%/*}" "$RUN"; do require_own "$directory" ", or set RUN"; done
fi
export CHECKPOINT_REQUEST=$RUN/checkpoint-request
# With huge pages, a data loader that forks ends with "Cannot allocate memory" once the node has no more of them.
export FI_EFA_USE_HUGE_PAGE=${FI_EFA_USE_HUGE_PAGE:-0}
export ULTRACLUSTER_CHECKPOINT_SECONDS=${CHECKPOINT_SECONDS:-$checkpoint_seconds}
export ULTRACLUSTER_JOB_STATE=$RUN/ultracluster-job.json ULTRACLUSTER_CHECKPOINTS=$RUN
rm -f "$CHECKPOINT_REQUEST"
# The beginning of the file has a trap for a request that comes before.
trap 'requested=yes interrupted=yes; touch "$CHECKPOINT_REQUEST" || true; log "checkpoint requested"' USR1

# A program whose steps are counted may keep its checkpoints elsewhere, or end just after one: it queues again three times.
may_have_progressed() {
    local newest
    [ "$(state checkpoint none)" != none ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 3 ] || return 1
    newest=$(newest_checkpoint)
    [ "$newest" -gt "$first_checkpoint" ] || { [ "$newest" -eq 0 ] && [ "$(state step 0)" -gt 0 ]; }
}

# A GPU or a node that fails ends the program like an error of its own, and Slurm requeues lost nodes alone. After a step
# that no start before reached, or a newer checkpoint, the job queues again; an error of its own comes back before it.
#
# A trap runs only once `wait` is interrupted, and the step goes on.
train() {
    local code
    if [ "$requested" = yes ]; then
        # A time limit that is shorter than the preparation would requeue it for ever.
        if [ "${SLURM_RESTART_COUNT:-0}" -lt 3 ]; then
            log "requested to end before its program started: the job queues again"
            requeue
            exit 0
        fi
        touch "$CHECKPOINT_REQUEST"
    fi
    start_progress
    # srun ends with an error where slurmctld does not answer.
    fields --format=%T >/dev/null || true
    log "start ${SLURM_RESTART_COUNT:-0} on $SLURM_JOB_NUM_NODES nodes, checkpoints in $RUN"
    interrupted=no
    run_on_nodes "$@" &
    while true; do
        code=0
        wait "$!" || code=$?
        [ "$interrupted" = yes ] || break
        interrupted=no
    done
    if [ "$code" -ne 0 ] && { progressed || may_have_progressed; }; then
        log "exit code $code after step $(state step 0), from $first_step: the job queues again"
        requeue
    elif [ "$requested" = yes ] && [ "$code" -eq 0 ]; then
        requeue
    fi
    exit "$code"
}
