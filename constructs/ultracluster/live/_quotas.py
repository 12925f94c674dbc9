"""Service quotas of the account, and what is used of them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from ultracluster.catalogue.ec2 import (
    BUILDERS,
    ELASTIC_IPS_QUOTA,
    GP3_QUOTA,
    NETWORK_INTERFACES_QUOTA,
    VPCS_QUOTA,
    instance_type,
)
from ultracluster.clusterfile import ClusterFile, root_volumes_tib
from ultracluster.live._account import Account, Call
from ultracluster.live._check import Check
from ultracluster.live._finding import Finding
from ultracluster.planning.capacity import OnDemand, Spot, vcpu_needs

_QUOTA = Call(service="service-quotas", operation="get_service_quota", action="servicequotas:GetServiceQuota")
_DEFAULT = Call(
    service="service-quotas",
    operation="get_aws_default_service_quota",
    action="servicequotas:GetAWSDefaultServiceQuota",
)
_USAGE = Call(service="cloudwatch", operation="get_metric_statistics", action="cloudwatch:GetMetricStatistics")
# AWS publishes usage every five minutes:
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch-Service-Quota-Integration.html
# (read 2026-11-23)
_PERIOD = timedelta(minutes=5)
_WINDOW = timedelta(minutes=30)


@dataclass(frozen=True, kw_only=True, slots=True)
class Need:
    """Share of a quota that a cluster takes."""

    service: str
    code: str
    amount: int
    unit: str


def _needs(cluster: ClusterFile) -> Iterator[Need]:
    """Yield what nodes, builds of images and network take.

    Nodes of reservations count when the reservation is made, in any account.
    """
    nodes = [
        (group.instance_type, group.capacity, group.count)
        for group in cluster.node_groups
        if isinstance(group.capacity, OnDemand | Spot) and cluster.traits.own_instances
    ]
    # System nodes of HyperPod are EC2 instances of the account; its login nodes are not.
    if cluster.service_count and not cluster.traits.control_nodes:
        nodes.append((cluster.service_type, OnDemand(), cluster.service_count))
    # Those of two architectures build at once.
    nodes += [(instance_type(BUILDERS[architecture].type), OnDemand(), 1) for architecture in cluster.built_images]
    for quota, vcpus in vcpu_needs(nodes).items():
        yield Need(service="ec2", code=quota.code, amount=vcpus, unit="vCPUs")
    if tib := root_volumes_tib(cluster):
        yield Need(service="ebs", code=GP3_QUOTA, amount=tib, unit="TiB of root volumes")
    # NAT gateways and endpoints have a few more.
    interfaces = sum(group.count * len(group.interfaces) for group in cluster.node_groups) + cluster.service_count
    yield Need(service="vpc", code=NETWORK_INTERFACES_QUOTA, amount=interfaces, unit="network interfaces")
    if cluster.network.existing is None:
        yield Need(service="vpc", code=VPCS_QUOTA, amount=1, unit="VPC")
        if cluster.network.internet:
            yield Need(service="ec2", code=ELASTIC_IPS_QUOTA, amount=1, unit="Elastic IP address")
    if cluster.lustre_spec is not None:
        for lustre, amount in cluster.lustre_spec.quota_uses:
            yield Need(service="fsx", code=lustre.code, amount=amount, unit=lustre.unit)


def _quotas(check: Check, cluster: ClusterFile, account: Account) -> Iterator[Finding]:
    for need in _needs(cluster):
        of = {"ServiceCode": need.service, "QuotaCode": need.code}
        # Only quotas that were changed once have a value of the account.
        answer = account.find(_QUOTA, missing="NoSuchResourceException", **of) or account.find(
            _DEFAULT, missing="NoSuchResourceException", **of
        )
        if answer is None:
            yield check.doubt(
                f"{need.service} has no quota {need.code} in {account.region}: {need.amount:,} {need.unit} not checked",
                f"look at the quotas of {need.service} in the Service Quotas console",
            )
            continue
        yield compare_quota(check, account, need, answer["Quota"])


def compare_quota(check: Check, account: Account, need: Need, quota: dict[str, Any]) -> Finding:
    """Return whether an account has room for a need, with the command that requests more."""
    value, used = quota["Value"], _used(account, quota)
    what = f"{quota['QuotaName']} ({need.code}) is {value:,.0f}"
    total = need.amount + math.ceil(used or 0)
    request = (
        f"aws service-quotas request-service-quota-increase --region {account.region} "
        f"--service-code {need.service} --quota-code {need.code} --desired-value {total}"
    )
    if value < need.amount:
        return check.bad(f"{what}, and the cluster needs {need.amount:,} {need.unit}", request)
    if value < total:
        return check.doubt(
            f"{what}, {used:,.0f} are in use, and the cluster needs {need.amount:,} {need.unit}",
            f"nothing if this cluster uses them; otherwise {request}",
        )
    known = "" if used is None else f"{used:,.0f} are in use, and "
    return check.good(f"{what}; {known}the cluster needs {need.amount:,} {need.unit}")


def _used(account: Account, quota: dict[str, Any]) -> float | None:
    """Return what is used of a quota, or None if AWS publishes no usage of it."""
    metric = quota.get("UsageMetric")
    if not metric or not metric.get("MetricName"):
        return None
    now = datetime.now(UTC)
    statistic = metric.get("MetricStatisticRecommendation") or "Maximum"
    points = account.ask(
        _USAGE,
        Namespace=metric["MetricNamespace"],
        MetricName=metric["MetricName"],
        Dimensions=[{"Name": name, "Value": value} for name, value in metric["MetricDimensions"].items()],
        StartTime=now - _WINDOW,
        EndTime=now,
        Period=int(_PERIOD.total_seconds()),
        Statistics=[statistic],
    )["Datapoints"]
    latest = max(points, key=lambda point: point["Timestamp"], default=None)
    return None if latest is None else float(latest[statistic])


CHECKS = (
    Check(
        id="live-quota",
        reason="A quota below what the cluster needs stops the deployment, or the launch of nodes.",
        run=_quotas,
        calls=(_QUOTA, _DEFAULT, _USAGE),
    ),
)
