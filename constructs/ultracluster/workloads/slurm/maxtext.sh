# shellcheck shell=bash
[ $# -gt 0 ] || fail "name the model: sbatch maxtext.sbatch llama2-7b [KEY=VALUE ...]"
export ULTRACLUSTER_REQUEST_SIGNAL=TERM
train bash -c "$(declare -f node); node_rank=\$SLURM_PROCID node \"\$@\"" node "$1" "${overrides[@]}" "${@:2}"
