"""Resources that the file names: subnets, keys, buckets, file systems, images."""

from collections.abc import Iterator
from ipaddress import IPv4Network

from ultracluster.catalogue.ec2 import partition_of
from ultracluster.clusterfile import ClusterFile
from ultracluster.live._account import Account, Call
from ultracluster.live._check import Check
from ultracluster.live._finding import Finding
from ultracluster.planning.network import subnet_capacity

_SUBNETS = Call(service="ec2", operation="describe_subnets", action="ec2:DescribeSubnets")
_ENDPOINTS = Call(
    service="ec2", operation="describe_vpc_endpoints", action="ec2:DescribeVpcEndpoints", result="VpcEndpoints"
)
_VPC = Call(service="ec2", operation="describe_vpc_attribute", action="ec2:DescribeVpcAttribute")
_KEY = Call(service="kms", operation="describe_key", action="kms:DescribeKey")
_BUCKET = Call(service="s3", operation="head_bucket", action="s3:ListBucket")
_LUSTRE = Call(service="fsx", operation="describe_file_systems", action="fsx:DescribeFileSystems")
_KEY_PAIR = Call(service="ec2", operation="describe_key_pairs", action="ec2:DescribeKeyPairs")
_SECRET = Call(service="secretsmanager", operation="describe_secret", action="secretsmanager:DescribeSecret")


def _network(check: Check, cluster: ClusterFile, account: Account) -> Iterator[Finding]:
    existing = cluster.network.existing
    assert existing is not None
    for name in ("enableDnsSupport", "enableDnsHostnames"):
        answer = account.find(_VPC, missing="InvalidVpcID.NotFound", VpcId=existing.vpc, Attribute=name)
        if answer is None:
            yield check.bad(
                f"{account.region} has no VPC {existing.vpc} in this account", "change `network.existing.vpc`"
            )
            return
        if not answer[name[0].upper() + name[1:]]["Value"]:
            yield check.bad(
                f"{name} is off in {existing.vpc}: nodes would not find endpoints and file systems by name",
                f"aws ec2 modify-vpc-attribute --region {account.region} --vpc-id {existing.vpc} "
                f"--{'enable-dns-support' if name == 'enableDnsSupport' else 'enable-dns-hostnames'}",
            )
    for zone, subnet in {cluster.zone: existing.subnet, **existing.subnets}.items():
        yield from _subnet(check, cluster, account, zone, subnet)


def _subnet(check: Check, cluster: ClusterFile, account: Account, zone: str, name: str) -> Iterator[Finding]:
    existing = cluster.network.existing
    assert existing is not None
    answer = account.find(_SUBNETS, missing="InvalidSubnetID.NotFound", SubnetIds=[name])
    if answer is None:
        yield check.bad(f"{account.region} has no subnet {name} in this account", "change `network.existing`")
        return
    (subnet,) = answer["Subnets"]
    if subnet["VpcId"] != existing.vpc:
        yield check.bad(f"{name} is in {subnet['VpcId']}, not in {existing.vpc}", "change `network.existing`")
    if subnet["AvailabilityZoneId"] != zone:
        yield check.bad(
            f"{name} is in {subnet['AvailabilityZoneId']}, and the file has it for {zone}",
            "name the subnet of the zone, or change the zone",
        )
    if subnet["MapPublicIpOnLaunch"]:
        yield check.doubt(f"{name} gives instances public addresses", "name a private subnet")
    nodes = sum(group.addresses for group in cluster.node_groups if group.zone == zone)
    needed = cluster.addresses if zone == cluster.zone else nodes
    free, size = subnet["AvailableIpAddressCount"], subnet_capacity(IPv4Network(subnet["CidrBlock"]))
    if size < needed:
        yield check.bad(
            f"{name} ({subnet['CidrBlock']}) has {size:,} addresses, and the cluster needs {needed:,}",
            "name a larger subnet",
        )
    elif free < needed:
        yield check.doubt(
            f"{name} has {free:,} free addresses, and the cluster needs {needed:,}",
            "nothing if this cluster uses the others; otherwise name another subnet",
        )
    else:
        yield check.good(f"{name} has {free:,} free addresses, and the cluster needs {needed:,}")


def _endpoint(check: Check, cluster: ClusterFile, account: Account) -> Iterator[Finding]:
    existing = cluster.network.existing
    assert existing is not None
    values = {"vpc-id": existing.vpc, "service-name": f"com.amazonaws.{account.region}.aps-workspaces"}
    filters = [{"Name": name, "Values": [value]} for name, value in values.items()]
    rows = account.pages(_ENDPOINTS, Filters=filters)
    named = [row["VpcEndpointId"] for row in rows if row.get("PrivateDnsEnabled")]
    if named:
        # A VPC has one endpoint of a service with private DNS:
        # https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html (read 2026-11-27)
        yield check.doubt(
            f"{existing.vpc} has the endpoint {', '.join(named)} of Amazon Managed Service for Prometheus, and a "
            "second one with private DNS fails",
            "nothing if this cluster has created it; otherwise remove `observability.vpc-endpoint`",
        )
    else:
        yield check.good(f"{existing.vpc} has no other endpoint of Amazon Managed Service for Prometheus")


def _keys_of(cluster: ClusterFile) -> list[str]:
    bucket = cluster.storage.existing_bucket
    directory = cluster.slurm.directory
    keys = [cluster.encryption_key, bucket.key if bucket else None, directory.one.key if directory else None]
    return list(dict.fromkeys(key for key in keys if key is not None))


