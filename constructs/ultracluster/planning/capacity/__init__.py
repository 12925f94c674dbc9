"""Purchase options, placement, UltraServers, machine images and vCPU quotas."""

from ultracluster.planning.capacity._domains import domains_for, segment
from ultracluster.planning.capacity._image import (
    KERNEL,
    VERSION,
    BuiltImage,
    Image,
    built_image_parameter,
    check_image,
    check_parent,
)
from ultracluster.planning.capacity._placement import (
    PLACEMENT,
    STRATEGIES,
    NamedGroup,
    PlacementOption,
    Strategy,
    placement,
)
from ultracluster.planning.capacity._purchase import Purchase, Service, check_sold, purchase
from ultracluster.planning.capacity._purchase_options import (
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
from ultracluster.planning.capacity._reservation_ids import (
    check_group_arn,
    check_reservation_id,
    check_training_plan_arn,
    is_token,
)
from ultracluster.planning.capacity._scaling import check_count, check_end, check_static_nodes, static_nodes, waits
from ultracluster.planning.capacity._vcpus import vcpu_needs

__all__ = [
    "KERNEL",
    "PLACEMENT",
    "STRATEGIES",
    "VERSION",
    "Block",
    "BuiltImage",
    "Capacity",
    "CapacityBlock",
    "Image",
    "InterruptibleReservation",
    "NamedGroup",
    "OnDemand",
    "OpenReservation",
    "PlacementOption",
    "Purchase",
    "ReservationGroup",
    "Reserved",
    "Service",
    "Spot",
    "Strategy",
    "TargetedReservation",
    "TrainingPlan",
    "UltraServerBlock",
    "built_image_parameter",
    "check_count",
    "check_end",
    "check_group_arn",
    "check_image",
    "check_parent",
    "check_reservation_id",
    "check_sold",
    "check_static_nodes",
    "check_training_plan_arn",
    "domains_for",
    "is_token",
    "placement",
    "purchase",
    "segment",
    "static_nodes",
    "vcpu_needs",
    "waits",
]
