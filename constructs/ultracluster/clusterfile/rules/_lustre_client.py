"""Rules of the nodes that mount the Lustre file system."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network

from ultracluster.catalogue.ec2 import LUSTRE_EFA_CONNECTIONS, InstanceType
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._lustre_client import (
    efa_connections,
    lustre_zone,
    most_interfaces,
    wished_client,
)
from ultracluster.clusterfile._needs import lustre_plan
from ultracluster.clusterfile._node_group import KUBERNETES, NodeGroup
from ultracluster.clusterfile._problems import Path, Problem
from ultracluster.clusterfile.rules._lustre_goal import check_words
from ultracluster.clusterfile.rules._rule import Rule, error, warning
from ultracluster.clusterfile.sections._lustre import Lustre
from ultracluster.clusterfile.sections._network import Network
from ultracluster.clusterfile.sections._storage import Storage
from ultracluster.planning.network import check_efa_reach

_LUSTRE_EFA_CONNECTIONS = warning(
    "lustre-efa-connections", "More EFA connections than a file system takes; each node uses fewer interfaces."
)
_LUSTRE_EFA_CLIENT = warning(
    "lustre-efa-client", "Nodes need AWS's tool for Lustre over EFA; the file does not say that the image has it."
)
_NO_EFA = error("lustre-client-without-efa", "`client` configures EFA, which the file system does not have.")
_GPUDIRECT = error("lustre-gpudirect", "GPUDirect Storage works on some instance types only.", acceptable=True)
_LIMIT = error("lustre-efa-connection-limit", "A file system takes 1,024 EFA connections.")
_SUBNET = error("lustre-existing-cidr", "A subnet has a range of /16 to /28.")
_REACH = error("lustre-efa-reach", "EFA reaches a file system within one VPC and one /16 only.")

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
    accept: Collection[str],
) -> Near | None:
    """The file system and the nodes in its zone. None: there is none, or it could not be read.

    Args:
        storage: The section. None: it could not be read.
        zone: Id of the cluster's zone. None: not known.
        groups: All groups.
        accept: Rules that the file accepts.
        login: Zone of the login nodes, what they are, and how many. None: it could not be read.
    """
    lustre = storage.lustre if storage else None
    if lustre is None or zone is None or any(problem.rule not in accept for problem in check_words(lustre)):
        return None
    try:
        plan = lustre_plan(lustre, zone=zone, accept=accept)
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
            yield _NO_EFA((*_PATH, "client"), message, at_key=True)
        return
    if lustre.client.gpudirect_storage and not any(instance_type.gpudirect_storage for instance_type, _ in found.nodes):
        message = "FSx supports GPUDirect Storage on P5, P5e, P5en, P6-B200 and P6-B300, and no nodes are; remove it"
        yield _GPUDIRECT((*_PATH, "client", "gpudirect-storage"), message)
    opened = efa_connections(client, found.nodes)
    if client.efa_interfaces is not None and found.clients <= LUSTRE_EFA_CONNECTIONS < opened:
        message = (
            f"{found.clients:,} nodes with at most {client.efa_interfaces} each open {opened:,} EFA connections, and a "
            f"file system takes {LUSTRE_EFA_CONNECTIONS:,}; write {most_interfaces(client, found.nodes)}, or leave it "
            "out"
        )
        yield _LIMIT((*_PATH, "client", "efa-interfaces"), message)


def check_efa_connections(found: Near | None) -> Iterator[Problem]:
    """Whether each node can have one connection at least."""
    if found is not None and found.efa and found.clients > LUSTRE_EFA_CONNECTIONS:
        message = (
            f"a file system takes {LUSTRE_EFA_CONNECTIONS:,} EFA connections, and {found.clients:,} nodes want at "
            f"least one each; write {found.efa_key}: false, and nodes mount it over TCP"
        )
        yield _LIMIT((*_PATH, *found.efa_key.split(".")), message)


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
        yield _SUBNET((*_PATH, "existing", "cidr"), message)
        return
    way_out = "write existing.efa: false, and nodes mount it over TCP"
    if network.existing is None:
        if existing.efa:
            message = (
                "the cluster makes a VPC of its own, and EFA does not leave a VPC; name that of the file system, "
                f"network: {{existing: {{vpc: vpc-..., subnet: subnet-...}}}}, or {way_out}"
            )
            yield _REACH((*_PATH, "existing", "efa"), message)
        return
    if existing.efa and lustre_zone(lustre, zone or "") == zone and _apart(existing.cidr, network.existing.cidr):
        message = (
            f"nodes in {network.existing.subnet}, {network.existing.cidr}, can't use EFA to a file system in "
            f"{existing.cidr}: both must be in one /16; take a subnet of its /16 for the nodes, or {way_out}"
        )
        yield _REACH((*_PATH, "existing", "cidr"), message)


def _apart(file_system: IPv4Network | None, nodes: IPv4Network | None) -> bool:
    return bool(check_efa_reach(file_system, nodes))


def warn_efa(cluster: ClusterFile, lustre: Lustre) -> Iterator[tuple[Rule, str]]:
    requested, made = wished_client(lustre), cluster.lustre_client
    near = [
        group
        for group in cluster.node_groups
        if group.zone == cluster.lustre_zone and requested.connections(group.instance_type)
    ]
    if requested.efa_interfaces is None and made.efa_interfaces is not None:
        each = made.efa_interfaces
        yield (
            _LUSTRE_EFA_CONNECTIONS,
            f"over EFA, {sum(count for kind, count in cluster.efa_clients if requested.connections(kind)):,} nodes "
            f"would open {efa_connections(requested, cluster.efa_clients):,} "
            f"connections to the file system, which takes {LUSTRE_EFA_CONNECTIONS:,}: so a node uses {each} EFA "
            f"interface{'s' if each > 1 else ''} for it, and is slower; write client: {{efa-interfaces: {each}}} if "
            "that is right, or make a second file system for the rest",
        )
    without = "they mount nothing and are drained"
    if cluster.orchestrator == KUBERNETES:
        without = "the unit at boot fails, and pods that mount the file system reach it over TCP or not at all"
    if made.bundle is None and (lacking := [group.section for group in near if _sets_efa_up(group)]):
        yield (
            _LUSTRE_EFA_CLIENT,
            f"{', '.join(dict.fromkeys(lacking))}: nodes set EFA up with AWS's tool, and no page says that AWS's image "
            f"has it; without it {without}. Put the zip into an existing bucket and write "
            "client: {bundle: {url: ..., sha256: ...}}, or take a custom image, or write "
            f"{'existing.efa' if lustre.existing else 'efa'}: false, which is TCP",
        )


def _sets_efa_up(group: NodeGroup) -> bool:
    """Whether a node runs the tool at boot, on an image of which nobody has said that it is there."""
    return group.image is None and group.os != "bottlerocket" and not group.elastic
