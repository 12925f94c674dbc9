"""Keys that keep what a number of nodes would replace: the size of the Slurm controller, EFA interfaces for Lustre."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ultracluster.catalogue.schedulers import pcs
from ultracluster.catalogue.storage import lustre_quotas
from ultracluster.cli._deploy_check import Templates, properties_of

if TYPE_CHECKING:
    from cdk_rehearsal.guard import Finding, Report
    from ultracluster.clusterfile import ClusterFile

_CLUSTER, _SIZE = "AWS::PCS::Cluster", "Size"
# Type of a node group -> properties with its name, and with its number of nodes.
_GROUPS = {
    "AWS::PCS::ComputeNodeGroup": ("Name", "ScalingConfiguration", "MaxInstanceCount"),
    "AWS::EKS::Nodegroup": ("NodegroupName", "ScalingConfig", "MaxSize"),
}


def with_remedies(report: "Report", cluster: "ClusterFile", deployed: Templates) -> "Report":
    """Return the report with the keys that keep the Slurm cluster and the EFA interfaces of nodes.

    Args:
        report: Report of the guard.
        cluster: Cluster file.
        deployed: Templates that are deployed.
    """
    findings = tuple(_sized(finding, cluster, deployed) for finding in report.findings)
    return replace(report, findings=findings, in_place=(*report.in_place, *_interfaces(report, cluster, deployed)))


def _sized(finding: "Finding", cluster: "ClusterFile", deployed: Templates) -> "Finding":
    before = properties_of(deployed, finding.stack, finding.logical_id)
    size = str(before.get(_SIZE))
    if finding.type != _CLUSTER or before.get("Name") != cluster.name or size not in pcs.SIZES:
        return finding
    if cluster.instances <= pcs.SIZES[size]:
        remedy = f"to keep the cluster, write slurm: {{size: {size}}}"
    else:
        remedy = (
            f"a {size} controller manages {pcs.SIZES[size]} instances, and its size is fixed: to keep the cluster, "
            "write fewer nodes, or make a second cluster"
        )
    causes = tuple(
        replace(cause, reason=f"{cause.reason}; {remedy}") if cause.property == _SIZE else cause
        for cause in finding.causes
    )
    return replace(finding, causes=causes)


def _interfaces(report: "Report", cluster: "ClusterFile", deployed: Templates) -> "Iterator[Finding]":
    """Yield a finding if the number of nodes changes the EFA interfaces that each uses for the file system."""
    from cdk_rehearsal.guard import Cause, Fate, Finding

    lustre = cluster.storage.lustre
    if lustre is None or not cluster.lustre_efa or lustre.client.efa_interfaces is not None:
        return
    changed = [finding for finding in report.nodes if finding.type in _GROUPS and finding.fate is not Fate.DELETED]
    usual = max((kind.lustre_efa_interfaces or 0 for kind, _ in cluster.efa_clients), default=0)
    nodes = _nodes(cluster, deployed)
    if not changed or not usual or not nodes:
        return
    before = min(usual, max(1, lustre_quotas.EFA_CONNECTIONS // nodes))
    after = cluster.lustre_client.efa_interfaces or usual
    if before == after:
        return
    text = (
        f"a node uses {after} EFA interfaces for Lustre in place of {before}, because all nodes share "
        f"{lustre_quotas.EFA_CONNECTIONS:,} connections: that replaces the nodes of all groups with EFA"
    )
    if after > before:
        text += f"; to keep them, write storage.lustre: {{client: {{efa-interfaces: {before}}}}}"
    else:
        text += "; write the number of the largest cluster, client: {efa-interfaces: N}, and it is for the last time"
    cause = Cause(fate=Fate.DRAINED, property="efa-interfaces", reason=text)
    first = changed[0]
    yield Finding(
        stack=first.stack, logical_id=first.logical_id, type=first.type, holds="its nodes run jobs", causes=(cause,)
    )


def _nodes(cluster: "ClusterFile", deployed: Templates) -> int:
    """Return the deployed nodes that use EFA for the file system; those of a group that left the file count."""
    near = {
        group.name: group.zone == cluster.lustre_zone and bool(group.instance_type.lustre_efa_interfaces)
        for group in cluster.node_groups
    }
    count = sum(group.count for group in cluster.node_groups if group.elastic and near[group.name])
    for template in deployed.values():
        for resource in template.get("Resources", {}).values():
            name, scaling, most = _GROUPS.get(resource.get("Type"), ("", "", ""))
            properties = resource.get("Properties") or {}
            if name and near.get(str(properties.get(name)), properties.get(name) not in ("login", "system")):
                number = (properties.get(scaling) or {}).get(most)
                count += number if isinstance(number, int) else 0
    return count
