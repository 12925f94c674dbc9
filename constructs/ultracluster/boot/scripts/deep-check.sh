#!/usr/bin/env bash
#SBATCH --job-name=deep-check
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --propagate=NONE
#SBATCH --no-requeue
# Check nodes in depth: limits of jobs and DCGM's diagnosis on each of them, then an NCCL all-reduce over all of them.
#
#   sbatch --partition=train --nodes=2 /usr/local/sbin/ultracluster-deep-check [--dcgm LEVEL] [--nccl yes|no]
#
#   --dcgm   level of `dcgmi diag`: 1 takes seconds, 2 up to 11 minutes, 4 up to 2 1/4 hours; 0 is none (default: 2).
#            https://github.com/awslabs/awsome-distributed-ai, 4.validation_and_observability/2.gpu-cluster-healthcheck
#            (commit 95b939c of 2026-07-23, read 2026-11-20)
#   --nccl   whether the all-reduce is run (default: yes). NCCL_TEST names its program; else nccl-judge finds it.
#
# Its output names every bad node. Exit code 0: nothing is wrong, as far as is known. 1: something is. 2: wrong usage.
set -Eeuo pipefail
export LC_ALL=C

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
# sbatch runs a copy of this script, which is somewhere else.
own=$root/usr/local/sbin/ultracluster-deep-check
judge=$root/usr/local/sbin/ultracluster-nccl-judge
level=2
nccl=yes
part=all

usage() {
    echo "deep-check: $*" >&2
    exit 2
}

read_arguments() {
    while [ $# -gt 0 ]; do
        [ $# -ge 2 ] || usage "$1 needs a value"
        case $1 in
            --dcgm) level=$2 ;;
            --nccl) nccl=$2 ;;
            --part) part=$2 ;;
            *) usage "unknown argument $1; known: --dcgm, --nccl" ;;
        esac
        shift 2
    done
    [[ $level =~ ^[0-4]$ ]] || usage "--dcgm is a level from 1 to 4, or 0 for none, got '$level'"
    [[ $nccl =~ ^(yes|no)$ ]] || usage "--nccl is yes or no, got '$nccl'"
}

# Succeed if a job may lock all of its memory, which EFA registers, or the node has no EFA.
check_limits() {
    local device limit
    limit=$(ulimit -l)
    for device in "$root"/sys/class/infiniband/*; do
        [ "$device/device/driver" -ef "$root/sys/bus/pci/drivers/efa" ] || continue
        [ "$limit" = unlimited ] && return
        echo "FAILED: $1: jobs may lock $limit KiB of memory, and EFA needs all: set LimitMEMLOCK=infinity for slurmd"
        return 1
    done
}

# Diagnose one node. The names of failed tests are on lines of their own, and in the exit code.
diagnose() {
    local output rc=0 failed=0 host
    host=${SLURMD_NODENAME:-$(uname -n)}
    check_limits "$host" || failed=1
    output=$(dcgmi diag -r "$level" 2>&1) || rc=$?
    if [ "$rc" -eq 0 ] && ! grep -qE '\| *Fail' <<<"$output"; then
        echo "$host: dcgmi diag -r $level found nothing"
        return "$failed"
    fi
    echo "FAILED: $host: dcgmi diag -r $level ended with $rc:"
    awk -v host="$host" '/\| *(Fail|Error)|^(Error|ERROR)/ { print "    " host ": " $0; shown = 1 }
        { all = all "    " host ": " $0 "\n" } END { if (!shown) printf "%s", all }' <<<"$output"
    return 1
}

all_reduce() {
    local program gpus type output rc=0
    gpus=$(nvidia-smi --list-gpus | wc -l)
    type=$(cat "$root/etc/ultracluster/instance-type")
    program=$("$judge" --program) || {
        echo "FAILED: there is no all_reduce_perf; set NCCL_TEST to one that all nodes have"
        return 1
    }
    output=$(mktemp)
    NCCL_DEBUG=INFO srun --mpi=pmix --ntasks-per-node="$gpus" "$program" --minbytes 8M --maxbytes 16G --stepfactor 2 \
        --ngpus 1 --check 1 >"$output" 2>&1 || rc=$?
    if [ "$rc" -ne 0 ]; then
        echo "FAILED: all_reduce_perf ended with $rc:"
        tail -n 20 "$output" | sed 's/^/    /'
    fi
    "$judge" --type "$type" --nodes "$SLURM_JOB_NUM_NODES" --gpus-per-node "$gpus" <"$output" || rc=1
    rm -f "$output"
    return "$((rc > 0))"
}

main() {
    local failed=0
    read_arguments "$@"
    if [ "$part" = node ]; then
        diagnose
        return
    fi
    : "${SLURM_JOB_NUM_NODES:?run it with sbatch}"
    if [ "$level" -gt 0 ]; then
        srun --ntasks-per-node=1 --kill-on-bad-exit=0 "$own" --part node --dcgm "$level" || failed=1
    fi
    if [ "$nccl" = yes ]; then all_reduce || failed=1; fi
    if [ "$failed" -eq 0 ]; then echo "deep-check: nothing is wrong"; else echo "deep-check: see FAILED above"; fi
    return "$failed"
}

main "$@"
