"""The network of a cluster, from its file."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from constructs import Construct, IDependable

from ultracluster.clusterfile import ClusterFile, NodeGroup
from ultracluster.network import ClusterNetwork, EfaSecurityGroup, ServiceEndpoints


@dataclass(frozen=True, kw_only=True)
class Network:
    """Where the nodes live. Make one by hand to bring a VPC of your own."""

    vpc: ec2.IVpc
    training_subnet: ec2.ISubnet
    #: Where the control plane puts its interface, EKS one of several: the others are in `zone_subnets`.
    services_subnet: ec2.ISubnet
    nodes: ec2.ISecurityGroup
    #: Subnets of nodes in further zones, by zone id.
    zone_subnets: Mapping[str, ec2.ISubnet] = field(default_factory=dict)
    #: What must stand before a controller or a node: routes, and the rules of the security group.
    ready: tuple[IDependable, ...] = ()

    def subnet_of(self, group: NodeGroup, cluster: ClusterFile) -> ec2.ISubnet:
        """The subnet of a node group.

        Raises:
            ValueError: When the group is in a further zone, and no subnet is there.
        """
        if group.zone == cluster.zone:
            return self.training_subnet
        if group.zone not in self.zone_subnets:
            raise ValueError(
                f"nodes.{group.section} is in {group.zone}, and the network has no subnet there: "
                f"Network(zone_subnets={{'{group.zone}': subnet}})"
            )
        return self.zone_subnets[group.zone]


def network(scope: Construct, cluster: ClusterFile) -> Network:
    """The VPC, or the one that the file names, and the group of the nodes."""
    existing = cluster.network.existing
    if existing is not None:
        vpc = ec2.Vpc.from_vpc_attributes(
            scope, "Vpc", vpc_id=existing.vpc, availability_zones=[cdk.Fn.select(0, cdk.Fn.get_azs())]
        )
        subnet = ec2.Subnet.from_subnet_id(scope, "TrainingSubnet", existing.subnet)
        nodes = EfaSecurityGroup(scope, "Nodes", vpc=vpc)
        return Network(
            vpc=vpc,
            training_subnet=subnet,
            services_subnet=subnet,
            nodes=nodes.security_group,
            zone_subnets={
                zone: ec2.Subnet.from_subnet_id(scope, f"Subnet-{zone}", id)
                for zone, id in sorted(existing.subnets.items())
            },
            ready=(nodes,),
        )
    made = ClusterNetwork(
        scope,
        "Network",
        zone=cluster.zone,
        cidr=cluster.network.cidr,
        training_cidr=cluster.subnets.training,
        public_cidr=cluster.subnets.public,
        services_zone=cluster.network.services_zone,
        services_cidr=cluster.subnets.services,
        zone_cidrs=cluster.zone_subnets,
        internet=cluster.network.internet,
    )
    nodes = EfaSecurityGroup(scope, "Nodes", vpc=made.vpc)
    ready: list[IDependable] = [made, nodes]
    if not cluster.network.internet:
        ready.append(
            ServiceEndpoints(
                scope, "Endpoints", vpc=made.vpc, subnet=made.services_subnet, clients=[nodes.security_group]
            )
        )
    return Network(
        vpc=made.vpc,
        training_subnet=made.training_subnet,
        services_subnet=made.services_subnet,
        nodes=nodes.security_group,
        zone_subnets=made.zone_subnets,
        ready=tuple(ready),
    )
