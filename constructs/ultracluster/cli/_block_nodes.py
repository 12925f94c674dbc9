"""Node groups of EKS with a Capacity Block: nodes that an update needs gone, and nodes that an end has taken."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ultracluster.cli._deploy_check import DeployCheck, Templates, cluster_of, properties_of

if TYPE_CHECKING:
    from cdk_rehearsal.guard import Report

_TYPE = "AWS::EKS::Nodegroup"
EKS_BLOCK_NODES = DeployCheck(
    "eks-block-nodes",
    "AWS asks for no nodes in a node group of EKS with a Capacity Block before its nodes are updated.",
)


def sizes(deployed: Templates, client: Callable[[str, str], Any], region: str) -> dict[tuple[str, str], int]:
    """Return how many nodes each deployed node group with a Capacity Block shall have now, by stack and logical id.

    Args:
        deployed: Templates that are deployed.
        client: Creates clients; needs eks:DescribeNodegroup.
        region: Region of the cluster.

    Raises:
        ClientError: If the credentials may not describe them.
    """
    result = {}
    for place, group in _block_groups(deployed):
        owner = cluster_of(deployed, place[0], group.get("ClusterName"))
        if owner is not None and isinstance(group.get("NodegroupName"), str):
            answer = client("eks", region).describe_nodegroup(clusterName=owner, nodegroupName=group["NodegroupName"])
            result[place] = answer["nodegroup"]["scalingConfig"]["desiredSize"]
    return result


def updates_with_nodes(report: "Report", deployed: Templates, nodes: Mapping[tuple[str, str], int]) -> Iterator[str]:
    """Yield a line for each node group with a Capacity Block and nodes, whose nodes an update replaces.

    Args:
        report: Report of the guard.
        deployed: Templates that are deployed.
        nodes: Numbers of nodes, as `sizes` returns them.

    See: https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html (read 2026-11-27)
    """
    from cdk_rehearsal.guard import Fate

    for finding in report.nodes:
        count = nodes.get((finding.stack, finding.logical_id), 0)
        changed = [cause.property for cause in finding.causes if cause.fate is Fate.DRAINED]
        if finding.type == _TYPE and changed and count:
            yield EKS_BLOCK_NODES(
                f"{finding.name} has {count} nodes in a Capacity Block, and AWS asks for none before an update of them "
                f"({', '.join(changed)}). Let the jobs leave by `ultracluster apply FILE --hold drain`, run `"
                f"{_command(deployed, finding.stack, finding.logical_id, 0)}`, and deploy when they are gone. Then run "
                f"it with desiredSize={count}, and `ultracluster apply FILE --gate`"
            )


def left_empty(deployed: Templates, assembled: Templates, nodes: Mapping[tuple[str, str], int]) -> Iterator[str]:
    """Yield a line for each node group that stays without nodes although its Capacity Block runs.

    A schedule, or EKS, scaled it to zero before an end that has been extended since. The template asks for as many
    nodes as before, so that CloudFormation does not scale it.

    Args:
        deployed: Templates that are deployed.
        assembled: Templates that shall be deployed.
        nodes: Numbers of nodes, as `sizes` returns them.
    """
    for (stack, logical_id), count in nodes.items():
        before, after = (
            (properties_of(side, stack, logical_id).get("ScalingConfig") or {}).get("DesiredSize", 0)
            for side in (deployed, assembled)
        )
        if count == 0 and after and before == after:
            yield (
                f"{stack}/{logical_id} has no nodes, and no deployment starts them: its template had {after} before. "
                f"If its Capacity Block was extended after the nodes were ended, run "
                f"`{_command(deployed, stack, logical_id, after)}`"
            )


def _block_groups(deployed: Templates) -> Iterator[tuple[tuple[str, str], Mapping[str, Any]]]:
    for stack, template in deployed.items():
        for logical_id, resource in template.get("Resources", {}).items():
            properties = resource.get("Properties") or {}
            if resource["Type"] == _TYPE and properties.get("CapacityType") == "CAPACITY_BLOCK":
                yield (stack, logical_id), properties


def _command(deployed: Templates, stack: str, logical_id: str, count: int) -> str:
    group = properties_of(deployed, stack, logical_id)
    return (
        f"aws eks update-nodegroup-config --cluster-name {cluster_of(deployed, stack, group['ClusterName'])} "
        f"--nodegroup-name {group['NodegroupName']} --scaling-config minSize=0,desiredSize={count}"
    )
