"""Keys that keep what a number of nodes would replace: the size of the Slurm controller, EFA interfaces for Lustre."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ultracluster.catalogue.schedulers import pcs
from ultracluster.catalogue.storage import lustre_quotas
from ultracluster.cli._deploy_check import Templates, properties_of

if TYPE_CHECKING:
    from cdk_rehearsal.guard import Finding, Report
    from ultracluster.catalogue.ec2 import InstanceType
    from ultracluster.clusterfile import ClusterFile

_CLUSTER, _SIZE = "AWS::PCS::Cluster", "Size"
# https://docs.aws.amazon.com/pcs/latest/userguide/working-with_cng_update.html (read 2026-11-27)
_LOGIN = (
    "changes, and AWS PCS changes neither the instance type nor the name of a node group; the group of the login nodes "
    "is always called login: keep slurm.login.type"
)
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
    findings = tuple(_login(_sized(finding, cluster, deployed), deployed) for finding in report.findings)
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


def _login(finding: "Finding", deployed: Templates) -> "Finding":
    from cdk_rehearsal.guard import Fate

    group = properties_of(deployed, finding.stack, finding.logical_id)
    if finding.type != "AWS::PCS::ComputeNodeGroup" or group.get("Name") != "login":
        return finding
    causes = tuple(replace(cause, reason=_LOGIN) if cause.fate is Fate.REFUSED else cause for cause in finding.causes)
    return replace(finding, causes=causes)


def _interfaces(report: "Report", cluster: "ClusterFile", deployed: Templates) -> "Iterator[Finding]":
    """Yield a finding if the number of nodes changes the EFA interfaces that each uses for the file system."""
    from cdk_rehearsal.guard import Cause, Fate, Finding
    from ultracluster.clusterfile import lustre_client

    lustre = cluster.storage.lustre
    if lustre is None or not cluster.lustre_efa or lustre.client.efa_interfaces is not None:
        return
    changed = [finding for finding in report.nodes if finding.type in _GROUPS and finding.fate is not Fate.DELETED]
    usual = max((kind.lustre_efa_interfaces or 0 for kind, _ in cluster.efa_clients), default=0)
    if not changed or not usual or not (nodes := _nodes(cluster, deployed)):
        return
    # None for as many as AWS's tool sets up.
    old, new = (lustre_client(lustre, it).efa_interfaces for it in (nodes, cluster.efa_clients))
    if old == new:
        return
    before, after = old or usual, new or usual
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


def _nodes(cluster: "ClusterFile", deployed: Templates) -> "list[tuple[InstanceType, int]]":
    """Return types and numbers of the deployed nodes near the file system; a group that left the file had EFA."""
    groups = {group.name: group for group in cluster.node_groups}
    near = {name for name, group in groups.items() if group.zone == cluster.lustre_zone}
    result = [(group.instance_type, group.count) for group in groups.values() if group.elastic and group.name in near]
    most = max((kind for kind, _ in cluster.efa_clients), key=lambda kind: kind.lustre_efa_interfaces or 0)
    for template in deployed.values():
        for resource in template.get("Resources", {}).values():
            key, scaling, limit = _GROUPS.get(resource.get("Type"), ("", "", ""))
            properties = resource.get("Properties") or {}
            name, count = str(properties.get(key)), (properties.get(scaling) or {}).get(limit)
            if key and isinstance(count, int) and name not in ("login", "system", *(groups.keys() - near)):
                result.append((groups[name].instance_type if name in groups else most, count))
    return result
