"""`check --live`: each fault of an account is found, and a good account has none."""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # no stubs
from botocore.parsers import ResponseParserError
from typer.testing import CliRunner

from support import EXAMPLES, ROOT
from support.aws_account import ACCOUNT, NOW, AwsAccount, aws_account, error, quota, reservation
from support.policy_resources import useless
from ultracluster import clusterfile
from ultracluster.cli import app
from ultracluster.clusterfile import ClusterFile
from ultracluster.live import CHECKS, Finding, check_account, policy

REGION = "us-east-2"
BOOTSTRAP = "/cdk-bootstrap/hnb659fds/version"
PCS_IMAGE = "/aws/service/pcs/ami/dlami-base-ubuntu2404/x86_64/latest/ami-id"
QUOTAS = {"ec2": 10_000, "vpc": 5_000, "fsx": 100_800, "ebs": 50}
SLURM = (ROOT / "examples" / "slurm-512-gpus.yaml").read_text()
EKS = (ROOT / "examples" / "eks-512-gpus.yaml").read_text()


@pytest.fixture(autouse=True)
def _no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)


def cluster(text: str = SLURM, **keys: Any) -> ClusterFile:
    return clusterfile.loads(yaml.safe_dump({**yaml.safe_load(text), **keys}, sort_keys=False), "c.yaml")


def price(usd: str) -> str:
    dimension = {"unit": "Hrs", "pricePerUnit": {"USD": usd}}
    return json.dumps({"terms": {"OnDemand": {"a": {"priceDimensions": {"b": dimension}}}}})


def principal(kind: str, resource: str) -> dict[str, Any]:
    """A role or user of IAM."""
    arn = f"arn:aws:iam::{ACCOUNT}:{resource}"
    return {f"{kind}Name": "x", f"{kind}Id": 16 * "A", "Path": "/", "CreateDate": NOW, "Arn": arn}


@pytest.fixture(scope="module")
def shared() -> Iterator[AwsAccount]:
    # An account takes longer to create than all tests to ask it.
    with aws_account() as account:
        yield account


EKS_IMAGES = "/aws/service/eks/optimized-ami"
PUBLIC = {
    PCS_IMAGE: "ami-0123456789abcdef0",
    f"{EKS_IMAGES}/1.35/amazon-linux-2023/x86_64/nvidia/recommended/release_version": "1.35.2-20261105",
}
ADD_ON = {"addonVersion": "v1.13.1-eksbuild.1", "compatibilities": [{"defaultVersion": True}]}


@pytest.fixture
def account(shared: AwsAccount) -> AwsAccount:
    """An account in which both 512-GPU examples deploy."""
    shared.policy, shared.answers = None, {}
    shared.client("ssm", REGION).put_parameter(Name=BOOTSTRAP, Value="30", Type="String", Overwrite=True)
    shared.calls.clear()
    image = {"ImageId": "ami-0123456789abcdef0", "State": "available", "Architecture": "x86_64", "Name": "dlami"}
    version = {
        "clusterVersion": cluster(EKS).kubernetes.version,
        "versionStatus": "STANDARD_SUPPORT",
        "endOfStandardSupportDate": NOW + timedelta(days=100),
    }
    shared.answers = {
        # Public parameters of PCS are not in moto.
        "ssm:GetParameter": lambda params: (
            {"Parameter": {"Value": PUBLIC[params["Name"]]}} if params["Name"] in PUBLIC else None
        ),
        "ec2:DescribeImages": lambda _: {"Images": [image]},
        "ec2:DescribeCapacityReservations": lambda _: {"CapacityReservations": [reservation()]},
        "service-quotas:GetServiceQuota": lambda params: quota(params["QuotaCode"], QUOTAS[params["ServiceCode"]]),
        "ec2:GetEbsDefaultKmsKeyId": lambda _: {"KmsKeyId": "alias/aws/ebs"},
        "iam:GetRole": lambda params: {"Role": principal("Role", f"role/{params['RoleName']}")},
        "eks:DescribeClusterVersions": lambda _: {"clusterVersions": [version]},
        "eks:ListAddons": lambda _: {"addons": ["coredns"]},
        "eks:DescribeAddon": lambda _: {"addon": {"addonName": "coredns", "addonVersion": "v1.13.1-eksbuild.1"}},
        "eks:DescribeAddonVersions": lambda _: {"addons": [{"addonName": "coredns", "addonVersions": [ADD_ON]}]},
        "pricing:GetProducts": lambda _: {"PriceList": [price("1.50")]},
    }
    return shared


def findings(file: ClusterFile, account: AwsAccount) -> list[Finding]:
    return list(check_account(file, account.client))


def trouble(file: ClusterFile, account: AwsAccount) -> list[tuple[str, str]]:
    return [(finding.check, finding.status) for finding in findings(file, account) if finding.status != "pass"]


@pytest.mark.parametrize("text", [SLURM, EKS], ids=["slurm", "eks"])
def test_a_good_account_passes_with_the_printed_policy_alone(text: str, account: AwsAccount) -> None:
    file = cluster(text)
    account.policy = policy(file)
    assert trouble(file, account) == []
    # No action too many either.
    actions = {action for statement in policy(file)["Statement"] for action in statement["Action"]}
    conditional = {
        "servicequotas:GetAWSDefaultServiceQuota",
        "cloudwatch:GetMetricStatistics",
        "resource-groups:ListGroupResources",
        "kms:DescribeKey",
        "kms:GetKeyPolicy",
        "ec2:DescribeSnapshots",
    }
    assert actions - set(account.calls) <= conditional


def test_the_policy_changes_nothing_and_names_what_it_can() -> None:
    statements = policy(cluster())["Statement"]
    actions = [action for statement in statements for action in statement["Action"]]
    assert all(action.partition(":")[2].startswith(("Get", "Describe", "List")) for action in actions)
    (parameters,) = (statement for statement in statements if "ssm:GetParameter" in statement["Action"])
    assert parameters["Resource"] == [
        f"arn:aws:ssm:us-east-2:*:parameter{BOOTSTRAP}",
        f"arn:aws:ssm:us-east-2::parameter{PCS_IMAGE}",
    ]


