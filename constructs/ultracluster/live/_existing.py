"""Resources that the file names: subnets, keys, key pairs, secrets."""

from collections.abc import Iterator
from ipaddress import IPv4Network

from ultracluster.clusterfile import ClusterFile
from ultracluster.live._account import Account, Call
from ultracluster.live._check import Check
from ultracluster.live._finding import Finding
from ultracluster.planning.network import subnet_capacity

SUBNETS = Call(service="ec2", operation="describe_subnets", action="ec2:DescribeSubnets")
ENDPOINTS = Call(
    service="ec2", operation="describe_vpc_endpoints", action="ec2:DescribeVpcEndpoints", result="VpcEndpoints"
)
_VPC = Call(service="ec2", operation="describe_vpc_attribute", action="ec2:DescribeVpcAttribute")
_KEY = Call(service="kms", operation="describe_key", action="kms:DescribeKey")
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
    answer = account.find(SUBNETS, missing="InvalidSubnetID.NotFound", SubnetIds=[name])
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
    rows = account.pages(ENDPOINTS, Filters=filters)
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
        calls=(SUBNETS, _VPC),
        applies=lambda cluster: cluster.network.existing is not None,
    ),
    Check(
        id="live-endpoint",
        reason="A VPC has one endpoint of a service with private DNS.",
        run=_endpoint,
        calls=(ENDPOINTS,),
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
