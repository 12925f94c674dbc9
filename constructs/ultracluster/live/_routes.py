"""Routes of an existing VPC: the internet, or endpoints of the services that nodes call."""

from collections.abc import Iterator
from typing import Any

from ultracluster.clusterfile import ClusterFile, endpoint_services
from ultracluster.live._account import Account, Call
from ultracluster.live._check import Check
from ultracluster.live._existing import ENDPOINTS, SUBNETS
from ultracluster.live._finding import Finding
from ultracluster.live._place import IDENTITY

_TABLES = Call(service="ec2", operation="describe_route_tables", action="ec2:DescribeRouteTables", result="RouteTables")
# Targets of routes to other networks, which may have the endpoints:
# https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_Route.html (read 2026-11-27)
_ELSEWHERE = ("TransitGatewayId", "VpcPeeringConnectionId", "CoreNetworkArn")


def _routes(check: Check, cluster: ClusterFile, account: Account) -> Iterator[Finding]:
    existing = cluster.network.existing
    assert existing is not None
    answer = account.find(SUBNETS, missing="InvalidSubnetID.NotFound", SubnetIds=[existing.subnet])
    table = _table(account, existing.vpc, existing.subnet)
    if answer is None or table is None:
        return  # `live-network` reports it
    routes = [route for route in table["Routes"] if route.get("State") != "blackhole"]
    internet = any(route.get("DestinationCidrBlock") == "0.0.0.0/0" for route in routes)
    if internet and cluster.network.internet:
        yield check.good(f"{existing.subnet} has a route to the internet")
        return
    if cluster.network.internet:
        yield check.doubt(
            f"{existing.subnet} has no route to the internet, and the file assumes one",
            "add the route, or write `network: {internet: false}`, with which the file is checked for such nodes",
        )
    endpoints = [
        row
        for row in account.pages(ENDPOINTS, Filters=[{"Name": "vpc-id", "Values": [existing.vpc]}])
        if row["State"].lower() == "available"
    ]
    missing = [service for service in _services(cluster) if not _has(endpoints, f".{account.region}.{service}")]
    owner, here = answer["Subnets"][0].get("OwnerId"), account.ask(IDENTITY)["Account"]
    if missing:
        # The owner of a shared VPC has its endpoints, and other networks may have central ones.
        elsewhere = internet or any(route.get(key) for route in routes for key in _ELSEWHERE)
        report = check.doubt if elsewhere or owner != here else check.bad
        yield report(
            f"{existing.vpc} has no endpoint with private DNS of {', '.join(missing)}: nodes do not reach these "
            f"services from {existing.subnet}",
            "nothing if they reach them through another network; otherwise create each: aws ec2 create-vpc-endpoint "
            f"--region {account.region} --vpc-endpoint-type Interface --vpc-id {existing.vpc} --subnet-ids "
            f"{existing.subnet} --security-group-ids sg-... --service-name com.amazonaws.{account.region}.{missing[0]}",
        )
    else:
        yield check.good(f"{existing.vpc} has the endpoints that nodes call")
    s3 = f".{account.region}.s3"
    gateway = any(
        row["ServiceName"].endswith(s3) and table["RouteTableId"] in row.get("RouteTableIds", []) for row in endpoints
    )
    if not gateway and not _has(endpoints, s3):
        yield check.doubt(
            f"{existing.subnet} has no route to an S3 gateway endpoint: nodes read their boot scripts in S3",
            "nothing if they reach S3 through another network; otherwise: aws ec2 create-vpc-endpoint --region "
            f"{account.region} --vpc-id {existing.vpc} --service-name com.amazonaws{s3} --route-table-ids "
            f"{table['RouteTableId']}",
        )


def _services(cluster: ClusterFile) -> tuple[str, ...]:
    # Nodes of HyperPod need the internet: `hyperpod-private`.
    return endpoint_services(cluster) if cluster.traits.own_instances else ()


def _has(endpoints: list[dict[str, Any]], suffix: str) -> bool:
    """Return whether nodes resolve the name of a service to an interface endpoint; in China, names begin with cn."""
    return any(row["ServiceName"].endswith(suffix) and row.get("PrivateDnsEnabled") for row in endpoints)


def _table(account: Account, vpc: str, subnet: str) -> dict[str, Any] | None:
    """Return the route table of a subnet, which is the main one of the VPC without an association."""
    choices = ({"association.subnet-id": subnet}, {"vpc-id": vpc, "association.main": "true"})
    for choice in choices:
        filters = [{"Name": name, "Values": [value]} for name, value in choice.items()]
        for table in account.pages(_TABLES, Filters=filters):
            return table
    return None


CHECKS = (
    Check(
        id="live-routes",
        reason="Nodes in an existing VPC reach AWS through the internet, or through endpoints of the VPC.",
        run=_routes,
        calls=(SUBNETS, _TABLES, ENDPOINTS, IDENTITY),
        applies=lambda cluster: cluster.network.existing is not None,
    ),
)
