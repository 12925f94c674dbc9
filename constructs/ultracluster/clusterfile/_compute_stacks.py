"""Stacks of the node groups: CloudFormation limits resources and bytes of a template.

See: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html (read 2026-11-23)
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ultracluster.clusterfile._node_group import NodeGroup
from ultracluster.clusterfile._slurm_plan import QueuePlan
from ultracluster.clusterfile.sections._nodes import NodeGroupSection
from ultracluster.planning.capacity import Block

# Of 500 resources and 1,000,000 bytes, so that there is room for what a later release adds.
_MOST_RESOURCES, _MOST_BYTES = 400, 850_000
# The login or system nodes, add-ons and policies of the first stack; the parameters and metadata of each.
_RESOURCES_OF_THE_FIRST, _BYTES_OF_THE_FIRST = 40, 40_000
_RESOURCES_OF_A_STACK, _BYTES_OF_A_STACK = 2, 2_000
# Template, node group, placement group; document, two schedules, rule, role and policy of a drain.
_RESOURCES_OF_A_GROUP, _RESOURCES_OF_A_BLOCK = 3, 6
# Parameter, policy, handle and wait condition; policy of the scripts of the others.
_RESOURCES_OF_A_CANARY, _BYTES_OF_A_CANARY = 5, 4_000
# Upper bounds of templates without indentation; `tests/stacks/test_compute_stacks.py` holds them to templates.
# User data of EKS has 16,384 bytes at most, of which half are used.
_BYTES_OF_A_GROUP, _BYTES_OF_USER_DATA, _BYTES_OF_A_BLOCK = 5_000, 9_500, 6_500
_BYTES_OF_AN_INTERFACE, _BYTES_OF_A_SCRIPT, _BYTES_OF_A_SETTING = 320, 1_200, 250
_BYTES_OF_A_QUEUE, _BYTES_OF_A_GROUP_IN_A_QUEUE = 500, 150
# Name of the cluster, in the names of two exports that each interface refers to.
_NAMES_OF_AN_INTERFACE = 2
_COPIES_OF_A_TAG = 6


@dataclass(kw_only=True, slots=True)
class ComputeStack:
    """Node groups of one stack.

    Args:
        number: 1 for `NAME-Compute`, 2 for `NAME-Compute-2`.
        groups: Names of its node groups.
        resources: Resources, at most.
        bytes: Bytes of its template without indentation, at most.
    """

    number: int
    groups: list[str] = field(default_factory=list)
    resources: int = 0
    bytes: int = 0

    @property
    def full(self) -> bool:
        """Report whether CloudFormation could refuse the template."""
        return self.resources > _MOST_RESOURCES or self.bytes > _MOST_BYTES

    @property
    def is_large(self) -> bool:
        """Report whether blanks in the template could make it too large."""
        return self.bytes > _MOST_BYTES // 2

    def has_room(self, other: "ComputeStack") -> bool:
        """Report whether the node groups of another one fit as well."""
        together = ComputeStack(number=0, resources=self.resources + other.resources, bytes=self.bytes + other.bytes)
        return not together.full


def compute_stacks(
    name: str,
    groups: Sequence[NodeGroup],
    sections: Mapping[str, NodeGroupSection],
    queues: Sequence[QueuePlan],
    *,
    split: bool,
) -> tuple[ComputeStack, ...]:
    """Return the stacks of node groups.

    Groups of one queue are in one stack. Those whose sections name a stack are in it; the others, in the order of the
    file, are in the first that has room.

    Args:
        name: Name of the cluster.
        groups: Node groups.
        sections: Their sections, by name.
        queues: Queues of Slurm.
        split: False if all groups are parts of one resource, that of their cluster.
    """
    if not split:
        return (ComputeStack(number=1, groups=[group.name for group in groups]),)
    stacks = {1: ComputeStack(number=1, resources=_RESOURCES_OF_THE_FIRST, bytes=_BYTES_OF_THE_FIRST)}
    parts = [
        (
            next((sections[it].stack for it in unit if sections[it].stack), None),
            _size(name, unit, groups, sections, queues),
        )
        for unit in units(list(sections), queues)
    ]
    for number, part in sorted(parts, key=lambda it: it[0] is None):
        if number is None:
            number = next((it for it in range(1, max(stacks) + 1) if it in stacks and stacks[it].has_room(part)), None)
        number = number or max(stacks) + 1
        further = ComputeStack(number=number, resources=_RESOURCES_OF_A_STACK, bytes=_BYTES_OF_A_STACK)
        stack = stacks.setdefault(number, further)
        stack.groups += part.groups
        stack.resources += part.resources
        stack.bytes += part.bytes
    return tuple(stacks[number] for number in sorted(stacks))


class StacksToWrite(NamedTuple):
    """Settings that keep what is deployed in its stacks.

    Args:
        stack: `stack` of sections, by name.
        divided: Sections that an edit joins by queues, although their node groups are in several stacks.
    """

    stack: Mapping[str, int]
    divided: tuple[str, ...]


def stacks_to_write(
    name: str,
    groups: Sequence[NodeGroup],
    sections: Mapping[str, NodeGroupSection],
    queues: Sequence[QueuePlan],
    deployed: Mapping[str, int],
    deployed_queues: Mapping[str, int],
) -> StacksToWrite:
    """Return the `stack` of sections which keeps node groups and queues in the stacks that have them.

    These are the sections of the further stacks, and those of the first only if another group would take their room.
    A new group is in the stack of its queue.

    Args:
        name: Name of the cluster.
        groups: Node groups.
        sections: Their sections, by name.
        queues: Queues of Slurm.
        deployed: Name of a node group -> number of its stack.
        deployed_queues: Name of a queue -> number of its stack.
    """
    present = {group.section: deployed[group.name] for group in groups if group.name in deployed}
    for queue in queues:
        for section in queue.sections if queue.name in deployed_queues else ():
            present.setdefault(section, deployed_queues[queue.name])
    parts = [[section for section in unit if section in present] for unit in units(list(sections), queues)]
    divided = {section for part in parts if len({present[it] for it in part}) > 1 for section in part}
    further = {section: number for section, number in present.items() if number > 1 and section not in divided}
    written = {
        key: section.model_copy(update={"stack": further.get(key, section.stack)}) for key, section in sections.items()
    }
    stacks = compute_stacks(name, groups, written, queues, split=True)
    numbers = {group: stack.number for stack in stacks for group in stack.groups}
    moves = any(
        numbers.get(group.name, 0) != present.get(group.section, 0) for group in groups if group.section in present
    )
    keys = present if moves else further
    stack = {it: number for it, number in keys.items() if sections[it].stack != number and it not in divided}
    return StacksToWrite(stack=stack, divided=tuple(it for it in sections if it in divided))


def units(sections: Sequence[str], queues: Sequence[QueuePlan]) -> Iterator[tuple[str, ...]]:
    """Yield the sections whose node groups are in one stack: a queue refers to each of its groups."""
    of: dict[str, list[str]] = {section: [section] for section in sections}
    for queue in queues:
        first, *others = [section for section in queue.sections if section in of] or [""]
        for other in others:
            if of[other] is not of[first]:
                of[first] += of[other]
                for section in of[other]:
                    of[section] = of[first]
    seen: set[str] = set()
    for section in sections:
        if section not in seen:
            seen.update(of[section])
            yield tuple(of[section])


def _size(
    name: str,
    unit: Sequence[str],
    groups: Sequence[NodeGroup],
    sections: Mapping[str, NodeGroupSection],
    queues: Sequence[QueuePlan],
) -> ComputeStack:
    plans = [queue for queue in queues if queue.sections[0] in unit]
    size = ComputeStack(number=0, resources=len(plans))
    for queue in plans:
        size.bytes += _BYTES_OF_A_QUEUE + _BYTES_OF_A_SETTING * len(queue.settings)
        size.bytes += _BYTES_OF_A_GROUP_IN_A_QUEUE * sum(group.section in queue.sections for group in groups)
    for group in groups:
        if group.section not in unit or group.elastic:
            continue
        section, block = sections[group.section], isinstance(group.capacity, Block)
        size.groups.append(group.name)
        size.resources += _RESOURCES_OF_A_GROUP + block * _RESOURCES_OF_A_BLOCK
        size.resources += group.canary * _RESOURCES_OF_A_CANARY
        size.bytes += (
            _BYTES_OF_A_GROUP
            + _BYTES_OF_USER_DATA * bool(group.pods)
            + _BYTES_OF_A_BLOCK * block
            + _BYTES_OF_A_CANARY * group.canary
            + (_BYTES_OF_AN_INTERFACE + _NAMES_OF_AN_INTERFACE * len(name)) * _interfaces(group)
            + _BYTES_OF_A_SCRIPT * len(section.scripts)
            + _BYTES_OF_A_SETTING * (len(group.slurm.settings) + len(group.slurm.gres) + len(group.taints))
            + _BYTES_OF_A_SETTING * len(group.labels)
            + sum(_COPIES_OF_A_TAG * (len(key) + len(value) + 50) for key, value in section.tags.items())
        )
    return size


def _interfaces(group: NodeGroup) -> int:
    """Return the network interfaces of a node; 0 for a layout that its type cannot have, which is another error."""
    try:
        return len(group.interfaces)
    except ValueError:
        return 0
