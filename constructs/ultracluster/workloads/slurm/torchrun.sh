# shellcheck shell=bash
[ -n "${PAYLOAD:-}" ] || [ $# -gt 0 ] || fail "name the training program: sbatch $SLURM_JOB_NAME.sbatch train.py [ARGUMENTS]"
# A program, not an option of torchrun.
case "${1:-}" in *.py) set -- ${reporter:+"$reporter"} "$@" ;; esac
# Every restart of the job has a new rendezvous.
train torchrun --nnodes="$SLURM_JOB_NUM_NODES" --nproc-per-node="$gpus_per_node" --rdzv-backend=c10d \
    --rdzv-id="$SLURM_JOB_ID.${SLURM_RESTART_COUNT:-0}" --rdzv-endpoint="$head:29500" "$@"
