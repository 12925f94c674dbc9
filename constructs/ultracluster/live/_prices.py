"""Prices on demand, from the AWS Price List."""

import json
from collections.abc import Iterator

from ultracluster.catalogue.ec2 import partition_of
from ultracluster.clusterfile import ClusterFile
from ultracluster.live._account import Account, Call
from ultracluster.live._check import Check
from ultracluster.live._finding import Finding
from ultracluster.planning.capacity import OnDemand

# Three regions have the endpoint: https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/using-price-list-query-api.html
# (read 2026-11-23). Credentials of another partition are not valid there.
_PRODUCTS = Call(
    service="pricing",
    operation="get_products",
    action="pricing:GetProducts",
    region="us-east-1",
    result="PriceList",
)
_FIELDS = {"operatingSystem": "Linux", "tenancy": "Shared", "preInstalledSw": "NA", "capacitystatus": "Used"}


def _on_demand(cluster: ClusterFile) -> dict[str, int]:
    """Return the nodes that are bought on demand, by type."""
    counts: dict[str, int] = {}
    for group in cluster.node_groups:
        if isinstance(group.capacity, OnDemand):
            counts[group.instance_type.name] = counts.get(group.instance_type.name, 0) + group.count
    if cluster.service_count:
        name = cluster.service_type.name
        counts[name] = counts.get(name, 0) + cluster.service_count
    return counts


def _prices(check: Check, cluster: ClusterFile, account: Account) -> Iterator[Finding]:
    for name, count in _on_demand(cluster).items():
        requested = {"instanceType": name, "regionCode": account.region, **_FIELDS}
        filters = [{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in requested.items()]
        products = list(account.pages(_PRODUCTS, ServiceCode="AmazonEC2", Filters=filters))
        prices = sorted({price for text in products for price in _hourly(text)})
        if not prices:
            yield check.doubt(f"the AWS Price List has no price of {name} on demand in {account.region}", "ask AWS")
        else:
            price = prices[0]
            yield check.good(f"{name} on demand: {price:,.2f} USD an hour, {price * count:,.2f} for {count:,}")


def _hourly(text: object) -> Iterator[float]:
    for term in json.loads(str(text)).get("terms", {}).get("OnDemand", {}).values():
        for dimension in term["priceDimensions"].values():
            if dimension["unit"] == "Hrs" and float(dimension["pricePerUnit"]["USD"]):
                yield float(dimension["pricePerUnit"]["USD"])


CHECKS = (
    Check(
        id="live-price",
        reason="On-demand capacity is billed by the hour.",
        run=_prices,
        calls=(_PRODUCTS,),
        applies=lambda cluster: partition_of(cluster.region) == "aws" and bool(_on_demand(cluster)),
    ),
)
