"""Rules of the nodes that mount the Lustre file system."""

from collections.abc import Iterator

from ultracluster.catalogue.storage import lustre_quotas
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._draft import Draft, until_invalid
from ultracluster.clusterfile._lustre import (
    efa_connections,
    efa_nodes,
    lustre_plan,
    most_interfaces,
    requested_client,
    writers,
)
from ultracluster.clusterfile._node_group import NodeGroup
from ultracluster.clusterfile._problems import Path, Problem
from ultracluster.clusterfile.rules._lustre import check_keys
from ultracluster.clusterfile.rules._rule import Rule, error, listed, shared, warning
from ultracluster.clusterfile.sections._lustre import Lustre
from ultracluster.planning.lustre import LustreClients, LustreSpec
from ultracluster.planning.network import EFA_REACH, check_efa_reach

_LUSTRE_EFA_CONNECTIONS = warning(
    "lustre-efa-connections", "More EFA connections than a file system supports; each node uses fewer interfaces."
)
_LUSTRE_EFA_CLIENT = warning(
    "lustre-efa-client", "Nodes of Kubernetes need AWS's tool for Lustre over EFA; without it they mount over TCP."
)
_REQUIRED = error(
    "lustre-efa-required", "Nodes that require EFA for Lustre are drained if AWS's tool cannot be installed."
)
_NOT_REACHED = error("lustre-efa-tcp", "Nodes that require EFA for Lustre have a type or zone that mounts over TCP.")
_GPUDIRECT_DRIVER = warning(
    "lustre-gpudirect-driver", "GPUDirect Storage needs the driver nvidia-fs, which AWS's image is not known to have."
)
_CHOICE = error(
    "lustre-efa-choice",
    "The EFA of a file system cannot change: if no GPU node can use it, the file has the choice.",
    acceptable=True,
)
_NO_EFA = error("lustre-client-without-efa", "`client` configures EFA, which the file system does not have.")
_GPUDIRECT = error(
    "lustre-gpudirect", "FSx for Lustre supports GPUDirect Storage on a list of instance types.", acceptable=True
)
_LIMIT = error("lustre-efa-connection-limit", "A file system supports 1,024 EFA connections.")
_SUBNET = error("lustre-existing-cidr", "A subnet has a range of /16 to /28.")
_REACH = shared(EFA_REACH)

_PATH: Path = ("storage", "lustre")
# https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html (read 2026-11-21)
_LARGEST_SUBNET, _SMALLEST_SUBNET = 16, 28


def check_client(draft: Draft) -> Iterator[Problem]:
    """Check the client of the file system, except the number of nodes."""
    lustre = draft.storage.lustre
    if lustre is None or not _is_valid(draft, lustre):
        return
    yield from until_invalid(_check_reach(draft, lustre))
    if not draft.lustre_efa:
        if lustre.client.model_fields_set:
            message = (
                f"configures EFA on nodes, and the file system has none; write {_efa_key(lustre)}: true, or remove this"
            )
            yield _NO_EFA((*_PATH, "client"), message, at_key=True)
        return
    client, nodes = requested_client(lustre), draft.efa_clients
    if not efa_nodes(client, nodes):
        yield from until_invalid(_check_choice(draft, lustre))
    if lustre.client.gpudirect_storage and not any(instance_type.gpudirect_storage for instance_type, _ in nodes):
        message = "FSx supports GPUDirect Storage on P5, P5e, P5en, P6-B200 and P6-B300, and no nodes are; remove it"
        yield _GPUDIRECT((*_PATH, "client", "gpudirect-storage"), message)
    lacking = [group.section for group in draft.node_groups if _sets_efa_up(group)]
    over_tcp = [
        f"{group.section} ({group.instance_type.name}, {group.zone})"
        for group in draft.node_groups
        if group.instance_type.gpus
        and group.instance_type.max_efa
        and not (group.zone == draft.lustre_zone and client.connections(group.instance_type))
    ]
    if lustre.client.efa == "required" and over_tcp:
        message = (
            f"{listed(over_tcp)} mount over TCP: FSx supports EFA on some types, and in the zone "
            f"of the file system, {draft.lustre_zone}, only; write preferred, or another type or zone"
        )
        yield _NOT_REACHED((*_PATH, "client", "efa"), message)
    elif lustre.client.efa == "required" and lustre.client.bundle is None and lacking:
        message = (
            f"drains {listed(lacking)} if AWS's tool cannot be installed, and AWS replaces it in "
            "place, without a checksum; put a reviewed copy into an existing bucket and write client: {bundle: {url: "
            "..., sha256: ...}}, or use a custom image, or write preferred, which mounts over TCP in that case"
        )
        yield _REQUIRED((*_PATH, "client", "efa"), message)
    count, opened = efa_nodes(client, nodes), efa_connections(client, nodes)
    if client.efa_interfaces is not None and count <= lustre_quotas.EFA_CONNECTIONS < opened:
        message = (
            f"{count:,} nodes with at most {client.efa_interfaces} each open {opened:,} EFA connections, and a "
            f"file system supports {lustre_quotas.EFA_CONNECTIONS:,}; write {most_interfaces(client, nodes)}, or "
            f"leave it "
            "out"
        )
        yield _LIMIT((*_PATH, "client", "efa-interfaces"), message)


