#!/usr/bin/env bash
# Run the program of a pod of a gang, and request a checkpoint before Kubernetes ends the pod.
#
#   ultracluster_gang.sh run PROGRAM [ARGUMENTS]
#   ultracluster_gang.sh stop          the preStop hook of the container
#   ultracluster_gang.sh over-efa PROGRAM [ARGUMENTS]    for a program that an operator ends: the first process itself
#
# RUN: directory of checkpoints, which all pods share. CHECKPOINT_REQUEST: file in it, of this attempt of the gang.
# ULTRACLUSTER_DATA: path, or beginning of the paths, that must exist.
# ULTRACLUSTER_GATE: test of the nodes before the program starts, which ends with exit code 86 to leave one out.
# After a requested end, the program is not complete, but its exit code is 0: Kubernetes gets exit code 85 instead,
# which restarts the gang, as 86 does. So it does for a program that failed after a step that no attempt before reached,
# or a newer checkpoint: a GPU or a node that fails ends it like an error of its own, which comes back before it.
# ULTRACLUSTER_JOB_STATE: file with the highest step, and the time of a checkpoint if steps are counted.
set -euo pipefail
# shellcheck source=/dev/null  # beside this file
source "${BASH_SOURCE[0]%/*}/ultracluster_progress.sh"
# shellcheck source=/dev/null
source "${BASH_SOURCE[0]%/*}/ultracluster_efa.sh"
# With huge pages, a data loader that forks ends with "Cannot allocate memory" once the node has no more of them.
export FI_EFA_USE_HUGE_PAGE=${FI_EFA_USE_HUGE_PAGE:-0}
requested=${CHECKPOINT_REQUEST:-}.requested failed=${CHECKPOINT_REQUEST:-}.failed

# Run a program. The first process of a container gets no signal that it does not handle.
run() {
  local code=0
  "$@" &
  program=$!
  trap 'kill -TERM "$program" 2>/dev/null || true' TERM
  wait "$program" || code=$?
  while kill -0 "$program" 2>/dev/null; do
    code=0
    wait "$program" || code=$?
  done
  return "$code"
}

case $1 in
  run)
    shift
    if [ -n "${ULTRACLUSTER_DATA:-}" ] && ! compgen -G "$ULTRACLUSTER_DATA*" >/dev/null; then
      echo "data=$ULTRACLUSTER_DATA does not exist on $(uname -n)" >&2
      exit 2
    fi
    mkdir -p "$RUN" "${CHECKPOINT_REQUEST%/*}"
    # A gang that Kueue evicts and admits again keeps its Job, and with it this file: what was requested then is over. The
    # first pod removes it, and programs look for it only once they have met that pod's.
    if [ "${JOB_COMPLETION_INDEX:-}" = 0 ]; then
      rm -f "$CHECKPOINT_REQUEST" "$requested" "$failed"
    fi
    over_efa
    code=0 first_step=0
    start_progress
    if [ "${ULTRACLUSTER_GATE:-no}" != no ]; then
      run python3 "${BASH_SOURCE[0]%/*}/ultracluster_gate.py" || code=$?
    fi
    # A gate that fails itself keeps no gang from its start, and one that got the signal ends it.
    if [ "$code" -ne 86 ] && [ "$code" -lt 128 ]; then
      code=0
      run "$@" || code=$?
    fi
    if [ "$code" -ne 0 ]; then
      touch "$failed"
      if [ "$code" -ne 86 ] && progressed; then
        echo "exit code $code after step $(state step 0), from $first_step: the gang restarts" >&2
        code=85
      fi
    elif [ -e "$requested" ]; then
      code=85
    fi
    exit "$code"
    ;;
  over-efa)
    over_efa
    exec "${@:2}"
    ;;
  stop)
    # Processes that wait for a failed one do not answer. When the program has ended, this hook ends with its container.
    touch "$requested" "$CHECKPOINT_REQUEST"
    until [ -e "$failed" ]; do sleep 1; done
    ;;
esac
