"""Rules of instance types and of the number of nodes."""

from collections.abc import Iterator, Sequence

from ultracluster.catalogue.ec2 import InstanceType, UltraServer, interfaces
from ultracluster.clusterfile._draft import Draft, valid
from ultracluster.clusterfile._node_group import block_group_name, instances
from ultracluster.clusterfile._problems import Path, Problem
from ultracluster.clusterfile.rules._rule import error, shared
from ultracluster.clusterfile.sections._capacity import Blocks
from ultracluster.clusterfile.sections._nodes import NODE_GROUP, NodeGroupSection
from ultracluster.planning.capacity import Block, CapacityBlock, OnDemand, UltraServerBlock, check_sold

_WHOLE = shared("ultraserver-whole")
_EVEN = error("capacity-block-even", "Several Capacity Blocks of one section get the same number of nodes each.")
_NAMES = error("capacity-block-name", "The name of the node group of each Capacity Block must be valid and unique.")
_DECLARED = error("declared-type-invalid", "A declared type must have every value that planning needs.")
_UNKNOWN = shared("unknown-instance-type")
_BESIDE = error("service-node-type", "Login and system nodes must be available on demand, outside UltraServers.")


def check_types(draft: Draft) -> Iterator[Problem]:
    """Check declared types, the types of nodes, and the numbers of nodes that each type allows."""
    servers: dict[str, str] = {}
    for name, declared in draft.types.items():
        for server_name in declared.ultraservers or {}:
            if servers.setdefault(server_name, name) != name:
                message = f"is an UltraServer of {servers[server_name]} too; give one of the two another name"
                yield _DECLARED(("types", name, "ultraservers", server_name), message, at_key=True)
        try:
            record = declared.record(name)
        except ValueError as error:
            key = ("from",) if declared.described_by else ("like",) if declared.like else ()
            yield _DECLARED(("types", name, *key), str(error))
            continue
        if record.cards and "interface" not in record.cards[0].kinds:
            kinds = ", ".join(record.cards[0].kinds)
            message = (
                f"the first card offers {kinds}; it must offer interface too, for the primary network interface: "
                f"kinds: [interface, {kinds}]"
            )
            yield _DECLARED(("types", name, "network-cards"), message)
    uses: dict[Path, str] = {("nodes", name, "type"): type for name, type in draft.type_names.items()}
    service = valid(lambda: draft.control_plane.service_nodes)
    if service is not None and "type" in service.model_fields_set:
        uses[draft.traits.sections[0], draft.traits.service_nodes, "type"] = service.type
    for path, type in uses.items():
        try:
            record, server = draft.catalogue.look_up(type)
        except ValueError as error:
            # A declaration that is not valid is an error already.
            wrong = draft.declared - draft.catalogue.declared.keys()
            if type not in draft.declared and not (type.startswith("u-") and wrong):
                yield _UNKNOWN(path, str(error))
            continue
        if path[0] != "nodes":
            yield from (_BESIDE(path, message) for message in _check_service(record, server))
        section = draft.nodes.get(str(path[1]))
        if path[0] == "nodes" and section is not None:
            yield from _check_counts(str(path[1]), section, record, server)


def _check_service(record: InstanceType, server: UltraServer | None) -> Iterator[str]:
    if server is not None:
        yield f"{server.name} is an UltraServer; nodes beside the node groups need no GPU"
        return
    yield from check_sold(record, OnDemand())
    try:
        interfaces(record)
    except ValueError as error:
        yield str(error)


def _check_counts(
    name: str, section: NodeGroupSection, record: InstanceType, server: UltraServer | None
) -> Iterator[Problem]:
    count, path = ("nodes", name, "count"), ("nodes", name)
    if record.ultraservers and section.spare:
        message = "an UltraServer is reserved whole, with no node to spare; remove it, and let jobs use fewer nodes"
        yield _WHOLE((*path, "spare"), message)
        return
    blocks = _blocks(section)
    total = instances(section, server) + section.spare
    if len(blocks) > 1 and total % len(blocks) and not record.ultraservers:
        message = f"{total:,} nodes do not come out even over {len(blocks)} Capacity Blocks; each gets the same number"
        yield _EVEN(count, message)
        return
    if isinstance(section.capacity, Blocks):
        yield from _check_names(name, blocks)
    for message in _ultraserver_problems(section, record, server, blocks):
        yield _WHOLE(count, message)


def _blocks(section: NodeGroupSection) -> Sequence[Block]:
    if isinstance(section.capacity, Blocks):
        return section.capacity.blocks
    return [section.capacity] if isinstance(section.capacity, CapacityBlock | UltraServerBlock) else []


def _ultraserver_problems(
    section: NodeGroupSection, record: InstanceType, server: UltraServer | None, blocks: Sequence[Block]
) -> list[str]:
    """Return the errors of a section whose Capacity Blocks each hold one whole UltraServer."""
    if not record.ultraservers or not blocks or not isinstance(blocks[0], UltraServerBlock):
        return []
    sizes = {other.instances: other.name for other in record.ultraservers}
    held = blocks[0].instances
    if held is not None and held not in sizes:
        return []  # An error of the capacity already.
    if server is not None and held not in (None, server.instances):
        return [f"a {server.name} has {server.instances} instances, and the reservation has {held}; correct one"]
    each = (instances(section, server) + section.spare) / len(blocks)
    requested = {held or (server.instances if server else each)} & set(sizes)
    if each in requested:
        return []
    if server is not None:
        return [
            f"count requests {section.count} UltraServers, each of which has a reservation of its own, and capacity "
            f"names {len(blocks)}; list one for each: capacity: {{reservations: [cr-..., cr-...], kind: ultraserver}}"
        ]
    fitting = {size: name for size, name in sorted(sizes.items()) if held in (None, size)}
    whole = " or ".join(f"{size * len(blocks)} ({name})" for size, name in fitting.items())
    several = f" in {len(blocks)} reservations" if len(blocks) > 1 else ""
    return [
        f"{record.name} is reserved in whole UltraServers, which have {whole} instances{several}, got {section.count}; "
        f"write that, or count UltraServers: type: {next(iter(fitting.values()))}, count: {len(blocks)}"
    ]


def _check_names(name: str, blocks: Sequence[Block]) -> Iterator[Problem]:
    names = [block_group_name(name, block) for block in blocks]
    if not NODE_GROUP.fullmatch(names[0]):
        message = (
            f"each Capacity Block makes a node group called {names[0]}, and that is longer than 25 characters; use a "
            "name of 18 at most"
        )
        yield _NAMES(("nodes", name), message, at_key=True)
    if len(set(names)) < len(names):
        message = (
            "two reservations end in the same six characters, which name their node groups; make one of them a node "
            "group of its own"
        )
        yield _NAMES(("nodes", name, "capacity"), message)
