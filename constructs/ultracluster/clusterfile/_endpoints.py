"""Endpoints that a cluster needs without internet access."""

from ultracluster.catalogue.monitoring import WITHOUT_PROMETHEUS
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.planning.network import DIRECTORY_SERVICES, EKS_SERVICES, NOTICE_SERVICES, PCS_SERVICES

_SERVICES = {"slurm": PCS_SERVICES, "kubernetes": EKS_SERVICES}


def endpoint_services(cluster: ClusterFile) -> tuple[str, ...]:
    """Return the services that the nodes of a cluster call, and what applies its platform."""
    services = _SERVICES[cluster.orchestrator]
    if cluster.region in WITHOUT_PROMETHEUS and not cluster.observability.on:
        services = tuple(service for service in services if service != "aps-workspaces")
    platform = cluster.traits.has_platform and cluster.kubernetes.applied_by_deployment
    if cluster.slurm.replacements or (platform and cluster.observability.on):
        services += NOTICE_SERVICES
    return services + (DIRECTORY_SERVICES if cluster.slurm.directory else ())
