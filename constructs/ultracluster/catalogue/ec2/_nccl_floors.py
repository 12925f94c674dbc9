"""Minimum bus bandwidth of an NCCL all-reduce on healthy nodes, from published measurements.

Each is a published measurement for one instance type, number of nodes and message size. Between them nothing is
known, and nothing is guessed.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from ultracluster.catalogue.provenance import Source, Stated

_GIB = 2**30
_AWS = "https://github.com/awslabs/awsome-distributed-ai, commit 95b939c of 2026-07-23"
_REFERENCE = Source(_AWS, read_on="2026-11-20", as_of="2026-07-23")
# A measurement is no floor: runs of a healthy fabric differ. Ours, to be changed after further measurements.
_OF_A_MEASUREMENT = 0.8


class NcclFigure(NamedTuple):
    """A published figure of `all_reduce_perf`."""

    instance_type: str
    nodes: int
    #: Size of the message.
    message_bytes: int
    #: Bus bandwidth in GB/s, as nccl-tests prints it.
    bus_gb_per_s: float
    source: str

    @property
    def floor_gb_per_s(self) -> float:
        """Minimum bandwidth of a run: four fifths of the measurement."""
        return round(self.bus_gb_per_s * _OF_A_MEASUREMENT, 1)


NCCL_FIGURES: Annotated[
    tuple[NcclFigure, ...],
    Stated(_REFERENCE, columns="instance_type; nodes; message_bytes: bytes; bus_gb_per_s: GB/s of the bus; source"),
] = (
    NcclFigure(instance_type="p4de.24xlarge", nodes=2, message_bytes=2 * _GIB, bus_gb_per_s=78, source=_AWS),
    NcclFigure(instance_type="p5.48xlarge", nodes=2, message_bytes=2 * _GIB, bus_gb_per_s=443, source=_AWS),
    NcclFigure(instance_type="p5.48xlarge", nodes=2, message_bytes=16 * _GIB, bus_gb_per_s=487, source=_AWS),
    NcclFigure(instance_type="p6-b200.48xlarge", nodes=4, message_bytes=16 * _GIB, bus_gb_per_s=377, source=_AWS),
    NcclFigure(instance_type="p6-b300.48xlarge", nodes=2, message_bytes=16 * _GIB, bus_gb_per_s=654, source=_AWS),
    NcclFigure(instance_type="p6-b300.48xlarge", nodes=2, message_bytes=64 * _GIB, bus_gb_per_s=751, source=_AWS),
)


def nccl_figure(instance_type: str) -> NcclFigure | None:
    """Return the figure of the largest message on the fewest nodes of a type, or None."""
    known = [row for row in NCCL_FIGURES if row.instance_type == instance_type]
    return min(known, key=lambda row: (row.nodes, -row.message_bytes), default=None)


def nccl_nodes(instance_type: str) -> int:
    """Return the fewest nodes of a type with a figure, or else two, the fewest that use the network."""
    figure = nccl_figure(instance_type)
    return figure.nodes if figure else 2
