"""Node groups: how they are bought, placed, booted, and wired to the network."""

from ultracluster.compute.boot import user_data
from ultracluster.compute.capacity_notices import CapacityNotices
from ultracluster.compute.capacity_reservation import CapacityReservation
from ultracluster.compute.image_pipeline import ImagePipeline
from ultracluster.compute.images import UNPINNED_IMAGE, image_id, newest_image
from ultracluster.compute.node_group_template import DECLARED_TYPE, Access, NodeGroupTemplate, RootVolume
from ultracluster.compute.scale_in import ScaleInBeforeEnd
from ultracluster.compute.script_asset import ScriptAsset
from ultracluster.planning import (
    Capacity,
    CapacityBlock,
    Image,
    InterruptibleReservation,
    Mount,
    NamedGroup,
    OnDemand,
    OpenReservation,
    ReservationGroup,
    Service,
    Spot,
    TargetedReservation,
    TrainingPlan,
    UltraServerBlock,
)

__all__ = [
    "DECLARED_TYPE",
    "UNPINNED_IMAGE",
    "Access",
    "Capacity",
    "CapacityBlock",
    "CapacityNotices",
    "CapacityReservation",
    "Image",
    "ImagePipeline",
    "InterruptibleReservation",
    "Mount",
    "NamedGroup",
    "NodeGroupTemplate",
    "OnDemand",
    "OpenReservation",
    "ReservationGroup",
    "RootVolume",
    "ScaleInBeforeEnd",
    "ScriptAsset",
    "Service",
    "Spot",
    "TargetedReservation",
    "TrainingPlan",
    "UltraServerBlock",
    "image_id",
    "newest_image",
    "user_data",
]
