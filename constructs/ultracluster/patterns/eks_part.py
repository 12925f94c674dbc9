"""Kubernetes and its nodes, from a cluster file."""

from dataclasses import dataclass
from ipaddress import IPv4Network

from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster.clusterfile import ClusterFile, NodeGroup
from ultracluster.clusterfile.problems import field_name
from ultracluster.clusterfile.readers.kubernetes import OPEN, Endpoint
from ultracluster.compute import Access, CapacityNotices, NodeGroupTemplate, RootVolume, newest_image
from ultracluster.hardware.images import ImageFamily
from ultracluster.kubernetes import file_problems
from ultracluster.orchestration import EksCluster, EksKarpenter, EksNodeGroup, EksNodeRole, EksSelfManagedNodeGroup
from ultracluster.orchestration.eks_node_group import waits
from ultracluster.patterns.eks_add_ons import base_add_ons, further_add_ons
from ultracluster.patterns.eks_boot_part import ROOT_DEVICES, kubernetes_boot, node_labels, node_taints
from ultracluster.patterns.network_part import Network
from ultracluster.patterns.slurm_part import child_scope, warn
from ultracluster.patterns.storage_part import Storage
from ultracluster.planning import CapacityBlock, ClusterAccess, Image, InterruptibleReservation, UltraServerBlock

# Of the tenth address of its range: https://docs.aws.amazon.com/eks/latest/userguide/view-kubernetes-resources.html and
# CoreDNS's own Service (read 2026-11-21).
_DNS = 10


@dataclass(frozen=True, kw_only=True)
class Kubernetes:
    """The control plane, and what its nodes take part with."""

    cluster: eks.ICluster
    #: Its name, as text.
    name: str
    node_role: iam.IRole
    #: The role of nodes that EKS does not launch. None: there are none.
    own_nodes: EksNodeRole | None
    #: What nodes must know of it that EKS does not tell.
    access: ClusterAccess


def kubernetes(scope: Construct, cluster: ClusterFile, network: Network) -> Kubernetes:
    """The control plane, or the one that the file names, and the role of its nodes.

    Raises:
        ValueError: When what is to stand on the cluster does not fit together, with every problem.
    """
    if problems := file_problems(cluster):
        raise ValueError("\n".join(f"{scope.node.path}: {field_name(one.path)}: {one.message}" for one in problems))
    wish = cluster.kubernetes
    role = EksNodeRole(scope, "Nodes")
    if wish.existing is not None:
        existing = wish.existing
        name = existing.name
        found = eks.Cluster.from_cluster_attributes(
            scope,
            "Kubernetes",
            cluster_name=name,
            cluster_endpoint=existing.endpoint,
            cluster_certificate_authority_data=existing.certificate_authority,
            cluster_security_group_id=existing.security_group,
            vpc=network.vpc,
        )
    else:
        name = cluster.name
        made = EksCluster(
            scope,
            "Kubernetes",
            name=name,
            version=wish.version,
            vpc=network.vpc,
            subnets=[network.services_subnet, network.zone_subnets[_second_zone(cluster, network)]],
            reached_from=_reached_from(wish.endpoint),
            open_to_the_world=wish.endpoint == OPEN,
            admins=wish.admins,
            key=None
            if cluster.encryption_key is None
            else kms.Key.from_key_arn(scope, "SecretsKey", cluster.encryption_key),
            scaling_tier=wish.scaling_tier,
            bin_packing=wish.bin_packing,
            service_cidr=str(wish.service_cidr),
        )
        made.node.add_dependency(*network.ready)
        found = made.cluster
        base_add_ons(scope, cluster, found)
    own = None
    if any(group.elastic or _self_managed(group) for group in cluster.node_groups):
        # A role of their own: EKS makes the access entry of its managed nodes' role, and only one of the two can.
        own = EksNodeRole(scope, "OwnNodes")
        own.let_in(found)
    return Kubernetes(
        cluster=found,
        name=name,
        node_role=role.role,
        own_nodes=own,
        access=ClusterAccess(
            name=name,
            endpoint=found.cluster_endpoint,
            certificate_authority=found.cluster_certificate_authority_data,
            service_cidr=str(wish.service_cidr),
            dns=str(IPv4Network(wish.service_cidr)[_DNS]),
        ),
    )


def kubernetes_nodes(
    scope: Construct, cluster: ClusterFile, network: Network, storage: Storage, plane: Kubernetes
) -> dict[str, EksNodeGroup | EksSelfManagedNodeGroup]:
    """The system nodes, and the node groups of the file, by name; and the add-ons that want nodes to run on."""
    warn(scope, cluster)
    groups: dict[str, EksNodeGroup | EksSelfManagedNodeGroup] = {}
    if cluster.kubernetes.existing is None:
        groups["system"] = _system(scope, cluster, network, plane)
    for group in cluster.node_groups:
        if group.elastic:
            continue
        groups[group.name] = _node_group(child_scope(scope, group.name), group, cluster, network, storage, plane)
    before = (*network.ready, *(made for made in (storage.lustre, storage.home) if made))
    for made in groups.values():
        made.node.add_dependency(*before)
    if cluster.kubernetes.existing is None:
        further_add_ons(scope, cluster, plane.cluster, storage, after=groups["system"])
    if plane.own_nodes is not None and any(group.elastic for group in cluster.node_groups):
        EksKarpenter(scope, "Karpenter", cluster=plane.cluster, name=plane.name, node_role=plane.own_nodes.role)
    blocks = [
        group.capacity for group in cluster.node_groups if isinstance(group.capacity, CapacityBlock | UltraServerBlock)
    ]
    if blocks:
        wish = cluster.notifications
        CapacityNotices(
            scope,
            "CapacityNotices",
            reservation_ids=[block.reservation_id for block in blocks],
            topic=None if wish.topic is None else sns.Topic.from_topic_arn(scope, "NoticesTopic", wish.topic),
            email=wish.email,
        )
    return groups


