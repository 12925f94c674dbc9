"""Nodes of SageMaker HyperPod before an update of their cluster: those that no template has, and those under test."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ultracluster.cli._deploy_check import DeployCheck, Templates, properties_of

if TYPE_CHECKING:
    from cdk_rehearsal.guard import Report

_TYPE = "AWS::SageMaker::Cluster"
HYPERPOD_CHECKS = DeployCheck(
    "hyperpod-deep-checks", "HyperPod does not update a cluster of EKS while deep health checks of its nodes run."
)
#: Nodes of each instance group, by stack and logical id of the cluster.
Counts = Mapping[tuple[str, str], Mapping[str, int]]


def updated_hyperpod(report: "Report", deployed: Templates) -> dict[tuple[str, str], str]:
    """Return the names of the HyperPod clusters that an update changes in place, by stack and logical id."""
    from cdk_rehearsal.guard import Fate

    places = [
        (finding.stack, finding.logical_id)
        for finding in report.nodes
        if finding.type == _TYPE and finding.fate not in (Fate.DELETED, Fate.ORPHANED, Fate.REPLACED)
    ]
    names = {place: properties_of(deployed, *place).get("ClusterName") for place in places}
    return {place: name for place, name in names.items() if isinstance(name, str)}


def group_counts(name: str, client: Callable[[str, str], Any], region: str) -> dict[str, int]:
    """Return how many nodes each instance group has, or shall have if these are more.

    Args:
        name: Name of the cluster.
        client: Creates clients; needs sagemaker:DescribeCluster.
        region: Region of the cluster.

    Raises:
        ClientError: If the credentials may not describe it, or there is no such cluster.
    """
    groups = client("sagemaker", region).describe_cluster(ClusterName=name)["InstanceGroups"]
    return {
        group["InstanceGroupName"]: max(group.get("CurrentCount", 0), group.get("TargetCount", 0)) for group in groups
    }


def with_other_nodes(report: "Report", counts: Counts, assembled: Templates, allow: Collection[str] = ()) -> "Report":
    """Return the report with the nodes that an update ends although both templates have the same number.

    An update sends the number of nodes of each instance group, which Karpenter, and commands, have raised since.

    Args:
        report: Report of the guard.
        counts: Nodes that there are, of the clusters that an update changes.
        assembled: Templates that shall be deployed.
        allow: Names of resources that may be lost.

    See: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_BatchAddClusterNodes.html and
    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-cli-command-update-cluster.html
    (read 2026-11-27)
    """
    from cdk_rehearsal.guard import Cause, Fate

    nodes, unused = [], dict(report.unused)
    for finding in report.nodes:
        place = (finding.stack, finding.logical_id)
        known = {cause.property for cause in finding.causes if cause.fate.ends_nodes}
        causes = [
            Cause(
                fate=Fate.FEWER,
                property=path,
                reason=f"from {running} to {requested} nodes: an update sends the number of the template. Karpenter, "
                "or a command, has launched the others, and they end with their pods: deploy while there are none",
            )
            for name, requested in _requested(properties_of(assembled, *place))
            if (running := counts.get(place, {}).get(name, 0)) > requested
            and (path := f"InstanceGroups.{name}") not in known
        ]
        names = {finding.name, finding.logical_id}
        if causes and (named := names.intersection(allow)):
            finding = replace(finding, allowed=True)
            unused = {name: why for name, why in unused.items() if name not in named}
        nodes.append(replace(finding, causes=(*finding.causes, *causes)))
    return replace(report, nodes=tuple(nodes), unused=unused)


def under_test(name: str, properties: Mapping[str, Any], client: Callable[[str, str], Any], region: str) -> list[str]:
    """Return a line if nodes of a cluster of EKS are tested, so that HyperPod does not update the cluster.

    Args:
        name: Name of the cluster.
        properties: Its properties in the template that is deployed.
        client: Creates clients; needs sagemaker:ListClusterNodes.
        region: Region of the cluster.

    Raises:
        ClientError: If the credentials may not list the nodes, or there is no such cluster.

    See: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-cli-command-update-cluster.html
    (read 2026-11-27)
    """
    if "Eks" not in (properties.get("Orchestrator") or {}):
        return []
    pages = client("sagemaker", region).get_paginator("list_cluster_nodes").paginate(ClusterName=name)
    count = sum(
        node["InstanceStatus"]["Status"] == "DeepHealthCheckInProgress"
        for page in pages
        for node in page["ClusterNodeSummaries"]
    )
    if not count:
        return []
    nodes = f"{count} node" if count == 1 else f"{count} nodes"
    text = (
        f"deep health checks of {nodes} of {name} run, and AWS asks to update the cluster when they have ended, after "
        f"some hours at most: `aws sagemaker list-cluster-nodes --cluster-name {name}`; then deploy again"
    )
    return [HYPERPOD_CHECKS(text)]


def _requested(properties: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    groups = properties.get("InstanceGroups")
    for group in groups if isinstance(groups, list) else ():
        if isinstance(name := group.get("InstanceGroupName"), str) and isinstance(
            count := group.get("InstanceCount"), int
        ):
            yield name, count
