"""Facts about the hardware, each with its source and the day it was read. Pure Python: no CDK, no Node, no network."""

from ultracluster.hardware.catalogue import INSTANCE_TYPES, instance_type
from ultracluster.hardware.gpus import GPUS, Gpu
from ultracluster.hardware.instance_type import InstanceType, NetworkCard, SoftwareFloor
from ultracluster.hardware.interfaces import LAYOUTS, Interface, Layout, addresses, check_interfaces, interfaces
from ultracluster.hardware.ultraservers import ULTRASERVERS, UltraServer, ultraserver

__all__ = [
    "GPUS",
    "INSTANCE_TYPES",
    "LAYOUTS",
    "ULTRASERVERS",
    "Gpu",
    "InstanceType",
    "Interface",
    "Layout",
    "NetworkCard",
    "SoftwareFloor",
    "UltraServer",
    "addresses",
    "check_interfaces",
    "instance_type",
    "interfaces",
    "ultraserver",
]
