"""States of the queues and node groups of AWS PCS, before an update of their cluster."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ultracluster.cli._deploy_check import DeployCheck, Templates, properties_of

if TYPE_CHECKING:
    from cdk_rehearsal.guard import Report

_TYPE = "AWS::PCS::Cluster"
PCS_NOT_ACTIVE = DeployCheck(
    "pcs-not-active", "AWS PCS updates a cluster only while all its queues and node groups are `ACTIVE`."
)
_LISTS = {
    "node group": ("list_compute_node_groups", "computeNodeGroups"),
    "queue": ("list_queues", "queues"),
}


def updated_clusters(report: "Report", deployed: Templates) -> list[str]:
    """Return the names of the clusters of AWS PCS of which an update changes more than the tags, in place."""
    names = (
        properties_of(deployed, finding.stack, finding.logical_id).get("Name")
        for finding in report.findings
        if finding.type == _TYPE
        and not finding.harmful
        and any(not cause.property.startswith("Tags") for cause in finding.causes)
    )
    return [name for name in names if isinstance(name, str)]


def not_active(name: str, client: Callable[[str, str], Any], region: str) -> list[str]:
    """Return a line for each queue and node group of a cluster that keeps AWS PCS from updating the cluster.

    Args:
        name: Name of the cluster.
        client: Creates clients; needs pcs:ListComputeNodeGroups and pcs:ListQueues.
        region: Region of the cluster.

    Raises:
        ClientError: If the credentials may not list them, or there is no such cluster.

    See: https://docs.aws.amazon.com/pcs/latest/userguide/working-with_clusters_update_procedure.html (read 2026-11-26)
    """
    pcs = client("pcs", region)
    states = {
        f"{kind} {row['name']}": row["status"]
        for kind, (operation, key) in _LISTS.items()
        for page in pcs.get_paginator(operation).paginate(clusterIdentifier=name)
        for row in page[key]
    }
    return [
        PCS_NOT_ACTIVE(
            f"{what} of {name} is {state}, and AWS PCS updates a cluster only while all are ACTIVE: "
            + ("wait, and deploy again" if state.endswith("ING") else "update or remove it first")
        )
        for what, state in states.items()
        if state != "ACTIVE"
    ]
