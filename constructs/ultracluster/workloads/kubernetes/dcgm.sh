#!/usr/bin/env bash
# Run DCGM's diagnostics on the GPUs of this node, and leave the verdict to the container that may cordon it.
# Name the software of the node that is older than OLDEST, NAME=VERSION words, as SOFTWARE_CHECK finds it.
# LEVEL: 1 to 4. Level 2 takes minutes; 3 and 4 up to hours, and need the GPUs exclusively.
set -euo pipefail

verdict="${VERDICT:-/verdict}"
log="$verdict/log"

finish() {
  echo "$2" >"$verdict/reason"
  echo "$1" >"$verdict/code.new"
  mv "$verdict/code.new" "$verdict/code"
  exit "$1"
}

if ! nv-hostengine >"$log" 2>&1; then
  cat "$log"
  finish 2 "nv-hostengine does not start"
fi
# shellcheck disable=SC2086  # a word for each version
software="$(bash -c "$SOFTWARE_CHECK" software-check $OLDEST 2>&1)" || true
echo "$software"
older="$(sed -n 's/^FAILED: [^:]*: /; /p' <<<"$software" | tr -d '\n')"
code=0
dcgmi diag --run "$LEVEL" >"$log" 2>&1 || code=$?
cat "$log"
# Another driver than the image was made for is not caused by the GPUs: all nodes would be cordoned at once.
if grep -qiE 'unsupported cuda version|cannot load plugins' "$log"; then
  finish 2 "dcgmi diag has no plugins for the CUDA version of the driver: take a newer image"
fi
if [ "$code" -ne 0 ] || grep -q 'Fail' "$log"; then
  first="$(grep -m1 'Fail' "$log" | tr -s ' |' ' ' || true)"
  finish 1 "dcgmi diag level $LEVEL:${first:- exit code $code}$older"
fi
finish 0 "dcgmi diag level $LEVEL$older"
