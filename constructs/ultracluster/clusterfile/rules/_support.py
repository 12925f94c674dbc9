"""Warnings that depend on the day: versions whose support ends, and Capacity Blocks that have ended."""

from collections.abc import Callable, Iterator, Mapping
from datetime import date

from ultracluster.catalogue.schedulers import eks, pcs
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile.rules._rule import Rule, warning

_SLURM = warning("slurm-version-support", "A version of Slurm that AWS PCS stops supporting soon, or has stopped.")
_KUBERNETES = warning("kubernetes-version-support", "A version in extended support, which costs more by the hour.")
# Advice, day of its facts, and rule, by the topic of an orchestrator's facts. HyperPod chooses its versions itself.
_SERVICES: Mapping[str, tuple[Callable[[str, date], str | None], date, Rule]] = {
    "pcs": (pcs.support_warning, pcs.READ_ON, _SLURM),
    "eks": (eks.version_advice, eks.READ_ON, _KUBERNETES),
}
_ENDED = warning("capacity-ended", "The Capacity Block of a node group has ended.")
#: Rules that depend on the day.
SUPPORT_RULES = (_SLURM, _KUBERNETES, _ENDED)


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


def warn_ended(cluster: ClusterFile, today: date | None = None) -> Iterator[tuple[Rule, str]]:
    """Yield the warnings about Capacity Blocks that have ended. Without a day, there are none."""
    for group in cluster.node_groups:
        ends = getattr(group.capacity, "ends", None)
        if today is not None and ends is not None and ends.date() < today:
            yield (
                _ENDED,
                f"{group.name}: its Capacity Block ended on {ends:%Y-%m-%d}, and it gets no nodes; remove the group, "
                "and add a group with another name for the next block"
                + ("" if cluster.traits.facts != "pcs" else "; until then, AWS PCS rejects updates of this group"),
            )
