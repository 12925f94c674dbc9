"""Numbers of UltraServers and of nodes in their jobs."""

import math
from dataclasses import dataclass

from ultracluster.catalogue.ec2 import UltraServer


@dataclass(frozen=True, kw_only=True, slots=True)
class Domains:
    """NVLink domains, which are purchased whole.

    Args:
        ultraserver: UltraServer type.
        count: Number of UltraServers.
    """

    ultraserver: UltraServer
    count: int

    @property
    def instances(self) -> int:
        """Instances of all UltraServers."""
        return self.count * self.ultraserver.instances

    @property
    def gpus(self) -> int:
        """GPUs of all UltraServers."""
        return self.count * self.ultraserver.gpus


def segment(instances: int) -> int:
    """Return the nodes of an UltraServer that a job requests together, `sbatch --segment`: the largest power of two.

    Of 18 nodes that is 16, of 9 it is 8: jobs divide evenly, and a spare stays in each domain, so that a job
    still fits when a node of it is drained.

    Raises:
        ValueError: If there is no node.

    See: https://docs.aws.amazon.com/pcs/latest/userguide/capacity-blocks-nvidia-imex.html (read 2026-11-21)
    """
    if instances < 1:
        raise ValueError(f"instances must be at least 1, got {instances}")
    return 1 << (instances.bit_length() - 1)


def ultraservers_for(nodes: int, ultraserver: UltraServer) -> int:
    """Return the fewest UltraServers for a job of this many nodes: each gives one segment of nodes."""
    return -(-nodes // segment(ultraserver.instances))


def check_segments(nodes: int, ultraserver: UltraServer) -> list[str]:
    """Return the error of a job over several UltraServers that is not whole segments; empty if it is."""
    size = segment(ultraserver.instances)
    if nodes <= size or nodes % size == 0:
        return []
    below = nodes // size * size
    return [
        f"nodes must be a multiple of {size}, the nodes of a job in one {ultraserver.name}, got {nodes}: "
        f"use {below} or {below + size}"
    ]


def domains_for(gpus: int, ultraserver: UltraServer) -> Domains:
    """Return the fewest UltraServers of a type that hold a number of GPUs.

    512 GPUs are 8 of u-p6e-gb200x72, which hold 576, or 15 of u-p6e-gb200x36, which hold 540.

    Raises:
        ValueError: If `gpus` is below 1.
    """
    if gpus < 1:
        raise ValueError(f"gpus must be at least 1, got {gpus}")
    return Domains(ultraserver=ultraserver, count=math.ceil(gpus / ultraserver.gpus))
