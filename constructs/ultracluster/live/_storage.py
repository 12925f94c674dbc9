"""Buckets and file systems that the file names."""

from collections.abc import Iterator
from typing import Any

from ultracluster.catalogue.ec2 import partition_of
from ultracluster.clusterfile import ClusterFile
from ultracluster.live._account import Account, Call
from ultracluster.live._check import Check
from ultracluster.live._existing import SUBNETS
from ultracluster.live._finding import Finding

_BUCKET = Call(service="s3", operation="head_bucket", action="s3:ListBucket")
_LUSTRE = Call(service="fsx", operation="describe_file_systems", action="fsx:DescribeFileSystems")
_VPC = Call(service="ec2", operation="describe_vpcs", action="ec2:DescribeVpcs")
_INTERFACES = Call(service="ec2", operation="describe_network_interfaces", action="ec2:DescribeNetworkInterfaces")
# The client of Ubuntu 24.04 and Amazon Linux 2023 is 2.15, which mounts no 2.10:
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/lustre-client-matrix.html (read 2026-11-27)
_TOO_OLD = "2.10"


def _buckets_of(cluster: ClusterFile) -> dict[str, tuple[str, bool]]:
    """Return the key that names each bucket, and whether FSx imports changes of it."""
    existing, lustre = cluster.storage.existing_bucket, cluster.storage.lustre
    named = {existing.name: ("storage.data-bucket", False)} if existing else {}
    for path, link in (lustre.data_repository_associations if lustre else {}).items():
        bucket = link.bucket or (existing.name if existing else None)
        if bucket is not None:
            key, imports = named.get(bucket, (f"storage.lustre.data-repository-associations.{path}", False))
            named[bucket] = key, imports or bool(link.import_)
    return named


def _buckets(check: Check, cluster: ClusterFile, account: Account) -> Iterator[Finding]:
    for name, (key, imports) in _buckets_of(cluster).items():
        answer = account.find(_BUCKET, missing="404 NoSuchBucket", Bucket=name)
        if answer is None:
            yield check.bad(f"there is no bucket {name}", f"change `{key}`")
            continue
        region = answer.get("BucketRegion", account.region)
        if region == account.region:
            yield check.good(f"{name} exists in {region}")
            continue
        # https://docs.aws.amazon.com/fsx/latest/LustreGuide/overview-dra-data-repo.html (read 2026-11-20)
        refuse = check.bad if imports else check.doubt
        yield refuse(
            f"{name} is in {region}: FSx imports changes from buckets in {account.region} only, and AWS charges for "
            "traffic between Regions",
            f"name a bucket in {account.region}",
        )


def _lustre(check: Check, cluster: ClusterFile, account: Account) -> Iterator[Finding]:
    lustre = cluster.storage.lustre
    assert lustre is not None
    named = lustre.existing or lustre.adopt
    assert named is not None
    name, key = named.id, "adopt" if lustre.adopt is not None else "existing"
    answer = account.find(_LUSTRE, missing="FileSystemNotFound", FileSystemIds=[name])
    if answer is None or not answer["FileSystems"]:
        yield check.bad(f"{account.region} has no file system {name} in this account", f"change `storage.lustre.{key}`")
        return
    (record,) = answer["FileSystems"]
    if record["FileSystemType"] != "LUSTRE":
        yield check.bad(f"{name} is {record['FileSystemType']}, not LUSTRE", "name a file system of FSx for Lustre")
        return
    network = cluster.network.existing
    if network is not None and record["VpcId"] != network.vpc:
        yield check.doubt(
            f"{name} is in {record['VpcId']}, and the nodes in {network.vpc}: EFA does not cross VPCs",
            "name a file system in the VPC of the nodes",
        )
    if network is None and lustre.adopt is not None:
        yield from _network_of_adopted(check, cluster, account, record)
    yield from _security_group(check, account, record, f"storage.lustre.{key}", named.security_group)
    yield from _differences(check, cluster, account, record, f"storage.lustre.{key}", named.mount_name)
    if record["Lifecycle"] not in ("AVAILABLE", "UPDATING"):
        yield check.bad(f"{name} is {record['Lifecycle']}", "wait until it is AVAILABLE")
    else:
        yield check.good(f"{name} is {record['Lifecycle']}")


