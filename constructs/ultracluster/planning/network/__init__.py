"""Subnets and addresses, and the reach of EFA."""

from ultracluster.planning.network._addresses import (
    SubnetPlan,
    largest_training_subnet,
    plan_subnets,
    plan_zone_subnets,
    subnet_capacity,
)
from ultracluster.planning.network._efa_reach import EFA_REACH, check_efa_reach

__all__ = [
    "EFA_REACH",
    "SubnetPlan",
    "check_efa_reach",
    "largest_training_subnet",
    "plan_subnets",
    "plan_zone_subnets",
    "subnet_capacity",
]
