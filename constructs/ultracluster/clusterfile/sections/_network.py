"""The section `network`."""

from functools import partial
from ipaddress import IPv4Network
from typing import Annotated

from pydantic import Field

from ultracluster.clusterfile.sections import _common as t
from ultracluster.clusterfile.sections import _word as w
from ultracluster.clusterfile.sections._section import Section
from ultracluster.planning import ORGANIZATION

OrganizationId = Annotated[
    str,
    w.parsed(
        partial(w.matching, pattern=ORGANIZATION, what="the id of an organization, such as o-a1b2c3d4e5"),
        ORGANIZATION,
        "o-a1b2c3d4e5",
    ),
]


class ExistingNetwork(Section):
    """An existing network that the cluster moves into."""

    vpc: t.VpcId = Field(description="The VPC.")
    subnet: t.SubnetId = Field(description="The private subnet of nodes, file system and controller, in the zone.")
    cidr: t.Cidr | None = Field(
        default=None, description="Range of the subnet, to check that the nodes fit. Default: not checked."
    )
    subnets: dict[t.ZoneId, t.SubnetId] = Field(
        default={}, description="Private subnets of nodes in other zones than the cluster's, by the id of the zone."
    )


class Perimeter(Section):
    """Principals that may reach the data, and resources that nodes may reach."""

    organization: OrganizationId | None = Field(
        default=None, description="Id of the organization in AWS Organizations. Default: `accounts` are the perimeter."
    )
    accounts: list[t.Account] = Field(
        default=[], description="Accounts beside that of the cluster. Default: that of the cluster alone."
    )

    @property
    def members(self) -> tuple[str, ...]:
        """The organization, or the accounts."""
        return (self.organization,) if self.organization else tuple(self.accounts)


class Network(Section):
    """The VPC."""

    cidr: t.Cidr = Field(default=IPv4Network("10.0.0.0/16"), description="Range of the VPC, /16 to /26.")
    training_subnet: t.Cidr | None = Field(
        default=None,
        description="Range of the subnet of nodes and file system. Default: a quarter of the VPC, or half.",
    )
    subnets: dict[t.ZoneId, t.Cidr] = Field(
        default={},
        description="Ranges of the subnets of nodes in other zones than the cluster's, by the id of the zone. Default: "
        "a 32nd of the VPC each.",
    )
    control_plane_zone: t.ZoneId | None = Field(
        default=None,
        description="Zone of what cannot be in a Local Zone: NAT gateway and Slurm controller. Default: `zone`.",
    )
    internet: t.Flag = Field(
        default=True,
        description="Whether nodes reach the internet, through a NAT gateway. false: endpoints of the services that "
        "nodes need, and nothing else. With `existing`: whether it has a route there; no endpoint is created.",
    )
    existing: ExistingNetwork | None = Field(default=None, description="An existing network, instead of a new VPC.")
