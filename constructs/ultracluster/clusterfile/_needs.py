"""Addresses, zones, home size and Grafana that a cluster file needs."""

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ultracluster.catalogue.ec2 import InstanceType, addresses, interfaces
from ultracluster.catalogue.monitoring import MANAGED_GRAFANA_REGIONS, NEW_GRAFANA_REGIONS
from ultracluster.catalogue.schedulers import eks
from ultracluster.clusterfile._node_group import NodeGroup
from ultracluster.clusterfile.sections._home import Home
from ultracluster.clusterfile.sections._observability import Grafana
from ultracluster.planning.home import CAPACITY_GIB as OPENZFS_CAPACITY_GIB
from ultracluster.planning.home import OpenZfsSize, size_openzfs

if TYPE_CHECKING:
    from ultracluster.planning.lustre import LustreSpec

# For the interfaces of the Slurm controller, or the 2 to 4 of EKS, and for other services in the subnet.
_SERVICE_ADDRESSES = 8
# A file system grows by servers, and its subnet is fixed: twice as many.
_LUSTRE_GROWTH = 2


class TrainingAddresses(NamedTuple):
    """IPv4 addresses of the training subnet, by user."""

    nodes: int
    service: int
    lustre: int

    @property
    def total(self) -> int:
        """All addresses."""
        return self.nodes + self.service + self.lustre + _SERVICE_ADDRESSES


def training_addresses(
    groups: Sequence[NodeGroup],
    *,
    service: int,
    service_type: InstanceType,
    lustre: "LustreSpec | None",
    pods: int = 0,
) -> TrainingAddresses:
    """Return the addresses that a cluster takes from its training subnet, with room to grow.

    Args:
        groups: The node groups in its zone.
        service: Number of nodes beside the groups: login nodes, or system nodes.
        service_type: Their type.
        lustre: The new file system, or None.
        pods: Pods of each of these nodes, which take addresses too.
    """
    of_pods = eks.pod_addresses(pods) if pods else 0
    return TrainingAddresses(
        nodes=sum(group.addresses for group in groups),
        service=service * (addresses(interfaces(service_type)) + of_pods),
        lustre=0 if lustre is None else _LUSTRE_GROWTH * lustre.addresses,
    )


def second_zone(zone: str) -> str:
    """Return the default zone of the second subnet of the EKS control plane."""
    prefix = zone.split("-")[0]
    return next(
        other
        for other in (f"{prefix}-az{number}" for number in (2, 1, 3, 4))
        if other != zone and other not in eks.ZONES_WITHOUT_CONTROL_PLANE
    )


def grafana_kind(grafana: Grafana, region: str, *, accept: Container[str], internet: bool) -> str:
    """Return the kind of Grafana: that of the file, or `self-hosted` without a managed one in CloudFormation.

    A server installs Grafana from its project's repository, so without internet access it is `none`.
    """
    kind, accepted = grafana.kind, grafana.workspace and "grafana-workspace-region" in accept
    regions = MANAGED_GRAFANA_REGIONS if grafana.workspace else NEW_GRAFANA_REGIONS
    if kind == "managed" and region not in regions and not accepted:
        kind = "self-hosted"
    return "none" if kind == "self-hosted" and not internet else kind


def home_size(home: Home, *, region: str | None, clients: int, any_throughput: bool = False) -> OpenZfsSize:
    """Return the size of the home file system of a section.

    Args:
        home: The section.
        region: The region, or None to size without it.
        clients: Nodes that mount it, login nodes included.
        any_throughput: Accept a throughput that is not in the catalogue. Default: no.

    Raises:
        ValueError: If FSx does not sell it in the region.
    """
    return size_openzfs(
        region=region,
        clients=clients,
        deployment_type=home.deployment,
        capacity_gib=home.capacity.gib if home.capacity else OPENZFS_CAPACITY_GIB,
        throughput_mb_per_s=home.throughput.mb_per_s if home.throughput else None,
        any_throughput=any_throughput,
    )
