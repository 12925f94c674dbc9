# shellcheck shell=bash
export NCCL_DEBUG=INFO
log=$PWD/$SLURM_JOB_NAME-$SLURM_JOB_ID.txt
code=0
if [ -n "${PAYLOAD:-}" ]; then test=(bash -c "$PAYLOAD"); else test=("${NCCL_TESTS:-/opt/nccl-tests/build}/all_reduce_perf"); fi
srun --mpi=pmix --ntasks-per-node="$gpus_per_node" --cpus-per-task="$SLURM_CPUS_PER_TASK" --cpu-bind=none \
    --kill-on-bad-exit=1 "${container[@]}" "${test[@]}" -b 8M -e "${LARGEST:-16G}" -f 2 -g 1 -c 1 -n 50 | tee "$log" || code=$?
[ "$code" -eq 0 ] || fail "the test itself failed with exit code $code"

provider=$(grep -oE 'Selected provider is [a-z]+.*' "$log" | sort -u | head -n 1 || true)
echo "network: ${provider:-NCCL says of no provider}; a node has $efa_devices EFA devices"
if [ "$SLURM_JOB_NUM_NODES" -gt 1 ] && [[ $provider != *"provider is efa"* ]]; then
    echo "failed: NCCL does not use EFA"
    code=1
fi

# A row of the test: bytes, elements, type, operation, root, then time, algorithm and bus bandwidth in GB/s.
known=no
while read -r nodes bytes floor; do
    [ "${nodes:-none}" = "$SLURM_JOB_NUM_NODES" ] || continue
    bus=$(awk -v bytes="$bytes" '$1 == bytes && NF >= 9 { print $8 }' "$log")
    [ -n "$bus" ] || continue
    known=yes
    if awk -v bus="$bus" -v floor="$floor" 'BEGIN { exit !(bus >= floor) }'; then verdict=ok; else verdict=failed code=1; fi
    echo "$verdict: $bus GB/s at $((bytes >> 20)) MiB on $nodes nodes; the floor is $floor"
done <<<"$floors"
[ "$known" = yes ] || echo "no floor known for $SLURM_JOB_NUM_NODES nodes of $instance_type at these sizes"
exit "$code"
