"""UltraServers: how many make up a number of GPUs, whole."""

import math
from dataclasses import dataclass

from ultracluster.hardware import UltraServer


@dataclass(frozen=True, kw_only=True, slots=True)
class Domains:
    """NVLink domains that are bought whole.

    Args:
        ultraserver: Their kind.
        count: How many.
    """

    ultraserver: UltraServer
    count: int

    @property
    def instances(self) -> int:
        """Instances of all together."""
        return self.count * self.ultraserver.instances

    @property
    def gpus(self) -> int:
        """GPUs of all together."""
        return self.count * self.ultraserver.gpus


def segment(instances: int) -> int:
    """Nodes of an UltraServer that a job should ask for together, `sbatch --segment`: the largest power of two.

    Of 18 nodes that is 16, of 9 it is 8: jobs divide evenly, and a spare stays in each domain, so that a job still
    finds its place when a node of it is drained.

    Raises:
        ValueError: When there is no node.

    See: https://docs.aws.amazon.com/pcs/latest/userguide/capacity-blocks-nvidia-imex.html (read 2026-11-21)
    """
    if instances < 1:
        raise ValueError(f"instances must be at least 1, got {instances}")
    return 1 << (instances.bit_length() - 1)


def domains_for(gpus: int, ultraserver: UltraServer) -> Domains:
    """The fewest UltraServers of a kind that hold so many GPUs.

    512 GPUs are 8 of u-p6e-gb200x72, which hold 576, or 15 of u-p6e-gb200x36, which hold 540.

    Raises:
        ValueError: When no GPU is asked for.
    """
    if gpus < 1:
        raise ValueError(f"gpus must be at least 1, got {gpus}")
    return Domains(ultraserver=ultraserver, count=math.ceil(gpus / ultraserver.gpus))
