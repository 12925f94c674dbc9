"""Scaling in before a Capacity Block ends, for Auto Scaling groups of yours."""

from datetime import timedelta

from aws_cdk import aws_autoscaling as autoscaling
from constructs import Construct

from ultracluster.planning import Block

#: How long before its instances are terminated a group lets them go, so that pods and jobs can leave.
LEAD = timedelta(hours=1)


class ScaleInBeforeEnd(Construct):
    """A scheduled action that scales an Auto Scaling group to zero before its Capacity Block ends.

    EKS does this itself for managed node groups; self-managed nodes also want AWS Node Termination Handler, or pods are
    not drained.

    Args:
        auto_scaling_group_name: Name of the group.
        capacity: The block, whose end is known.
        lead: How long before EC2 terminates its instances. Default: one hour.

    Raises:
        ValueError: When the end of the block is not known, or lead is negative.

    See: https://docs.aws.amazon.com/eks/latest/userguide/ml-node-groups.html (read 2026-11-21)
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        auto_scaling_group_name: str,
        capacity: Block,
        lead: timedelta = LEAD,
    ) -> None:
        super().__init__(scope, id)
        if lead < timedelta(0):
            raise ValueError(f"{self.node.path}: lead can't be negative, got {lead}")
        end = capacity.terminates_at
        if end is None:
            raise ValueError(f"{self.node.path}: capacity must say when it ends: {type(capacity).__name__}(ends=...)")
        self.resource = autoscaling.CfnScheduledAction(
            self,
            "Resource",
            auto_scaling_group_name=auto_scaling_group_name,
            start_time=f"{end - lead:%Y-%m-%dT%H:%M:%SZ}",
            min_size=0,
            max_size=0,
            desired_capacity=0,
        )