def test_credentials_of_another_partition_ask_for_no_prices() -> None:
    """The endpoints of the Price List are in the partition aws: others' credentials are not valid there."""

    def asks(region: str, zone: str) -> bool:
        file = cluster(SLURM.replace("us-east-2", region).replace("use2", zone))
        return "pricing:GetProducts" in str(policy(file))

    assert asks("us-east-2", "use2")
    assert not asks("us-gov-west-1", "usgw1")


def test_the_bootstrap_has_the_qualifier_of_the_project(
    account: AwsAccount, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Landing zones have bootstraps with a qualifier of their organization, and none with the default one."""
    without_bootstrap(account)
    file = cluster()

    def bootstrap() -> Finding:
        (finding,) = (each for each in findings(file, account) if each.check == "live-bootstrap")
        return finding

    monkeypatch.chdir(tmp_path)
    finding = bootstrap()
    assert (finding.status, "--qualifier" in finding.fix) == ("warn", True)
    project = {"app": "python app.py", "context": {"@aws-cdk/core:bootstrapQualifier": "mycorp"}}
    (tmp_path / "cdk.json").write_text(json.dumps(project))
    finding = bootstrap()
    assert (finding.status, finding.fix.startswith("npx cdk bootstrap --qualifier mycorp aws://")) == ("fail", True)
    account.client("ssm", REGION).put_parameter(Name="/cdk-bootstrap/mycorp/version", Value="30", Type="String")
    account.policy = policy(file)
    assert bootstrap().status == "pass"
    assert ":parameter/cdk-bootstrap/mycorp/version" in str(account.policy)
    (tmp_path / "cdk.json").write_text("{")
    assert bootstrap().status == "warn"


def answering(name: str, value: dict[str, Any]) -> Callable[[AwsAccount], None]:
    return lambda account: account.answers.update({name: lambda _: value})


def raising(name: str, code: str) -> Callable[[AwsAccount], None]:
    def refuse(_: dict[str, Any]) -> dict[str, Any]:
        raise error(code, name.partition(":")[2])

    return lambda account: account.answers.update({name: refuse})


def reserved(**fields: Any) -> Callable[[AwsAccount], None]:
    return answering("ec2:DescribeCapacityReservations", {"CapacityReservations": [reservation(**fields)]})


def quota_of(service: str, value: float, **fields: Any) -> Callable[[AwsAccount], None]:
    def change(account: AwsAccount) -> None:
        before = account.answers["service-quotas:GetServiceQuota"]
        account.answers["service-quotas:GetServiceQuota"] = lambda params: (
            quota(params["QuotaCode"], value, **fields) if params["ServiceCode"] == service else before(params)
        )

    return change


def without_bootstrap(account: AwsAccount) -> None:
    account.client("ssm", REGION).delete_parameter(Name=BOOTSTRAP)


def zones(**fields: Any) -> Callable[[AwsAccount], None]:
    zone = {"ZoneId": "use2-az1", "ZoneName": "us-east-2a", "GroupName": "us-east-2-zg-1", "State": "available"}
    return answering("ec2:DescribeAvailabilityZones", {"AvailabilityZones": [{**zone, **fields}]})


def used(value: float) -> Callable[[AwsAccount], None]:
    metric = {"MetricNamespace": "AWS/Usage", "MetricName": "ResourceCount", "MetricDimensions": {"Service": "EC2"}}

    def change(account: AwsAccount) -> None:
        quota_of("ec2", 100, UsageMetric={**metric, "MetricStatisticRecommendation": "Maximum"})(account)
        points = [{"Timestamp": NOW - timedelta(minutes=5 * age), "Maximum": value} for age in (1, 2)]
        answering("cloudwatch:GetMetricStatistics", {"Datapoints": points})(account)

    return change


OTHER_TYPE = {"InstanceType": "p5en.48xlarge", "LocationType": "availability-zone-id", "Location": "use2-az3"}
FAULTS: dict[str, tuple[Callable[[AwsAccount], None], str, str, str]] = {
    "no bootstrap": (without_bootstrap, "live-bootstrap", "fail", "cdk bootstrap"),
    "old bootstrap": (
        answering("ssm:GetParameter", {"Parameter": {"Value": "4"}}), "live-bootstrap", "fail", "version 4"
    ),
    "no service": (
        answering("ssm:GetParameters", {"InvalidParameters": ["/a/services/pcs"]}), "live-service", "fail", " pcs"
    ),
    "no zone": (zones(ZoneId="use2-az3"), "live-zone", "fail", "it has use2-az3"),
    "not opted in": (zones(OptInStatus="not-opted-in"), "live-zone", "fail", "--group-name us-east-2-zg-1"),
    "zone impaired": (zones(State="impaired"), "live-zone", "warn", "impaired"),
    "type elsewhere": (
        answering("ec2:DescribeInstanceTypeOfferings", {"InstanceTypeOfferings": [OTHER_TYPE]}),
        "live-instance-type", "fail", "only in use2-az3",
    ),
    "no reservation": (
        raising("ec2:DescribeCapacityReservations", "InvalidCapacityReservationId.NotFound"),
        "live-reservation", "fail", "no such reservation",
    ),
    "another type": (reserved(InstanceType="p5.48xlarge"), "live-reservation", "fail", "holds p5.48xlarge"),
    "another zone": (reserved(AvailabilityZoneId="use2-az2"), "live-reservation", "fail", "zone: use2-az2"),
    "a Capacity Block": (reserved(ReservationType="capacity-block"), "live-reservation", "fail", "kind: capacity"),
    "interruptible": (reserved(Interruptible=True), "live-reservation", "fail", "kind: interruptible"),
    "expired": (reserved(State="expired"), "live-reservation", "fail", "is expired"),
    "scheduled": (reserved(State="scheduled", StartDate=NOW + timedelta(days=2)), "live-reservation", "warn", "starts"),
    "too small": (reserved(TotalInstanceCount=60), "live-reservation", "fail", "60 instances, and train want 64"),
    "in use": (reserved(AvailableInstanceCount=3), "live-reservation", "warn", "3 of 64"),
    "for Windows": (reserved(InstancePlatform="Windows"), "live-reservation", "fail", "for Windows"),
    "ends": (reserved(EndDate=NOW + timedelta(days=9)), "live-reservation", "warn", "ends"),
    "in a placement group": (
        reserved(PlacementGroupArn=f"arn:aws:ec2:us-east-2:{ACCOUNT}:placement-group/theirs"),
        "live-reservation", "fail", "placement-group: theirs",
    ),
    "vCPU quota": (quota_of("ec2", 0), "live-quota", "fail", "--quota-code L-1216C47A --desired-value 8"),
    "vCPUs in use": (used(95), "live-quota", "warn", "95 are in use"),
    "interfaces": (quota_of("vpc", 500), "live-quota", "fail", "L-DF5E4CA3"),
    "root volumes": (quota_of("ebs", 31), "live-quota", "fail", "L-7A658B76 --desired-value 32"),
    "Lustre quota": (quota_of("fsx", 1_200), "live-quota", "fail", "L-8F1B9C74"),
    "no image": (raising("ec2:DescribeImages", "InvalidAMIID.NotFound"), "live-image", "fail", PCS_IMAGE),
    "not allowed": (raising("ec2:DescribeImages", "UnauthorizedOperation"), "live-image", "warn", "ec2:DescribeImages"),
    "AWS is ill": (raising("ec2:DescribeImages", "InternalError"), "live-image", "warn", "InternalError"),
}  # fmt: skip


@pytest.fixture(scope="module")
def example() -> ClusterFile:
    return cluster()


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_of_an_account_is_found(name: str, example: ClusterFile, account: AwsAccount) -> None:
    change, check, status, text = FAULTS[name]
    change(account)
    result = [finding for finding in findings(example, account) if finding.status != "pass"]
    assert {(finding.check, finding.status) for finding in result if finding.check == check} == {(check, status)}
    assert any(text in f"{finding.message} {finding.fix}" for finding in result)
    assert all(finding.fix for finding in result)


def test_instances_that_build_images_are_offered_and_within_the_quota(account: AwsAccount) -> None:
    file, checks = cluster(image="build"), ("live-quota", "live-instance-type")
    assert [row for row in trouble(file, account) if row[0] in checks] == []
    # Both types of the nodes, and 16 vCPUs besides the 8 of the login node.
    rows = [{"InstanceType": name, "Location": "use2-az1"} for name in ("p5en.48xlarge", "c7i.2xlarge")]
    account.answers["ec2:DescribeInstanceTypeOfferings"] = lambda _: {"InstanceTypeOfferings": rows}
    quota_of("ec2", 16)(account)
    failed = [row for row in findings(file, account) if row.status == "fail" and row.check in checks]
    assert {row.check for row in failed} == set(checks)
    text = "; ".join(f"{row.message}: {row.fix}" for row in failed)
    assert "EC2 offers c7i.4xlarge nowhere in us-east-2, not in use2-az1: name an existing image" in text
    assert "--quota-code L-1216C47A --desired-value 24" in text


@pytest.mark.parametrize(
    ("description", "status"),
    [("Slurm 24.11.7-2, 25.05.8-2, 25.11.6-2", "fail"), ("Slurm 25.11.8-1 and 26.05.1-1", "pass"), ("", "pass")],
)
def test_the_description_of_the_image_of_aws_has_the_releases_of_slurm(
    description: str, status: str, account: AwsAccount
) -> None:
    image = {"ImageId": "ami-0123456789abcdef0", "State": "available", "Architecture": "x86_64", "Name": "dlami"}
    account.answers["ec2:DescribeImages"] = lambda _: {"Images": [{**image, "Description": description}]}
    (finding,) = (row for row in findings(cluster(slurm={"version": "26.05"}), account) if row.check == "live-image")
    assert finding.status == status
    assert status == "pass" or finding.message.endswith("has Slurm 24.11, 25.05, 25.11, not 26.05")


BLOCK = {
    "reservation": "cr-0123456789abcdef0",
    "kind": "capacity-block",
    "ends": (NOW + timedelta(days=3)).date().isoformat(),
}


def test_the_times_of_a_capacity_block_are_those_of_aws(account: AwsAccount) -> None:
    file = cluster(nodes={"train": {"type": "p5en.48xlarge", "count": 64, "capacity": BLOCK}})
    (group,) = file.node_groups
    ends = group.capacity.ends  # type: ignore[union-attr]
    assert ends is not None
    real = {"ReservationType": "capacity-block", "StartDate": NOW - timedelta(days=1), "EndDate": ends}
    reserved(**real)(account)
    (start,) = (finding for finding in findings(file, account) if finding.status != "pass")
    assert start.status == "warn"
    assert start.fix.startswith("set `starts: ")
    reserved(**{**real, "EndDate": ends - timedelta(days=1)})(account)
    assert any(finding.status == "fail" and "set `ends: " in finding.fix for finding in findings(file, account))


def test_nodes_of_eks_wait_for_a_reservation_that_starts_later(account: AwsAccount) -> None:
    start = (NOW + timedelta(days=2)).replace(microsecond=0)
    reserved(State="scheduled", StartDate=start, AvailableInstanceCount=0)(account)
    at_once = cluster(EKS)
    failures = [finding for finding in findings(at_once, account) if finding.status == "fail"]
    assert [finding.check for finding in failures] == ["live-reservation"]
    assert "the deployment is rolled back" in failures[0].message
    capacity = yaml.load(failures[0].fix.partition(" to ")[2], yaml.BaseLoader)  # a time stays a text
    nodes = yaml.safe_load(EKS)["nodes"]
    later = cluster(EKS, nodes={"train": {**nodes["train"], "capacity": capacity}})
    rest = [finding for finding in findings(later, account) if finding.status != "pass"]
    assert [(finding.check, finding.status) for finding in rest] == [("live-reservation", "warn")]
    assert rest[0].fix == "deploy, and wait for its start"
    reserved(State="assessing")(account)
    assert ("live-reservation", "fail") in trouble(at_once, account)


@pytest.mark.parametrize("kind", ["odcr", "capacity-block"])
def test_slurm_takes_the_start_that_the_check_names(kind: str, account: AwsAccount) -> None:
    start = (NOW + timedelta(days=2)).replace(microsecond=0)
    times = {"StartDate": start} | ({"EndDate": start + timedelta(days=9)} if kind != "odcr" else {})
    kinds = {} if kind == "odcr" else {"ReservationType": kind}
    reserved(State="scheduled", AvailableInstanceCount=0, **times, **kinds)(account)
    capacity = {"reservation": BLOCK["reservation"], "kind": kind}

    def ask(**keys: Any) -> list[Finding]:
        nodes = {"train": {"type": "p5en.48xlarge", "count": 64, "capacity": {**capacity, **keys}}}
        return [finding for finding in findings(cluster(nodes=nodes), account) if finding.status != "pass"]

    fixes = [finding.fix.split("`")[1] for finding in ask() if finding.fix.startswith("set `")]
    keys = {key: value for fix in fixes for key, _, value in [fix.partition(": ")]}
    assert list(keys) == (["starts"] if kind == "odcr" else ["starts", "ends"])
    assert [finding.fix for finding in ask(**keys)] == ["deploy, and wait for its start"]


def test_the_end_of_a_reservation_is_that_of_the_file(account: AwsAccount) -> None:
    end = (NOW + timedelta(days=90)).replace(microsecond=0)
    capacity = {"reservation": BLOCK["reservation"], "kind": "odcr", "ends": end.isoformat()}
    file = cluster(nodes={"train": {"type": "p5en.48xlarge", "count": 64, "capacity": capacity}})
    for real, wrong in ((end, []), (end - timedelta(days=1), ["fail"])):
        reserved(EndDate=real)(account)
        statuses = [finding.status for finding in findings(file, account) if finding.check == "live-reservation"]
        assert [status for status in statuses if status != "pass"] == wrong


@pytest.mark.parametrize(("free", "status"), [(64, "pass"), (3, "warn")])
def test_open_reservations_are_added_up(free: int, status: str, account: AwsAccount) -> None:
    file = cluster(nodes={"train": {"type": "p5en.48xlarge", "count": 64, "capacity": {"reservation": "open"}}})
    good = reservation(InstanceMatchCriteria="open", AvailableInstanceCount=free // 2)
    rest = reservation(InstanceMatchCriteria="open", AvailableInstanceCount=free - free // 2)
    others = [reservation(), reservation(InstanceMatchCriteria="open", AvailabilityZoneId="use2-az3")]
    answering("ec2:DescribeCapacityReservations", {"CapacityReservations": [good, rest, *others]})(account)
    (result,) = (finding for finding in findings(file, account) if finding.check == "live-reservation")
    assert result.status == status
    assert f"have {free} free" in result.message


@pytest.mark.parametrize(("held", "status"), [(64, "pass"), (10, "warn")])
def test_the_reservations_of_a_resource_group_are_added_up(held: int, status: str, account: AwsAccount) -> None:
    arn = f"arn:aws:resource-groups:us-east-2:{ACCOUNT}:group/pool"
    file = cluster(nodes={"train": {"type": "p5en.48xlarge", "count": 64, "capacity": {"group": arn}}})
    name = f"arn:aws:ec2:us-east-2:{ACCOUNT}:capacity-reservation/cr-0123456789abcdef0"
    entry = {"Identifier": {"ResourceArn": name, "ResourceType": "AWS::EC2::CapacityReservation"}}
    answering("resource-groups:ListGroupResources", {"Resources": [entry]})(account)
    reserved(TotalInstanceCount=held)(account)
    (result,) = (finding for finding in findings(file, account) if finding.check == "live-reservation")
    assert result.status == status


def test_credentials_of_another_account_end_the_checks(account: AwsAccount) -> None:
    (result,) = findings(cluster(account="210987654321"), account)
    assert (result.check, result.status) == ("live-account", "fail")
    assert account.calls == ["sts:GetCallerIdentity"]


def test_a_page_of_a_proxy_is_one_line_and_the_other_checks_go_on(account: AwsAccount) -> None:
    def page(_: Any) -> Any:
        raise ResponseParserError("Unable to parse response (syntax error), invalid XML received:\n<!doctype html>")

    account.answers["ec2:GetEbsDefaultKmsKeyId"] = page
    result = {finding.check: finding for finding in findings(cluster(), account)}
    unread = result["live-volume-key"]
    assert (unread.status, unread.message) == ("warn", "not checked: what answered is not AWS")
    assert "live-quota" in result


def test_what_a_file_names_must_exist(account: AwsAccount) -> None:
    file = clusterfile.load(ROOT / "examples" / "slurm-own-vpc.yaml")
    # The account has nothing in that region but what AWS publishes.
    failed = {finding.check for finding in findings(file, account) if finding.status == "fail"}
    assert {"live-bootstrap", "live-network", "live-key", "live-bucket"} <= failed


def test_an_existing_network_is_looked_at(account: AwsAccount) -> None:
    ec2 = account.client("ec2", REGION)
    vpc = ec2.create_vpc(CidrBlock="10.20.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.20.0.0/20", AvailabilityZoneId="use2-az1")["Subnet"]["SubnetId"]
    small = ec2.create_subnet(VpcId=vpc, CidrBlock="10.20.32.0/28", AvailabilityZoneId="use2-az2")["Subnet"]["SubnetId"]
    for name in (subnet, small):
        ec2.modify_subnet_attribute(SubnetId=name, MapPublicIpOnLaunch={"Value": False})

    def of(subnet: str) -> list[Finding]:
        file = cluster(network={"existing": {"vpc": vpc, "subnet": subnet}})
        return [finding for finding in findings(file, account) if finding.check == "live-network"]

    assert [finding.status for finding in of(subnet)] == ["fail", "pass"]  # host names are off in moto's VPC
    ec2.modify_vpc_attribute(VpcId=vpc, EnableDnsHostnames={"Value": True})
    assert [finding.status for finding in of(subnet)] == ["pass"]
    texts = " ".join(finding.message for finding in of(small))
    assert "has 11 addresses" in texts
    assert "is in use2-az2" in texts
    answer = {"SubnetId": subnet, "VpcId": vpc, "AvailabilityZoneId": "use2-az1", "MapPublicIpOnLaunch": True}
    answering(
        "ec2:DescribeSubnets", {"Subnets": [{**answer, "CidrBlock": "10.20.0.0/20", "AvailableIpAddressCount": 7}]}
    )(account)
    assert {finding.status for finding in of(subnet)} == {"warn"}


PRIVATE = (ROOT / "examples" / "slurm-private.yaml").read_text()


def test_an_existing_vpc_has_a_route_or_endpoints(account: AwsAccount) -> None:
    ec2 = account.client("ec2", REGION)
    vpc = ec2.create_vpc(CidrBlock="10.20.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.20.0.0/20", AvailabilityZoneId="use2-az1")["Subnet"]["SubnetId"]
    existing = {"vpc": vpc, "subnet": subnet, "cidr": "10.20.0.0/20"}
    open_, private = (cluster(PRIVATE, network={"internet": it, "existing": existing}) for it in (True, False))

    def of(file: ClusterFile) -> list[tuple[str, str]]:
        account.policy = policy(file)
        rows = [each for each in findings(file, account) if each.check == "live-routes"]
        account.policy = None
        return [(each.status, f"{each.message} {each.fix}") for each in rows]

    (bad, text), (s3, _) = of(private)
    assert (bad, s3) == ("fail", "warn")
    assert all(f" {name}," in text for name in ("pcs", "ssm", "ecr.dkr"))
    assert [status for status, _ in of(open_)] == ["warn", "fail", "warn"]
    # A route to a central VPC may have them.
    table = ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
    ec2.associate_route_table(RouteTableId=table, SubnetId=subnet)
    gateway = ec2.create_transit_gateway()["TransitGateway"]["TransitGatewayId"]
    ec2.create_route(RouteTableId=table, DestinationCidrBlock="10.0.0.0/8", TransitGatewayId=gateway)
    assert [status for status, _ in of(private)] == ["warn", "warn"]
    for name in clusterfile.endpoint_services(private):
        service = f"com.amazonaws.{REGION}.{name}"
        ec2.create_vpc_endpoint(VpcId=vpc, ServiceName=service, VpcEndpointType="Interface", PrivateDnsEnabled=True)
    ec2.create_vpc_endpoint(VpcId=vpc, ServiceName=f"com.amazonaws.{REGION}.s3", RouteTableIds=[table])
    assert [status for status, _ in of(private)] == ["pass"]
    assert [status for status, _ in of(open_)] == ["warn", "pass"]
    nat = ec2.create_nat_gateway(SubnetId=subnet)["NatGateway"]["NatGatewayId"]
    ec2.create_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", NatGatewayId=nat)
    assert [status for status, _ in of(open_)] == ["pass"]


def test_another_endpoint_of_prometheus_in_the_vpc_is_reported(account: AwsAccount) -> None:
    ec2 = account.client("ec2", REGION)
    vpc = ec2.create_vpc(CidrBlock="10.20.0.0/16")["Vpc"]["VpcId"]
    existing = {"vpc": vpc, "subnet": "subnet-0123456789abcdef0"}
    file = cluster(network={"existing": existing}, observability={"vpc-endpoint": True})

    def of(file: ClusterFile) -> list[str]:
        return [finding.status for finding in findings(file, account) if finding.check == "live-endpoint"]

    assert of(file) == ["pass"]
    service = f"com.amazonaws.{REGION}.aps-workspaces"
    for private in (False, True):
        ec2.create_vpc_endpoint(VpcId=vpc, ServiceName=service, VpcEndpointType="Interface", PrivateDnsEnabled=private)
        assert of(file) == (["warn"] if private else ["pass"])
    assert of(cluster(network={"existing": existing})) == []


VOLUME_KEY = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/01234567-89ab-cdef-0123-456789abcdef"
LAUNCHERS = {"pcs": "AWSServiceRoleForPCS", "autoscaling": "AWSServiceRoleForAutoScaling"}


@pytest.mark.parametrize(
    ("text", "allowed", "status"),
    [
        # An Auto Scaling group has the Grafana server.
        (SLURM, ["pcs", "autoscaling"], "pass"),
        (SLURM, ["autoscaling"], "warn"),
        (SLURM, ["pcs"], "warn"),
        (EKS, ["autoscaling"], "pass"),
        (EKS, [], "warn"),
        (EKS, ["*"], "pass"),
    ],
)
def test_the_default_key_of_volumes_serves_who_launches_nodes(
    text: str, allowed: list[str], status: str, account: AwsAccount
) -> None:
    """The policy of the key must name the service-linked role: its own permissions have no key of customers."""
    role = f"arn:aws:iam::{ACCOUNT}:role/aws-service-role"
    arns = [it if it == "*" else f"{role}/{it}.amazonaws.com/{LAUNCHERS[it]}" for it in allowed]
    administrators = {"Effect": "Allow", "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}, "Action": "kms:*"}
    launch = {"Effect": "Allow", "Principal": {"AWS": arns}, "Action": ["kms:CreateGrant"], "Resource": "*"}
    # Without a grant, EC2 cannot attach a volume.
    read = {**launch, "Principal": {"AWS": [f"{role}/{name}.amazonaws.com/{it}" for name, it in LAUNCHERS.items()]}}
    statements = [administrators, launch, {**read, "Action": "kms:Decrypt"}]
    answering("ec2:GetEbsDefaultKmsKeyId", {"KmsKeyId": VOLUME_KEY})(account)
    metadata = {"KeyId": VOLUME_KEY[-36:], "Arn": VOLUME_KEY, "KeyManager": "CUSTOMER"}
    answering("kms:DescribeKey", {"KeyMetadata": metadata})(account)
    answering("kms:GetKeyPolicy", {"Policy": json.dumps({"Version": "2012-10-17", "Statement": statements})})(account)
    file = cluster(text)
    account.policy = policy(file)
    (finding,) = (finding for finding in findings(file, account) if finding.check == "live-volume-key")
    assert (finding.status, VOLUME_KEY in finding.message) == (status, True)
    if status == "warn":
        assert "Client.InvalidKMSKey.InvalidState" in finding.message
        assert [name for name in LAUNCHERS.values() if name in finding.fix]


@pytest.mark.parametrize(
    ("action", "status"),
    [("kms:Create*", "pass"), ("kms:creategrant", "pass"), ("kms:?reateGrant", "pass"), ("kms:Decrypt", "warn")],
)
def test_a_key_policy_may_have_wildcards_and_a_single_statement(action: str, status: str, account: AwsAccount) -> None:
    answering("ec2:GetEbsDefaultKmsKeyId", {"KmsKeyId": VOLUME_KEY})(account)
    metadata = {"KeyId": VOLUME_KEY[-36:], "Arn": VOLUME_KEY, "KeyManager": "CUSTOMER"}
    answering("kms:DescribeKey", {"KeyMetadata": metadata})(account)
    statement = {"Effect": "Allow", "Principal": "*", "Action": action, "Resource": "*"}
    answering("kms:GetKeyPolicy", {"Policy": json.dumps({"Statement": statement})})(account)
    (finding,) = (finding for finding in findings(cluster(), account) if finding.check == "live-volume-key")
    assert finding.status == status


def test_the_policy_of_a_key_of_another_account_is_not_read(account: AwsAccount) -> None:
    """KMS answers GetKeyPolicy in the account of the key alone."""
    key = VOLUME_KEY.replace(ACCOUNT, "999999999999")
    answering("ec2:GetEbsDefaultKmsKeyId", {"KmsKeyId": key})(account)
    (finding,) = (finding for finding in findings(cluster(), account) if finding.check == "live-volume-key")
    assert (finding.status, key in finding.message) == ("warn", True)
    assert "AWSServiceRoleForPCS" in finding.fix


@pytest.mark.parametrize(
    ("key", "allowed", "text"),
    [
        (VOLUME_KEY, "AWSServiceRoleForPCS", ""),
        (VOLUME_KEY, "AWSServiceRoleForAutoScaling", "its policy does not name AWSServiceRoleForPCS"),
        # A golden image that is shared with its snapshots, and one without.
        (VOLUME_KEY.replace(ACCOUNT, "999999999999"), "", "--key-id arn:aws:kms:us-east-2:999999999999:key/0"),
        (
            None,
            "",
            "--key-id KEY_ARN --grantee-principal arn:aws:iam::123456789012:role/aws-service-role/pcs.amazonaws",
        ),
    ],
)
def test_nodes_are_launched_with_the_key_of_an_image(
    key: str | None, allowed: str, text: str, account: AwsAccount
) -> None:
    image = {"ImageId": "ami-0123456789abcdef0", "State": "available", "Architecture": "x86_64", "Name": "golden"}
    disks = [
        {"DeviceName": "/dev/sda1", "Ebs": {"SnapshotId": "snap-0123456789abcdef0", "Encrypted": True}},
        {"DeviceName": "/dev/sdb", "VirtualName": "ephemeral0"},
    ]
    answering("ec2:DescribeImages", {"Images": [{**image, "BlockDeviceMappings": disks}]})(account)
    if key is None:
        raising("ec2:DescribeSnapshots", "InvalidSnapshot.NotFound")(account)
    else:
        answering("ec2:DescribeSnapshots", {"Snapshots": [{"KmsKeyId": key}]})(account)
    metadata = {"KeyId": VOLUME_KEY[-36:], "Arn": VOLUME_KEY, "KeyManager": "CUSTOMER"}
    answering("kms:DescribeKey", {"KeyMetadata": metadata})(account)
    arn = f"arn:aws:iam::{ACCOUNT}:role/aws-service-role/pcs.amazonaws.com/{allowed}"
    statement = {"Effect": "Allow", "Principal": {"AWS": arn}, "Action": "kms:CreateGrant", "Resource": "*"}
    answering("kms:GetKeyPolicy", {"Policy": json.dumps({"Statement": statement})})(account)
    file = cluster(observability={"grafana": {"kind": "none"}})
    account.policy = policy(file)
    image_row, *rest = (finding for finding in findings(file, account) if finding.check == "live-image")
    assert (image_row.status, [finding.status for finding in rest]) == ("pass", ["warn" if text else "pass"])
    assert all(text in f"{finding.message} {finding.fix}" for finding in rest)


def test_a_key_of_aws_with_an_id_serves_every_service(account: AwsAccount) -> None:
    answering("ec2:GetEbsDefaultKmsKeyId", {"KmsKeyId": VOLUME_KEY})(account)
    metadata = {"KeyId": VOLUME_KEY[-36:], "Arn": VOLUME_KEY, "KeyManager": "AWS"}
    answering("kms:DescribeKey", {"KeyMetadata": metadata})(account)
    assert trouble(cluster(), account) == []


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda path: path.stem)
def test_resources_of_the_printed_policy_match_its_actions(file: Path) -> None:
    assert useless(policy(clusterfile.load(file))) == set()


@pytest.mark.parametrize(
    ("principals", "action", "status"),
    [
        # The policy of the key that `cdk bootstrap --bootstrap-customer-key` creates, and the default one of a key.
        (["root", "*"], "kms:Decrypt", "pass"),
        (["root"], "kms:*", "fail"),
        (["root", "*"], "kms:DescribeKey", "fail"),
        (["role/ci", "role/llama-nodes"], "kms:Decrypt", "warn"),
        ([], "kms:Decrypt", "pass"),
    ],
)
def test_nodes_read_their_scripts_under_a_customer_key_of_the_bootstrap(
    principals: list[str], action: str, status: str, account: AwsAccount
) -> None:
    rule: dict[str, Any] = {"SSEAlgorithm": "aws:kms"} | ({"KMSMasterKeyID": VOLUME_KEY} if principals else {})
    rules = {"Rules": [{"ApplyServerSideEncryptionByDefault": rule}]}
    buckets: list[str] = []

    def encryption(params: dict[str, Any]) -> dict[str, Any]:
        buckets.append(params["Bucket"])
        return {"ServerSideEncryptionConfiguration": rules}

    account.answers["s3:GetBucketEncryption"] = encryption
    metadata = {"KeyId": VOLUME_KEY[-36:], "Arn": VOLUME_KEY, "AWSAccountId": ACCOUNT, "KeyManager": "CUSTOMER"}
    answering("kms:DescribeKey", {"KeyMetadata": metadata})(account)
    arns = [it if it == "*" else f"arn:aws:iam::{ACCOUNT}:{it}" for it in principals]
    statement = {"Effect": "Allow", "Principal": {"AWS": arns}, "Action": action, "Resource": "*"}
    answering("kms:GetKeyPolicy", {"Policy": json.dumps({"Statement": statement})})(account)
    file = cluster()
    account.policy = policy(file)
    (finding,) = (each for each in findings(file, account) if each.check == "live-bootstrap-key")
    assert (finding.status, buckets) == (status, [f"cdk-hnb659fds-assets-{ACCOUNT}-{REGION}"])
    if status == "fail":
        missing = json.loads(finding.fix.partition(": ")[2])
        assert missing["Condition"]["StringEquals"]["kms:ViaService"] == f"s3.{REGION}.amazonaws.com"
        answering("kms:GetKeyPolicy", {"Policy": json.dumps({"Statement": [statement, missing]})})(account)
        assert [each.status for each in findings(file, account) if each.check == "live-bootstrap-key"] == ["pass"]
    metadata["AWSAccountId"] = "999999999999"
    if principals:
        assert [each.status for each in findings(file, account) if each.check == "live-bootstrap-key"] == ["warn"]


def test_versions_of_eks_are_those_of_today(account: AwsAccount) -> None:
    file = cluster(EKS)
    version = file.kubernetes.version
    entry = {"clusterVersion": version, "versionStatus": "EXTENDED_SUPPORT", "endOfExtendedSupportDate": NOW}
    answering("eks:DescribeClusterVersions", {"clusterVersions": [entry]})(account)
    assert trouble(file, account) == [("live-kubernetes-version", "warn")]
    entry["versionStatus"] = "UNSUPPORTED"
    assert trouble(file, account) == [("live-kubernetes-version", "fail")]
    entry["clusterVersion"] = "1.99"
    assert trouble(file, account) == [("live-kubernetes-version", "fail")]


def test_an_add_on_must_have_the_version(account: AwsAccount) -> None:
    file = cluster(EKS, kubernetes={"add-ons": {"coredns": "v1.12.4-eksbuild.1"}})
    versions = [{"addonVersion": "v1.13.1-eksbuild.1"}]
    answering("eks:DescribeAddonVersions", {"addons": [{"addonName": "coredns", "addonVersions": versions}]})(account)
    assert trouble(file, account) == [("live-add-on", "fail")]
    versions.append({"addonVersion": "v1.12.4-eksbuild.1"})
    assert trouble(file, account) == []


def test_deployed_add_ons_are_compared_with_the_defaults_of_the_version(account: AwsAccount) -> None:
    file = cluster(EKS)
    old = {"addonVersion": "v1.12.4-eksbuild.1", "compatibilities": [{"defaultVersion": False}]}
    answering("eks:DescribeAddon", {"addon": {"addonName": "coredns", "addonVersion": old["addonVersion"]}})(account)
    versions = {"addons": [{"addonName": "coredns", "addonVersions": [ADD_ON, old]}]}
    answering("eks:DescribeAddonVersions", versions)(account)
    (finding,) = (each for each in findings(file, account) if each.status != "pass")
    assert (finding.check, finding.status) == ("live-add-on-age", "warn")
    assert finding.fix == "write `kubernetes.add-ons.coredns: v1.13.1-eksbuild.1` and deploy"
    # A pin of the file grows old too, and one that is not deployed yet does not.
    pinned = cluster(EKS, kubernetes={"add-ons": {"coredns": "v1.12.4-eksbuild.1"}})
    (finding,) = (each for each in findings(pinned, account) if each.status != "pass")
    assert finding.message.endswith("is v1.13.1-eksbuild.1: the file has v1.12.4-eksbuild.1")
    assert trouble(cluster(EKS, kubernetes={"add-ons": {"coredns": "v1.13.1-eksbuild.1"}}), account) == []
    # The stacks did not create it, and cannot: its name is taken.
    answering("eks:ListAddons", {"addons": ["amazon-guardduty"]})(account)
    assert trouble(file, account) == []
    answering("eks:ListAddons", {"addons": ["coredns"]})(account)
    versions["addons"][0]["addonVersions"] = [old, ADD_ON]  # now the newer one
    assert trouble(file, account) == []


def test_pinned_releases_are_compared_with_the_newest_ones(account: AwsAccount) -> None:
    def found(release: str) -> tuple[str, str]:
        text = EKS.replace("kubernetes:\n", f"kubernetes:\n  release: {release}\n") if release else EKS
        assert release in text
        (finding,) = (each for each in findings(cluster(text), account) if each.check == "live-node-release")
        return finding.status, finding.message

    assert found("") == (
        "pass",
        "train: a new node group gets AWS's image 1.35.2-20261105, which the file does not pin",
    )
    assert found("1.35.2-20261105")[0] == "pass"
    status, message = found("1.35.1-20260901")
    assert (status, message.endswith("newest image for Kubernetes 1.35 is 1.35.2-20261105")) == ("warn", True)
    other = EKS.replace("type: p5en.48xlarge,", "type: p5en.48xlarge, os: bottlerocket, release: 1.40.0-aaaaaaaa,")
    bottlerocket = "/aws/service/bottlerocket/aws-k8s-1.35-nvidia/x86_64/latest/image_version"
    account.answers["ssm:GetParameter"] = lambda params: (
        {"Parameter": {"Value": "1.47.0-6154605b"}} if params["Name"] == bottlerocket else None
    )
    (finding,) = (each for each in findings(cluster(other), account) if each.check == "live-node-release")
    assert (finding.status, finding.fix[:24]) == ("warn", "write `release: 1.47.0-6")
    # Now it has none of Amazon Linux.
    assert found("1.35.2-20261105")[0] == "fail"


def test_an_existing_cluster_must_be_the_one_of_the_file(account: AwsAccount) -> None:
    file = clusterfile.load(ROOT / "examples" / "eks-own-cluster.yaml")
    existing = file.kubernetes.existing
    assert existing is not None
    real = {
        "name": existing.name,
        "status": "ACTIVE",
        "version": file.kubernetes.version,
        "endpoint": existing.endpoint,
        "certificateAuthority": {"data": existing.certificate_authority},
        "resourcesVpcConfig": {"clusterSecurityGroupId": existing.security_group},
    }
    answering("eks:DescribeCluster", {"cluster": real})(account)

    def statuses() -> list[str]:
        return [finding.status for finding in findings(file, account) if finding.check == "live-existing-cluster"]

    assert statuses() == ["pass"]
    real.update(version="1.30", endpoint="https://other.eks.amazonaws.com")
    assert statuses() == ["fail", "fail"]


def test_every_check_has_an_id_and_a_reason() -> None:
    ids = [check.id for check in CHECKS]
    assert len(set(ids)) == len(ids)
    assert all(check.id.startswith("live-") and check.reason.endswith(".") for check in CHECKS)


def run(account: AwsAccount, monkeypatch: pytest.MonkeyPatch, *words: str) -> tuple[int, str]:
    monkeypatch.setattr("ultracluster.cli._live.client", account.client)
    result = CliRunner().invoke(app, ["check", str(ROOT / "examples" / "slurm-512-gpus.yaml"), *words])
    return result.exit_code, result.output


def test_the_command_prints_each_finding_and_fails_on_a_fault(
    account: AwsAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, text = run(account, monkeypatch, "--live")
    assert code == 0
    assert "pass  EC2 offers p5en.48xlarge in use2-az1 [live-instance-type]" in text
    assert text.rstrip().endswith("0 warn, 0 fail")
    quota_of("ec2", 0)(account)
    code, text = run(account, monkeypatch, "--live", "--json")
    assert code == 1
    document = json.loads(text)
    assert not document["ok"]
    assert {entry["check"] for entry in document["live"] if entry["status"] == "fail"} == {"live-quota"}


def test_the_command_prints_the_policy(account: AwsAccount, monkeypatch: pytest.MonkeyPatch) -> None:
    code, text = run(account, monkeypatch, "--live", "--policy")
    assert code == 0
    assert json.loads(text) == policy(cluster())
    assert account.calls == []
    code, text = run(account, monkeypatch, "--policy")
    assert code == 2
    assert "pass both" in text


def test_rules_that_promtool_refuses_end_the_check_before_a_call(
    account: AwsAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ultracluster.cli._files.promtool_problems", lambda _: ["team.yaml: no such function"])
    code, text = run(account, monkeypatch, "--live", "--json")
    assert code == 1
    assert "no such function" in text
    assert account.calls == []


@pytest.mark.parametrize(
    ("admin", "existing", "status", "text"),
    [
        ("role/platform", "role/platform", "pass", "role/platform exists"),
        ("role/platform", None, "fail", "create the role, or change `admins` or `members`"),
        # As of IAM Identity Center, whose roles have a path.
        (
            "role/platform",
            "role/aws-reserved/platform",
            "fail",
            f"write arn:aws:iam::{ACCOUNT}:role/aws-reserved/platform",
        ),
        ("user/ada", "user/ada", "pass", "user/ada exists"),
        ("user/ada", None, "fail", "create the user, or change `admins` or `members`"),
    ],
)
def test_administrators_exist(admin: str, existing: str | None, status: str, text: str, account: AwsAccount) -> None:
    """Otherwise the access entry fails: https://github.com/terraform-aws-modules/terraform-aws-eks/issues/2969."""
    kind = admin.partition("/")[0].title()
    name = f"iam:Get{kind}"
    answer = answering(name, {kind: principal(kind, existing)}) if existing else raising(name, "NoSuchEntity")
    answer(account)
    file = cluster(EKS.replace("arn:aws:iam::123456789012:role/platform", f"arn:aws:iam::{ACCOUNT}:{admin}"))
    account.policy = policy(file)
    checked = [finding for finding in findings(file, account) if finding.check == f"live-admin-{kind.lower()}s"]
    # A member of a team is a role of the file too.
    assert len(checked) == {"Role": 2, "User": 1}[kind]
    finding = next(finding for finding in checked if f":{admin} " in finding.message)
    assert finding.status == status
    assert text in f"{finding.message} {finding.fix}"
