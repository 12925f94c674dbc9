"""Facts about EC2: instance types, GPUs, network cards, UltraServers, zones, quotas; each with source and date."""

from ultracluster.catalogue.ec2 import _software as image_software
from ultracluster.catalogue.ec2._creation_times import (
    ASSUMED_CREATION_MINUTES,
    QUICK_STACK_MINUTES,
    creation_minutes,
)
from ultracluster.catalogue.ec2._describe import instance_type_from_api
from ultracluster.catalogue.ec2._general_types import general_type_names
from ultracluster.catalogue.ec2._gpus import GPUS, Gpu
from ultracluster.catalogue.ec2._image_builds import BUILD_MINUTES, BUILDERS, CHECKS_NOT_RUN
from ultracluster.catalogue.ec2._images import ImageFamily, architecture_of, image_parameter, moves, without_driver
from ultracluster.catalogue.ec2._instance_type import (
    Architecture,
    InstanceType,
    Kind,
    NetworkCard,
    Purchase,
    SoftwareFloor,
)
from ultracluster.catalogue.ec2._interfaces import (
    LAYOUTS,
    Interface,
    Layout,
    addresses,
    check_interfaces,
    default_layout,
    interfaces,
)
from ultracluster.catalogue.ec2._nccl_floors import NCCL_FIGURES, nccl_figure, nccl_nodes
from ultracluster.catalogue.ec2._nvlink import nvlinks
from ultracluster.catalogue.ec2._offerings import CAPACITY_BLOCKS, OFFERED, READ_ON, offered_in
from ultracluster.catalogue.ec2._partitions import domain_of, partition_of, partition_problem
from ultracluster.catalogue.ec2._quotas import (
    ELASTIC_IPS_QUOTA,
    INSTANCES_IN_CAPACITY_BLOCKS,
    INSTANCES_PER_CAPACITY_BLOCK,
    INSTANCES_PER_SPREAD_GROUP,
    LUSTRE_EFA_CONNECTIONS,
    NETWORK_INTERFACES_PER_REGION,
    NETWORK_INTERFACES_QUOTA,
    PARTITIONS_PER_GROUP,
    PCS_NODE_GROUPS_PER_CLUSTER,
    RESERVED_ADDRESSES_PER_SUBNET,
    VPCS_QUOTA,
    VcpuQuota,
    vcpu_quota,
)
from ultracluster.catalogue.ec2._software_set import REPORTED, oldest_software, software_set
from ultracluster.catalogue.ec2._types import INSTANCE_TYPES, instance_type, known_type
from ultracluster.catalogue.ec2._ultraservers import ULTRASERVERS, UltraServer, ultraserver
from ultracluster.catalogue.ec2._zones import REGIONS, ZONE_ID, is_local_zone, region_of_zone

__all__ = [
    "ASSUMED_CREATION_MINUTES",
    "BUILDERS",
    "BUILD_MINUTES",
    "CAPACITY_BLOCKS",
    "CHECKS_NOT_RUN",
    "ELASTIC_IPS_QUOTA",
    "GPUS",
    "INSTANCES_IN_CAPACITY_BLOCKS",
    "INSTANCES_PER_CAPACITY_BLOCK",
    "INSTANCES_PER_SPREAD_GROUP",
    "INSTANCE_TYPES",
    "LAYOUTS",
    "LUSTRE_EFA_CONNECTIONS",
    "NCCL_FIGURES",
    "NETWORK_INTERFACES_PER_REGION",
    "NETWORK_INTERFACES_QUOTA",
    "OFFERED",
    "PARTITIONS_PER_GROUP",
    "PCS_NODE_GROUPS_PER_CLUSTER",
    "QUICK_STACK_MINUTES",
    "READ_ON",
    "REGIONS",
    "REPORTED",
    "RESERVED_ADDRESSES_PER_SUBNET",
    "ULTRASERVERS",
    "VPCS_QUOTA",
    "ZONE_ID",
    "Architecture",
    "Gpu",
    "ImageFamily",
    "InstanceType",
    "Interface",
    "Kind",
    "Layout",
    "NetworkCard",
    "Purchase",
    "SoftwareFloor",
    "UltraServer",
    "VcpuQuota",
    "addresses",
    "architecture_of",
    "check_interfaces",
    "creation_minutes",
    "default_layout",
    "domain_of",
    "general_type_names",
    "image_parameter",
    "image_software",
    "instance_type",
    "instance_type_from_api",
    "interfaces",
    "is_local_zone",
    "known_type",
    "moves",
    "nccl_figure",
    "nccl_nodes",
    "nvlinks",
    "offered_in",
    "oldest_software",
    "partition_of",
    "partition_problem",
    "region_of_zone",
    "software_set",
    "ultraserver",
    "vcpu_quota",
    "without_driver",
]
