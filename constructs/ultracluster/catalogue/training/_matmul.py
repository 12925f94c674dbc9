"""Share of a GPU's peak that its best matrix multiplications reach."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, kw_only=True, slots=True)
class MatmulRate:
    """Measured matrix multiplication of a GPU model, as a share of its dense peak.

    Args:
        bf16: With BF16 inputs.
        fp8: With FP8 inputs, or None without FP8.
        source: Source of the figures.
        read_on: Date on which the source was read.
    """

    bf16: float
    fp8: float | None
    source: str
    read_on: str


_MAMF = (
    "Maximum Achievable Matmul FLOPS, "
    "https://github.com/stas00/ml-engineering/tree/master/compute/accelerator#maximum-achievable-matmul-flops-comparison-table"
)
_READ = "2026-11-22"


def _rate(bf16: float, fp8: float | None, note: str = "") -> MatmulRate:
    return MatmulRate(bf16=bf16, fp8=fp8, source=_MAMF + note, read_on=_READ)


# TFLOP/s: A100 267.9 of 312, H100 794.5 of 989 (FP8 measured on H200: 1453.4 of 1979), B200 1745.0 of 2250 and 3432.5
# of 4500 (read 2026-11-22).
_A100, _H100, _B200 = (0.859, None), (0.803, 0.734), (0.776, 0.763)

#: By the name of the GPU in `GPUS`.
MATMUL: Mapping[str, MatmulRate] = MappingProxyType(
    {
        "A100": _rate(*_A100),
        "A100 80GB": _rate(*_A100),
        "H100": _rate(*_H100, "; FP8 is that of H200"),
        "H200": _rate(*_H100),
        "B200": _rate(*_B200),
        "B300": _rate(*_B200, "; not measured, that of B200"),
        "GB200": _rate(*_B200, "; not measured, that of B200"),
    }
)
