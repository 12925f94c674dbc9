"""VPC endpoint of Amazon Managed Service for Prometheus."""

from collections.abc import Sequence

import jsii
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster.network import ServiceEndpoints
from ultracluster.planning import checked


@jsii.implements(ec2.IConnectable)
class PrometheusEndpoint(Construct):
    """An interface endpoint for writing samples and for queries, for subnets without internet access.

    The default port of its `connections` is 443.

    Args:
        vpc: The VPC.
        subnet: Subnet of its network interface.
        clients: Nodes that write and servers that query. Default: none, until `connections` allows them.

    See: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-and-interface-VPC.html (read 2026-11-21)
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        vpc: ec2.IVpc,
        subnet: ec2.ISubnet,
        clients: Sequence[ec2.IConnectable] = (),
    ) -> None:
        super().__init__(scope, id)
        self._endpoints = ServiceEndpoints(
            self, "Endpoints", vpc=vpc, subnet=subnet, clients=clients, services=["aps-workspaces"]
        )

    @property
    def connections(self) -> ec2.Connections:
        """Network connections of the endpoint; the default port is 443."""
        return self._endpoints.connections
