"""The VPC of a cluster: one training subnet in one zone, and little else."""

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network
from typing import Protocol, cast

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct, IConstruct

from ultracluster.catalogue.ec2 import ZONE_ID, is_local_zone
from ultracluster.network._perimeter_policies import s3_policy as perimeter_policy
from ultracluster.network._same_vpc import check_same_vpc
from ultracluster.network._zonal_subnet import ZonalSubnet
from ultracluster.planning import (
    as_list,
    checked,
    known,
    perimeter_problems,
    stack_of,
    text_problem,
    token_errors,
    zone_problems,
)
from ultracluster.rules import ARGUMENT, TOKEN, Message, Refusal, shared

_LOCAL_ZONE = shared("local-zone")
_RANGE = shared("network-range")


class IClusterNetwork(IConstruct, Protocol):
    """Network of a cluster, created by `ClusterNetwork` or existing."""

    @property
    def zone(self) -> str:
        """Zone id of the training subnet, such as `use2-az1`."""
        ...

    @property
    def vpc(self) -> ec2.IVpc:
        """The VPC."""
        ...

    @property
    def training_subnet(self) -> ec2.ISubnet:
        """Subnet of the nodes and their file system."""
        ...

    @property
    def services_subnet(self) -> ec2.ISubnet:
        """Subnet in which AWS services put their interface: the training subnet, unless that is in a Local Zone."""
        ...

    @property
    def zone_subnets(self) -> Mapping[str, ec2.ISubnet]:
        """Subnets of nodes in further zones, by zone id."""
        ...


class _Network(cdk.Resource):
    """Members of created and imported networks; see `IClusterNetwork`."""

    zone: str
    vpc: ec2.IVpc
    training_subnet: ec2.ISubnet
    services_subnet: ec2.ISubnet
    zone_subnets: Mapping[str, ec2.ISubnet]


