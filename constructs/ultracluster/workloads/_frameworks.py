"""Options by which training frameworks take the settings of a workload."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType

from ultracluster.workloads._workload import Settings

#: Settings that divide a model over GPUs.
DEGREES = ("tensor_parallel", "pipeline_parallel", "context_parallel", "expert_parallel")
#: Settings of checkpoints.
CHECKPOINTS = ("checkpoint_steps", "checkpoints_kept")
#: Settings of each training with one of these frameworks.
COMMON = ("nodes", "gpus", "image", "recipe", "data", *DEGREES, "batch_tokens", "steps", *CHECKPOINTS, "gate")
#: Further settings of a layout.
LAYOUT = ("layers", "virtual_stages", "micro_batch", "recompute", "sharding")
_FINE_TUNES = re.compile("sft|peft|finetune")


@dataclass(frozen=True, kw_only=True, slots=True)
class Framework:
    """Options of a framework for the settings of a workload.

    Args:
        degrees: Option of each degree of parallelism, which ends where its value follows.
        checkpoints: Options of the checkpoints, with `{run}` for their directory, and `{kept}`, how many are kept: by
            default, frameworks keep ten or all.
        interval: Option of the steps between two checkpoints, which ends where its value follows.
        data: Options of the data, with `{data}`.
        model: Options of the directory of the model, with `{model}`.
        tensor: Further options if tensor parallelism is more than 1.
        pipeline: Further options if the pipeline has several stages, with `{stages}`.
        undivided: Further options if the stages are given, with `{virtual}`: a recipe divides its own again.
        ends: Further options if the stages divide the layers only with embedding and output layer.
        planned: Further options if the size of the model is given: without them, a job needs more memory than planned.
        sharded: Further options if replicas share all of their state.
        recompute: Options with which the backward pass computes all activations again.
        sequence: Options of the length of a sequence, with `{sequence}`, `{twice}` of it, and `{field}`, its name in
            the data of a recipe.
        fp8: Options of FP8, or none if it has none.
        batch: Options of the sequences of a step, with `{batch}`, of those of a GPU, with `{each}`, and of those that
            a replica computes at once, with `{micro}`.
        training: Options of the steps of the training, with `{steps}`, after which the learning rate has decayed too.
        any_batch: Whether a recipe has a batch that not every number of GPUs divides: without one of the plan, it is
            a sequence for each GPU.
        checkpoint_steps: Steps between two checkpoints by default, where the framework's own are too many; 0: its own.
    """

    degrees: Mapping[str, str]
    checkpoints: tuple[str, ...]
    interval: str
    data: tuple[str, ...]
    model: tuple[str, ...] = ()
    tensor: tuple[str, ...] = ()
    pipeline: tuple[str, ...] = ()
    undivided: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    planned: tuple[str, ...] = ()
    sharded: tuple[str, ...] = ()
    recompute: tuple[str, ...] = ()
    sequence: tuple[str, ...] = ()
    fp8: tuple[str, ...] = ()
    batch: tuple[str, ...] = ()
    training: tuple[str, ...] = ()
    any_batch: bool = False
    checkpoint_steps: int = 0

    def options(self, given: Settings, run: str = "", times: Callable[[Fraction], str] = str) -> list[str]:
        """Return the options of the given settings; the framework has defaults for the others."""
        degrees = {name: getattr(given, name) for name in self.degrees}
        options = [f"{self.degrees[name]}{value}" for name, value in degrees.items() if value is not None]
        stages, micro = given.pipeline_parallel or 1, given.micro_batch or 1
        each = given.batch or Fraction(micro)
        options += self.batch if given.batch or self.any_batch else ()
        options += self.tensor if (given.tensor_parallel or 1) > 1 else ()
        options += self.pipeline if stages > 1 else ()
        options += self.undivided if given.pipeline_parallel else ()
        options += self.ends if (layers := given.layers or stages) % stages and (layers + 2) % stages == 0 else ()
        options += self.planned if given.parameters else ()
        options += self.sharded if given.sharding == "all" else ()
        options += self.recompute if given.recompute == "full" else ()
        options += self.fp8 if given.precision == "fp8" else ()
        options += self.sequence if given.sequence is not None else ()
        options += self.training if given.steps else ()
        steps = given.checkpoint_steps or self.checkpoint_steps
        options += [f"{self.interval}{steps}"] if steps else []
        options += self.data if given.data else ()
        options += self.model if given.model else ()
        options += self.checkpoints
        sequence = given.sequence or 0
        values = {
            "{batch}": times(each),
            "{each}": f"{float(each):g}",
            "{micro}": str(micro),
            "{stages}": str(stages),
            "{virtual}": str(given.virtual_stages) if stages > 1 and (given.virtual_stages or 1) > 1 else "null",
            "{sequence}": str(sequence),
            "{twice}": str(2 * sequence),
            "{field}": "seq_length" if _FINE_TUNES.search(given.recipe) else "sequence_length",
            "{steps}": str(given.steps),
            "{data}": given.data,
            "{model}": given.model,
            "{run}": run,
            "{kept}": str(given.checkpoints_kept),
            "{written}": str(given.checkpoints_kept + 1),
        }
        return [_filled(option, values) for option in options]


def _filled(option: str, values: Mapping[str, str]) -> str:
    for place, value in values.items():
        option = option.replace(place, value)
    return option


#: Line about the model of a recipe of Megatron Bridge, for nodes that do not reach the internet.
UNCONNECTED = (
    "Nodes do not reach Hugging Face, and HF_HOME must have the files of the recipe's model. Elsewhere, run "
    "HF_HOME=DIRECTORY hf download MODEL --exclude '*.safetensors', and copy DIRECTORY"
)
#: https://github.com/NVIDIA-NeMo/Megatron-Bridge (tag v0.4.2), scripts/training/run_recipe.py and
#: src/megatron/bridge/training/config.py (read 2026-11-24). The batch of a recipe is for a number of GPUs, and Megatron
#: refuses one that micro batch x data parallelism does not divide: recipes/common.py (read 2026-11-26).
MEGATRON_BRIDGE = Framework(
    degrees=MappingProxyType(
        {
            "tensor_parallel": "model.tensor_model_parallel_size=",
            "pipeline_parallel": "model.pipeline_model_parallel_size=",
            "context_parallel": "model.context_parallel_size=",
            "expert_parallel": "model.expert_model_parallel_size=",
        }
    ),
    checkpoints=(
        "checkpoint.save={run}",
        "checkpoint.load={run}",
        "checkpoint.most_recent_k={kept}",
        "train.exit_signal_handler=true",
    ),
    interval="checkpoint.save_interval=",
    data=("--dataset=llm-pretrain", "dataset.blend=[[{data}],null]"),
    tensor=("model.sequence_parallel=true",),
    undivided=("model.virtual_pipeline_model_parallel_size={virtual}", "model.pipeline_model_parallel_layout=null"),
    ends=(
        "model.account_for_embedding_in_pipeline_split=true",
        "model.account_for_loss_in_pipeline_split=true",
    ),
    planned=("ddp.use_distributed_optimizer=true",),
    # It has checkpoints of its own: docs/training/megatron-fsdp.md (tag v0.4.2, read 2026-11-26).
    sharded=(
        "ddp.use_megatron_fsdp=true",
        "ddp.data_parallel_sharding_strategy=optim_grads_params",
        "checkpoint.ckpt_format=fsdp_dtensor",
        "model.gradient_accumulation_fusion=false",
    ),
    recompute=(
        "model.recompute_granularity=full",
        "model.recompute_method=uniform",
        "model.recompute_num_layers=1",
    ),
    # The configuration of its data has another field for fine-tuning: src/megatron/bridge/training/config.py.
    sequence=("model.seq_length={sequence}", "dataset.{field}={sequence}"),
    fp8=("mixed_precision=bf16_with_fp8_current_scaling_mixed",),
    batch=("train.micro_batch_size={micro}", "train.global_batch_size={batch}"),
    # Some recipes set the second for their own steps, such as kimi/kimi_k2.py (tag v0.4.2, read 2026-11-28).
    training=("train.train_iters={steps}", "scheduler.lr_decay_iters={steps}"),
    any_batch=True,
)
#: https://github.com/AI-Hypercomputer/maxtext (commit e591f30), src/maxtext/configs/base.yml (read 2026-11-24): `ici`
#: is inside a node or NVLink domain, `dcn` between them.
MAX_TEXT = Framework(
    degrees=MappingProxyType(
        {
            "tensor_parallel": "ici_tensor_parallelism=",
            "pipeline_parallel": "dcn_pipeline_parallelism=",
            "context_parallel": "ici_context_parallelism=",
            "expert_parallel": "ici_expert_parallelism=",
        }
    ),
    # The last one: else a signal ends the training without a checkpoint, with exit code 0.
    checkpoints=(
        "base_output_directory={run}",
        "enable_checkpointing=true",
        "max_num_checkpoints_to_keep={kept}",
        "enable_autocheckpoint=true",
    ),
    interval="checkpoint_period=",
    data=("dataset_type=grain", "grain_train_files={data}/*.array_record*"),
    recompute=("remat_policy=full",),
    sequence=("max_target_length={sequence}",),
    fp8=("quantization=fp8",),
    batch=("per_device_batch_size={each}",),
    training=("steps={steps}",),
    # Its own are 10,000.
    checkpoint_steps=500,
)
#: https://github.com/pytorch/torchtitan (0.3.0 on PyPI), torchtitan/config/configs.py (read 2026-11-25)
TITAN = Framework(
    degrees=MappingProxyType({name: f"--parallelism.{name}_degree=" for name in DEGREES}),
    checkpoints=("--dump_folder={run}", "--checkpoint.keep_latest_k={kept}"),
    interval="--checkpoint.interval=",
    data=("--dataloader.dataset_path={data}",),
    # Each stage needs a part of the batch: torch/distributed/pipelining/schedules.py.
    pipeline=("--training.local_batch_size={stages}",),
    sequence=("--training.seq_len={sequence}",),
    batch=("--training.local_batch_size=1", "--training.global_batch_size={batch}"),
    training=("--training.steps={steps}",),
)
#: verl 0.9.1 on PyPI, verl/trainer/config/ppo_trainer.yaml (read 2026-11-26), which writes no checkpoints by default.
VERL_TRAINER = Framework(
    degrees=MappingProxyType({}),
    checkpoints=(
        "trainer.default_local_dir={run}",
        "trainer.resume_mode=auto",
        # It deletes down to one fewer before it writes: verl/utils/checkpoint/checkpoint_manager.py (read 2026-11-27).
        "trainer.max_actor_ckpt_to_keep={written}",
        "trainer.max_critic_ckpt_to_keep={written}",
    ),
    interval="trainer.save_freq=",
    data=("data.train_files={data}/train.parquet", "data.val_files={data}/test.parquet"),
    model=("actor_rollout_ref.model.path={model}",),
    sequence=("data.max_response_length={sequence}", "actor_rollout_ref.actor.ppo_max_token_len_per_gpu={twice}"),
    checkpoint_steps=10,
)
#: https://docs.vllm.ai/en/stable/configuration/engine_args (read 2026-11-26); of Dynamo's workers too.
VLLM_OPTIONS = Framework(
    degrees=MappingProxyType({}),
    checkpoints=(),
    interval="",
    data=(),
    sequence=("--max-model-len={sequence}",),
    fp8=("--quantization=fp8",),
)
#: https://docs.sglang.io/advanced_features/server_arguments.html (read 2026-11-26)
SGLANG_OPTIONS = replace(VLLM_OPTIONS, sequence=("--context-length={sequence}",))
