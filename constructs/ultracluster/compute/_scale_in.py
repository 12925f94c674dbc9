"""Scaling in before a Capacity Block ends."""

from datetime import timedelta

from aws_cdk import aws_autoscaling as autoscaling
from constructs import Construct

from ultracluster.compute._arguments import Errors
from ultracluster.planning import checked
from ultracluster.planning.capacity import Block, check_end

#: Lead time before EC2 terminates the instances, in which pods and jobs can leave.
LEAD = timedelta(hours=1)


class ScaleInBeforeEnd(Construct):
    """A scheduled action that scales an Auto Scaling group to zero before its Capacity Block ends.

    EKS does this itself for managed node groups. Self-managed nodes also need AWS Node Termination Handler; without it,
    pods are not drained.

    Args:
        auto_scaling_group_name: Name of the group.
        capacity: The block, with its end.
        lead: Lead time before EC2 terminates the instances. Default: one hour.

    Raises:
        ValueError: If the end of the block is not known, lead is negative, or an argument has a wrong type.

    See: https://docs.aws.amazon.com/eks/latest/userguide/ml-node-groups.html (read 2026-11-21)
    """

    @checked
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
        errors = Errors(check_end(capacity))
        if lead < timedelta(0):
            errors.messages.append(f"lead cannot be negative, got {lead}")
        errors.check(self)
        end = capacity.terminates_at
        assert end is not None
        self.resource = autoscaling.CfnScheduledAction(
            self,
            "Resource",
            auto_scaling_group_name=auto_scaling_group_name,
            start_time=f"{end - lead:%Y-%m-%dT%H:%M:%SZ}",
            min_size=0,
            max_size=0,
            desired_capacity=0,
        )
