"""How nodes without a way to the internet reach AWS."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

# What EKS's nodes and pods call: https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html; Session
# Manager's two and the AMP workspace's are the last: https://docs.aws.amazon.com/systems-manager/latest/userguide/
# setup-create-vpc.html and https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-and-interface-VPC.html. FSx is
# for its CSI driver: https://docs.aws.amazon.com/fsx/latest/LustreGuide/fsx-vpc-endpoints.html (all read 2026-11-21).
# S3 has a gateway endpoint, which costs nothing.
EKS_SERVICES = (
    "ec2",
    "ecr.api",
    "ecr.dkr",
    "eks",
    "eks-auth",
    "sts",
    "logs",
    "elasticloadbalancing",
    "autoscaling",
    "fsx",
    "ssm",
    "ssmmessages",
    "aps-workspaces",
)
_HTTPS = 443


class ServiceEndpoints(Construct):
    """Interface endpoints of AWS services, in one subnet, with their private names.

    Args:
        vpc: The VPC.
        subnet: Where the endpoints put their interfaces.
        clients: Who may use them.
        services: The services, as their endpoints are called after the region. Default: what EKS nodes call.

    See: https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html (read 2026-11-21)
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        vpc: ec2.IVpc,
        subnet: ec2.ISubnet,
        clients: Sequence[ec2.ISecurityGroup],
        services: Sequence[str] = EKS_SERVICES,
    ) -> None:
        super().__init__(scope, id)
        group = ec2.SecurityGroup(
            self, "Group", vpc=vpc, description="Endpoints of AWS services", allow_all_outbound=False
        )
        self.connections = ec2.Connections(security_groups=[group], default_port=ec2.Port.tcp(_HTTPS))
        for index, client in enumerate(clients):
            ec2.CfnSecurityGroupIngress(
                self,
                f"Client{index}",
                group_id=group.security_group_id,
                source_security_group_id=client.security_group_id,
                ip_protocol="tcp",
                from_port=_HTTPS,
                to_port=_HTTPS,
                description="Calls of AWS services, by group id",
            )
        region = cdk.Stack.of(self).region
        for service in services:
            ec2.CfnVPCEndpoint(
                self,
                service,
                vpc_id=vpc.vpc_id,
                service_name=f"com.amazonaws.{region}.{service}",
                vpc_endpoint_type="Interface",
                subnet_ids=[subnet.subnet_id],
                security_group_ids=[group.security_group_id],
                private_dns_enabled=True,
            )