def _keys(check: Check, cluster: ClusterFile, account: Account) -> Iterator[Finding]:
    for key in _keys_of(cluster):
        answer = account.find(_KEY, missing="NotFoundException", KeyId=key)
        if answer is None:
            yield check.bad(f"there is no key {key}", "change the key in the file")
        elif (state := answer["KeyMetadata"]["KeyState"]) != "Enabled":
            yield check.bad(f"{key} is {state}", f"aws kms enable-key --key-id {key}")
        elif (usage := answer["KeyMetadata"]["KeySpec"]) != "SYMMETRIC_DEFAULT":
            yield check.bad(f"{key} is of the kind {usage}", "name a symmetric key")
        else:
            yield check.good(f"{key} is enabled")


def _bucket(check: Check, cluster: ClusterFile, account: Account) -> Iterator[Finding]:
    bucket = cluster.storage.existing_bucket
    assert bucket is not None
    answer = account.find(_BUCKET, missing="404 NoSuchBucket", Bucket=bucket.name)
    if answer is None:
        yield check.bad(f"there is no bucket {bucket.name}", "change `storage.data-bucket`")
        return
    region = answer.get("BucketRegion", account.region)
    if region != account.region:
        # https://docs.aws.amazon.com/fsx/latest/LustreGuide/overview-dra-data-repo.html (read 2026-11-20)
        yield check.doubt(
            f"{bucket.name} is in {region}: FSx imports changes from buckets in {account.region} only, and AWS charges "
            "for traffic between Regions",
            f"name a bucket in {account.region}",
        )
        return
    yield check.good(f"{bucket.name} exists in {region}")


def _lustre_id(cluster: ClusterFile) -> str | None:
    lustre = cluster.storage.lustre
    named = (lustre.existing or lustre.adopt) if lustre is not None else None
    return named.id if named is not None else None


def _lustre(check: Check, cluster: ClusterFile, account: Account) -> Iterator[Finding]:
    name = _lustre_id(cluster)
    section = cluster.storage.lustre
    key = "adopt" if section is not None and section.adopt is not None else "existing"
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
    if record["Lifecycle"] not in ("AVAILABLE", "UPDATING"):
        yield check.bad(f"{name} is {record['Lifecycle']}", "wait until it is AVAILABLE")
    else:
        yield check.good(f"{name} is {record['Lifecycle']}")


def _key_pair(check: Check, cluster: ClusterFile, account: Account) -> Iterator[Finding]:
    ssh = cluster.slurm.login.ssh
    assert ssh is not None
    if account.find(_KEY_PAIR, missing="InvalidKeyPair.NotFound", KeyNames=[ssh.key_pair]) is None:
        yield check.bad(f"{account.region} has no key pair {ssh.key_pair}", "change `slurm.login.ssh.key-pair`")
    else:
        yield check.good(f"the key pair {ssh.key_pair} exists")


def _secret(check: Check, cluster: ClusterFile, account: Account) -> Iterator[Finding]:
    directory = cluster.slurm.directory
    assert directory is not None
    secret = directory.one.secret
    answer = account.find(_SECRET, missing="ResourceNotFoundException", SecretId=secret)
    if answer is None or answer.get("DeletedDate"):
        yield check.bad(f"there is no secret {secret}", "create it, or change `slurm.directory`")
    else:
        yield check.good(f"{secret.rpartition(':')[2]} exists")


CHECKS = (
    Check(
        id="live-network",
        reason="An existing network must resolve names, and its subnets must be in their zones and have room.",
        run=_network,
        calls=(_SUBNETS, _VPC),
        applies=lambda cluster: cluster.network.existing is not None,
    ),
    Check(
        id="live-endpoint",
        reason="A VPC has one endpoint of a service with private DNS.",
        run=_endpoint,
        calls=(_ENDPOINTS,),
        applies=lambda cluster: cluster.network.existing is not None and cluster.observability.vpc_endpoint,
    ),
    Check(
        id="live-key",
        reason="A key that is disabled or of the wrong kind stops the deployment.",
        run=_keys,
        calls=(_KEY,),
        resources=lambda cluster: {_KEY: _keys_of(cluster)},
        applies=lambda cluster: bool(_keys_of(cluster)),
    ),
    Check(
        id="live-bucket",
        reason="An existing data bucket must exist in the Region.",
        run=_bucket,
        calls=(_BUCKET,),
        resources=lambda cluster: {
            _BUCKET: [f"arn:{partition_of(cluster.region)}:s3:::{cluster.storage.existing_bucket.name}"]
            if cluster.storage.existing_bucket
            else []
        },
        applies=lambda cluster: cluster.storage.existing_bucket is not None,
    ),
    Check(
        id="live-file-system",
        reason="An existing file system must be one of FSx for Lustre that is available.",
        run=_lustre,
        calls=(_LUSTRE,),
        applies=lambda cluster: _lustre_id(cluster) is not None,
    ),
    Check(
        id="live-key-pair",
        reason="Login nodes with SSH need their key pair.",
        run=_key_pair,
        calls=(_KEY_PAIR,),
        applies=lambda cluster: cluster.slurm.login.ssh is not None,
    ),
    Check(
        id="live-secret",
        reason="Nodes read the password of their directory from a secret.",
        run=_secret,
        calls=(_SECRET,),
        resources=lambda cluster: {_SECRET: [cluster.slurm.directory.one.secret] if cluster.slurm.directory else []},
        applies=lambda cluster: cluster.slurm.directory is not None,
    ),
)
