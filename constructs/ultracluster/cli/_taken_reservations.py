"""New node groups of EKS in the reservation of a group that leaves, whose nodes have its instances until then."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ultracluster.cli._deploy_check import DeployCheck, Templates, cluster_of, properties_of

if TYPE_CHECKING:
    from cdk_rehearsal.guard import Report
    from ultracluster.clusterfile import ClusterFile

_TYPE = "AWS::EKS::Nodegroup"
EKS_RESERVATION_TAKEN = DeployCheck(
    "eks-reservation-taken",
    "CloudFormation creates a node group before it deletes another, whose nodes have the instances of the reservation.",
)


def taken_reservations(report: "Report", cluster: "ClusterFile", deployed: Templates, new: Templates) -> Iterator[str]:
    """Yield a line for each new group with nodes at once, in the reservation of a group that leaves.

    Args:
        report: Report of the guard.
        cluster: Cluster file.
        deployed: Templates that are deployed.
        new: Templates that shall be deployed.

    See: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-update-behaviors.html
    (read 2026-11-27): resources are deleted in the cleanup, after the update.
    """
    leaving = dict[str, tuple[str, int]]()
    for finding in report.nodes:
        stack, id = finding.stack, finding.logical_id
        group = properties_of(deployed, stack, id)
        owner = cluster_of(deployed, stack, group.get("ClusterName"))
        leaves = finding.type == _TYPE and not properties_of(new, stack, id) and finding.name not in report.moved
        reservation = reservation_of(deployed, stack, group)
        if leaves and reservation and owner in (cluster.name, None):
            leaving[reservation] = (finding.name, _nodes(group, "MaxSize"))
    instances = {group.name: getattr(group.capacity, "instances", None) for group in cluster.node_groups}
    for stack, template in new.items() if leaving else ():
        for id, resource in template.get("Resources", {}).items():
            group, name = resource.get("Properties") or {}, (resource.get("Properties") or {}).get("NodegroupName")
            old, nodes = leaving.get(reservation_of(new, stack, group) or "", ("", 0))
            if resource.get("Type") != _TYPE or not old or properties_of(deployed, stack, id):
                continue
            started = _nodes(group, "DesiredSize")
            if started and nodes + started > (instances.get(str(name)) or 0):
                yield EKS_RESERVATION_TAKEN(
                    f"{name} is new in the reservation of {old}, which has its instances until the end of the "
                    f"deployment, so that {name} cannot start. Keep the name, or deploy twice: first without {name} "
                    f"(--allow {old}), then with it. If the reservation has room for both, write its `instances`"
                )


def _nodes(group: Any, key: str) -> int:
    number = (group.get("ScalingConfig") or {}).get(key)
    return number if isinstance(number, int) else 0


def reservation_of(templates: Templates, stack: str, group: Any) -> str | None:
    """Return the reservation of a node group of EKS or AWS PCS, or None if its template shows none."""
    match group.get("LaunchTemplate") or group.get("CustomLaunchTemplate"):
        case {"Id": {"Ref": str(id)}} | {"TemplateId": {"Ref": str(id)}}:
            data = properties_of(templates, stack, id).get("LaunchTemplateData") or {}
            target = (data.get("CapacityReservationSpecification") or {}).get("CapacityReservationTarget") or {}
            reservation = target.get("CapacityReservationId")
            return reservation if isinstance(reservation, str) else None
    return None
