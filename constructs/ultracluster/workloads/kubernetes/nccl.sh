#!/usr/bin/env bash
# Run NCCL's all-reduce test over all GPUs of the workers, and holds its bus bandwidth against a floor.
# RANKS: GPUs in all. EACH: GPUs of a node. BYTES: size of the message. FLOOR: GB/s, or empty where none is known.
set -euo pipefail

verdict="${VERDICT:-/verdict}"
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
  "${TEST:-/opt/nccl-tests/build/all_reduce_perf}" -b "$BYTES" -e "$BYTES" -g 1 -n 50 >"$log" 2>&1 || code=$?
cat "$log"
if [ "$code" -ne 0 ]; then
  # What mpirun stumbles over is often a name or a key, and no fault of the nodes.
  if grep -qE 'Test (NCCL|CUDA) failure' "$log"; then
    finish 1 "all-reduce failed: $(grep -m1 -oE 'Test (NCCL|CUDA) failure.*' "$log")"
  fi
  finish 2 "mpirun ended with $code before a result"
fi
grep -q 'Selected provider is efa' "$log" || finish 1 "all-reduce did not run over EFA"
# Rows of results start with the size; the eighth column is the bus bandwidth out of place.
found="$(awk -v size="$BYTES" '$1 == size { print $8 }' "$log" | tail -1)"
[ -n "$found" ] || finish 1 "all-reduce printed no result"
if [ -z "$FLOOR" ]; then
  finish 0 "all-reduce at $found GB/s; no floor is known"
fi
if awk -v found="$found" -v floor="$FLOOR" 'BEGIN { exit !(found < floor) }'; then
  finish 1 "all-reduce at $found GB/s, below $FLOOR"
fi
finish 0 "all-reduce at $found GB/s, floor $FLOOR"
