"""Goal of a file system, and settings that the caller chooses."""

from dataclasses import dataclass
from fractions import Fraction

from ultracluster.planning.lustre._checkpoints import Checkpoint
from ultracluster.planning.lustre._clients import LustreClients


@dataclass(frozen=True, kw_only=True, slots=True)
class LustreGoal:
    """Requirements of a file system: one or several, all of which must be met.

    Args:
        throughput_mb_per_s: Disk throughput in MB/s (10^6 bytes) for all clients together, reading and writing
            alike. It is that of the file system, whatever the nodes can use.
        checkpoint: A checkpoint and the time that the job may wait for it. The nodes must be able to write it.
        capacity_gib: GiB to hold at least, checkpoints included.
        working_set_gib: GiB that jobs read often, if they rarely read the rest.
        temporary: Whether the data exists elsewhere and may be lost at any time.
        associations: Data repository associations (links to S3) that the file system will have.
        backups: Whether it will have backups.
        clients: The nodes. Default: not known, only the file system counts.
    """

    throughput_mb_per_s: int | None = None
    checkpoint: Checkpoint | None = None
    capacity_gib: int | None = None
    working_set_gib: int | None = None
    temporary: bool = False
    associations: int = 0
    backups: bool = False
    clients: LustreClients | None = None

    def problems(self) -> list[str]:
        """Return the errors of the goal: no requirement, or a figure out of range."""
        problems = [word for part in (self.checkpoint, self.clients) if part is not None for word in part.problems()]
        if self.throughput_mb_per_s is None and self.checkpoint is None and self.capacity_gib is None:
            problems.append("specify what the file system is for: a throughput, a checkpoint or a capacity")
        if self.throughput_mb_per_s is not None and self.throughput_mb_per_s < 1:
            problems.append(f"the throughput must be at least 1 MB/s, got {self.throughput_mb_per_s}")
        if self.capacity_gib is not None and self.capacity_gib < 0:
            problems.append(f"the capacity can't be negative, got {self.capacity_gib} GiB")
        if self.working_set_gib is not None and not 1 <= self.working_set_gib <= self.gib:
            problems.append(
                f"the working set must be a part of the capacity, 1 to {self.gib:,} GiB, got {self.working_set_gib:,}"
            )
        if self.associations < 0:
            problems.append(f"the number of associations can't be negative, got {self.associations}")
        return problems

    @property
    def mb_per_s(self) -> Fraction:
        """Required disk throughput in MB/s: the largest of the requirements."""
        required = [
            Fraction(self.throughput_mb_per_s or 0),
            self.checkpoint.mb_per_s if self.checkpoint else Fraction(0),
        ]
        return max(required)

    @property
    def gib(self) -> int:
        """Required GiB: the capacity, or the checkpoints that are kept."""
        return max(self.capacity_gib or 0, self.checkpoint.kept_gib if self.checkpoint else 0)
