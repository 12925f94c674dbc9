"""`check --live`: buckets and file systems that a file names are compared with those of the account."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # no stubs
from botocore.stub import Stubber

from support import ROOT
from support.aws_account import AwsAccount, aws_account, error
from ultracluster import clusterfile
from ultracluster.live import CHECKS, Finding
from ultracluster.live._account import Account

SLURM = yaml.safe_load((ROOT / "examples" / "slurm-512-gpus.yaml").read_text())
NAME = "fs-0123456789abcdef0"
VPC = {"existing": {"vpc": "vpc-0123456789abcdef0", "subnet": "subnet-0123456789abcdef0", "cidr": "10.0.128.0/18"}}
EXISTING = {"id": NAME, "mount-name": "abcdefgh"}
GROUP = "sg-0123456789abcdef0"
ADOPTED = {"capacity": "43200 GiB", "tier": "250 MB/s/TiB", "efa": False}


@pytest.fixture(scope="module")
def account() -> Iterator[AwsAccount]:
    with aws_account() as result:
        yield result


def findings(storage: dict[str, Any], account: AwsAccount, check: str, **keys: Any) -> list[Finding]:
    file = clusterfile.loads(yaml.safe_dump({**SLURM, **keys, "storage": storage}, sort_keys=False), "c.yaml")
    (wanted,) = (entry for entry in CHECKS if entry.id == check)
    return list(wanted.run(wanted, file, Account(account.client, file.region)))


def has(
    account: AwsAccount,
    *,
    zone: str = "use2-az1",
    version: str = "2.15",
    capacity: int = 43_200,
    stack: str | None = "prod-llama-Network",
    path: str = "prod/llama-Network/Network/Vpc",
    **settings: Any,
) -> None:
    """Add a file system to the account, as FSx describes one."""
    record = {
        "FileSystemId": NAME,
        "FileSystemType": "LUSTRE",
        "FileSystemTypeVersion": version,
        "Lifecycle": "AVAILABLE",
        # Intelligent-Tiering has none.
        **({"StorageCapacity": capacity} if capacity else {}),
        "SubnetIds": ["subnet-0123456789abcdef0"],
        "VpcId": "vpc-0123456789abcdef0",
        "NetworkInterfaceIds": ["eni-0123456789abcdef0", "eni-0fedcba9876543210"],
        "LustreConfiguration": {"MountName": "abcdefgh", "EfaEnabled": False, **settings},
    }
    tags = [{"Key": "Name", "Value": path}, {"Key": "aws:cloudformation:stack-name", "Value": stack}] if stack else []
    vpcs = {"Vpcs": [{"VpcId": "vpc-0123456789abcdef0", "Tags": tags}]}
    interfaces = {"NetworkInterfaces": [{"Groups": [{"GroupId": GROUP}]}]}
    subnet = {"SubnetId": "subnet-0123456789abcdef0", "AvailabilityZoneId": zone}
    for client, operation, answer in (
        ("fsx", "describe_file_systems", {"FileSystems": [record]}),
        ("ec2", "describe_subnets", {"Subnets": [subnet]}),
        ("ec2", "describe_vpcs", vpcs),
        ("ec2", "describe_network_interfaces", interfaces),
    ):
        # botocore refuses a field that the service does not have.
        with Stubber(account.client(client, "us-east-2")) as stub:
            stub.add_response(operation, answer)
    account.answers["fsx:DescribeFileSystems"] = lambda _: {"FileSystems": [record]}
    account.answers["ec2:DescribeSubnets"] = lambda _: {"Subnets": [subnet]}
    account.answers["ec2:DescribeVpcs"] = lambda _: vpcs
    account.answers["ec2:DescribeNetworkInterfaces"] = lambda _: interfaces


@pytest.mark.parametrize(
    ("keys", "held", "status", "text"),
    [
        ({}, {}, "pass", "is AVAILABLE"),
        ({"efa": True, "cidr": "10.0.128.0/18"}, {"EfaEnabled": True}, "pass", "is AVAILABLE"),
        ({"mount-name": "zzzzzzzz"}, {}, "fail", "the mount name of fs-0123456789abcdef0 is abcdefgh"),
        ({"efa": True, "cidr": "10.0.128.0/18"}, {}, "fail", "was created without EFA"),
        ({}, {"EfaEnabled": True}, "warn", "would mount it over TCP"),
        ({}, {"version": "2.10"}, "fail", "has Lustre 2.10"),
        ({}, {"zone": "use2-az2"}, "warn", "is in use2-az2"),
        ({"zone": "use2-az2"}, {"zone": "use2-az2"}, "pass", "is AVAILABLE"),
        ({"efa": True, "cidr": "10.0.128.0/18"}, {"EfaEnabled": True, "zone": "use2-az2"}, "fail", "is in use2-az2"),
    ],
)
def test_an_existing_file_system_is_as_the_file_has_it(
    keys: dict[str, Any], held: dict[str, Any], status: str, text: str, account: AwsAccount
) -> None:
    has(account, **held)
    first = findings({"lustre": {"existing": {**EXISTING, **keys}}}, account, "live-file-system", network=VPC)[0]
    assert (first.status, text in first.message) == (status, True), first


@pytest.mark.parametrize(
    ("capacity", "held", "status"),
    [("43200 GiB", 43_200, "pass"), ("86400 GiB", 43_200, "warn"), ("43200 GiB", 0, "warn")],
)
def test_the_keys_of_an_adopted_file_system_describe_it(
    capacity: str, held: int, status: str, account: AwsAccount
) -> None:
    has(account, capacity=held)
    lustre = {**ADOPTED, "capacity": capacity, "adopt": {**EXISTING, "security-group": GROUP}}
    assert findings({"lustre": lustre}, account, "live-file-system")[0].status == status


@pytest.mark.parametrize(
    ("stack", "path", "network", "status"),
    [
        ("llama-Network", "llama-Network/Network/Vpc", {}, "pass"),
        ("llama-Network", "", {}, "pass"),
        ("prod-llama-Network", "prod/llama-Network/Network/Vpc", {}, "pass"),
        # The network of a cluster called big-llama.
        ("big-llama-Network", "big-llama-Network/Network/Vpc", {}, "warn"),
        (None, "", {}, "fail"),
        ("other-Network", "other-Network/Network/Vpc", {}, "warn"),
        (None, "", VPC, "pass"),
    ],
)
def test_an_adopted_file_system_is_in_the_network_of_the_cluster(
    stack: str | None, path: str, network: dict[str, Any], status: str, account: AwsAccount
) -> None:
    has(account, stack=stack, path=path)
    lustre = {**ADOPTED, "adopt": {**EXISTING, "security-group": GROUP}}
    first = findings({"lustre": lustre}, account, "live-file-system", network=network)[0]
    assert first.status == status, first
    if status != "pass":
        assert "EC2 refuses rules between security groups of two VPCs" in first.message
        assert "network: {existing: {vpc: vpc-0123456789abcdef0, subnet: subnet-0123456789abcdef0}}" in first.fix


@pytest.mark.parametrize("key", ["adopt", "existing"])
def test_the_security_group_in_the_file_is_that_of_the_file_system(key: str, account: AwsAccount) -> None:
    has(account)
    named = {**EXISTING, "security-group": "sg-0fedcba9876543210"}
    lustre = {**(ADOPTED if key == "adopt" else {}), key: named}
    first = findings({"lustre": lustre}, account, "live-file-system", network=VPC)[0]
    assert (first.status, first.fix) == ("fail", f"write `security-group: {GROUP}` in `storage.lustre.{key}`")


def test_the_bucket_of_each_association_must_exist_and_be_in_the_region_if_it_is_imported(account: AwsAccount) -> None:
    def answer(parameters: dict[str, Any]) -> dict[str, Any]:
        if parameters["Bucket"] == "my-typo":
            raise error("404", "HeadBucket")
        return {"BucketRegion": "us-east-2" if parameters["Bucket"] == "my-data" else "us-west-2"}

    account.answers["s3:HeadBucket"] = answer
    links = {
        "/data": {"bucket": "my-data", "import": ["NEW"]},
        "/typo": {"bucket": "my-typo"},
        "/far": {"bucket": "my-far"},
        "/imported": {"bucket": "my-imported", "import": ["NEW"]},
    }
    lustre = {**SLURM["storage"]["lustre"], "data-repository-associations": links}
    results = findings({"lustre": lustre}, account, "live-bucket")
    assert [finding.status for finding in results] == ["pass", "fail", "warn", "fail"]
    assert "data-repository-associations./typo" in results[1].fix
