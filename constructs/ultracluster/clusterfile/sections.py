"""The sections of a cluster file, as its keys stand in it."""

from ipaddress import IPv4Network

from pydantic import BaseModel, ConfigDict, Field

from ultracluster.clusterfile import types as t
from ultracluster.clusterfile.quantities import Duration, Size
from ultracluster.hardware import InstanceType, instance_type, pcs
from ultracluster.planning import OnDemand


class Section(BaseModel):
    """A mapping of known keys, written with hyphens."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=lambda name: name.replace("_", "-"),
        arbitrary_types_allowed=True,
    )


class NodeGroupSection(Section):
    """A group of equal nodes: one launch template, one Slurm partition."""

    type: t.InstanceTypeName = Field(description="EC2 instance type; `ultracluster types` lists them.")
    count: t.Count = Field(description="How many nodes.")
    capacity: t.Capacity = Field(default=OnDemand(), description="How the nodes are bought.")
    layout: t.Layout | None = Field(
        default=None,
        description="Network interfaces of a node. Default: all-efa, as AWS's templates for PCS have it; one-ip where "
        "the type can't.",
    )
    image: t.ImageId | None = Field(
        default=None,
        description="An image of yours, ready for PCS. Default: the newest of AWS's at each deployment; pin one.",
    )
    root_volume: t.Size = Field(
        default=Size.parse("500 GiB"), description="Root volume, 300 GiB at least: container images are large."
    )
    placement_group: t.Flag = Field(
        default=True,
        description="Whether to make a cluster placement group where the capacity allows one: on-demand and spot.",
    )


class Login(Section):
    """The nodes that people log in to."""

    type: t.InstanceTypeName = Field(default="c7i.2xlarge", description="EC2 instance type; a GPU is not needed.")
    count: t.Count = Field(default=1, description="How many login nodes.")
    image: t.ImageId | None = Field(default=None, description="As for node groups, of the type's architecture.")

    @property
    def instance_type(self) -> InstanceType:
        """The record of the type."""
        return instance_type(self.type)


class Slurm(Section):
    """Slurm, run by AWS PCS."""

    version: t.SlurmVersion = Field(default=pcs.DEFAULT_SLURM_VERSION, description="Version of Slurm.")
    size: t.ControllerSize | None = Field(
        default=None,
        description="Size of the controller: SMALL for 32 instances, MEDIUM for 512, LARGE for 2,048, login nodes "
        "included. It can't change later, so leave room to grow. Default: the smallest that holds the nodes.",
    )
    accounting: t.Flag = Field(default=True, description="Whether Slurm keeps its accounting database.")
    scale_down_idle_time: t.Duration = Field(
        default=Duration.parse("10 min"), description="How long an idle node that was powered on for a job stays."
    )
    login: Login = Field(default=Login(), description="The nodes that people log in to.")


class ExistingNetwork(Section):
    """A network of yours that the cluster moves into."""

    vpc: t.VpcId = Field(description="The VPC.")
    subnet: t.SubnetId = Field(description="The private subnet of nodes, file system and controller, in the zone.")
    cidr: t.Cidr | None = Field(
        default=None, description="Range of the subnet, to check that the nodes fit. Default: not checked."
    )


class Network(Section):
    """The VPC."""

    cidr: t.Cidr = Field(default=IPv4Network("10.0.0.0/16"), description="Range of the VPC, /16 to /26.")
    training_subnet: t.Cidr | None = Field(
        default=None,
        description="Range of the subnet of nodes and file system. Default: a quarter of the VPC, or half.",
    )
    services_zone: t.ZoneId | None = Field(
        default=None,
        description="Zone of what can't sit in a Local Zone: NAT gateway and Slurm controller. Default: `zone`.",
    )
    existing: ExistingNetwork | None = Field(default=None, description="A network of yours, instead of a new VPC.")


class Lustre(Section):
    """An FSx for Lustre file system: persistent SSD, mounted by every node."""

    throughput: t.Throughput = Field(description="Disk throughput that all clients together want.")
    capacity: t.Size | None = Field(
        default=None,
        description="What it must hold; with `tier`, exactly what to buy. Default: what the throughput brings.",
    )
    tier: t.Tier | None = Field(default=None, description="Throughput tier. Default: the cheapest.")
    efa: t.Flag | None = Field(
        default=None, description="Whether clients may use EFA; fixed for its life. Default: above 10 GB/s."
    )
    mount: t.MountPath = Field(default="/fsx", description="Where nodes mount it.")


class Storage(Section):
    """Where the data lives."""

    lustre: Lustre | None = Field(default=None, description="An FSx for Lustre file system. Default: none.")
    data_bucket: t.Flag = Field(default=True, description="A bucket for datasets and checkpoints.")
