"""Node groups: capacity, placement, images, boot and network interfaces."""

from ultracluster.compute._arguments import read_instance_type
from ultracluster.compute._auto_scaling_group import auto_scaling_group
from ultracluster.compute._auto_scaling_node_group import AutoScalingNodeGroup, IAutoScalingNodeGroup
from ultracluster.compute._boot import user_data
from ultracluster.compute._bundle import allow_bundle
from ultracluster.compute._capacity_notices import CapacityNotices
from ultracluster.compute._capacity_reservation import CapacityReservation, ICapacityReservation
from ultracluster.compute._image_pipeline import IImagePipeline, ImagePipeline
from ultracluster.compute._images import image_id, newest_image
from ultracluster.compute._instance_settings import Access, RootVolume
from ultracluster.compute._launch_template_fields import metadata_options, tag_specifications
from ultracluster.compute._metrics import AutoScalingGroupMetrics, auto_scaling_group_alarms
from ultracluster.compute._mounts import MountableFileSystem
from ultracluster.compute._node_group_template import NodeGroupTemplate
from ultracluster.compute._scale_in import ScaleInBeforeEnd
from ultracluster.compute._script_asset import ScriptAsset
from ultracluster.planning.capacity import (
    Capacity,
    CapacityBlock,
    Image,
    InterruptibleReservation,
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
    "Access",
    "AutoScalingGroupMetrics",
    "AutoScalingNodeGroup",
    "Capacity",
    "CapacityBlock",
    "CapacityNotices",
    "CapacityReservation",
    "IAutoScalingNodeGroup",
    "ICapacityReservation",
    "IImagePipeline",
    "Image",
    "ImagePipeline",
    "InterruptibleReservation",
    "MountableFileSystem",
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
    "allow_bundle",
    "auto_scaling_group",
    "auto_scaling_group_alarms",
    "image_id",
    "metadata_options",
    "newest_image",
    "read_instance_type",
    "tag_specifications",
    "user_data",
]
