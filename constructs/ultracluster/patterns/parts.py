"""The four parts of a cluster, each made from the cluster file and the parts before it.

A part is a function, so that one stack may hold them all (`UltraCluster`) or each a stack of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from constructs import Construct, IDependable

from ultracluster.clusterfile import ClusterFile, NodeGroup, warnings
from ultracluster.compute import UNPINNED_IMAGE, Mount, NodeGroupTemplate, pcs_image, user_data
from ultracluster.network import ClusterNetwork, EfaSecurityGroup
from ultracluster.orchestration import PcsCluster, PcsComputeNodeGroup, PcsLoginNodeGroup, PcsQueue
from ultracluster.storage import DataBucket, LustreFileSystem
from ultracluster.storage.lustre_file_system import MOUNT_OPTIONS


@dataclass(frozen=True, kw_only=True)
class Network:
    """Where the nodes live. Make one by hand to bring a VPC of your own."""

    vpc: ec2.IVpc
    training_subnet: ec2.ISubnet
    #: Where the Slurm controller puts its interface.
    services_subnet: ec2.ISubnet
    nodes: ec2.ISecurityGroup
    #: What must stand before a controller or a node: routes, and the rules of the security group.
    ready: tuple[IDependable, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Storage:
    """Where the data lives. None: the cluster file asks for none."""

    lustre: LustreFileSystem | None = None
    #: Where nodes mount it.
    lustre_path: str | None = None
    data_bucket: DataBucket | None = None


def network(scope: Construct, cluster: ClusterFile) -> Network:
    """The VPC, or the one that the file names, and the group of the nodes."""
    existing = cluster.network.existing
    if existing is not None:
        vpc = ec2.Vpc.from_vpc_attributes(
            scope, "Vpc", vpc_id=existing.vpc, availability_zones=[cdk.Fn.select(0, cdk.Fn.get_azs())]
        )
        subnet = ec2.Subnet.from_subnet_id(scope, "TrainingSubnet", existing.subnet)
        nodes = EfaSecurityGroup(scope, "Nodes", vpc=vpc)
        return Network(
            vpc=vpc, training_subnet=subnet, services_subnet=subnet, nodes=nodes.security_group, ready=(nodes,)
        )
    made = ClusterNetwork(
        scope,
        "Network",
        zone=cluster.zone,
        cidr=cluster.network.cidr,
        training_cidr=cluster.subnets.training,
        public_cidr=cluster.subnets.public,
        services_zone=cluster.network.services_zone,
        services_cidr=cluster.subnets.services,
    )
    nodes = EfaSecurityGroup(scope, "Nodes", vpc=made.vpc)
    return Network(
        vpc=made.vpc,
        training_subnet=made.training_subnet,
        services_subnet=made.services_subnet,
        nodes=nodes.security_group,
        ready=(made, nodes),
    )


def storage(scope: Construct, cluster: ClusterFile, network: Network) -> Storage:
    """The key, the file system and the data bucket."""
    lustre = None
    if cluster.lustre_size is None and not cluster.storage.data_bucket:
        return Storage()
    key = _key(scope, cluster)
    if cluster.lustre_size is not None:
        lustre = LustreFileSystem(
            scope,
            "Lustre",
            vpc=network.vpc,
            subnet=network.training_subnet,
            size=cluster.lustre_size,
            key=key,
        )
        lustre.allow_clients(network.nodes)
    return Storage(
        lustre=lustre,
        lustre_path=cluster.storage.lustre.mount if cluster.storage.lustre else None,
        data_bucket=DataBucket(scope, "Data", key=key) if cluster.storage.data_bucket else None,
    )


def control_plane(scope: Construct, cluster: ClusterFile, network: Network, storage: Storage) -> PcsCluster:
    """The Slurm controller, and what its nodes may do."""
    slurm = cluster.slurm
    pcs = PcsCluster(
        scope,
        "Slurm",
        name=cluster.name,
        nodes=sum(group.count for group in cluster.node_groups) + slurm.login.count,
        subnet=network.services_subnet,
        security_groups=[network.nodes],
        size=slurm.size,
        slurm_version=slurm.version,
        accounting=slurm.accounting,
        scale_down_idle_time=cdk.Duration.seconds(slurm.scale_down_idle_time.seconds),
    )
    pcs.node.add_dependency(*network.ready)
    if storage.data_bucket is not None:
        storage.data_bucket.grants.read_write(pcs.node_role)
    return pcs


def node_groups(
    scope: Construct, cluster: ClusterFile, network: Network, storage: Storage, pcs: PcsCluster
) -> dict[str, PcsComputeNodeGroup]:
    """The login nodes, and a node group with a queue for each group of the file, by name."""
    for warning in warnings(cluster):
        # The image's own construct says this one, where it makes the parameter.
        if warning.id != UNPINNED_IMAGE:
            cdk.Validations.of(scope).add_warning(warning.id, warning.message)
    boot = user_data(mounts=_mounts(storage))
    login = cluster.slurm.login
    groups = {
        "login": PcsLoginNodeGroup(
            scope,
            "Login",
            cluster=pcs,
            instance_type=login.instance_type,
            subnet=network.training_subnet,
            security_groups=[network.nodes],
            image_id=login.image or pcs_image(scope, login.instance_type.architecture),
            count=login.count,
            user_data=boot,
            tags=cluster.tags,
        ).node_group
    }
    for group in cluster.node_groups:
        groups[group.name] = _node_group(Construct(scope, group.name), group, network, pcs, boot, cluster.tags)
    # A node needs its routes, and the rules that let it mount, before it boots.
    before = (*network.ready, *([storage.lustre] if storage.lustre else []))
    for made in groups.values():
        made.node.add_dependency(*before)
    return groups


def _node_group(
    scope: Construct, group: NodeGroup, network: Network, pcs: PcsCluster, boot: str, tags: Mapping[str, str]
) -> PcsComputeNodeGroup:
    template = NodeGroupTemplate(
        scope,
        "Template",
        instance_type=group.instance_type,
        layout=group.layout,
        capacity=group.capacity,
        placement_group="cluster" if group.placement_group else None,
        security_groups=[network.nodes],
        subnet=network.training_subnet,
        user_data=boot,
        root_volume_gib=group.root_volume.gib,
        tags=tags,
    )
    made = PcsComputeNodeGroup(
        scope,
        "NodeGroup",
        cluster=pcs,
        name=group.name,
        template=template,
        subnet=network.training_subnet,
        image_id=group.image or pcs_image(scope, group.instance_type.architecture),
        count=group.count,
    )
    PcsQueue(scope, "Queue", cluster=pcs, name=group.name, node_groups=[made])
    return made


def _key(scope: Construct, cluster: ClusterFile) -> kms.IKey:
    if cluster.encryption_key is not None:
        return kms.Key.from_key_arn(scope, "Key", cluster.encryption_key)
    return kms.Key(
        scope,
        "Key",
        description=f"File system and data of the cluster {cluster.name}",
        enable_key_rotation=True,
        removal_policy=cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    )


def _mounts(storage: Storage) -> list[Mount]:
    if storage.lustre is None or storage.lustre_path is None:
        return []
    return [Mount(device=storage.lustre.device, path=storage.lustre_path, type="lustre", options=MOUNT_OPTIONS)]
