"""A stack with a home directory of every kind."""

from ipaddress import IPv4Network

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns

from ultracluster import network, storage
from ultracluster.planning.home import size_openzfs
from ultracluster.storage import ISharedFileSystem

RANGE = "10.0.0.0/16"


def make_network(stack: cdk.Stack) -> network.ClusterNetwork:
    return network.ClusterNetwork(
        stack,
        "Network",
        zone="use2-az1",
        cidr=IPv4Network(RANGE),
        training_cidr=IPv4Network("10.0.128.0/18"),
        public_cidr=IPv4Network("10.0.0.0/24"),
        zone_cidrs={"use2-az2": IPv4Network("10.0.64.0/18")},
    )


def make_homes(stack: cdk.Stack) -> dict[str, ISharedFileSystem]:
    """Create homes of all kinds, each with its clients and alarms."""
    net = make_network(stack)
    near, far = net.training_subnet, net.zone_subnets["use2-az2"]
    key = kms.Key(stack, "Key", enable_key_rotation=True)
    nodes = network.EfaSecurityGroup(stack, "Nodes", vpc=net.vpc)
    topic = sns.Topic(stack, "Topic", enforce_ssl=True, master_key=key)
    zfs = storage.OpenZfsHome(
        stack, "Zfs", vpc=net.vpc, subnet=near, size=size_openzfs(), client_ranges=[RANGE], key=key
    )
    two_zones = storage.OpenZfsHome(
        stack,
        "TwoZones",
        vpc=net.vpc,
        subnet=near,
        standby_subnet=far,
        size=size_openzfs(deployment_type="MULTI_AZ_1", iops=5_000),
        client_ranges=[RANGE, "10.1.0.0/16"],
    )
    efs = storage.EfsHome(stack, "Efs", vpc=net.vpc, subnets=[near, far], key=key)
    one_zone = storage.EfsHome(
        stack,
        "OneZone",
        vpc=net.vpc,
        subnets=[near],
        one_zone=True,
        tls=False,
        provisioned_mib_per_s=100,
        infrequent_after_days=1,
    )
    data = storage.DataBucket(stack, "Data", key=key)
    files = storage.S3FilesHome(
        stack, "Files", vpc=net.vpc, subnets=[near, far], bucket=data.bucket, bucket_key=key, key=key
    )
    files.grants.read_write(iam.Role(stack, "NodeRole", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com")))
    yours = storage.OpenZfsHome.from_open_zfs_home_attributes(
        stack, "YourZfs", file_system_id="fs-0123456789abcdef0", volume_id="fsvol-0123456789abcdef0"
    )
    your_group = ec2.SecurityGroup.from_security_group_id(stack, "YourGroup", "sg-0123456789abcdef0")
    your_efs = storage.EfsHome.from_efs_home_attributes(
        stack, "YourEfs", file_system_id="fs-0fedcba9876543210", security_group=your_group
    )
    for home in (zfs, two_zones, efs, one_zone, files, yours, your_efs):
        home.allow_clients(nodes)
        home.alarms.add_all(topic)
    return {
        "zfs": zfs,
        "two zones": two_zones,
        "efs": efs,
        "one zone": one_zone,
        "files": files,
        "yours": yours,
        "your efs": your_efs,
    }
