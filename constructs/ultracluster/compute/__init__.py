"""Node groups: how they are bought, placed, booted, and wired to the network."""

from ultracluster.compute.boot import Mount, user_data
from ultracluster.compute.images import UNPINNED_IMAGE, pcs_image
from ultracluster.compute.node_group_template import NodeGroupTemplate
from ultracluster.planning import (
    Capacity,
    CapacityBlock,
    OnDemand,
    OpenReservation,
    ReservationGroup,
    Spot,
    TargetedReservation,
    UltraServerBlock,
)

__all__ = [
    "UNPINNED_IMAGE",
    "Capacity",
    "CapacityBlock",
    "Mount",
    "NodeGroupTemplate",
    "OnDemand",
    "OpenReservation",
    "ReservationGroup",
    "Spot",
    "TargetedReservation",
    "UltraServerBlock",
    "pcs_image",
    "user_data",
]