def _network_of_adopted(
    check: Check, cluster: ClusterFile, account: Account, record: dict[str, Any]
) -> Iterator[Finding]:
    """Look for the network of the cluster around a file system: the stack NAME-Network creates the VPC of the nodes."""
    name, vpc, expected = record["FileSystemId"], record["VpcId"], f"{cluster.name}-Network"
    rows = account.ask(_VPC, VpcIds=[vpc])["Vpcs"]
    tags = {tag["Key"]: tag["Value"] for row in rows for tag in row.get("Tags", [])}
    stack = tags.get("aws:cloudformation:stack-name")
    # The VPC is called by the path of its construct, where a stage is a part of its own.
    if stack == expected or expected in tags.get("Name", "").split("/"):
        return
    # https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_UserIdGroupPair.html and
    # https://docs.aws.amazon.com/vpc/latest/peering/vpc-peering-security-groups.html (read 2026-11-28)
    refuse, remedy = (check.bad, "") if stack is None else (check.doubt, f"nothing if the cluster is in {stack}; or ")
    yield refuse(
        f"{name} is in {vpc}, which {f'the stack {stack}' if stack else 'no stack'} created, and not {expected}: the "
        "deployment creates another VPC, and EC2 refuses rules between security groups of two VPCs",
        f"{remedy}write `network: {{existing: {{vpc: {vpc}, subnet: {record['SubnetIds'][0]}}}}}`",
    )


def _security_group(
    check: Check, account: Account, record: dict[str, Any], key: str, expected: str | None
) -> Iterator[Finding]:
    """Compare the security group in the file, which gets the rules for the nodes, with those of the file system."""
    interfaces = record.get("NetworkInterfaceIds", [])[:1] if expected else []
    for row in account.ask(_INTERFACES, NetworkInterfaceIds=interfaces)["NetworkInterfaces"] if interfaces else ():
        groups = [group["GroupId"] for group in row["Groups"]]
        if expected not in groups:
            yield check.bad(
                f"{record['FileSystemId']} has the security group {', '.join(groups)}, and the file has {expected}: no "
                "node could mount it",
                f"write `security-group: {groups[0]}` in `{key}`" if groups else f"change `{key}.security-group`",
            )


def _differences(
    check: Check, cluster: ClusterFile, account: Account, record: dict[str, Any], key: str, expected: str
) -> Iterator[Finding]:
    """Compare what the file has of a file system, such as the mount name that it expects, with its record."""
    name = record["FileSystemId"]
    settings = record.get("LustreConfiguration", {})
    mount_name, efa = settings.get("MountName"), bool(settings.get("EfaEnabled"))
    if mount_name != expected:
        yield check.bad(
            f"the mount name of {name} is {mount_name}, and the file has {expected}: no node would mount it",
            f"write `mount-name: {mount_name}` in `{key}`",
        )
    if cluster.lustre_efa and not efa:
        yield check.bad(f"{name} was created without EFA, and the file has it with EFA", "remove `efa: true`")
    elif efa and not cluster.lustre_efa:
        yield check.doubt(f"{name} has EFA, and the nodes would mount it over TCP", "write `efa: true`")
    if record.get("FileSystemTypeVersion") == _TOO_OLD:
        yield check.bad(
            f"{name} has Lustre {_TOO_OLD}, which the clients of Ubuntu 24.04 and Amazon Linux 2023 do not mount",
            f"aws fsx update-file-system --region {account.region} --file-system-id {name} "
            "--file-system-type-version 2.15",
        )
    spec = cluster.lustre_spec
    if spec is not None and spec.capacity_gib not in (None, record.get("StorageCapacity")):
        yield check.doubt(
            f"{name} has {record.get('StorageCapacity') or 0:,} GiB, and the keys of the file describe "
            f"{spec.capacity_gib:,}: what `check` prints of it is not true",
            "write its `capacity` and `tier`",
        )
    subnets = account.find(SUBNETS, missing="InvalidSubnetID.NotFound", SubnetIds=record.get("SubnetIds", [])[:1])
    zone = subnets["Subnets"][0]["AvailabilityZoneId"] if subnets else cluster.lustre_zone
    if zone != cluster.lustre_zone:
        refuse = check.bad if cluster.lustre_efa else check.doubt
        yield refuse(
            f"{name} is in {zone}, and the file has {cluster.lustre_zone}: AWS charges for traffic between zones, and "
            "EFA does not cross them",
            f"create the cluster in {zone}"
            + (f", or write `zone: {zone}` in `{key}`" if key.endswith("existing") else ""),
        )


CHECKS = (
    Check(
        id="live-bucket",
        reason="A bucket that the file names must exist, and in the Region if FSx imports its changes.",
        run=_buckets,
        calls=(_BUCKET,),
        resources=lambda cluster: {
            _BUCKET: [f"arn:{partition_of(cluster.region)}:s3:::{name}" for name in _buckets_of(cluster)]
        },
        applies=lambda cluster: bool(_buckets_of(cluster)),
    ),
    Check(
        id="live-file-system",
        reason="An existing file system must be one of FSx for Lustre that is available and is as the file has it.",
        run=_lustre,
        calls=(_LUSTRE, SUBNETS, _VPC, _INTERFACES),
        applies=lambda cluster: bool(
            cluster.storage.lustre and (cluster.storage.lustre.existing or cluster.storage.lustre.adopt)
        ),
    ),
)
