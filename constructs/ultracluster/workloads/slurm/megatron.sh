# shellcheck shell=bash
# A recipe of Megatron Bridge, on Megatron Core:
# https://github.com/NVIDIA-NeMo/Megatron-Bridge/tree/v0.4.2/scripts/training (read 2026-11-24)
[ $# -gt 0 ] || fail "name the recipe: sbatch megatron.sbatch qwen3_8b_pretrain_config [KEY=VALUE ...]"
export ULTRACLUSTER_REQUEST_SIGNAL=TERM cache_of_node=""
[ -n "$shared" ] || cache_of_node=yes
prepared=(bash -c "$(declare -f with_model); with_model \"\$@\"" with_model)
set -- "${MEGATRON_BRIDGE:-/opt/Megatron-Bridge}/scripts/training/run_recipe.py" --recipe "$1" "${overrides[@]}" "${@:2}"
