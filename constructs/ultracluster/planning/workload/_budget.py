"""Model and tokens from a budget."""

from ultracluster.catalogue.ec2 import instance_type as look_up
from ultracluster.catalogue.training import CHINCHILLA
from ultracluster.planning.workload._machine import Precision, machine_of

# MFU of dense models on H100 to GB300 in published runs: 36 to 50 %.
_MFU = 0.4


def compute_optimal(flops: float) -> tuple[float, float]:
    """Return the parameters and tokens of a dense model with the lowest loss for these FLOPs, by Chinchilla.

    Raises:
        ValueError: If the FLOPs are absurd.
    """
    if not 1e15 <= flops <= 1e30:
        raise ValueError(f"a budget has 1e+15 to 1e+30 FLOPs, got {flops:g}")
    parameters = CHINCHILLA.parameters(flops)
    return parameters, flops / 6 / parameters


def budget_flops(instance_type: str, nodes: int, days: float, *, mfu: float | None, precision: Precision) -> float:
    """Return the FLOPs of nodes in some days, at 40 % MFU by default.

    Raises:
        ValueError: If the type is unknown.
    """
    record = look_up(instance_type)
    return nodes * record.gpus * machine_of(record, precision).peak(precision) * (mfu or _MFU) * days * 86_400