class ClusterNetwork(_Network):
    """A VPC with one private training subnet, a NAT gateway, an S3 gateway endpoint and flow logs.

    EFA traffic crosses neither zones nor VPCs, so all nodes and their Lustre file system share one subnet. Nodes with
    more than one network interface cannot have a public address, so they reach the internet through a NAT gateway. S3
    traffic takes the gateway endpoint, which is free of charge.

    Args:
        zone: Zone id of the training subnet, such as `use2-az1`. Unlike a name, an id means the same zone everywhere.
        cidr: Address range of the VPC, such as `10.0.0.0/16`.
        training_cidr: Address range of the training subnet, inside `cidr`; see `planning.network.plan_subnets`.
        public_cidr: Address range of the NAT gateway's subnet.
        services_zone: Zone id for what cannot be in a Local Zone: NAT gateway, Slurm controller. Default: `zone`.
        services_cidr: Address range of the subnet for such services. Used when `services_zone` differs from `zone`.
        zone_cidrs: Address ranges of private subnets for nodes in further zones, by zone id. They use the same NAT
            gateway. Default: no further zones.
        internet: Whether nodes reach the internet. If not, there is neither NAT gateway nor public subnet, and nodes
            call AWS through `ServiceEndpoints`. Default: yes.
        s3_policy: Policy of the S3 endpoint. Default: that of the perimeter.
        perimeter: Data perimeter: the id of an organization, or accounts beside that of the stack. The S3 endpoint
            allows its principals its buckets, and some of AWS. Default: all requests are allowed.
        flow_log_retention: Retention of the flow logs in CloudWatch Logs.

    Raises:
        Refusal: If a zone or range is a token or malformed, if a zone is of another region, if `zone` is a Local Zone
            without another `services_zone`, if a range is missing or is not inside `cidr`, or if the perimeter is
            neither an organization nor accounts.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html (read 2026-11-20)
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        zone: str,
        cidr: IPv4Network | str,
        training_cidr: IPv4Network | str,
        public_cidr: IPv4Network | str,
        services_zone: str | None = None,
        services_cidr: IPv4Network | str | None = None,
        zone_cidrs: Mapping[str, IPv4Network | str] | None = None,
        internet: bool = True,
        s3_policy: iam.PolicyDocument | None = None,
        perimeter: str | Sequence[str] | None = None,
        flow_log_retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
    ) -> None:
        super().__init__(scope, id)
        zones = sorted(zone_cidrs or {})
        services_zone = services_zone or zone
        given = {"cidr": cidr, "training_cidr": training_cidr, "public_cidr": public_cidr}
        given |= {} if services_cidr is None else {"services_cidr": services_cidr}
        given |= {f"zone_cidrs[{other!r}]": range for other, range in (zone_cidrs or {}).items()}
        ranges = _read(self, given)
        vpc_range = ranges.pop("cidr")
        problems = [
            _RANGE(f"{argument} must be inside cidr, {vpc_range}, got {range}")
            for argument, range in ranges.items()
            if not range.subnet_of(vpc_range)
        ]
        named = [("zone", zone), *(("zone_cidrs", other) for other in zones)]
        named += [("services_zone", services_zone)] if services_zone != zone else []
        problems += _zone_problems(self, named)
        if is_local_zone(services_zone):
            problems.append(
                _LOCAL_ZONE(
                    f"services_zone must be an Availability Zone, got the Local Zone {services_zone}; a Local Zone has "
                    "neither NAT gateways nor Slurm controllers: name a zone of the Region itself"
                )
            )
        if services_zone != zone and services_cidr is None:
            problems.append(_RANGE(f"services_zone {services_zone} needs services_cidr"))
        members = None if perimeter is None else as_list(perimeter)
        problems += perimeter_problems(members or ())
        if problems:
            raise Refusal(self, problems)

        # L1, because `ec2.Vpc` looks up the names of the account's zones, even when its subnets are given.
        vpc = ec2.CfnVPC(self, "Vpc", cidr_block=str(vpc_range), enable_dns_hostnames=True, enable_dns_support=True)
        cdk.Tags.of(vpc).add("Name", vpc.node.path)
        self.node.default_child = vpc

        nat = self._nat_gateway(vpc.ref, services_zone, ranges["public_cidr"]) if internet else None
        training = self._private_subnet("TrainingSubnet", vpc.ref, zone, ranges["training_cidr"], nat)
        services = training
        if services_zone != zone:
            range = ranges["services_cidr"]
            services = self._private_subnet("ServicesSubnet", vpc.ref, services_zone, range, nat)
        self.zone = zone
        self.training_subnet = training.subnet
        self.services_subnet = services.subnet
        self.zone_subnets = {
            other: self._private_subnet(f"Subnet-{other}", vpc.ref, other, ranges[f"zone_cidrs[{other!r}]"], nat).subnet
            for other in zones
        }
        private = [training.subnet]
        private += [services.subnet] if services is not training else []
        self.vpc = ec2.Vpc.from_vpc_attributes(
            self,
            "Attributes",
            vpc_id=vpc.ref,
            vpc_cidr_block=str(vpc_range),
            availability_zones=[training.subnet.availability_zone],
            private_subnet_ids=[training.subnet_id],
            private_subnet_route_table_ids=[training.route_table_id],
        )
        endpoint = ec2.GatewayVpcEndpoint(
            self,
            "S3Endpoint",
            vpc=self.vpc,
            service=ec2.GatewayVpcEndpointAwsService.S3,
            subnets=[ec2.SubnetSelection(subnets=[*private, *self.zone_subnets.values()])],
        )
        if s3_policy is None and members is not None:
            s3_policy = perimeter_policy(self, members)
        if s3_policy is not None:
            cast(ec2.CfnVPCEndpoint, endpoint.node.default_child).policy_document = s3_policy
        ec2.FlowLog(
            self,
            "FlowLog",
            resource_type=ec2.FlowLogResourceType.from_vpc(self.vpc),
            destination=ec2.FlowLogDestination.to_cloud_watch_logs(
                logs.LogGroup(self, "FlowLogGroup", retention=flow_log_retention)
            ),
        )

    @staticmethod
    @checked
    def from_cluster_network_attributes(
        scope: Construct,
        id: str,
        *,
        zone: str,
        vpc: ec2.IVpc,
        training_subnet: ec2.ISubnet,
        services_subnet: ec2.ISubnet | None = None,
        zone_subnets: Mapping[str, ec2.ISubnet] | None = None,
    ) -> IClusterNetwork:
        """Import an existing network.

        Args:
            scope: Scope of the import.
            id: Id of the import.
            zone: Zone id of the training subnet.
            vpc: The VPC.
            training_subnet: Private subnet of the nodes and their file system.
            services_subnet: Subnet in which AWS services put their interface. Default: the training subnet.
            zone_subnets: Subnets of nodes in further zones, by zone id. Default: no further zones.

        Raises:
            Refusal: If a zone is no zone id, a token or of another region, or a subnet is of another VPC, as far as
                known at synthesis.
        """
        subnets = {"training_subnet": training_subnet, "services_subnet": services_subnet or training_subnet}
        subnets |= {f"zone_subnets[{other!r}]": subnet for other, subnet in (zone_subnets or {}).items()}
        network = _Network(scope, id)
        named = [("zone", zone), *(("zone_subnets", other) for other in zone_subnets or {})]
        problems = _zone_problems(network, named)
        problems += check_same_vpc({"vpc": vpc, **subnets})
        if problems:
            raise Refusal(network, problems)
        network.zone, network.vpc, network.training_subnet = zone, vpc, training_subnet
        network.services_subnet, network.zone_subnets = services_subnet or training_subnet, zone_subnets or {}
        return network

    def _private_subnet(
        self, id: str, vpc_id: str, zone: str, cidr: IPv4Network, nat: ec2.CfnNatGateway | None
    ) -> ZonalSubnet:
        result = ZonalSubnet(self, id, vpc_id=vpc_id, zone=zone, cidr=cidr)
        if nat is not None:
            result.add_default_route(nat_gateway_id=nat.ref)
        return result

    def _nat_gateway(self, vpc_id: str, zone: str, cidr: IPv4Network) -> ec2.CfnNatGateway:
        gateway = ec2.CfnInternetGateway(self, "InternetGateway")
        attachment = ec2.CfnVPCGatewayAttachment(
            self, "GatewayAttachment", vpc_id=vpc_id, internet_gateway_id=gateway.ref
        )
        public = ZonalSubnet(self, "PublicSubnet", vpc_id=vpc_id, zone=zone, cidr=cidr)
        public.add_default_route(gateway_id=gateway.ref).node.add_dependency(attachment)

        address = ec2.CfnEIP(self, "NatAddress", domain="vpc")
        address.node.add_dependency(attachment)
        return ec2.CfnNatGateway(
            self, "NatGateway", subnet_id=public.subnet_id, allocation_id=address.attr_allocation_id
        )


def _read(scope: IConstruct, given: Mapping[str, IPv4Network | str]) -> dict[str, IPv4Network]:
    """Return the ranges of arguments, by argument."""
    problems: list[Message] = token_errors(given)
    ranges = {}
    for argument, value in given.items():
        try:
            ranges[argument] = IPv4Network(value)
        except ValueError as invalid:
            if known(str(value)):
                problems.append(_RANGE(f"{argument} must be a range such as 10.0.0.0/16, got {value!r}: {invalid}"))
    if problems:
        raise Refusal(scope, problems)
    return ranges


def _zone_problems(scope: Construct, zones: Sequence[tuple[str, str]]) -> list[Message]:
    """Return what is wrong with the ids of zones, each with its argument."""
    problems = []
    for argument, zone in zones:
        if not known(zone):
            text = f"{argument} must be known at synthesis, such as use2-az1, got a token: it decides what is created"
            problems.append(TOKEN(text))
        problems += map(ARGUMENT, text_problem(argument, zone, ZONE_ID, "a zone id such as use2-az1"))
        problems += zone_problems(argument, zone, stack_of(scope).region)
    return problems
