"""Whether nodes can be clients of the file system as the file says."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network

from ultracluster.clusterfile.checks.storage import check_words
from ultracluster.clusterfile.lustre_client import efa_connections, lustre_zone, most_interfaces, wished_client
from ultracluster.clusterfile.needs import lustre_plan
from ultracluster.clusterfile.node_group import NodeGroup
from ultracluster.clusterfile.problems import Path, Problem
from ultracluster.clusterfile.sections.file import Network
from ultracluster.clusterfile.sections.storage import Lustre, Storage
from ultracluster.hardware import InstanceType
from ultracluster.hardware.quotas import LUSTRE_EFA_CONNECTIONS
from ultracluster.planning import check_efa_reach

_PATH: Path = ("storage", "lustre")
# https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html (read 2026-11-21)
_LARGEST_SUBNET, _SMALLEST_SUBNET = 16, 28


@dataclass(frozen=True, kw_only=True, slots=True)
class Near:
    """The file system, and the nodes in its zone.

    Args:
        lustre: The section.
        efa: Whether the file system has EFA.
        nodes: The types in its zone, login nodes included, and how many there are of each.
    """

    lustre: Lustre
    efa: bool
    nodes: list[tuple[InstanceType, int]]

    @property
    def clients(self) -> int:
        """Nodes that can use EFA for it."""
        client = wished_client(self.lustre)
        return sum(count for instance_type, count in self.nodes if client.connections(instance_type))

    @property
    def efa_key(self) -> str:
        """The key that says whether it has EFA."""
        return "existing.efa" if self.lustre.existing else "efa"


def near(
    storage: Storage | None,
    *,
    zone: str | None,
    groups: Sequence[NodeGroup],
    login: tuple[str | None, InstanceType, int] | None,
) -> Near | None:
    """The file system and the nodes in its zone. None: there is none, or it could not be read.

    Args:
        storage: The section. None: it could not be read.
        zone: Id of the cluster's zone. None: not known.
        groups: All groups.
        login: Zone of the login nodes, what they are, and how many. None: it could not be read.
    """
    lustre = storage.lustre if storage else None
    if lustre is None or zone is None or list(check_words(lustre)):
        return None
    try:
        plan = lustre_plan(lustre, zone=zone)
    except ValueError:
        return None
    here = lustre_zone(lustre, zone)
    nodes = [(group.instance_type, group.count) for group in groups if group.zone == here]
    if login is not None and login[0] == here:
        nodes.append(login[1:])
    efa = plan.spec.efa if plan else bool(lustre.existing and lustre.existing.efa)
    return Near(lustre=lustre, efa=efa, nodes=nodes)


def check_client(found: Near | None, *, network: Network | None, zone: str | None) -> Iterator[Problem]:
    """Everything that is wrong with how nodes reach the file system, but for their number."""
    if found is None:
        return
    lustre, client = found.lustre, wished_client(found.lustre)
    yield from _check_reach(lustre, network, zone)
    if not found.efa:
        if lustre.client.model_fields_set:
            message = (
                f"says how nodes use EFA, and the file system has none; write {found.efa_key}: true, or remove this"
            )
            yield Problem(path=(*_PATH, "client"), message=message, at_key=True)
        return
    if lustre.client.gpudirect_storage and not any(instance_type.gpudirect_storage for instance_type, _ in found.nodes):
        message = "FSx supports GPUDirect Storage on P5, P5e, P5en, P6-B200 and P6-B300, and no nodes are; remove it"
        yield Problem(path=(*_PATH, "client", "gpudirect-storage"), message=message)
    opened = efa_connections(client, found.nodes)
    if client.efa_interfaces is not None and found.clients <= LUSTRE_EFA_CONNECTIONS < opened:
        message = (
            f"{found.clients:,} nodes with at most {client.efa_interfaces} each open {opened:,} EFA connections, and a "
            f"file system takes {LUSTRE_EFA_CONNECTIONS:,}; write {most_interfaces(client, found.nodes)}, or leave it "
            "out"
        )
        yield Problem(path=(*_PATH, "client", "efa-interfaces"), message=message)


def check_efa_connections(found: Near | None) -> Iterator[Problem]:
    """Whether each node can have one connection at least."""
    if found is not None and found.efa and found.clients > LUSTRE_EFA_CONNECTIONS:
        message = (
            f"a file system takes {LUSTRE_EFA_CONNECTIONS:,} EFA connections, and {found.clients:,} nodes want at "
            f"least one each; write {found.efa_key}: false, and nodes mount it over TCP"
        )
        yield Problem(path=(*_PATH, *found.efa_key.split(".")), message=message)


def _check_reach(lustre: Lustre, network: Network | None, zone: str | None) -> Iterator[Problem]:
    """Whether EFA reaches a file system of yours: within its zone, its VPC and its /16.

    See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html and
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html (read 2026-11-21)
    """
    existing = lustre.existing
    if existing is None or network is None:
        return
    if existing.cidr is not None and not _LARGEST_SUBNET <= existing.cidr.prefixlen <= _SMALLEST_SUBNET:
        message = f"a subnet has a range of /{_LARGEST_SUBNET} to /{_SMALLEST_SUBNET}, got {existing.cidr}"
        yield Problem(path=(*_PATH, "existing", "cidr"), message=message)
        return
    way_out = "write existing.efa: false, and nodes mount it over TCP"
    if network.existing is None:
        if existing.efa:
            message = (
                "the cluster makes a VPC of its own, and EFA does not leave a VPC; name that of the file system, "
                f"network: {{existing: {{vpc: vpc-..., subnet: subnet-...}}}}, or {way_out}"
            )
            yield Problem(path=(*_PATH, "existing", "efa"), message=message)
        return
    if existing.efa and lustre_zone(lustre, zone or "") == zone and _apart(existing.cidr, network.existing.cidr):
        message = (
            f"nodes in {network.existing.subnet}, {network.existing.cidr}, can't use EFA to a file system in "
            f"{existing.cidr}: both must be in one /16; take a subnet of its /16 for the nodes, or {way_out}"
        )
        yield Problem(path=(*_PATH, "existing", "cidr"), message=message)


def _apart(file_system: IPv4Network | None, nodes: IPv4Network | None) -> bool:
    return bool(check_efa_reach(file_system, nodes))
