"""What differs by orchestrator. A further one is a row below."""

from collections.abc import Mapping
from dataclasses import dataclass

from ultracluster.catalogue.ec2 import ImageFamily
from ultracluster.clusterfile import ClusterFile


@dataclass(frozen=True, kw_only=True, slots=True)
class Managed:
    """The service that runs an orchestrator.

    Args:
        service: Its name in the public parameters of Systems Manager.
        image: AWS's image of node groups that name none. None: the service chooses it.
    """

    service: str
    image: ImageFamily | None


_SERVICES: Mapping[str, Managed] = {
    "slurm": Managed(service="pcs", image="pcs"),
    "kubernetes": Managed(service="eks", image=None),
}


def managed(cluster: ClusterFile) -> Managed:
    """Return the service that runs the orchestrator of a cluster file."""
    return _SERVICES[cluster.orchestrator]
