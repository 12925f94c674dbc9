# shellcheck shell=bash
export NCCL_DEBUG=INFO
log=$PWD/$SLURM_JOB_NAME-$SLURM_JOB_ID.txt
code=0
operation=${OPERATION:-all_reduce}
test=("${NCCL_TESTS:-/opt/nccl-tests/build}/${operation}_perf")
[ -z "${PAYLOAD:-}" ] || test=(bash -c "$PAYLOAD")
srun --mpi=pmix --ntasks-per-node="$gpus_per_node" --cpu-bind=none \
    --kill-on-bad-exit=1 "${container[@]}" "${test[@]}" -b 8M -e "${LARGEST:-16G}" -f 2 -g 1 -c 1 -n 50 | tee "$log" || code=$?
[ "$code" -eq 0 ] || fail "the test itself failed with exit code $code"

# The judge of the deep check, which every node has. Floors are those of all-reduce.
[ "$operation" = all_reduce ] || instance_type+=.${operation//_/-}
[ -n "${PAYLOAD:-}" ] || "${ULTRACLUSTER_ROOT:-}/usr/local/sbin/ultracluster-nccl-judge" \
    --type "$instance_type" --nodes "$SLURM_JOB_NUM_NODES" --gpus-per-node "$gpus_per_node" <"$log"
