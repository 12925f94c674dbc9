"""Interface endpoints, through which nodes without internet access reach AWS."""

import re
from collections.abc import Sequence

import aws_cdk as cdk
import jsii
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster.catalogue.ec2 import domain_of
from ultracluster.network._perimeter_policies import service_policy
from ultracluster.network._same_vpc import check_same_vpc
from ultracluster.planning import as_list, checked, perimeter_problems, security_groups, shown, text_problem
from ultracluster.planning.network import EKS_SERVICES
from ultracluster.rules import ARGUMENT, Refusal, error

_HTTPS = 443
_NAME = re.compile(r"[a-z0-9][a-z0-9.-]*", re.ASCII)
_SERVICES = error("endpoint-services", "Each service has one endpoint, whose construct id is its name.")


@jsii.implements(ec2.IConnectable)
class ServiceEndpoints(Construct):
    """Interface endpoints of AWS services in one subnet, with private DNS names.

    The default port of its `connections` is 443.

    Args:
        vpc: The VPC.
        subnet: Subnet of the endpoints' network interfaces.
        clients: What may call the services. Default: nothing, until `connections` allows it.
        services: Names of the services, as in the endpoint name after the region. Default: what EKS nodes call.
        perimeter: Data perimeter: the id of an organization, or accounts beside that of the stack. Its principals call
            only its resources. Default: the policies allow all requests.

    Raises:
        Refusal: If the subnet or a client is of another VPC, a service is a token or named twice, or the perimeter is
            neither an organization nor accounts.

    See: https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html (read 2026-11-21)
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        vpc: ec2.IVpc,
        subnet: ec2.ISubnet,
        clients: ec2.IConnectable | Sequence[ec2.IConnectable] = (),
        services: str | Sequence[str] = EKS_SERVICES,
        perimeter: str | Sequence[str] | None = None,
    ) -> None:
        super().__init__(scope, id)
        services = as_list(services)
        clients = as_list(clients)
        members = None if perimeter is None else as_list(perimeter)
        names = {f"clients[{index}]": client for index, client in enumerate(clients)}
        groups = {name: group for name, client in names.items() for group in security_groups(client)}
        problems = check_same_vpc({"vpc": vpc, "subnet": subnet, **groups})
        problems += [
            ARGUMENT(f"{name} must have a security group, got {shown(client)}")
            for name, client in names.items()
            if name not in groups
        ]
        if twice := sorted({service for service in services if services.count(service) > 1}):
            problems.append(_SERVICES(f"services must name each service once, got {', '.join(twice)} again"))
        if any(cdk.Token.is_unresolved(service) for service in services):
            text = "services must be known at synthesis, such as ssm, got a token: each is a construct id"
            problems.append(_SERVICES(text))
        for index, service in enumerate(services):
            problems += map(_SERVICES, text_problem(f"services[{index}]", service, _NAME, "a service such as ssm"))
        problems += perimeter_problems(members or ())
        if problems:
            raise Refusal(self, problems)
        group = ec2.SecurityGroup(
            self, "Group", vpc=vpc, description="Endpoints of AWS services", allow_all_outbound=False
        )
        self._connections = ec2.Connections(security_groups=[group], default_port=ec2.Port.tcp(_HTTPS))
        for client in clients:
            self._connections.allow_default_port_from(client, "Calls of AWS services")
        region = cdk.Stack.of(self).region
        for service in services:
            ec2.CfnVPCEndpoint(
                self,
                service,
                vpc_id=vpc.vpc_id,
                service_name=_name(service, region),
                vpc_endpoint_type="Interface",
                subnet_ids=[subnet.subnet_id],
                security_group_ids=[group.security_group_id],
                private_dns_enabled=True,
                policy_document=None if members is None else service_policy(self, service, members),
            )

    @property
    def connections(self) -> ec2.Connections:
        """Network connections of the endpoints; the default port is 443."""
        return self._connections


def _name(service: str, region: str) -> str:
    """Return the name of an endpoint service: outside of amazonaws.com, that of the CDK's table.

    In China, some begin with `cn.com.amazonaws`: aws-ec2/lib/vpc-endpoint.ts of aws-cdk-lib 2.275.0 (read 2026-11-27).
    """
    if cdk.Token.is_unresolved(region) or domain_of(region) == "amazonaws.com":
        return f"com.amazonaws.{region}.{service}"
    return ec2.InterfaceVpcEndpointAwsService(service).name
