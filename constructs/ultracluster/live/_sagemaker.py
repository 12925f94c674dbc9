"""Quotas of SageMaker, and training plans, that a cluster on HyperPod needs."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC
from typing import Any

from ultracluster.catalogue.schedulers import hyperpod
from ultracluster.clusterfile import ClusterFile, NodeGroup, hyperpod_usage
from ultracluster.live._account import Account, Call
from ultracluster.live._check import Check
from ultracluster.live._finding import Finding, time_text
from ultracluster.live._quotas import Need, compare_quota
from ultracluster.planning.capacity import TrainingPlan

_LIST = Call(
    service="service-quotas",
    operation="list_service_quotas",
    action="servicequotas:ListServiceQuotas",
    result="Quotas",
)
_PLAN = Call(service="sagemaker", operation="describe_training_plan", action="sagemaker:DescribeTrainingPlan")
_SERVICE = "sagemaker"
_HYPERPOD = "hyperpod-cluster"


def _quotas(check: Check, cluster: ClusterFile, account: Account) -> Iterator[Finding]:
    usage = hyperpod_usage(cluster)
    total = usage.instances
    amounts = {hyperpod.QUOTA.format(f"ml.{name}"): (count, "instances") for name, count in usage.on_demand.items()}
    amounts |= {hyperpod.SPOT_QUOTA.format(f"ml.{name}"): (count, "instances") for name, count in usage.spot.items()}
    amounts |= dict.fromkeys(hyperpod.INSTANCE_QUOTAS, (total, "instances, controller and login nodes included"))
    amounts[hyperpod.VOLUME_QUOTA] = (usage.volume_gib, "GB of a volume")
    # Names, because AWS publishes no code of the quota of a type.
    known = {quota["QuotaName"]: quota for quota in account.pages(_LIST, ServiceCode=_SERVICE)}
    for name, (amount, unit) in amounts.items():
        quota = known.get(name)
        if quota is None:
            yield check.doubt(
                f"{_SERVICE} has no quota {name} in {account.region}: {amount:,} {unit} not checked",
                "look at the quotas of Amazon SageMaker AI in the Service Quotas console",
            )
        else:
            need = Need(service=_SERVICE, code=quota["QuotaCode"], amount=amount, unit=unit)
            yield compare_quota(check, account, need, quota)


def _plans(check: Check, cluster: ClusterFile, account: Account) -> Iterator[Finding]:
    for arn, users in _users(cluster).items():
        name = arn.rpartition("/")[2]
        plan = account.find(_PLAN, missing="ResourceNotFound", TrainingPlanName=name)
        if plan is None:
            yield check.bad(f"{name}: no such training plan in {account.region}", "check its name, Region and account")
            continue
        problems = [*_state(check, name, plan), *_capacity(check, name, plan, users), *_times(check, name, plan, users)]
        yield from problems
        if not problems:
            yield check.good(
                f"{name}: {plan['Status']}, {plan.get('TotalInstanceCount', 0):,} instances, for HyperPod clusters"
            )


def _state(check: Check, name: str, plan: Mapping[str, Any]) -> Iterator[Finding]:
    status, targets = plan["Status"], plan.get("TargetResources", [_HYPERPOD])
    if status in ("Expired", "Failed"):
        yield check.bad(f"{name} is {status}", "name a training plan that is Active or Scheduled")
    elif status == "Pending":
        yield check.doubt(f"{name} is Pending", "deploy once it is Scheduled or Active")
    elif status == "Scheduled":
        yield check.doubt(f"{name} is Scheduled: no node starts before", "deploy, and wait for its start")
    if _HYPERPOD not in targets:
        yield check.bad(f"{name} is for {', '.join(targets)}", f"purchase a training plan for {_HYPERPOD}")


def _capacity(check: Check, name: str, plan: Mapping[str, Any], users: list[NodeGroup]) -> Iterator[Finding]:
    """Yield the differences in type, zone and number of instances, by the parts of a plan that have not ended."""
    parts = [
        part for part in plan.get("ReservedCapacitySummaries", []) if part.get("Status") not in ("Expired", "Failed")
    ]
    for group in users:
        type_name = f"ml.{group.instance_type.name}"
        types = sorted({part["InstanceType"] for part in parts})
        if types and type_name not in types:
            yield check.bad(
                f"{name} holds {', '.join(types)}, and {group.name} has {type_name}",
                f"change `nodes.{group.section}.type` or the plan",
            )
        zones = sorted({part["AvailabilityZoneId"] for part in parts if "AvailabilityZoneId" in part})
        if zones and group.zone not in zones:
            yield check.bad(
                f"{name} is in {', '.join(zones)}, and {group.name} in {group.zone}; the VPC of a cluster of HyperPod "
                "cannot change later",
                f"set `zone: {zones[0]}`",
            )
    requested, total = sum(group.count for group in users), plan.get("TotalInstanceCount")
    if total is not None and total < requested:
        names = ", ".join(group.name for group in users)
        yield check.bad(
            f"{name} has {total:,} instances, and {names} want {requested:,}", f"set `count` to {total:,} at most"
        )


def _times(check: Check, name: str, plan: Mapping[str, Any], users: list[NodeGroup]) -> Iterator[Finding]:
    for group in users:
        for key, real in (("starts", plan.get("StartTime")), ("ends", plan.get("EndTime"))):
            time = getattr(group.capacity, key)
            if real is None or (time is not None and time.astimezone(UTC) == real.astimezone(UTC)):
                continue
            fix = f"set `{key}: {time_text(real)}` in `nodes.{group.section}.capacity`, which the alerts read"
            has = "does not have it" if time is None else f"has {time_text(time)}"
            yield check.doubt(f"{name} {key} {time_text(real)}, and the file {has}", fix)


def _users(cluster: ClusterFile) -> dict[str, list[NodeGroup]]:
    users: dict[str, list[NodeGroup]] = {}
    for group in cluster.node_groups:
        if isinstance(group.capacity, TrainingPlan):
            users.setdefault(group.capacity.arn, []).append(group)
    return users


def _resources(cluster: ClusterFile) -> Mapping[Call, Iterable[str]]:
    return {_PLAN: sorted(_users(cluster))}


CHECKS = (
    Check(
        id="live-hyperpod-quota",
        reason="HyperPod launches no instances beyond its quotas, which are those of SageMaker.",
        run=_quotas,
        calls=(_LIST,),
        applies=lambda cluster: not cluster.traits.own_instances,
    ),
    Check(
        id="live-training-plan",
        reason="A training plan must be for HyperPod, match the nodes, have room for them, and not end before.",
        run=_plans,
        calls=(_PLAN,),
        resources=_resources,
        applies=lambda cluster: bool(_users(cluster)),
    ),
)
