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
_NAMES = {"AWS::PCS::ComputeNodeGroup": ("Name", "ClusterId"), "AWS::EKS::Nodegroup": ("NodegroupName", "ClusterName")}
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
    sections = defaultdict[int, list[str]](list)
    for section, number in stacks_to_write(*file, _numbers(cluster, deployed)).items():
        sections[number].append(section)
    keys = "; ".join(f"`stack: {number}` into {', '.join(names)}" for number, names in sorted(sections.items()))
    text = "the edit moves node groups to another stack, which cannot be allowed: their names are taken until the old "
    text += "groups are deleted. Write under `nodes`"
    return replace(report, broken=(*report.broken, COMPUTE_STACK_MOVED(f"{text} {keys}")))


def _numbers(cluster: "ClusterFile", deployed: Templates) -> Mapping[str, int]:
    """Return the number of the stack in which each group is deployed."""
    result = dict[str, int]()
    for stack, template in deployed.items():
        for resource in template.get("Resources", {}).values():
            key, owner = _NAMES.get(resource.get("Type"), ("", ""))
            properties = resource.get("Properties") or {}
            name, at = properties.get(key), _STACK.search(stack)
            known = isinstance(name, str) and cluster_of(deployed, stack, properties.get(owner)) in (cluster.name, None)
            if at and known:
                result[str(name)] = int(at[1] or 1)
    return result
