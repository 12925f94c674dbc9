"""Arithmetic on the facts: addresses, Lustre sizes, ways to buy, scratch volumes. Answers carry their reasons."""

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
from ultracluster.planning.lustre import LustreSize, check_capacity, size_lustre
from ultracluster.planning.lustre_offer import LustreOffer, lustre_offer
from ultracluster.planning.paths import check_mount_path
from ultracluster.planning.scratch import SCRATCH_STATE, LocalScratch, NodeFile, NodeSetup

__all__ = [
    "SCRATCH_STATE",
    "Capacity",
    "CapacityBlock",
    "LocalScratch",
    "LustreOffer",
    "LustreSize",
    "NodeFile",
    "NodeSetup",
    "OnDemand",
    "OpenReservation",
    "ReservationGroup",
    "Spot",
    "SubnetPlan",
    "TargetedReservation",
    "TrainingPlan",
    "UltraServerBlock",
    "check_capacity",
    "check_mount_path",
    "largest_training_subnet",
    "lustre_offer",
    "plan_subnets",
    "size_lustre",
    "subnet_capacity",
    "subnet_prefix",
]
