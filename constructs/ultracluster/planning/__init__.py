"""Arithmetic on the facts: addresses, checkpoints, file systems, ways to buy capacity. Answers carry their reasons."""

from ultracluster.planning.addresses import (
    SubnetPlan,
    largest_training_subnet,
    plan_subnets,
    plan_zone_subnets,
    subnet_capacity,
    subnet_prefix,
)
from ultracluster.planning.associations import Association, association_warnings, check_associations
from ultracluster.planning.boot_script import BootScript, boot_script
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
from ultracluster.planning.checkpoints import Checkpoint, CheckpointTimes, checkpoint_bytes, checkpoint_times
from ultracluster.planning.deep_check import DEEP_CHECK, deep_check
from ultracluster.planning.directory_bucket import check_directory_bucket, directory_bucket_warnings
from ultracluster.planning.domains import Domains, domains_for, segment
from ultracluster.planning.efa_reach import check_efa_reach
from ultracluster.planning.eks_boot import (
    GPU_TAINT,
    ClusterAccess,
    EksBoot,
    NodeSettings,
    Taint,
    bottlerocket_settings,
    eks_boot,
)
from ultracluster.planning.failures import days_between_interruptions
from ultracluster.planning.health import DEVICES_STATE, HEALTH_UNIT, HPC_JOBS, health_boot, health_settings
from ultracluster.planning.images import Image, check_image
from ultracluster.planning.linked_bucket import Purpose, Tier, link_problems
from ultracluster.planning.lustre_check import check_capacity, check_lustre
from ultracluster.planning.lustre_clients import LustreClients
from ultracluster.planning.lustre_goal import LustreGoal, LustreOverrides
from ultracluster.planning.lustre_offer import LustreOffer, lustre_offer
from ultracluster.planning.lustre_plan import LustrePlan, plan_lustre
from ultracluster.planning.lustre_spec import LustreSpec
from ultracluster.planning.mountpoint import Mountpoint
from ultracluster.planning.mounts import Mount, Mountable, Volume
from ultracluster.planning.nfs_boot import NFS_CLIENT_UNIT, nfs_client_boot
from ultracluster.planning.node_files import NodeBoot, NodeFile, mount_unit
from ultracluster.planning.node_repair import RepairOverride, repair_overrides
from ultracluster.planning.openzfs import OpenZfsSize, size_openzfs
from ultracluster.planning.paths import check_mount_path
from ultracluster.planning.placement import NamedGroup, PlacementWish, Strategy, placement
from ultracluster.planning.purchase import Purchase, Service, check_sold, purchase
from ultracluster.planning.releases import check_release
from ultracluster.planning.scaling import check_static_nodes, static_nodes
from ultracluster.planning.scratch import SCRATCH_STATE, SCRATCH_UNIT, LocalScratch, NodeSetup
from ultracluster.planning.slurm_boot import (
    LUSTRE_EFA_UNIT,
    MOUNTS_METRICS,
    MOUNTS_STATE,
    EfaBundle,
    LustreClient,
    slurm_boot,
)
from ultracluster.planning.system_boot import CONTAINERS_STATE, CONTAINERS_UNIT, system_boot
from ultracluster.planning.users import USERS_UNIT, User, users_boot, users_path
from ultracluster.planning.vcpus import VcpuNeed, vcpu_needs

__all__ = [
    "CONTAINERS_STATE",
    "CONTAINERS_UNIT",
    "DEEP_CHECK",
    "DEVICES_STATE",
    "GPU_TAINT",
    "HEALTH_UNIT",
    "HPC_JOBS",
    "LUSTRE_EFA_UNIT",
    "MOUNTS_METRICS",
    "MOUNTS_STATE",
    "NFS_CLIENT_UNIT",
    "SCRATCH_STATE",
    "SCRATCH_UNIT",
    "USERS_UNIT",
    "Association",
    "Block",
    "BootScript",
    "Capacity",
    "CapacityBlock",
    "Checkpoint",
    "CheckpointTimes",
    "ClusterAccess",
    "Domains",
    "EfaBundle",
    "EksBoot",
    "Image",
    "InterruptibleReservation",
    "LocalScratch",
    "LustreClient",
    "LustreClients",
    "LustreGoal",
    "LustreOffer",
    "LustreOverrides",
    "LustrePlan",
    "LustreSpec",
    "Mount",
    "Mountable",
    "Mountpoint",
    "NamedGroup",
    "NodeBoot",
    "NodeFile",
    "NodeSettings",
    "NodeSetup",
    "OnDemand",
    "OpenReservation",
    "OpenZfsSize",
    "PlacementWish",
    "Purchase",
    "Purpose",
    "RepairOverride",
    "ReservationGroup",
    "Reserved",
    "Service",
    "Spot",
    "Strategy",
    "SubnetPlan",
    "Taint",
    "TargetedReservation",
    "Tier",
    "TrainingPlan",
    "UltraServerBlock",
    "User",
    "VcpuNeed",
    "Volume",
    "association_warnings",
    "boot_script",
    "bottlerocket_settings",
    "check_associations",
    "check_capacity",
    "check_directory_bucket",
    "check_efa_reach",
    "check_image",
    "check_lustre",
    "check_mount_path",
    "check_release",
    "check_sold",
    "check_static_nodes",
    "checkpoint_bytes",
    "checkpoint_times",
    "days_between_interruptions",
    "deep_check",
    "directory_bucket_warnings",
    "domains_for",
    "eks_boot",
    "health_boot",
    "health_settings",
    "largest_training_subnet",
    "link_problems",
    "lustre_offer",
    "mount_unit",
    "nfs_client_boot",
    "placement",
    "plan_lustre",
    "plan_subnets",
    "plan_zone_subnets",
    "purchase",
    "repair_overrides",
    "segment",
    "size_openzfs",
    "slurm_boot",
    "static_nodes",
    "subnet_capacity",
    "subnet_prefix",
    "system_boot",
    "users_boot",
    "users_path",
    "vcpu_needs",
]
