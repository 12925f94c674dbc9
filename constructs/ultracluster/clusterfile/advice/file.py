"""What is allowed in a cluster file and yet deserves a word."""

from collections.abc import Iterator
from dataclasses import dataclass

from ultracluster.clusterfile.advice.capacity import capacity_advice
from ultracluster.clusterfile.advice.kubernetes import kubernetes_advice
from ultracluster.clusterfile.advice.network import network_advice
from ultracluster.clusterfile.advice.observability import observability_advice
from ultracluster.clusterfile.advice.slurm import slurm_advice
from ultracluster.clusterfile.advice.storage import storage_advice
from ultracluster.clusterfile.cluster_file import ClusterFile
from ultracluster.hardware.zones import REGIONS


@dataclass(frozen=True, kw_only=True, slots=True)
class Warning:
    """Something to know before deploying.

    Args:
        id: `ultracluster:kebab-words`; never changes.
        message: What it is, and what to do.
        acknowledged: Why it is no concern, as the file says. None: the file does not say so.
    """

    id: str
    message: str
    acknowledged: str | None = None


def warnings(cluster: ClusterFile) -> list[Warning]:
    """Everything about a cluster that is allowed and yet deserves a word, acknowledged or not."""
    return [
        Warning(id=f"ultracluster:{id}", message=message, acknowledged=cluster.acknowledge.get(f"ultracluster:{id}"))
        for id, message in _warnings(cluster)
    ]


def _warnings(cluster: ClusterFile) -> Iterator[tuple[str, str]]:
    if cluster.region not in REGIONS.values():
        yield (
            "unknown-region",
            f"{cluster.region} is no region that this release knows, so its zones are not checked; mind its spelling",
        )
    yield from capacity_advice(cluster)
    yield from network_advice(cluster)
    yield from kubernetes_advice(cluster)
    yield from storage_advice(cluster)
    yield from slurm_advice(cluster)
    yield from observability_advice(cluster)
