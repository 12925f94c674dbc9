# shellcheck shell=bash
# veRL runs on Ray: the first node is its head, and starts the training once all nodes have joined.
# https://verl.readthedocs.io/en/latest/start/multinode.html (read 2026-11-21)
# shellcheck disable=SC2329  # each node runs it
node() {
    local ray=(ray start --num-gpus="$gpus_per_node" --num-cpus="${SLURM_CPUS_ON_NODE:-$(nproc)}" --disable-usage-stats)
    if [ "${node_rank:?}" -gt 0 ]; then
        # Until the head is there. The head's exit code is the job's: a worker leaves when the head is gone.
        until "${ray[@]}" --address="${head:?}:6379"; do sleep 2; done
        # A busy head may miss one question.
        while joined || { sleep 2 && joined; }; do sleep 10; done
        ray stop
        return 0
    fi
    "${ray[@]}" --head --port=6379
    until [ "$(ray list nodes --format=json --filter=state=ALIVE --limit=10000 | grep -c '"node_id"')" -ge "${nodes:?}" ]; do
        sleep 2
    done
    local code=0 module=verl.trainer.main_ppo split=() training=$((nodes - ${rollout_nodes:-0})) gpus batch trainer watch option
    local kept=""
    gpus=$((training * gpus_per_node))
    # veRL ends at its first update if the GPUs that train do not divide the answers of a mini-batch. Its defaults, 256
    # prompts with 8 answers each here, fit powers of two: veRL 0.9.1, verl/workers/engine_workers.py (read 2026-11-27).
    batch=$((gpus < 256 ? 256 / gpus * gpus : gpus))
    [ $((256 * 8 % gpus)) -gt 0 ] || batch=256
    # Else all nodes generate and train in turn. Its configuration names that of the other one by a path of veRL's sources.
    if [ "${rollout_nodes:-0}" -gt 0 ]; then
        module=verl.experimental.one_step_off_policy.main_ppo
        split=(
            "hydra.searchpath=[file://$(python3 -c 'from importlib.util import find_spec as find
print(find("verl").submodule_search_locations[0])')/trainer/config]"
            actor_rollout_ref.hybrid_engine=False rollout.nnodes="$rollout_nodes" rollout.n_gpus_per_node="$gpus_per_node"
        )
    fi
    for option in "$@"; do
        case ${option#++} in trainer.max_actor_ckpt_to_keep=*) kept=${option#*=} ;; esac
    done
    # The job has one more, for veRL deletes one before it writes the next: verl/utils/checkpoint/checkpoint_manager.py.
    if [[ $kept =~ ^[1-9][0-9]*$ && $kept -gt 1 ]]; then kept=$((kept - 1)); fi
    remove_old "$kept" 0
    # GRPO, which needs no critic, with batches by their tokens: veRL has no default for either.
    python3 ${reporter:+"$reporter"} -m "$module" algorithm.adv_estimator=grpo actor_rollout_ref.rollout.name=vllm \
        actor_rollout_ref.rollout.n=8 actor_rollout_ref.actor.use_dynamic_bsz=True data.filter_overlong_prompts=True \
        actor_rollout_ref.actor.ppo_mini_batch_size="$batch" data.train_batch_size="$((4 * batch))" \
        actor_rollout_ref.rollout.tensor_model_parallel_size="$((gpus_per_node > 1 ? 2 : 1))" 'trainer.logger=[console]' \
        trainer.nnodes="$training" trainer.n_gpus_per_node="$gpus_per_node" "${split[@]}" "$@" &
    trainer=$!
    stop_at_request "$trainer" "$kept" &
    watch=$!
    wait "$trainer" || code=$?
    kill "$watch" 2>/dev/null
    if [ -e "${CHECKPOINT_REQUEST:?}" ] && [ -e "${ULTRACLUSTER_CHECKPOINTS:?}/latest_checkpointed_iteration.txt" ]; then code=0; fi
    ray stop
    return "$code"
}

# shellcheck disable=SC2329  # each node runs it
joined() {
    ray status --address="${head:?}:6379" &>/dev/null
}

# veRL lists its checkpoints in memory, and keeps all of earlier starts. Keep the newest complete ones, and that from which
# it continues. Its data.pt comes last: veRL 0.9.1, verl/trainer/ppo/v1/trainer_base.py (read 2026-11-27).
# The first start with a limit lists the checkpoints of those before, which stay; one without a limit deletes the list.
# shellcheck disable=SC2329  # the first node runs it
remove_old() {
    local kept=$1 running=$2 newest="" step path number=0 run=${ULTRACLUSTER_CHECKPOINTS:?}
    local unlimited=$run/checkpoints_without_limit.txt
    if [[ ! $kept =~ ^[1-9][0-9]*$ ]]; then
        rm -f "$unlimited"
        return 0
    fi
    if [ "$running" -eq 0 ] && [ ! -e "$unlimited" ]; then
        mkdir -p "$run" && find "$run" -maxdepth 1 -name 'global_step_*' -printf '%f\n' >"$unlimited.new" &&
            mv "$unlimited.new" "$unlimited"
    fi
    newest=$(cat "$run/latest_checkpointed_iteration.txt" 2>/dev/null) || true
    [[ -r $unlimited && $newest =~ ^[0-9]+$ ]] || return 0
    while read -r step; do
        path=$run/global_step_$step
        ! grep -qxF "global_step_$step" "$unlimited" || continue
        # Being written.
        [ "$running" -eq 0 ] || [ "$step" -le "$newest" ] || continue
        if [ -d "$path/actor" ] && [ -e "$path/data.pt" ] && [ "$((number += 1))" -le "$kept" ]; then continue; fi
        [ "$step" -ne "$newest" ] || continue
        echo "job: delete $path" >&2
        rm -rf "$path" || true
    done < <(find "$run" -maxdepth 1 -name 'global_step_*' | sed -n 's/.*_\([0-9]*\)$/\1/p' | sort -rn)
}

# veRL answers no request: end it at its first checkpoint after one, or a minute before the job has to end. It continues
# from its newest checkpoint.
# shellcheck disable=SC2329  # the first node runs it
stop_at_request() {
    local seconds=0 newest=$ULTRACLUSTER_CHECKPOINTS/latest_checkpointed_iteration.txt
    until [ -e "$CHECKPOINT_REQUEST" ]; do
        remove_old "$2" 1
        # It outlives the training, whose output it must not keep open.
        sleep 2 &>/dev/null
    done
    until [ "$newest" -nt "$CHECKPOINT_REQUEST" ] || [ "$((seconds += 2))" -gt "$((${request_seconds:?} - 60))" ]; do
        sleep 2 &>/dev/null
    done
    kill "$1"
}
