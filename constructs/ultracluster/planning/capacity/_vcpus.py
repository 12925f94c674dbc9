"""vCPUs of nodes in the quotas of EC2."""

from collections.abc import Iterable

from ultracluster.catalogue.ec2 import InstanceType, VcpuQuota, vcpu_quota
from ultracluster.planning.capacity._purchase_options import Block, Capacity, Spot, TrainingPlan


def vcpu_needs(nodes: Iterable[tuple[InstanceType, Capacity, int]]) -> dict[VcpuQuota, int]:
    """Return the vCPUs of nodes by quota, in the order of the nodes.

    Capacity Blocks count against none; reservations count as on-demand instances, used or not.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-on-demand-instances.html (read 2026-11-21)
    """
    needs: dict[VcpuQuota, int] = {}
    for record, capacity, count in nodes:
        if isinstance(capacity, Block | TrainingPlan):
            continue
        quota = vcpu_quota(record.name, "spot" if isinstance(capacity, Spot) else "on-demand")
        needs[quota] = needs.get(quota, 0) + count * record.vcpus
    return needs
