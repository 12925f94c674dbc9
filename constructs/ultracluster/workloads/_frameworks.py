"""Options by which training frameworks take the settings of a workload."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ultracluster.workloads._workload import Settings

#: Settings that divide a model over GPUs.
DEGREES = ("tensor_parallel", "pipeline_parallel", "context_parallel", "expert_parallel")


@dataclass(frozen=True, kw_only=True, slots=True)
class Framework:
    """Options of a framework for the settings of a workload.

    Args:
        degrees: Option of each degree of parallelism, which ends where its value follows.
        checkpoints: Options of the checkpoints, with `{run}` for their directory.
        interval: Option of the steps between two checkpoints, which ends where its value follows.
        data: Options of the data, with `{data}`.
        model: Options of the directory of the model, with `{model}`.
        tensor: Further options if tensor parallelism is more than 1.
        recompute: Options with which the backward pass computes all activations again.
    """

    degrees: Mapping[str, str]
    checkpoints: tuple[str, ...]
    interval: str
    data: tuple[str, ...]
    model: tuple[str, ...] = ()
    tensor: tuple[str, ...] = ()
    recompute: tuple[str, ...] = ()

    def options(self, given: Settings, run: str) -> list[str]:
        """Return the options of the given settings; the framework has defaults for the others.

        Args:
            given: Settings.
            run: Directory of the checkpoints, as the shell or Kubernetes expands it.
        """
        degrees = {name: getattr(given, name) for name in DEGREES}
        options = [f"{self.degrees[name]}{value}" for name, value in degrees.items() if value is not None]
        options += self.tensor if (given.tensor_parallel or 1) > 1 else ()
        options += self.recompute if given.recompute else ()
        options += [f"{self.interval}{given.checkpoint_steps}"] if given.checkpoint_steps else []
        options += [option.replace("{data}", given.data) for option in self.data if given.data]
        options += [option.replace("{model}", given.model) for option in self.model if given.model]
        return options + [option.replace("{run}", run) for option in self.checkpoints]


#: https://github.com/NVIDIA-NeMo/Megatron-Bridge (tag v0.4.2), scripts/training/run_recipe.py and
#: src/megatron/bridge/training/config.py (read 2026-11-24)
MEGATRON_BRIDGE = Framework(
    degrees=MappingProxyType(
        {
            "tensor_parallel": "model.tensor_model_parallel_size=",
            "pipeline_parallel": "model.pipeline_model_parallel_size=",
            "context_parallel": "model.context_parallel_size=",
            "expert_parallel": "model.expert_model_parallel_size=",
        }
    ),
    checkpoints=("checkpoint.save={run}", "checkpoint.load={run}", "train.exit_signal_handler=true"),
    interval="checkpoint.save_interval=",
    data=("--dataset=llm-pretrain", "dataset.blend=[[{data}],null]"),
    tensor=("model.sequence_parallel=true",),
    recompute=(
        "model.recompute_granularity=full",
        "model.recompute_method=uniform",
        "model.recompute_num_layers=1",
    ),
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
    checkpoints=("base_output_directory={run}", "enable_checkpointing=true"),
    interval="checkpoint_period=",
    data=("dataset_type=grain", "grain_train_files={data}"),
    recompute=("remat_policy=full",),
)
#: https://github.com/pytorch/torchtitan (0.3.0 on PyPI), torchtitan/config/configs.py (read 2026-11-25)
TITAN = Framework(
    degrees=MappingProxyType({name: f"--parallelism.{name}_degree=" for name in DEGREES}),
    checkpoints=("--dump_folder={run}",),
    interval="--checkpoint.interval=",
    data=("--dataloader.dataset_path={data}",),
)
