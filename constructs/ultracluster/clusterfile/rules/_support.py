"""Warnings that depend on the day: versions whose support ends, and ended or impossible Capacity Blocks."""

from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, timedelta

from ultracluster.catalogue.ec2 import DAYS_OF_CAPACITY_BLOCK, DAYS_TO_CAPACITY_BLOCK
from ultracluster.catalogue.schedulers import eks, pcs
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._node_group import NodeGroup
from ultracluster.clusterfile.rules._rule import Rule, warning
from ultracluster.planning.capacity import Block, TargetedReservation

_SLURM = warning("slurm-version-support", "A version of Slurm that AWS PCS stops supporting soon, or has stopped.")
_KUBERNETES = warning("kubernetes-version-support", "A version in extended support, which costs more by the hour.")
# Advice, day of its facts, and rule, by the topic of an orchestrator's facts. HyperPod chooses its versions itself.
_SERVICES: Mapping[str, tuple[Callable[[str, date], str | None], date, Rule]] = {
    "pcs": (pcs.support_warning, pcs.READ_ON, _SLURM),
    "eks": (eks.version_advice, eks.READ_ON, _KUBERNETES),
}
_ENDED = warning("capacity-ended", "The Capacity Block of a node group has ended.")
#: `deploy` refuses it.
BLOCK_NOT_YET_SOLD = warning(
    "block-not-yet-sold",
    "A Capacity Block starts or ends later than AWS sells any today: nothing would drain its nodes at its real end.",
)
_EXPIRES = warning("reservation-expires", "A reservation expires within two weeks, or has expired.")
#: Rules that depend on the day.
SUPPORT_RULES = (_SLURM, _KUBERNETES, _ENDED, BLOCK_NOT_YET_SOLD, _EXPIRES)
# Judgement: a capacity increase, or another reservation, takes days.
_SOON = timedelta(days=14)
# A day more: zones of time, and blocks that end at another time of the day than they start.
_START = timedelta(days=DAYS_TO_CAPACITY_BLOCK + 1)
_LONGEST = timedelta(days=DAYS_OF_CAPACITY_BLOCK + 1)


def _next_group(cluster: ClusterFile, group: NodeGroup) -> str:
    """Return how the next block replaces a group. The queue of a section leaves with it, and its waiting jobs end."""
    if cluster.traits.facts != "pcs":
        return "remove the group, and add a group with another name for the next block"
    names = [queue.name for queue in cluster.queues if group.section in queue.sections]
    added = [name for name in names if name not in cluster.slurm.queues]
    keep = [f"write slurm: {{queues: {{{name}: {{nodes: [NEXT]}}}}}}" for name in added]
    keep += [f"write NEXT for {group.section} in slurm.queues.{name}.nodes" for name in names if name not in added]
    return (
        "replace it in one deployment by a group NEXT, with another name, for the next block, and keep the queue, "
        f"whose waiting jobs end with it: {'; '.join(keep)}. Until then, AWS PCS rejects updates of this group"
    )


def _warn_reservation(group: NodeGroup, ends: datetime, today: date) -> Iterator[tuple[Rule, str]]:
    """Yield the warning about a reservation that expires soon, or has expired. Nothing terminates its instances."""
    if ends.date() <= today + _SOON:
        id = getattr(group.capacity, "reservation_id", "")
        yield (
            _EXPIRES,
            f"{group.name}: {id} expires on {ends:%Y-%m-%d %H:%M} UTC. Then its nodes have the on-demand price, and no "
            f"node launches; extend it: aws ec2 modify-capacity-reservation --capacity-reservation-id {id} "
            "--end-date-type unlimited",
        )


def warn_support(cluster: ClusterFile, today: date | None = None) -> Iterator[tuple[Rule, str]]:
    """Yield the warnings.

    Args:
        cluster: The cluster file.
        today: Day to compare with. Default: the day on which the dates were read.
    """
    service = _SERVICES.get(cluster.traits.facts)
    if service is None:
        return
    advice, read_on, rule = service
    if (message := advice(cluster.control_plane.version, today or read_on)) is not None:
        yield rule, message


def warn_blocks(cluster: ClusterFile, today: date | None = None) -> Iterator[tuple[Rule, str]]:
    """Yield the warnings about Capacity Blocks that have ended, or that nobody can have; none without a day."""
    if today is None:
        return
    for group in cluster.node_groups:
        if isinstance(group.capacity, TargetedReservation) and group.capacity.ends is not None:
            yield from _warn_reservation(group, group.capacity.ends, today)
        if not isinstance(group.capacity, Block):
            continue
        starts, ends = (time and time.date() for time in (group.capacity.starts, group.capacity.ends))
        latest = ends or (starts and starts + _LONGEST)
        if latest is not None and latest < today:
            when = f"ended on {ends}" if ends else f"began on {starts}, and has at most {DAYS_OF_CAPACITY_BLOCK} days"
            yield (
                _ENDED,
                f"{group.name}: its Capacity Block {when}, and it gets no nodes; {_next_group(cluster, group)}",
            )
        for key, day, last in (("starts", starts, today + _START), ("ends", ends, today + _START + _LONGEST)):
            if day is not None and day > last:
                yield (
                    BLOCK_NOT_YET_SOLD,
                    f"{group.name}: {key} is {day}, and no Capacity Block that is sold today {key} after {last}: they "
                    f"start within {DAYS_TO_CAPACITY_BLOCK} days, and have at most {DAYS_OF_CAPACITY_BLOCK}, their "
                    "extensions included. Nothing would drain the nodes at the real end: see StartDate and EndDate in: "
                    "aws ec2 describe-capacity-reservations --capacity-reservation-ids "
                    f"{group.capacity.reservation_id}",
                )
                break
