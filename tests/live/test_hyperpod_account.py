"""`check --live` of clusters on HyperPod: quotas of SageMaker, and training plans."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # no stubs

from support import ROOT
from support.aws_account import ACCOUNT, NOW, AwsAccount, aws_account, error
from ultracluster import clusterfile
from ultracluster.clusterfile import ClusterFile
from ultracluster.live import CHECKS, Finding, policy
from ultracluster.live._account import Account

SLURM = yaml.safe_load((ROOT / "examples" / "hyperpod-slurm.yaml").read_text())
PLAN = f"arn:aws:sagemaker:us-east-2:{ACCOUNT}:training-plan/orion-2026"
START = NOW.replace(microsecond=0) - timedelta(days=1)
END = START + timedelta(days=9)
OURS = ("live-hyperpod-quota", "live-training-plan", "live-quota")
PER_CLUSTER = "Maximum number instances allowed per SageMaker HyperPod cluster"
IN_ALL = "Total number of instances allowed across SageMaker HyperPod clusters"
VOLUME = "Maximum size of EBS volume in GB for a SageMaker HyperPod cluster instance"


def cluster(capacity: dict[str, str] | str, **train: Any) -> ClusterFile:
    nodes = {"train": {**SLURM["nodes"]["train"], "capacity": capacity, **train}}
    return clusterfile.loads(yaml.safe_dump({**SLURM, "nodes": nodes}), "c.yaml")


def text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


PLANNED = cluster({"training-plan": PLAN, "starts": text(START), "ends": text(END)})


def plan(**fields: Any) -> dict[str, Any]:
    part = {
        "ReservedCapacityArn": PLAN.replace("training-plan", "reserved-capacity"),
        "InstanceType": "ml.p5en.48xlarge",
        "TotalInstanceCount": 64,
        "AvailabilityZoneId": "use2-az1",
        "Status": "Active",
        **fields.pop("part", {}),
    }
    return {
        "TrainingPlanArn": PLAN,
        "TrainingPlanName": "orion-2026",
        "Status": "Active",
        "TotalInstanceCount": 64,
        "StartTime": START,
        "EndTime": END,
        "TargetResources": ["hyperpod-cluster"],
        "ReservedCapacitySummaries": [part],
        **fields,
    }


def quotas(**values: float) -> dict[str, Any]:
    names = {"ml.m7i.2xlarge for cluster usage": 4.0, "ml.m7i.8xlarge for cluster usage": 1.0, "other": 0.0}
    names |= {PER_CLUSTER: 66.0, IN_ALL: 66.0, VOLUME: 1024.0} | values
    return {"Quotas": [{"QuotaName": n, "QuotaCode": f"L-{i}", "Value": v} for i, (n, v) in enumerate(names.items())]}


@pytest.fixture(scope="module")
def shared() -> Iterator[AwsAccount]:
    with aws_account() as account:
        yield account


@pytest.fixture
def account(shared: AwsAccount) -> AwsAccount:
    shared.policy = None
    none = {"Quota": {"QuotaName": "a quota of EC2", "QuotaCode": "L-1", "Value": 0.0}}
    large = {"Quota": {"QuotaName": "a quota", "QuotaCode": "L-2", "Value": 1e9}}
    shared.answers = {
        "service-quotas:GetServiceQuota": lambda params: none if params["ServiceCode"] == "ec2" else large,
        "service-quotas:ListServiceQuotas": lambda _: quotas(),
        "sagemaker:DescribeTrainingPlan": lambda _: plan(),
    }
    return shared


def ours(file: ClusterFile, account: AwsAccount) -> list[Finding]:
    checks = [check for check in CHECKS if check.id in OURS and check.applies(file)]
    return [finding for check in checks for finding in check.run(check, file, Account(account.client, file.region))]


def trouble(file: ClusterFile, account: AwsAccount) -> list[tuple[str, str]]:
    findings = [finding for finding in ours(file, account) if finding.status != "pass"]
    return [(each.check, f"{each.status}: {each.message}") for each in findings if "quota of EC2" not in each.message]


def test_a_plan_with_room_passes_with_the_printed_policy(account: AwsAccount) -> None:
    account.policy = policy(PLANNED)
    assert trouble(PLANNED, account) == []
    (statement,) = [s for s in policy(PLANNED)["Statement"] if "sagemaker:DescribeTrainingPlan" in s["Action"]]
    assert statement["Resource"] == PLAN


def test_instances_of_hyperpod_count_against_no_vcpus_of_ec2(account: AwsAccount) -> None:
    assert not [finding for finding in ours(PLANNED, account) if "vCPUs" in finding.message]


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({"Status": "Expired"}, "fail", "is Expired"),
        ({"Status": "Scheduled"}, "warn", "is Scheduled: no node starts before"),
        ({"TargetResources": ["training-job"]}, "fail", "is for training-job"),
        ({"TotalInstanceCount": 32}, "fail", "has 32 instances, and train want 64"),
        ({"part": {"AvailabilityZoneId": "use2-az3"}}, "fail", "is in use2-az3, and train in use2-az1"),
        ({"part": {"InstanceType": "ml.p5.48xlarge"}}, "fail", "holds ml.p5.48xlarge"),
        ({"EndTime": END + timedelta(days=1)}, "warn", "ends "),
    ],
)
def test_each_difference_of_a_plan_is_reported(
    change: dict[str, Any], status: str, words: str, account: AwsAccount
) -> None:
    account.answers["sagemaker:DescribeTrainingPlan"] = lambda _: plan(**change)
    ((check, message),) = trouble(PLANNED, account)
    assert check == "live-training-plan"
    assert message.startswith(status)
    assert words in message


def test_a_plan_that_nobody_has_fails(account: AwsAccount) -> None:
    def refuse(_: dict[str, Any]) -> dict[str, Any]:
        raise error("ResourceNotFound", "DescribeTrainingPlan")

    account.answers["sagemaker:DescribeTrainingPlan"] = refuse
    ((_, message),) = trouble(PLANNED, account)
    assert message.startswith("fail: orion-2026: no such training plan")


def test_times_that_the_check_names_are_taken(account: AwsAccount) -> None:
    results = ours(cluster({"training-plan": PLAN}), account)
    fixes = [finding.fix.split("`")[1] for finding in results if finding.fix and finding.check == "live-training-plan"]
    times = {key: value for fix in fixes for key, _, value in [fix.partition(": ")] if key in ("starts", "ends")}
    assert trouble(cluster({"training-plan": PLAN, **times}), account) == []


@pytest.mark.parametrize("name", [PER_CLUSTER, IN_ALL])
def test_all_instances_count_against_the_quotas_of_clusters(name: str, account: AwsAccount) -> None:
    account.answers["service-quotas:ListServiceQuotas"] = lambda _: quotas(**{name: 20.0})
    ((check, message),) = trouble(PLANNED, account)
    assert check == "live-hyperpod-quota"
    assert message.startswith(f"fail: {name} (L-")
    assert "is 20, and the cluster needs 66 instances" in message


def test_volumes_and_instances_on_demand_have_quotas(account: AwsAccount) -> None:
    account.answers["service-quotas:ListServiceQuotas"] = lambda _: quotas(**{VOLUME: 200.0})
    assert [line.split(" (")[0] for _, line in trouble(PLANNED, account)] == [f"fail: {VOLUME}"]
    account.answers["service-quotas:ListServiceQuotas"] = lambda _: quotas(**{"ml.p5en.48xlarge for cluster usage": 2})
    lines = [line for _, line in trouble(cluster("on-demand"), account)]
    assert [line.split(" (")[0] for line in lines] == ["fail: ml.p5en.48xlarge for cluster usage"]
    account.answers["service-quotas:ListServiceQuotas"] = lambda _: quotas()
    ((_, line),) = trouble(cluster("on-demand"), account)
    assert line.startswith("warn: sagemaker has no quota ml.p5en.48xlarge for cluster usage in us-east-2")
