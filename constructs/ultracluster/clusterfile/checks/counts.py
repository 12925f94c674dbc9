"""Whether the nodes of a section come out whole: UltraServers, Capacity Blocks, names."""

from collections.abc import Iterator, Sequence

from ultracluster.clusterfile.node_group import block_group_name, instances
from ultracluster.clusterfile.problems import Problem
from ultracluster.clusterfile.readers.capacity import Blocks
from ultracluster.clusterfile.readers.nodes import NODE_GROUP
from ultracluster.clusterfile.sections.file import NodeGroupSection
from ultracluster.hardware import InstanceType, UltraServer
from ultracluster.planning import Block, CapacityBlock, UltraServerBlock


def check_counts(
    name: str, section: NodeGroupSection, record: InstanceType, server: UltraServer | None
) -> Iterator[Problem]:
    """Everything that is wrong with how many nodes a section asks for."""
    count, path = ("nodes", name, "count"), ("nodes", name)
    if record.ultraservers and section.spare:
        message = "an UltraServer is bought whole, with no node to spare; remove it, and let jobs take fewer nodes"
        yield Problem(path=(*path, "spare"), message=message)
        return
    blocks = _blocks(section)
    total = instances(section, server) + section.spare
    if len(blocks) > 1 and total % len(blocks) and not record.ultraservers:
        message = f"{total:,} nodes do not come out even over {len(blocks)} Capacity Blocks; each gets the same number"
        yield Problem(path=count, message=message)
        return
    if isinstance(section.capacity, Blocks):
        yield from _check_names(name, blocks)
    for message in _ultraserver_problems(section, record, server, blocks):
        yield Problem(path=count, message=message)


def _blocks(section: NodeGroupSection) -> Sequence[Block]:
    if isinstance(section.capacity, Blocks):
        return section.capacity.blocks
    return [section.capacity] if isinstance(section.capacity, CapacityBlock | UltraServerBlock) else []


def _ultraserver_problems(
    section: NodeGroupSection, record: InstanceType, server: UltraServer | None, blocks: Sequence[Block]
) -> list[str]:
    """A Capacity Block holds one UltraServer, whole."""
    if not record.ultraservers or not blocks or not isinstance(blocks[0], UltraServerBlock):
        return []
    sizes = {found.instances: found.name for found in record.ultraservers}
    held = blocks[0].instances
    if held is not None and held not in sizes:
        return []  # The capacity itself is wrong, which is told there.
    if server is not None and held not in (None, server.instances):
        return [f"a {server.name} has {server.instances} instances, and the reservation says {held}; correct one"]
    each = (instances(section, server) + section.spare) / len(blocks)
    wanted = {held or (server.instances if server else each)} & set(sizes)
    if each in wanted:
        return []
    if server is not None:
        return [
            f"count asks for {section.count} UltraServers, each of which has a reservation of its own, and capacity "
            f"names {len(blocks)}; list one for each: capacity: {{reservations: [cr-..., cr-...], kind: ultraserver}}"
        ]
    fitting = {size: name for size, name in sorted(sizes.items()) if held in (None, size)}
    whole = " or ".join(f"{size * len(blocks)} ({name})" for size, name in fitting.items())
    several = f" in {len(blocks)} reservations" if len(blocks) > 1 else ""
    return [
        f"{record.name} is bought in whole UltraServers, which have {whole} instances{several}, got {section.count}; "
        f"write that, or count UltraServers: type: {next(iter(fitting.values()))}, count: {len(blocks)}"
    ]


def _check_names(name: str, blocks: Sequence[Block]) -> Iterator[Problem]:
    names = [block_group_name(name, block) for block in blocks]
    if not NODE_GROUP.fullmatch(names[0]):
        message = (
            f"each Capacity Block makes a node group called {names[0]}, and that is longer than 25 characters; take a "
            "name of 18 at most"
        )
        yield Problem(path=("nodes", name), message=message, at_key=True)
    if len(set(names)) < len(names):
        message = (
            "two reservations end in the same six characters, which name their node groups; make one of them a node "
            "group of its own"
        )
        yield Problem(path=("nodes", name, "capacity"), message=message)
