#!/usr/bin/env bash
# Run the program of a pod of a gang, and request a checkpoint before Kubernetes ends the pod.
#
#   ultracluster_gang.sh run PROGRAM [ARGUMENTS]
#   ultracluster_gang.sh stop          the preStop hook of the container
#
# RUN: directory of checkpoints, which all pods share. CHECKPOINT_REQUEST: file in it, of this attempt of the gang.
# ULTRACLUSTER_DATA: path, or beginning of the paths, that must exist.
# After a requested end, the program is not complete, but its exit code is 0: Kubernetes gets exit code 85 instead,
# which restarts the gang.
set -euo pipefail
requested=$CHECKPOINT_REQUEST.requested failed=$CHECKPOINT_REQUEST.failed

case $1 in
  run)
    shift
    if [ -n "${ULTRACLUSTER_DATA:-}" ] && ! compgen -G "$ULTRACLUSTER_DATA*" >/dev/null; then
      echo "data=$ULTRACLUSTER_DATA does not exist on $(uname -n)" >&2
      exit 2
    fi
    mkdir -p "$RUN" "${CHECKPOINT_REQUEST%/*}"
    "$@" &
    program=$!
    # The first process of a container gets no signal that it does not handle.
    trap 'kill -TERM "$program" 2>/dev/null || true' TERM
    code=0
    wait "$program" || code=$?
    while kill -0 "$program" 2>/dev/null; do
      code=0
      wait "$program" || code=$?
    done
    if [ "$code" -ne 0 ]; then
      touch "$failed"
    elif [ -e "$requested" ]; then
      code=85
    fi
    exit "$code"
    ;;
  stop)
    # Processes that wait for a failed one do not answer. When the program has ended, this hook ends with its container.
    touch "$requested" "$CHECKPOINT_REQUEST"
    until [ -e "$failed" ]; do sleep 1; done
    ;;
esac
