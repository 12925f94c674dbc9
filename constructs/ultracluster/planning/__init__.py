"""Arithmetic on the facts: addresses, Lustre sizes, ways to buy capacity. Each answer carries its reasons."""

from ultracluster.planning.addresses import (
    SubnetPlan,
    largest_training_subnet,
    plan_subnets,
    plan_zone_subnets,
    subnet_capacity,
    subnet_prefix,
)
from ultracluster.planning.capacity import (
    Block,
    Capacity,
    CapacityBlock,
    InterruptibleReservation,
    OnDemand,
    OpenReservation,
    ReservationGroup,
    Reserved,
    Spot,
    TargetedReservation,
    TrainingPlan,
    UltraServerBlock,
)
from ultracluster.planning.domains import Domains, domains_for
from ultracluster.planning.failures import days_between_interruptions
from ultracluster.planning.images import Image, check_image
from ultracluster.planning.lustre import LustreSize, check_capacity, size_lustre
from ultracluster.planning.lustre_offer import LustreOffer, lustre_offer
from ultracluster.planning.mounts import Mount, Mountable, Volume
from ultracluster.planning.openzfs import OpenZfsSize, size_openzfs
from ultracluster.planning.placement import NamedGroup, PlacementWish, Strategy, placement
from ultracluster.planning.purchase import Purchase, Service, check_sold, purchase
from ultracluster.planning.vcpus import VcpuNeed, vcpu_needs

__all__ = [
    "Block",
    "Capacity",
    "CapacityBlock",
    "Domains",
    "Image",
    "InterruptibleReservation",
    "LustreOffer",
    "LustreSize",
    "Mount",
    "Mountable",
    "NamedGroup",
    "OnDemand",
    "OpenReservation",
    "OpenZfsSize",
    "PlacementWish",
    "Purchase",
    "ReservationGroup",
    "Reserved",
    "Service",
    "Spot",
    "Strategy",
    "SubnetPlan",
    "TargetedReservation",
    "TrainingPlan",
    "UltraServerBlock",
    "VcpuNeed",
    "Volume",
    "check_capacity",
    "check_image",
    "check_sold",
    "days_between_interruptions",
    "domains_for",
    "largest_training_subnet",
    "lustre_offer",
    "placement",
    "plan_subnets",
    "plan_zone_subnets",
    "purchase",
    "size_lustre",
    "size_openzfs",
    "subnet_capacity",
    "subnet_prefix",
    "vcpu_needs",
]
