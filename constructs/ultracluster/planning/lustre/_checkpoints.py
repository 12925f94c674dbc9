"""Checkpoints: their size, and the time that a job waits for them."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from ultracluster.planning import check_types
from ultracluster.planning.lustre._clients import LustreClients
from ultracluster.planning.lustre._spec import LustreSpec

# Mixed-precision training with Adam holds 2 bytes of weights, 2 of gradients, and 12 of optimizer (fp32 weights, two
# fp32 moments) for each parameter: ZeRO, section 3.1, https://arxiv.org/abs/1910.02054 (restated in
# https://nn.labml.ai/scaling/zero3/index.html, read 2026-11-21). A checkpoint has 12 of them (fp32 alone), 14 (with the
# weights in bf16) or 16 (all). Examples of AWS report 12.1 for a 70B model and 10 to 14.7 for a 14B one,
# https://github.com/awslabs/awsome-distributed-ai (read 2026-11-20).
BYTES_PER_PARAMETER = 14
#: Complete checkpoints that job files keep: the newest one, and the one before, if the newest cannot be read.
CHECKPOINTS_KEPT = 2

_MB = 1_000_000
_GIB = 1 << 30

Slower = Literal["file system", "nodes"]


def checkpoint_bytes(parameters: float, *, bytes_per_parameter: float = BYTES_PER_PARAMETER) -> int:
    """Return the bytes of a checkpoint from which training continues, rounded up.

    Args:
        parameters: Of the model, such as `70e9`.
        bytes_per_parameter: 12 to 16 for Adam in mixed precision; 2 for bf16 weights alone. Default: 14.

    Raises:
        ValueError: If a figure is not above zero. All reasons at once.
    """
    check_types(checkpoint_bytes, {"parameters": parameters, "bytes_per_parameter": bytes_per_parameter})
    problems = []
    if not 0 < parameters < float("inf"):
        problems.append(f"the model must have parameters, got {parameters}")
    if not 0 < bytes_per_parameter < float("inf"):
        problems.append(f"a parameter must take more than 0 bytes, got {bytes_per_parameter}")
    if problems:
        raise ValueError("; ".join(problems))
    exact = Fraction(parameters) * Fraction(bytes_per_parameter)
    return -(-exact.numerator // exact.denominator)


@dataclass(frozen=True, kw_only=True, slots=True)
class Checkpoint:
    """A checkpoint and the time that the job may wait for it.

    Args:
        size_bytes: Bytes that all nodes together write.
        stall_seconds: Time that writing it may take.
        kept: Number of checkpoints on the file system. Default: the current one, and the last complete one.
    """

    size_bytes: int
    stall_seconds: float
    kept: int = 2

    def problems(self) -> list[str]:
        """Return the errors of its figures."""
        problems = []
        if self.size_bytes < 1:
            problems.append(f"a checkpoint must have at least 1 byte, got {self.size_bytes}")
        if not 0 < self.stall_seconds < float("inf"):
            problems.append(f"a checkpoint must be allowed more than 0 seconds, got {self.stall_seconds}")
        if self.kept < 1:
            problems.append(f"at least 1 checkpoint must be kept, got {self.kept}")
        return problems

    @property
    def mb_per_s(self) -> Fraction:
        """Required throughput in MB/s (10^6 bytes)."""
        return Fraction(self.size_bytes, _MB) / Fraction(self.stall_seconds)

    @property
    def kept_gib(self) -> int:
        """GiB of all checkpoints that are kept."""
        return -(-self.kept * self.size_bytes // _GIB)


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckpointTimes:
    """Times of a checkpoint at baseline throughput, every byte moved once.

    Args:
        size_bytes: Of the checkpoint.
        write_seconds: To write it.
        write_limit: Which of the two is slower at it; the file system when they are equal.
        read_seconds: To read it back, from disk; what servers still have in memory comes faster. When every replica
            reads all of it, times the number of replicas.
        read_limit: Which of the two is slower at it.
        nodes_mb_per_s: Maximum of all nodes together, or None if the nodes are not known and only the file system
            counts.
    """

    size_bytes: int
    write_seconds: float
    write_limit: Slower
    read_seconds: float
    read_limit: Slower
    nodes_mb_per_s: Fraction | None


def checkpoint_times(size_bytes: int, spec: LustreSpec, clients: LustreClients | None = None) -> CheckpointTimes:
    """Return the times of a checkpoint; the slower of file system and nodes counts.

    Args:
        size_bytes: Of the checkpoint, at least 1.
        spec: The file system.
        clients: The nodes that write it together. Default: only the file system counts.
    """
    nodes = None if clients is None else clients.mb_per_s(efa=spec.efa, storage_servers=spec.storage_servers)

    def slower(file_system: Fraction) -> tuple[float, Slower]:
        by_nodes = nodes is not None and nodes < file_system
        rate = nodes if nodes is not None and by_nodes else file_system
        return float(Fraction(size_bytes, _MB) / rate), "nodes" if by_nodes else "file system"

    write_seconds, write_limit = slower(spec.disk_write_mb_per_s)
    read_seconds, read_limit = slower(spec.disk_read_mb_per_s)
    return CheckpointTimes(
        size_bytes=size_bytes,
        write_seconds=write_seconds,
        write_limit=write_limit,
        read_seconds=read_seconds,
        read_limit=read_limit,
        nodes_mb_per_s=nodes,
    )
