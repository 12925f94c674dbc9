"""Node groups that an edit of a cluster file moves to another stack, and the keys that keep them in theirs."""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ultracluster.cli._deploy_check import DeployCheck, Templates, cluster_of

if TYPE_CHECKING:
    from cdk_rehearsal.guard import Report
    from ultracluster.clusterfile import ClusterFile

_STACK = re.compile(r"(?:^|-)Compute(?:-(\d+))?$")
# Property with the name of a group, and that with its cluster.
_GROUPS = {
    "AWS::PCS::ComputeNodeGroup": ("Name", "ClusterId"),
    "AWS::EKS::Nodegroup": ("NodegroupName", "ClusterName"),
}
_QUEUES = {"AWS::PCS::Queue": ("Name", "ClusterId")}
COMPUTE_STACK_MOVED = DeployCheck(
    "compute-stack-moved", "A node group cannot be created in another stack while its name is taken in the first."
)


def with_moved_groups(report: "Report", cluster: "ClusterFile", deployed: Templates) -> "Report":
    """Return the report with the keys to write, if node groups move to another stack.

    Args:
        report: Report of the guard.
        cluster: Cluster file.
        deployed: Templates that are deployed.
    """
    from ultracluster.clusterfile import stacks_to_write

    if not report.moved:
        return report
    file = (cluster.name, cluster.node_groups, cluster.nodes, cluster.queues)
    numbers = _numbers(cluster, deployed, _GROUPS), _numbers(cluster, deployed, _QUEUES)
    write = stacks_to_write(*file, *numbers)
    sections = defaultdict[int, list[str]](list)
    for section, number in write.stack.items():
        sections[number].append(section)
    keys = "; ".join(f"`stack: {number}` into {', '.join(names)}" for number, names in sorted(sections.items()))
    text = (
        "the edit moves node groups or queues to another stack, which cannot be allowed: their names are taken until "
    )
    text += "the old ones are deleted."
    if write.divided:
        text += f" {', '.join(write.divided)} are in different stacks, so no queue may have groups of both"
    else:
        text += f" Write under `nodes` {keys}"
    return replace(report, broken=(*report.broken, COMPUTE_STACK_MOVED(text)))


def _numbers(cluster: "ClusterFile", deployed: Templates, names: Mapping[str, tuple[str, str]]) -> Mapping[str, int]:
    """Return the number of the stack in which each group or queue is deployed."""
    result = dict[str, int]()
    for stack, template in deployed.items():
        for resource in template.get("Resources", {}).values():
            key, owner = names.get(resource.get("Type"), ("", ""))
            properties = resource.get("Properties") or {}
            name, at = properties.get(key), _STACK.search(stack)
            known = isinstance(name, str) and cluster_of(deployed, stack, properties.get(owner)) in (cluster.name, None)
            if at and known:
                result[str(name)] = int(at[1] or 1)
    return result
