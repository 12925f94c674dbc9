"""A cluster file, read."""

from functools import cached_property
from typing import Annotated

from pydantic import Field

from ultracluster.clusterfile import types as t
from ultracluster.clusterfile.needs import lustre_size, training_addresses
from ultracluster.clusterfile.node_group import NodeGroup
from ultracluster.clusterfile.sections import Network, NodeGroupSection, Section, Slurm, Storage
from ultracluster.planning import LustreSize, SubnetPlan, plan_subnets


class ClusterFile(Section):
    """A GPU cluster on AWS, described in one file. `load` reads one and checks it whole."""

    name: t.Name = Field(description="Name of the cluster; its stacks are called after it.")
    region: t.Region = Field(description="AWS region.")
    zone: t.ZoneId = Field(
        description="Id of the zone of all nodes: EFA does not cross zones. Ids, unlike names such as us-east-2a, mean "
        "the same zone in every account."
    )
    account: t.Account | None = Field(
        default=None, description="AWS account, 12 digits. Default: the one of your credentials."
    )
    orchestrator: t.Orchestrator = Field(description="What hands out the nodes: slurm, run by AWS PCS.")
    nodes: Annotated[dict[t.NodeGroupName, NodeGroupSection], Field(min_length=1)] = Field(
        description="Groups of equal nodes, by name."
    )
    slurm: Slurm = Field(default=Slurm(), description="Slurm, run by AWS PCS.")
    network: Network = Field(default=Network(), description="The VPC. Default: a new one, 10.0.0.0/16.")
    storage: Storage = Field(default=Storage(), description="Where the data lives.")
    encryption_key: t.KeyArn | None = Field(
        default=None, description="KMS key of file system and data bucket. Default: one is made."
    )
    tags: t.Tags = Field(default={}, description="Tags of every resource.")

    @cached_property
    def node_groups(self) -> tuple[NodeGroup, ...]:
        """The node groups in the order of the file."""
        return tuple(NodeGroup.of(name, section) for name, section in self.nodes.items())

    @cached_property
    def lustre_size(self) -> LustreSize | None:
        """The file system to buy. None: the file asks for none."""
        lustre = self.storage.lustre
        return None if lustre is None else lustre_size(lustre, zone=self.zone)

    @cached_property
    def addresses(self) -> int:
        """IPv4 addresses that the training subnet must hold."""
        return training_addresses(self.node_groups, login=self.slurm.login, lustre=self.lustre_size).total

    @cached_property
    def subnets(self) -> SubnetPlan:
        """The subnets of the VPC that is made. Of no use when the file names a network of yours."""
        return plan_subnets(self.network.cidr, self.addresses, self.network.training_subnet)