def _check_choice(draft: Draft, lustre: Lustre) -> Iterator[Problem]:
    """Check that the file chooses EFA if the plan has it, and there are GPU nodes, none of which can use it.

    The plan does not depend on the nodes, which change: another node group must not change a file system that exists.
    """
    types = [group.instance_type for group in draft.node_groups]
    unknown = any(record.declared and any(card.takes_efa for card in record.cards) for record in types)
    if lustre.efa is not None or lustre.existing is not None or lustre.adopt is not None or unknown:
        return
    plan, without = draft.lustre_plan, lustre.model_copy(update={"efa": False})
    other = lustre_plan(without, zone=draft.zone, accept=draft.accept)
    nodes = writers(draft.node_groups, draft.zone)
    if plan is None or other is None or nodes is None:
        return
    message = (
        "AWS recommends EFA for this throughput, no GPU node in the zone can use it, and it can't be changed later. "
        f"Write efa: false for {_words(other.spec, nodes)}. Write efa: true for {_words(plan.spec, nodes)}: if such a "
        "file system exists already, or nodes that use it will follow"
    )
    yield _CHOICE(_PATH, message, at_key=True)


def _words(spec: LustreSpec, nodes: LustreClients) -> str:
    """Return the size, price and throughput of a file system."""
    price = "" if spec.usd_per_month is None else f", ${spec.usd_per_month:,.0f} a month"
    gbps = float(nodes.gbps(efa=spec.efa, storage_servers=spec.storage_servers))
    return f"{spec.words}{price}, {gbps:.3g} Gbit/s for a node"


def check_efa_connections(draft: Draft) -> Iterator[Problem]:
    """Check that each node can open at least one EFA connection."""
    lustre = draft.storage.lustre
    if lustre is None or not _is_valid(draft, lustre) or not draft.lustre_efa:
        return
    count = efa_nodes(requested_client(lustre), draft.efa_clients)
    if count > lustre_quotas.EFA_CONNECTIONS:
        message = (
            f"a file system supports {lustre_quotas.EFA_CONNECTIONS:,} EFA connections, and {count:,} nodes need at "
            f"least one each; write {_efa_key(lustre)}: false, and nodes mount it over TCP{_if_deployed(lustre)}"
        )
        yield _LIMIT((*_PATH, *_efa_key(lustre).split(".")), message)


def _is_valid(draft: Draft, lustre: Lustre) -> bool:
    return all(problem.rule in draft.accept for problem in check_keys(lustre))


def _efa_key(lustre: Lustre) -> str:
    return "existing.efa" if lustre.existing else "efa"


def _if_deployed(lustre: Lustre) -> str:
    if lustre.existing:
        return ""
    return (
        ". FSx does not turn EFA off: for a file system that is deployed, put nodes into a second cluster, or groups "
        "into another zone, where they mount it over TCP"
    )


