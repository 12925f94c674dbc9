# shellcheck shell=bash
[ -n "${PAYLOAD:-}" ] || [ $# -gt 0 ] || fail "name the training program: sbatch $SLURM_JOB_NAME.sbatch train.py [ARGUMENTS]"
case "${1:-}" in
    ultracluster_*.py)
        [ -n "$helper" ] || [ -e "$1" ] || [ -n "${PAYLOAD:-}" ] ||
            fail "no node has $1, for the cluster has no file system that all nodes share: add storage.lustre or storage.home, or name a program by its path"
        ;;
esac
# A program of the job files, such as ultracluster_train.py, needs no path.
[ -e "${1:-}" ] || [ ! -f "$helper/${1:-}" ] || set -- "$helper/$1" "${@:2}"
# A program or a module, not an option of torchrun.
case "${1:-}" in *.py | -m) set -- ${reporter:+"$reporter"} "$@" ;; esac
# If a process fails, torchrun restarts all of them, with a new store: a shared one has the addresses of the processes
# before (https://github.com/pytorch/pytorch/issues/135712, read 2026-11-23, and so in PyTorch 2.13.0). Every restart of
# the job has a new rendezvous. Each node unpacks the image by itself: the others wait ten minutes for the first, not one.
# https://docs.pytorch.org/docs/stable/elastic/rendezvous.html (read 2026-11-27)
export TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1
[ -v prepared ] || prepared=()
train "${prepared[@]}" torchrun --nnodes="$SLURM_JOB_NUM_NODES" --nproc-per-node="$gpus_per_node" --max-restarts="${RESTARTS:-3}" \
    --rdzv-backend=c10d --rdzv-id="$SLURM_JOB_ID.${SLURM_RESTART_COUNT:-0}" --rdzv-endpoint="$head:${MASTER_PORT:-29500}" \
    --rdzv-conf=read_timeout=600,join_timeout=1200 "$@"
