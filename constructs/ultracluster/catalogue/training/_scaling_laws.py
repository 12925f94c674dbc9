"""Compute-optimal sizes of dense models by published scaling laws."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class ScalingLaw:
    """Parameters that minimize the loss for a number of FLOPs: coefficient * FLOPs ** exponent.

    Args:
        name: Name of the law.
        coefficient: For FLOPs, not PF-days.
        exponent: Exponent of the FLOPs.
        source: Source of the law.
        read_on: Date on which the source was read.
    """

    name: str
    coefficient: float
    exponent: float
    source: str
    read_on: str

    def parameters(self, flops: float) -> float:
        """Return the parameters of the model for these FLOPs."""
        return float(self.coefficient * flops**self.exponent)


_PF_DAY = 1e15 * 86_400

#: N = 1.3e9 * C ** 0.73, with C in PF-days and N without embeddings (read 2026-11-22).
KAPLAN = ScalingLaw(
    name="Kaplan",
    coefficient=1.3e9 / _PF_DAY**0.73,
    exponent=0.73,
    source="Kaplan et al. 2020, appendix A, https://arxiv.org/abs/2001.08361",
    read_on="2026-11-22",
)

#: Parameters and tokens grow alike, at about 20 tokens for a parameter: C = 6 * N * 20 * N.
CHINCHILLA = ScalingLaw(
    name="Chinchilla",
    coefficient=120**-0.5,
    exponent=0.5,
    source="Hoffmann et al. 2022, approach 1 and table 3, https://arxiv.org/abs/2203.15556",
    read_on="2026-11-22",
)
