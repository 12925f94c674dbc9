"""vCPUs of nodes in the quotas of EC2."""

from collections.abc import Iterable
from dataclasses import dataclass

from ultracluster.catalogue.ec2 import InstanceType, VcpuQuota, vcpu_quota
from ultracluster.planning.capacity._purchase_options import (
    Capacity,
    CapacityBlock,
    Spot,
    TrainingPlan,
    UltraServerBlock,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class VcpuNeed:
    """vCPUs of nodes in one quota.

    Args:
        quota: The quota.
        vcpus: vCPUs of the nodes.
    """

    quota: VcpuQuota
    vcpus: int


def vcpu_needs(nodes: Iterable[tuple[InstanceType, Capacity, int]]) -> list[VcpuNeed]:
    """Return the vCPUs of nodes by quota, in the order of the nodes.

    Capacity Blocks count against none; reservations count as on-demand instances, used or not.

    Args:
        nodes: Type, purchase option and number of nodes of each group.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-on-demand-instances.html (read 2026-11-21)
    """
    needs: dict[VcpuQuota, int] = {}
    for record, capacity, count in nodes:
        if isinstance(capacity, CapacityBlock | UltraServerBlock | TrainingPlan):
            continue
        quota = vcpu_quota(record.name, "spot" if isinstance(capacity, Spot) else "on-demand")
        needs[quota] = needs.get(quota, 0) + count * record.vcpus
    return [VcpuNeed(quota=quota, vcpus=vcpus) for quota, vcpus in needs.items()]
