"""The way from a private subnet to Amazon Managed Service for Prometheus."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

_HTTPS = 443


class PrometheusEndpoint(Construct):
    """An interface endpoint for writing samples and for queries, for subnets without another way out.

    Args:
        vpc: The VPC.
        subnet: Subnet of its interface.
        clients: Groups of those who may reach it: nodes that write, servers that query.

    Raises:
        ValueError: When there are no clients.

    See: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-and-interface-VPC.html (read 2026-11-21)
    """

    def __init__(
        self, scope: Construct, id: str, *, vpc: ec2.IVpc, subnet: ec2.ISubnet, clients: Sequence[ec2.ISecurityGroup]
    ) -> None:
        super().__init__(scope, id)
        if not clients:
            raise ValueError(f"{self.node.path}: clients must name a group: without one nobody reaches the endpoint")
        group = ec2.SecurityGroup(
            self, "Group", vpc=vpc, description="Endpoint of Prometheus", allow_all_outbound=False
        )
        for number, client in enumerate(clients):
            ec2.CfnSecurityGroupIngress(
                self,
                f"Https{number}",
                group_id=group.security_group_id,
                source_security_group_id=client.security_group_id,
                ip_protocol="tcp",
                from_port=_HTTPS,
                to_port=_HTTPS,
                description="Samples and queries",
            )
        # L1, because the L2 asks for the zones of a VPC, which is not known of one that is brought.
        self.resource = ec2.CfnVPCEndpoint(
            self,
            "Resource",
            vpc_id=vpc.vpc_id,
            vpc_endpoint_type="Interface",
            service_name=f"com.amazonaws.{cdk.Stack.of(self).region}.aps-workspaces",
            private_dns_enabled=True,
            subnet_ids=[subnet.subnet_id],
            security_group_ids=[group.security_group_id],
        )
