"""The VPC of a cluster: one training subnet in one zone, and little else."""

from collections.abc import Mapping
from ipaddress import IPv4Network

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_logs as logs
from constructs import Construct

from ultracluster.hardware import zones
from ultracluster.network.zonal_subnet import ZonalSubnet

_INTERNET = "0.0.0.0/0"


class ClusterNetwork(Construct):
    """A VPC with one private training subnet, a NAT gateway, an S3 gateway endpoint and flow logs.

    EFA traffic crosses neither zones nor VPCs, so all nodes and their Lustre file system share one subnet. Nodes with
    more than one network interface can't have a public address, so the way out is a NAT gateway; S3 traffic takes the
    gateway endpoint, which costs nothing.

    Args:
        zone: Zone id of the training subnet, such as `use2-az1`. Unlike a name, an id means the same zone everywhere.
        cidr: Address range of the VPC.
        training_cidr: Address range of the training subnet, inside `cidr`; see `planning.plan_subnets`.
        public_cidr: Address range of the NAT gateway's subnet.
        services_zone: Zone id for what can't sit in a Local Zone: NAT gateway, Slurm controller. Default: `zone`.
        services_cidr: Address range of the subnet for such services. Used when `services_zone` differs from `zone`.
        zone_cidrs: Address ranges of private subnets for nodes in further zones, by zone id. Their way out is the same
            NAT gateway. Default: there are none.
        internet: Whether there is a way out. Without one there is neither NAT gateway nor public subnet, and what nodes
            call needs `ServiceEndpoints`. Default: yes.
        flow_log_retention: How long flow logs are kept in CloudWatch Logs.

    Raises:
        ValueError: When `zone` is a Local Zone without another `services_zone`, or the services subnet lacks a range.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html (read 2026-11-20)
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        zone: str,
        cidr: IPv4Network,
        training_cidr: IPv4Network,
        public_cidr: IPv4Network,
        services_zone: str | None = None,
        services_cidr: IPv4Network | None = None,
        zone_cidrs: Mapping[str, IPv4Network] | None = None,
        internet: bool = True,
        flow_log_retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
    ) -> None:
        super().__init__(scope, id)
        services_zone = services_zone or zone
        if zones.is_local_zone(services_zone):
            raise ValueError(
                f"{self.node.path}: services_zone must be an Availability Zone, got the Local Zone {services_zone}; "
                "a Local Zone has neither NAT gateways nor Slurm controllers: name a zone of the region itself"
            )
        if services_zone != zone and services_cidr is None:
            raise ValueError(f"{self.node.path}: services_zone {services_zone} needs services_cidr")

        # L1, because `ec2.Vpc` asks the account for the names of its zones, even where its subnets are ours.
        vpc = ec2.CfnVPC(self, "Vpc", cidr_block=str(cidr), enable_dns_hostnames=True, enable_dns_support=True)
        cdk.Tags.of(vpc).add("Name", vpc.node.path)
        self.zone = zone

        nat = self._way_out(vpc.ref, services_zone, public_cidr) if internet else None
        training = ZonalSubnet(self, "TrainingSubnet", vpc_id=vpc.ref, zone=zone, cidr=training_cidr)
        _lead_out(training, nat)
        private = [training.subnet]
        if services_zone != zone and services_cidr is not None:
            services = ZonalSubnet(self, "ServicesSubnet", vpc_id=vpc.ref, zone=services_zone, cidr=services_cidr)
            _lead_out(services, nat)
            private.append(services.subnet)
        #: Subnets for nodes in further zones, by zone id.
        self.zone_subnets: dict[str, ec2.ISubnet] = {}
        for other, range in sorted((zone_cidrs or {}).items()):
            further = ZonalSubnet(self, f"Subnet-{other}", vpc_id=vpc.ref, zone=other, cidr=range)
            _lead_out(further, nat)
            self.zone_subnets[other] = further.subnet
        #: Where nodes and their file system live.
        self.training_subnet: ec2.ISubnet = training.subnet
        #: Where services of AWS put their interface: the training subnet, unless that is in a Local Zone.
        self.services_subnet: ec2.ISubnet = private[-1]
        private += self.zone_subnets.values()

        #: The VPC, for whatever takes one.
        self.vpc: ec2.IVpc = ec2.Vpc.from_vpc_attributes(
            self,
            "Attributes",
            vpc_id=vpc.ref,
            availability_zones=[training.subnet.availability_zone],
            private_subnet_ids=[training.subnet_id],
            private_subnet_route_table_ids=[training.route_table_id],
        )
        ec2.GatewayVpcEndpoint(
            self,
            "S3Endpoint",
            vpc=self.vpc,
            service=ec2.GatewayVpcEndpointAwsService.S3,
            subnets=[ec2.SubnetSelection(subnets=private)],
        )
        ec2.FlowLog(
            self,
            "FlowLog",
            resource_type=ec2.FlowLogResourceType.from_vpc(self.vpc),
            destination=ec2.FlowLogDestination.to_cloud_watch_logs(
                logs.LogGroup(self, "FlowLogGroup", retention=flow_log_retention)
            ),
        )

    def _way_out(self, vpc_id: str, zone: str, cidr: IPv4Network) -> ec2.CfnNatGateway:
        gateway = ec2.CfnInternetGateway(self, "InternetGateway")
        attachment = ec2.CfnVPCGatewayAttachment(
            self, "GatewayAttachment", vpc_id=vpc_id, internet_gateway_id=gateway.ref
        )
        public = ZonalSubnet(self, "PublicSubnet", vpc_id=vpc_id, zone=zone, cidr=cidr)
        public.add_route("DefaultRoute", destination=_INTERNET, gateway_id=gateway.ref).node.add_dependency(attachment)

        address = ec2.CfnEIP(self, "NatAddress", domain="vpc")
        address.node.add_dependency(attachment)
        return ec2.CfnNatGateway(
            self, "NatGateway", subnet_id=public.subnet_id, allocation_id=address.attr_allocation_id
        )


def _lead_out(subnet: ZonalSubnet, nat: ec2.CfnNatGateway | None) -> None:
    if nat is not None:
        subnet.add_route("DefaultRoute", destination=_INTERNET, nat_gateway_id=nat.ref)
