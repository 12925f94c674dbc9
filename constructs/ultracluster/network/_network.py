"""The network of a cluster: created from its file, or handed in."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct, IDependable

from ultracluster.clusterfile import ClusterFile, NodeGroup, endpoint_services, perimeter_members
from ultracluster.network._cluster_network import ClusterNetwork, IClusterNetwork
from ultracluster.network._efa_rules import check_efa_rules
from ultracluster.network._efa_security_group import EfaSecurityGroup
from ultracluster.network._efa_subnets import known
from ultracluster.network._perimeter_policies import s3_policy
from ultracluster.network._private_subnets import check_private
from ultracluster.network._same_vpc import check_same_vpc
from ultracluster.network._service_endpoints import ServiceEndpoints
from ultracluster.planning import check_fields
from ultracluster.rules import Message, Refusal, error, shared

_SUBNETS = shared("network-subnets")
_TWICE = error("network-twice", "A cluster has one network: that of its file, or one that is handed in.")
_UNUSED = error("network-unused", "A key of the file that a handed-in network makes useless would be ignored.")
_REGION = error("network-region", "A handed-in network must be in the Region of the cluster.")
# Keys of the file for a network that is created; an existing one has them already.
_CREATED = ("cidr", "training_subnet", "subnets")
_ZONE_NAME = re.compile(r"[a-z]+(-[a-z]+)+-\d+")


@dataclass(frozen=True, kw_only=True)
class Network:
    """VPC, subnets and security group of the nodes. Create one by hand to use an existing VPC.

    Raises:
        Refusal: If a subnet or the security group is of another VPC, as far as it is known at synthesis.
    """

    vpc: ec2.IVpc
    training_subnet: ec2.ISubnet
    #: Subnet of the Slurm controller, or one of those of the EKS control plane; the others are in `zone_subnets`.
    services_subnet: ec2.ISubnet
    #: Security group of the nodes. It must allow all traffic from and to itself, as `EfaSecurityGroup` does.
    nodes: ec2.ISecurityGroup
    #: Subnets in other zones, by zone id.
    zone_subnets: Mapping[str, ec2.ISubnet] = field(default_factory=dict)
    #: Security group of the interface endpoints of AWS services. None: there are none, or they admit the VPC.
    endpoints: ec2.ISecurityGroup | None = None
    #: Dependencies of controllers and nodes, such as routes and rules of the security group.
    ready: tuple[IDependable, ...] = ()

    def __post_init__(self) -> None:
        """Check the types, and compare the VPCs."""
        check_fields(self)
        if problems := check_same_vpc({"vpc": self.vpc, **self._subnets, "nodes": self.nodes}):
            raise Refusal("Network", problems)

    @classmethod
    def from_cluster_network(
        cls, scope: Construct, network: IClusterNetwork, *, public_ports: Sequence[int] | None = None
    ) -> "Network":
        """Create the security group of the nodes in a network; `public_ports` is that of `EfaSecurityGroup`."""
        nodes = EfaSecurityGroup(scope, "Nodes", vpc=network.vpc, public_ports=public_ports)
        return cls(
            vpc=network.vpc,
            training_subnet=network.training_subnet,
            services_subnet=network.services_subnet,
            nodes=nodes,
            zone_subnets=network.zone_subnets,
            ready=(network, nodes),
        )

    @classmethod
    def from_cluster_file(cls, scope: Construct, cluster: ClusterFile) -> "Network":
        """Create the network of a cluster file, or import the existing one that it names."""
        return _imported(scope, cluster) if cluster.network.existing else _created(scope, cluster)

    def problems(self, cluster: ClusterFile) -> list[Message]:
        """Return what keeps a cluster file from using this network."""
        problems = []
        if cluster.network.existing is not None:
            text = "network is given twice: by the argument and by network.existing of the cluster file"
            problems.append(_TWICE(text))
        problems += [
            _UNUSED(
                f"network.{key.replace('_', '-')} of the cluster file has no effect on the network that is handed in: "
                "remove it from the file"
            )
            for key in _CREATED
            if key in cluster.network.model_fields_set
        ]
        named = {f"network.{name}": subnet for name, subnet in self._subnets.items()}
        for argument, subnet in named.items():
            zone = _zone_name(subnet)
            if zone is not None and not zone.startswith(cluster.region):
                problems.append(_REGION(f"{argument} must be in {cluster.region}, got a subnet in {zone}"))
        problems += check_private(named)
        problems += [
            message for message in check_efa_rules({"network.nodes": self.nodes}) if message.rule.kind == "error"
        ]
        for group in cluster.node_groups:
            if group.zone != cluster.zone and group.zone not in self.zone_subnets:
                problems.append(_no_subnet(group))
        return problems

    @property
    def cidr(self) -> str | None:
        """Address range of the VPC, or None if the VPC is imported without it."""
        try:
            return self.vpc.vpc_cidr_block
        except RuntimeError:  # Node raises for a property that an imported VPC does not have.
            return None

    @property
    def _subnets(self) -> dict[str, ec2.ISubnet]:
        """Subnets by the name of the argument."""
        zones = {f"zone_subnets[{zone!r}]": subnet for zone, subnet in self.zone_subnets.items()}
        return {"training_subnet": self.training_subnet, "services_subnet": self.services_subnet, **zones}

    def subnet_of(self, group: NodeGroup, cluster: ClusterFile) -> ec2.ISubnet:
        """Return the subnet of a node group.

        Raises:
            Refusal: If the group is in another zone than the cluster, and the network has no subnet there.
        """
        if group.zone == cluster.zone:
            return self.training_subnet
        if group.zone not in self.zone_subnets:
            raise Refusal("", _no_subnet(group))
        return self.zone_subnets[group.zone]


def _no_subnet(group: NodeGroup) -> Message:
    return _SUBNETS(
        f"nodes.{group.section} is in {group.zone}, and the network has no subnet there: "
        f"Network(zone_subnets={{'{group.zone}': subnet}})"
    )


def _zone_name(subnet: ec2.ISubnet) -> str | None:
    """Zone name of a subnet, such as us-east-2a, if it is known."""
    # Neither zone ids, such as use2-az1, nor placeholders of the CDK, such as dummy1a.
    zone = known(subnet, "availability_zone")
    return zone if zone and _ZONE_NAME.match(zone) else None


def _imported(scope: Construct, cluster: ClusterFile) -> Network:
    existing = cluster.network.existing
    assert existing is not None
    vpc = ec2.Vpc.from_vpc_attributes(
        scope, "Vpc", vpc_id=existing.vpc, availability_zones=[cdk.Fn.select(0, cdk.Fn.get_azs())]
    )
    subnet = ec2.Subnet.from_subnet_id(scope, "TrainingSubnet", existing.subnet)
    nodes = EfaSecurityGroup(scope, "Nodes", vpc=vpc, public_ports=_public_ports(cluster))
    return Network(
        vpc=vpc,
        training_subnet=subnet,
        services_subnet=subnet,
        nodes=nodes,
        zone_subnets={
            zone: ec2.Subnet.from_subnet_id(scope, f"Subnet-{zone}", id)
            for zone, id in sorted(existing.subnets.items())
        },
        ready=(nodes,),
    )


def _public_ports(cluster: ClusterFile) -> tuple[int, ...] | None:
    """Return the ports of public addresses that nodes inside a perimeter reach: HTTPS, and packages of Ubuntu."""
    if perimeter_members(cluster) is None:
        return None
    return (80, 443) if cluster.network.internet else (443,)


def _s3_policy(scope: Construct, cluster: ClusterFile, members: Sequence[str]) -> iam.PolicyDocument:
    existing = cluster.storage.existing_bucket
    buckets = [] if existing is None else [existing.name]
    # The admin host of the platform, and canaries, report the result of a deployment to CloudFormation.
    signals = cluster.traits.has_platform or any(group.canary for group in cluster.node_groups)
    return s3_policy(scope, members, buckets=buckets, signals=signals)


def _created(scope: Construct, cluster: ClusterFile) -> Network:
    members = perimeter_members(cluster)
    network = ClusterNetwork(
        scope,
        "Network",
        zone=cluster.zone,
        cidr=cluster.network.cidr,
        training_cidr=cluster.subnets.training,
        public_cidr=cluster.subnets.public,
        services_zone=cluster.network.control_plane_zone,
        services_cidr=cluster.subnets.services,
        zone_cidrs=cluster.zone_subnets,
        internet=cluster.network.internet,
        s3_policy=None if members is None else _s3_policy(scope, cluster, members),
    )
    result = Network.from_cluster_network(scope, network, public_ports=_public_ports(cluster))
    if cluster.network.internet:
        return result
    endpoints = ServiceEndpoints(
        scope,
        "Endpoints",
        vpc=network.vpc,
        subnet=network.services_subnet,
        clients=[result.nodes],
        services=endpoint_services(cluster),
        perimeter=members,
    )
    (group,) = endpoints.connections.security_groups
    return replace(result, endpoints=group, ready=(*result.ready, endpoints))
