"""Figures of an instance type that a training step depends on."""

from dataclasses import dataclass
from typing import Literal, get_args

from ultracluster.catalogue.ec2 import InstanceType
from ultracluster.catalogue.training import MATMUL

Precision = Literal["bf16", "fp8"]

_GIB = 1 << 30


def precision_problems(precision: str) -> list[str]:
    """Return the error of a precision that no plan has."""
    return [] if precision in get_args(Precision) else [f"precision must be bf16 or fp8, got {precision!r}"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """GPUs of one kind and the network between them.

    Args:
        name: Name of the instance type.
        gpus: GPUs of an instance.
        domain: GPUs in one NVLink domain.
        memory: Bytes of a GPU.
        memory_bandwidth: Bytes per second of a GPU's memory.
        bf16: Dense peak in FLOP/s.
        fp8: Dense peak in FLOP/s; 0 without FP8.
        bf16_matmul: Share of the peak that the best matrix multiplications reach.
        fp8_matmul: The same in FP8.
        nvlink: Bytes per second of a GPU in one direction.
        network: Bytes per second of a GPU to other nodes.
    """

    name: str
    gpus: int
    domain: int
    memory: float
    memory_bandwidth: float
    bf16: float
    fp8: float
    bf16_matmul: float
    fp8_matmul: float
    nvlink: float
    network: float

    def peak(self, precision: Precision) -> float:
        """Return the dense peak in FLOP/s."""
        return self.fp8 if precision == "fp8" else self.bf16


def machine_of(record: InstanceType, precision: Precision = "bf16") -> Machine:
    """Return the machine of an instance type.

    Raises:
        ValueError: If it has no GPU with known figures, no FP8, or no EFA.
    """
    gpu = record.gpu
    if gpu is None or gpu.model not in MATMUL:
        raise ValueError(f"{record.name} has no GPU with known peaks; `ultracluster types` lists the GPU types")
    if precision == "fp8" and gpu.fp8_pflops is None:
        raise ValueError(f"{record.name} has {gpu.model}, which has no FP8; plan it with bf16")
    rate = MATMUL[gpu.model]
    return Machine(
        name=record.name,
        gpus=record.gpus,
        domain=record.nvlink_domain or 1,
        memory=gpu.hbm_gib * _GIB,
        memory_bandwidth=gpu.hbm_tb_per_s * 1e12,
        bf16=gpu.bf16_pflops * 1e15,
        fp8=(gpu.fp8_pflops or 0) * 1e15,
        bf16_matmul=rate.bf16,
        fp8_matmul=rate.fp8 or 0,
        nvlink=gpu.nvlink_gb_per_s * 1e9 / 2,
        network=(record.efa_gbps or 0) * 1e9 / 8 / record.gpus,
    )
