"""Arithmetic on the facts: addresses, Lustre sizes, ways to buy capacity. Each answer carries its reasons."""

from ultracluster.planning.addresses import (
    SubnetPlan,
    largest_training_subnet,
    plan_subnets,
    plan_zone_subnets,
    subnet_capacity,
    subnet_prefix,
)
from ultracluster.planning.associations import Association, association_warnings, check_associations
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
from ultracluster.planning.directory_bucket import check_directory_bucket, directory_bucket_warnings
from ultracluster.planning.domains import Domains, domains_for
from ultracluster.planning.failures import days_between_interruptions
from ultracluster.planning.images import Image, check_image
from ultracluster.planning.linked_bucket import Purpose, Tier, link_problems
from ultracluster.planning.lustre import LustreSize, check_capacity, size_lustre
from ultracluster.planning.lustre_offer import LustreOffer, lustre_offer
from ultracluster.planning.mountpoint import Mountpoint
from ultracluster.planning.mounts import Mount, Mountable, Volume
from ultracluster.planning.placement import NamedGroup, PlacementWish, Strategy, placement
from ultracluster.planning.purchase import Purchase, Service, check_sold, purchase
from ultracluster.planning.releases import check_release
from ultracluster.planning.vcpus import VcpuNeed, vcpu_needs

__all__ = [
    "Association",
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
    "Mountpoint",
    "NamedGroup",
    "OnDemand",
    "OpenReservation",
    "PlacementWish",
    "Purchase",
    "Purpose",
    "ReservationGroup",
    "Reserved",
    "Service",
    "Spot",
    "Strategy",
    "SubnetPlan",
    "TargetedReservation",
    "Tier",
    "TrainingPlan",
    "UltraServerBlock",
    "VcpuNeed",
    "Volume",
    "association_warnings",
    "check_associations",
    "check_capacity",
    "check_directory_bucket",
    "check_image",
    "check_release",
    "check_sold",
    "days_between_interruptions",
    "directory_bucket_warnings",
    "domains_for",
    "largest_training_subnet",
    "link_problems",
    "lustre_offer",
    "placement",
    "plan_subnets",
    "plan_zone_subnets",
    "purchase",
    "size_lustre",
    "subnet_capacity",
    "subnet_prefix",
    "vcpu_needs",
]
