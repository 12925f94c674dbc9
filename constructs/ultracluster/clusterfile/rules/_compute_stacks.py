"""Rules of the stacks of node groups."""

from collections.abc import Iterator

from ultracluster.clusterfile._compute_stacks import units
from ultracluster.clusterfile._draft import Draft, valid
from ultracluster.clusterfile._problems import Path, Problem
from ultracluster.clusterfile.rules._rule import error

_SIZE = error("compute-stack-size", "CloudFormation accepts 500 resources and 1,000,000 bytes in a template.")
_ONE = error("compute-stack-queue", "A queue refers to each of its node groups, which are in its stack.")
_ELASTIC = error("compute-stack-elastic", "Karpenter launches the nodes of an elastic group, which no stack holds.")
_GAP = error("compute-stack-number", "Stacks are numbered from 1, without gaps.")


def check_compute_stacks(draft: Draft) -> Iterator[Problem]:
    """Check that CloudFormation takes the templates of the node groups."""
    if not draft.node_groups or not draft.traits.own_instances:
        return
    pinned = {name: section.stack for name, section in draft.nodes.items() if section.stack}
    for group in draft.node_groups:
        if group.elastic and group.section in pinned:
            message = f"is for node groups of EKS, and Karpenter launches the nodes of {group.section}; remove it"
            yield _ELASTIC(("nodes", group.section, "stack"), message)
            return
    queues = valid(lambda: draft.queues) or ()
    for unit in units(list(draft.nodes), queues):
        numbers = {name: pinned[name] for name in unit if name in pinned}
        if len(set(numbers.values())) > 1:
            first, *others = numbers
            other = next(name for name in others if numbers[name] != numbers[first])
            path: Path = ("nodes", other, "stack")
            message = (
                f"is {numbers[other]}, and {first}, with which {other} shares queues, has {numbers[first]}; write the "
                "same number, or make queues that do not share node groups"
            )
            yield _ONE(path, message)
            return
    stacks = draft.compute_stacks
    expected = 1
    for stack in stacks:
        names = [group.section for group in draft.node_groups if group.name in stack.groups]
        at = next((name for name in names if name in pinned), None)
        if stack.number != expected:
            path = ("nodes", at, "stack") if at else ("nodes",)
            yield _GAP(path, f"is {stack.number}, and no node group is in stack {expected}; write {expected}")
            return
        expected += 1
        if stack.full:
            path = ("nodes", at, "stack") if at else ("nodes",)
            several = [queue for queue in queues if len(queue.sections) > 1 and queue.sections[0] in names]
            fix = (
                "write another number, or none"
                if at
                else f"its groups share queues, such as {several[0].name}: make queues of fewer groups"
                if several
                else "list fewer Capacity Blocks in a group"
            )
            message = (
                f"stack {stack.number} has {len(stack.groups)} node groups, which make up to {stack.resources} "
                f"resources and {stack.bytes:,} bytes; CloudFormation accepts 500 and 1,000,000, of which a part is "
                f"kept "
                f"free; {fix}"
            )
            yield _SIZE(path, message)