def _reached_from(endpoint: Endpoint) -> list[str]:
    if isinstance(endpoint, str):
        return ["0.0.0.0/0"] if endpoint == OPEN else []
    return [str(range) for range in endpoint]


def _second_zone(cluster: ClusterFile, network: Network) -> str:
    """Zone of the subnet that EKS gets beside the first: no more than it needs, for the zones can't change."""
    if cluster.network.existing is None:
        return cluster.second_zone
    return cluster.kubernetes.second_zone or min(network.zone_subnets)


def _self_managed(group: NodeGroup) -> bool:
    """Whether a managed node group has no word for the capacity."""
    return isinstance(group.capacity, InterruptibleReservation)


def _system(scope: Construct, cluster: ClusterFile, network: Network, plane: Kubernetes) -> EksNodeGroup:
    place = Construct(scope, "System")
    template = NodeGroupTemplate(
        place,
        "Template",
        instance_type=cluster.service_type,
        security_groups=[network.nodes, plane.cluster.cluster_security_group],
        service="eks-managed",
        root_volume=RootVolume(gib=100, device=ROOT_DEVICES["al2023"]),
        tags=cluster.tags,
    )
    return EksNodeGroup(
        place,
        "NodeGroup",
        cluster=plane.cluster,
        name="system",
        template=template,
        # A Local Zone has few types; what needs no EFA stands beside the control plane.
        subnet=network.services_subnet,
        node_role=plane.node_role,
        count=cluster.kubernetes.system.count,
    )


def _node_group(
    scope: Construct,
    group: NodeGroup,
    cluster: ClusterFile,
    network: Network,
    storage: Storage,
    plane: Kubernetes,
) -> EksNodeGroup | EksSelfManagedNodeGroup:
    managed = not _self_managed(group)
    subnet = network.subnet_of(group, cluster)
    image = group.image or (None if managed else _newest(group, cluster))
    template = NodeGroupTemplate(
        scope,
        "Template",
        instance_type=group.instance_type,
        layout=group.layout,
        service="eks-managed" if managed else "self-managed",
        capacity=group.capacity,
        placement_group=group.placement_group,
        # EKS adds its own group only to templates that name none.
        security_groups=[network.nodes, plane.cluster.cluster_security_group],
        subnet=None if managed else subnet,
        image=image,
        access=None
        if plane.own_nodes is None or managed
        else Access(instance_profile=plane.own_nodes.instance_profile),
        user_data=kubernetes_boot(cluster, storage, group, plane.access if image else None),
        root_volume=RootVolume(gib=group.root_volume.gib, device=ROOT_DEVICES[group.os]),
        tags=cluster.tags,
    )
    if not managed:
        return EksSelfManagedNodeGroup(
            scope,
            "NodeGroup",
            cluster_name=plane.name,
            name=group.name,
            template=template,
            subnet=subnet,
            count=group.count,
        )
    return EksNodeGroup(
        scope,
        "NodeGroup",
        cluster=plane.cluster,
        name=group.name,
        template=template,
        subnet=subnet,
        node_role=plane.node_role,
        count=group.count,
        os=group.os,
        labels=node_labels(group),
        taints=node_taints(cluster, group),
    )


def _newest(group: NodeGroup, cluster: ClusterFile) -> Image:
    record, version = group.instance_type, cluster.kubernetes.version
    family: ImageFamily
    if group.os == "bottlerocket":
        family = "bottlerocket" if record.gpus else "bottlerocket-standard"
    else:
        family = "eks" if record.gpus else "eks-standard"
    return newest_image(family, record.architecture, kubernetes=version)


def commands(cluster: ClusterFile, name: str) -> dict[str, tuple[str, str]]:
    """What a person types, by the id of an output: a description, and the command."""
    found = {
        "KubeconfigCommand": (
            "How to reach the cluster, from where its endpoint is reached",
            f"aws eks update-kubeconfig --region {cluster.region} --name {name}",
        )
    }
    blocks = [group for group in cluster.node_groups if waits(group.capacity) and not group.elastic]
    if blocks:
        found["ScaleUpCommands"] = (
            "Once a Capacity Block is active: deploy with active: true in its capacity, or raise its group from zero",
            "; ".join(
                f"aws eks update-nodegroup-config --region {cluster.region} --cluster-name {name} --nodegroup-name "
                f"{group.name} --scaling-config minSize=0,maxSize={group.count},desiredSize={group.count}"
                for group in blocks
            ),
        )
    return found
