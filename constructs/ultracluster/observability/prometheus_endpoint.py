"""The way from a private subnet to Amazon Managed Service for Prometheus."""

from collections.abc import Sequence

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster.network import ServiceEndpoints


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
        ServiceEndpoints(self, "Endpoints", vpc=vpc, subnet=subnet, clients=clients, services=["aps-workspaces"])
