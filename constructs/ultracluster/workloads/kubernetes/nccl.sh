#!/usr/bin/env bash
# Run a test of NCCL over all GPUs of the workers, and compare its bus bandwidth with a floor.
# OPERATION: all-reduce or alltoall.
# RANKS: GPUs in all. EACH: GPUs of a node. BYTES: size of the message. FLOOR: GB/s, or empty where none is known.
set -euo pipefail

verdict="${VERDICT:-/verdict}"
operation="${OPERATION:-all-reduce}"
log="$verdict/log"

finish() {
  echo "$2" >"$verdict/reason"
  echo "$1" >"$verdict/code.new"
  mv "$verdict/code.new" "$verdict/code"
  exit "$1"
}

code=0
/opt/amazon/openmpi/bin/mpirun --allow-run-as-root -np "$RANKS" -N "$EACH" --bind-to none \
  -x LD_LIBRARY_PATH -x NCCL_DEBUG=INFO -x NCCL_SOCKET_IFNAME \
  "${TEST:-/opt/nccl-tests/build/${operation/-/_}_perf}" -b "$BYTES" -e "$BYTES" -g 1 -n 50 >"$log" 2>&1 || code=$?
cat "$log"
if [ "$code" -ne 0 ]; then
  # What mpirun stumbles over is often a name or a key, and no fault of the nodes.
  if grep -qE 'Test (NCCL|CUDA) failure' "$log"; then
    finish 1 "$operation failed: $(grep -m1 -oE 'Test (NCCL|CUDA) failure.*' "$log")"
  fi
  finish 2 "mpirun ended with $code before a result"
fi
grep -q 'Selected provider is efa' "$log" || finish 1 "$operation did not run over EFA"
# Rows of results start with the size; the eighth column is the bus bandwidth out of place.
found="$(awk -v size="$BYTES" '$1 == size { print $8 }' "$log" | tail -1)"
[ -n "$found" ] || finish 1 "$operation printed no result"
if [ -z "$FLOOR" ]; then
  finish 0 "$operation at $found GB/s; no floor is known"
fi
if awk -v found="$found" -v floor="$FLOOR" 'BEGIN { exit !(found < floor) }'; then
  finish 1 "$operation at $found GB/s, below $FLOOR"
fi
finish 0 "$operation at $found GB/s, floor $FLOOR"
