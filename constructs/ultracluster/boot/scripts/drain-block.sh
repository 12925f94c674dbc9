#!/usr/bin/env bash
# Drain the nodes of a Capacity Block, and end their jobs with the block. Root on a login node runs it, several times.
# Environment: NODES, REASON, ENDS (time of the termination, UTC, as Slurm prints times), REQUEUE_AT (seconds since 1970)
# Exit code 1: a node is not drained, or a job has kept its time limit.
set -euo pipefail
export TZ=UTC SLURM_TIME_FORMAT=standard

# Print the nodes that are not drained; fail if Slurm has no such nodes. sinfo prints `inval` for a node that lacks a GPU,
# drained or not.
undrained() {
  local records
  records=$(scontrol --oneliner show node "$NODES") || return
  sed -nE '/ State=[^ ]*[+]DRAIN([+*]| |$)/! s/^NodeName=([^ ]+) .* State=([^ ]+).*/\1 is \2/p' <<<"$records"
}

failed=0
left="no answer from Slurm"
for attempt in 1 2 3; do
  scontrol update "NodeName=$NODES" State=DRAIN "Reason=$REASON" || true
  left=$(undrained) || left="no answer from Slurm"
  [ -n "$left" ] || break
  [ "$attempt" = 3 ] || sleep $((attempt * ${ULTRACLUSTER_PAUSE:-10}))
done
if [ -z "$left" ]; then
  echo "drained: $NODES"
else
  echo "not drained: $left" >&2
  failed=1
fi

# A job that would run longer ends with the block. Slurm sends it the signal of its --signal option at the time before
# the end that the option has, so that it writes a checkpoint. Jobs without that option run until they are requeued.
#
# Tasks of an array by their number in it: scontrol takes the job number of the last one for all tasks, also on other nodes.
# A heterogeneous job as a whole, by the number of its first component, which has the batch script.
now=$(date +%s)
jobs=$(squeue --noheader --nodelist="$NODES" --states=RUNNING --format='%i %e' | sed 's/+[0-9]* / /' |
  sort --key=1,1 --key=2,2r | awk '!seen[$1]++') || failed=1
while read -r job expected; do
  [ -n "$job" ] || continue
  if [ "$now" -ge "$REQUEUE_AT" ]; then
    scontrol requeue "$job" || { echo "job $job does not allow a requeue, and ends with its nodes" >&2; continue; }
    echo "job $job is requeued"
  elif [[ "$expected" > "$ENDS" ]]; then
    scontrol update "JobId=$job" "EndTime=$ENDS" || { echo "job $job keeps its end $expected" >&2; failed=1; continue; }
    echo "job $job ends at $ENDS UTC"
  fi
done <<<"$jobs"
exit "$failed"
