# shellcheck shell=bash
# shellcheck disable=SC2329  # each node runs it
node() {
    local problems=() found name=${SLURMD_NODENAME:-$(hostname)} path
    found=$(nvidia-smi --query-gpu=index --format=csv,noheader | grep -c . || true)
    [ "$found" -eq "$gpus_per_node" ] || problems+=("$found of $gpus_per_node GPUs")
    found=$(find "${ULTRACLUSTER_ROOT:-}/sys/class/infiniband" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)
    [ "$found" -eq "$efa_devices" ] || problems+=("$found of $efa_devices EFA devices")
    for path in $mounts; do
        timeout 20 mountpoint --quiet "$path" || problems+=("$path is not mounted")
    done
    dcgmi diag --run "${LEVEL:-2}" >"$log.$name" 2>&1 || problems+=("dcgmi diag --run ${LEVEL:-2} failed, see $log.$name")
    if [ "${#problems[@]}" -eq 0 ]; then
        rm -f "$log.$name"
        echo "$name: ok"
        return 0
    fi
    local IFS=";"
    echo "$name: failed: ${problems[*]}"
    return 1
}

export gpus_per_node efa_devices mounts LEVEL log=$PWD/$SLURM_JOB_NAME-$SLURM_JOB_ID
code=0
if [ -n "${PAYLOAD:-}" ]; then check=(bash -c "$PAYLOAD"); else check=(bash -c "$(declare -f node); node"); fi
# Every node answers, whatever the others say.
srun --ntasks-per-node=1 --cpus-per-task="$SLURM_CPUS_PER_TASK" --cpu-bind=none --kill-on-bad-exit=0 "${check[@]}" || code=1
[ "$code" -eq 0 ] || echo "a node failed; drain it: scontrol update nodename=NAME state=drain reason=..."
exit "$code"
