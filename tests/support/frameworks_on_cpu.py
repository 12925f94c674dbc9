"""Run torchtitan, or DeepSpeed, on a CPU, for `.venv-training`: what both expect of a GPU has a stand-in.

python frameworks_on_cpu.py titan|finetune [ARGUMENTS]
"""

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
import torch._utils
from torch.distributed.fsdp import FSDPModule


def titan_libraries() -> None:
    """Import torchtitan, which reads the memory of GPUs."""
    cpu: Any = torch.cpu
    torch._utils._get_available_device_type = lambda: "cpu"
    cpu.get_device_name = lambda *_: "CPU"
    cpu.get_device_properties = lambda *_: SimpleNamespace(total_memory=2**30)
    cpu.reset_peak_memory_stats = cpu.empty_cache = lambda *_: None
    cpu.current_device, cpu.memory_stats = lambda: 0, lambda *_: {}
    importlib.import_module("torchtitan.train")
    importlib.import_module("torchtitan.models.llama3.config_registry")


def titan() -> Any:
    """Return the program for torchtitan with two layers, and without its attention for GPUs.

    Gloo has no sum with a factor, which FSDP2 chooses for the one of torchtitan: PyTorch's own option is another sum.
    """
    titan_libraries()
    program: Any = importlib.import_module("ultracluster_titan")
    attention = importlib.import_module("torchtitan.models.common.attention")
    configured = program._configured

    def on_cpu(config: Any) -> Any:
        # A checkpoint has three tensors of each parameter.
        del config.model_spec.model.layers[2:]
        for _, _, layer, name in list(config.model_spec.model.traverse(attention.FlexAttention.Config)):
            setattr(layer, name, attention.ScaledDotProductAttention.Config())
        return configured(config)

    program._configured = on_cpu
    divide = FSDPModule.set_gradient_divide_factor

    def divide_by_sum(module: Any, factor: float) -> None:
        divide(module, factor)
        module.set_force_sum_reduction_for_comms(True)

    FSDPModule.set_gradient_divide_factor = divide_by_sum
    return program


def finetune_libraries() -> None:
    """Import DeepSpeed, which compiles an operator of CPUs only, for minutes: it has none."""
    communication: Any = importlib.import_module("deepspeed.comm.torch")
    communication.build_shm_op = lambda: None


def finetune() -> Any:
    """Return the program for fine-tuning."""
    finetune_libraries()
    engine: Any = importlib.import_module("deepspeed.runtime.engine").DeepSpeedEngine
    save = engine.save_checkpoint

    def save_checkpoint(*args: Any, **more: Any) -> Any:
        print("DeepSpeed writes", *args[1:])
        return save(*args, **more)

    engine.save_checkpoint = save_checkpoint
    return importlib.import_module("ultracluster_finetune")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "constructs/ultracluster/boot/scripts"))
    program = {"titan": titan, "finetune": finetune}[sys.argv[1]]()
    sys.exit(program.main(sys.argv[2:]))
