"""Arithmetic on the facts: addresses, checkpoints, file systems, ways to buy capacity. Answers carry their reasons."""

from ultracluster.planning.addresses import (
    SubnetPlan,
    largest_training_subnet,
    plan_subnets,
    subnet_capacity,
    subnet_prefix,
)
from ultracluster.planning.capacity import (
    Capacity,
    CapacityBlock,
    OnDemand,
    OpenReservation,
    ReservationGroup,
    Spot,
    TargetedReservation,
    TrainingPlan,
    UltraServerBlock,
)
from ultracluster.planning.checkpoints import Checkpoint, CheckpointTimes, checkpoint_bytes, checkpoint_times
from ultracluster.planning.lustre import LustreSize, size_lustre
from ultracluster.planning.lustre_check import check_capacity, check_lustre
from ultracluster.planning.lustre_clients import LustreClients
from ultracluster.planning.lustre_goal import LustreGoal, LustreOverrides
from ultracluster.planning.lustre_offer import LustreOffer, lustre_offer
from ultracluster.planning.lustre_plan import LustrePlan, plan_lustre
from ultracluster.planning.lustre_spec import LustreSpec

__all__ = [
    "Capacity",
    "CapacityBlock",
    "Checkpoint",
    "CheckpointTimes",
    "LustreClients",
    "LustreGoal",
    "LustreOffer",
    "LustreOverrides",
    "LustrePlan",
    "LustreSize",
    "LustreSpec",
    "OnDemand",
    "OpenReservation",
    "ReservationGroup",
    "Spot",
    "SubnetPlan",
    "TargetedReservation",
    "TrainingPlan",
    "UltraServerBlock",
    "check_capacity",
    "check_lustre",
    "checkpoint_bytes",
    "checkpoint_times",
    "largest_training_subnet",
    "lustre_offer",
    "plan_lustre",
    "plan_subnets",
    "size_lustre",
    "subnet_capacity",
    "subnet_prefix",
]
