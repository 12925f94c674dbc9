"""GPU models."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, kw_only=True, slots=True)
class Gpu:
    """A GPU model.

    Args:
        model: Its name, as EC2's DescribeInstanceTypes spells it.
        hbm_gib: Memory that EC2 reports as usable, in GiB.
        hbm_tb_per_s: Memory bandwidth in TB/s (nominal).
        bf16_pflops: Dense peak in PFLOP/s, without sparsity; so are the other peaks.
        fp8_pflops: Dense peak in PFLOP/s, or None without FP8.
        fp4_pflops: Dense peak in PFLOP/s, or None without FP4.
        nvlink_generation: Generation of NVLink, or 0 without NVLink.
        nvlink_gb_per_s: NVLink bandwidth of one GPU in GB/s, both directions together.
        c2c_gb_per_s: NVLink-C2C bandwidth to the CPU in GB/s, both directions together: the GPU then reaches the CPU's
            memory. None without NVLink-C2C.
        source: Source of the figures.
        read_on: Date on which the source was read.
    """

    model: str
    hbm_gib: float
    hbm_tb_per_s: float
    bf16_pflops: float
    fp8_pflops: float | None
    fp4_pflops: float | None
    nvlink_generation: int
    nvlink_gb_per_s: int
    source: str
    read_on: str
    c2c_gb_per_s: int | None = None


_POST = (
    "Building Blocks for Foundation Model Training and Inference on AWS, 2026-05-07, GPU table (dense); "
    "memory: EC2 DescribeInstanceTypes"
)
_A100 = "NVIDIA A100 datasheet, https://www.nvidia.com/en-us/data-center/a100/; memory: EC2 DescribeInstanceTypes"
_GB200 = (
    "NVIDIA GB200 NVL72 as AWS states it for u-p6e-gb200x72 (360 PFLOPS dense FP8, 1.4 EFLOPS sparse FP4), by 72; "
    "https://aws.amazon.com/ec2/instance-types/p6/; memory: EC2 instance type tables, accelerated computing"
)

_ALL = (
    Gpu(model="A100", hbm_gib=40, hbm_tb_per_s=1.6, bf16_pflops=0.312, fp8_pflops=None, fp4_pflops=None,
        nvlink_generation=3, nvlink_gb_per_s=600, source=_A100, read_on="2026-11-20"),
    Gpu(model="A100 80GB", hbm_gib=80, hbm_tb_per_s=2.0, bf16_pflops=0.312, fp8_pflops=None, fp4_pflops=None,
        nvlink_generation=3, nvlink_gb_per_s=600, source=_A100, read_on="2026-11-20"),
    Gpu(model="H100", hbm_gib=80, hbm_tb_per_s=3.35, bf16_pflops=0.9895, fp8_pflops=1.979, fp4_pflops=None,
        nvlink_generation=4, nvlink_gb_per_s=900, source=_POST, read_on="2026-11-20"),
    Gpu(model="H200", hbm_gib=141, hbm_tb_per_s=4.8, bf16_pflops=0.9895, fp8_pflops=1.979, fp4_pflops=None,
        nvlink_generation=4, nvlink_gb_per_s=900, source=_POST, read_on="2026-11-20"),
    Gpu(model="B200", hbm_gib=179, hbm_tb_per_s=8, bf16_pflops=2.25, fp8_pflops=4.5, fp4_pflops=9,
        nvlink_generation=5, nvlink_gb_per_s=1800, source=_POST, read_on="2026-11-20"),
    Gpu(model="B300", hbm_gib=268, hbm_tb_per_s=8, bf16_pflops=2.25, fp8_pflops=4.5, fp4_pflops=13.5,
        nvlink_generation=5, nvlink_gb_per_s=1800, source=_POST, read_on="2026-11-20"),
    Gpu(model="GB200", hbm_gib=185, hbm_tb_per_s=8, bf16_pflops=2.5, fp8_pflops=5, fp4_pflops=10,
        nvlink_generation=5, nvlink_gb_per_s=1800, c2c_gb_per_s=900, source=_GB200, read_on="2026-11-20"),
)  # fmt: skip

GPUS: Mapping[str, Gpu] = MappingProxyType({gpu.model: gpu for gpu in _ALL})
