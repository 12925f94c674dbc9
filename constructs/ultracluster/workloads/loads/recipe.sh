# shellcheck shell=bash
# Megatron Bridge reads configuration and tokenizer of the model at Hugging Face on each rank, and 512 ranks behind one
# address exceed its limit of 500 requests to its API in 5 minutes. One node reads them into the cache, before the others
# meet it at the rendezvous, and ranks use the cache alone. A recipe of fine-tuning may download data too.
# https://huggingface.co/docs/hub/rate-limits, and scripts/training/run_recipe.py of Megatron Bridge 0.4.2 (read 2026-11-27)
# shellcheck disable=SC2329  # each node runs it
with_model() {
    local started=("$@") recipe=("$@") cache=${HF_HOME:-$HOME/.cache/huggingface} mark rank=${SLURM_PROCID:-${JOB_COMPLETION_INDEX:-0}}
    # Each rank reads the model by itself.
    [ "${HF_HUB_OFFLINE:-}" != 0 ] || exec "${started[@]}"
    while [ "${#recipe[@]}" -gt 0 ] && [[ ${recipe[0]} != */run_recipe.py ]]; do recipe=("${recipe[@]:1}"); done
    # Importing Megatron takes most of a minute, and a job that starts again has read its model.
    mark=$cache/.ultracluster-$(printf '%s\n' "${recipe[@]}" | grep --invert-match '^checkpoint\.' | sha256sum | cut -c1-16)
    if [ ! -e "$mark" ] && { [ "$rank" -eq 0 ] || [ -z "${HF_HOME:-}" ] || [ -n "${cache_of_node:-}" ]; }; then
        python3 -c 'import importlib.util, sys
spec = importlib.util.spec_from_file_location("run_recipe", sys.argv[1])
recipe = importlib.util.module_from_spec(spec)
spec.loader.exec_module(recipe)
from megatron.bridge.training.tokenizers.tokenizer import build_tokenizer
read = lambda config, **_: build_tokenizer(config.tokenizer)
recipe.TRAIN_FUNCTIONS.update(pretrain=read, finetune=read)
sys.argv = sys.argv[1:]
recipe.main()' "${recipe[@]}" || {
            echo "cannot read the model of the recipe into $cache. Without internet access, run elsewhere, and copy DIRECTORY:" >&2
            echo "    HF_HOME=DIRECTORY hf download MODEL --exclude '*.safetensors'" >&2
            echo "With HF_HUB_OFFLINE=0, each rank reads it by itself" >&2
            exit 2
        }
        mkdir -p "$cache" && touch "$mark"
    fi
    case ${recipe[2]:-} in *sft* | *peft* | *finetune*) ;; *) export HF_HUB_OFFLINE=1 ;; esac
    exec "${started[@]}"
}