def _check_reach(draft: Draft, lustre: Lustre) -> Iterator[Problem]:
    """Check that EFA reaches an existing file system: within its zone, its VPC and its /16.

    See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html and
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html (read 2026-11-21)
    """
    existing, network = lustre.existing, draft.network
    if existing is None:
        return
    if existing.cidr is not None and not _LARGEST_SUBNET <= existing.cidr.prefixlen <= _SMALLEST_SUBNET:
        message = f"a subnet has a range of /{_LARGEST_SUBNET} to /{_SMALLEST_SUBNET}, got {existing.cidr}"
        yield _SUBNET((*_PATH, "existing", "cidr"), message)
        return
    remedy = "write existing.efa: false, and nodes mount it over TCP"
    if network.existing is None:
        if existing.efa:
            message = (
                "the cluster makes a VPC of its own, and EFA does not leave a VPC; name that of the file system, "
                "network: {existing: {vpc: vpc-..., subnet: subnet-...}}, write adopt instead of existing for one that "
                f"was restored into the subnet of the nodes, or {remedy}"
            )
            yield _REACH((*_PATH, "existing", "efa"), message)
        return
    if existing.efa and draft.lustre_zone == draft.zone and check_efa_reach(existing.cidr, network.existing.cidr):
        message = (
            f"nodes in {network.existing.subnet}, {network.existing.cidr}, can't use EFA to a file system in "
            f"{existing.cidr}: both must be in one /16; use a subnet of its /16 for the nodes, or {remedy}"
        )
        yield _REACH((*_PATH, "existing", "cidr"), message)


def warn_efa(cluster: ClusterFile) -> Iterator[tuple[Rule, str]]:
    """Yield the warnings about nodes that use EFA for the file system."""
    lustre = cluster.storage.lustre
    if lustre is None or not cluster.lustre_efa:
        return
    requested, client = requested_client(lustre), cluster.lustre_client
    near = [
        group
        for group in cluster.node_groups
        if group.zone == cluster.lustre_zone and requested.connections(group.instance_type)
    ]
    if requested.efa_interfaces is None and client.efa_interfaces is not None:
        each = client.efa_interfaces
        yield (
            _LUSTRE_EFA_CONNECTIONS,
            f"over EFA, {efa_nodes(requested, cluster.efa_clients):,} nodes "
            f"would open {efa_connections(requested, cluster.efa_clients):,} "
            f"connections to the file system, which supports {lustre_quotas.EFA_CONNECTIONS:,}: so a node uses "
            f"{each} EFA "
            f"interface{'s' if each > 1 else ''} for it, and is slower; write client: {{efa-interfaces: {each}}} if "
            "that is right, or make a second file system for the rest. Without it, another number of nodes may change "
            "this, which replaces all nodes",
        )
    no_driver = [group.section for group in near if _needs_driver(group) and lustre.client.gpudirect_storage]
    if no_driver and cluster.traits.own_instances:
        yield (
            _GPUDIRECT_DRIVER,
            f"{listed(no_driver)}: GPUDirect Storage needs the driver nvidia-fs, and no page "
            "documents that AWS's image has it; without it the nodes mount the file system over TCP, and an alert "
            "fires. Use an image that has it, or remove gpudirect-storage",
        )
    if cluster.traits.installs_software or not cluster.traits.own_instances or client.bundle is not None:
        return
    if lacking := [group.section for group in near if _sets_efa_up(group)]:
        yield (
            _LUSTRE_EFA_CLIENT,
            f"{listed(lacking)}: nodes set EFA up with AWS's tool, and no page documents that "
            f"AWS's image has it; without it they mount the file system over TCP{_over_tcp(cluster)}. Put "
            "the zip into an existing bucket and write client: {bundle: {url: ..., sha256: ...}}, or use a custom "
            f"image, or write {'existing.efa' if lustre.existing else 'efa'}: false, which is TCP",
        )


def _over_tcp(cluster: ClusterFile) -> str:
    """Return the throughput of a node over EFA and over TCP, in words; empty if it is not known."""
    spec, nodes = cluster.lustre_spec, writers(cluster.node_groups, cluster.lustre_zone)
    if spec is None or nodes is None:
        return ""
    tcp, efa = (float(nodes.gbps(efa=efa, storage_servers=spec.storage_servers)) for efa in (False, True))
    return f", with {tcp:.3g} Gbit/s for a node in place of {efa:.3g}"


def _needs_driver(group: NodeGroup) -> bool:
    """Return True if a node can use GPUDirect Storage, and its image is not known to have the driver."""
    return bool(group.instance_type.gpudirect_storage) and group.image_option == "aws"


def _sets_efa_up(group: NodeGroup) -> bool:
    """Return True if a node runs the tool at boot, and its image is not known to have it."""
    return group.image_option == "aws" and group.os != "bottlerocket" and not group.elastic
