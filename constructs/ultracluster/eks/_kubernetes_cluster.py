"""Kubernetes and its nodes, from a cluster file."""

from collections.abc import Mapping

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_kms as kms
from constructs import Construct

from ultracluster.catalogue.ec2 import Architecture
from ultracluster.catalogue.schedulers import eks as eks_facts
from ultracluster.clusterfile import ANYWHERE, ClusterFile, NodeGroup
from ultracluster.compute import Access, NodeGroupTemplate, RootVolume, allow_bundle
from ultracluster.eks._access import kubeconfig_command, public_access_ranges
from ultracluster.eks._add_on import EksAddOn, pod_role
from ultracluster.eks._add_ons import base_add_ons, further_add_ons
from ultracluster.eks._admin_access import member_entry
from ultracluster.eks._admin_host import EksAdminHost
from ultracluster.eks._before_platform import BeforePlatform
from ultracluster.eks._boot import is_self_managed, kubernetes_boot, newest_node_image, node_labels
from ultracluster.eks._cluster import SECOND_ZONE, EksCluster
from ultracluster.eks._eks_node_role import EksNodeRole
from ultracluster.eks._interfaces import IEksCluster
from ultracluster.eks._karpenter import EksKarpenter
from ultracluster.eks._node_group import EksNodeGroup
from ultracluster.eks._scheduled_size import schedule_block
from ultracluster.eks._self_managed_node_group import EksSelfManagedNodeGroup
from ultracluster.kubernetes import ROOT_DEVICES, team_members
from ultracluster.monitoring.collectors import NAMESPACE, SERVICE_ACCOUNT
from ultracluster.network import Network
from ultracluster.observability import Observability, allow_topology
from ultracluster.orchestration import INodeGroup, Output, add_warnings, capacity_notices, child_scope
from ultracluster.planning import checked
from ultracluster.planning.capacity import Image, waits_for_command
from ultracluster.rules import Refusal
from ultracluster.security import acknowledge_accepted
from ultracluster.storage import Storage

_SYSTEM = "system"


class KubernetesCluster(BeforePlatform):
    """Kubernetes of a cluster file: EKS control plane or an existing one, node groups and add-ons.

    The construct holds the control plane, the roles of the nodes and the add-ons that must exist before a node;
    `add_node_groups` creates the nodes in a scope of the caller.

    Args:
        cluster: Cluster file.
        network: Network of control plane and nodes.
        storage: File systems and bucket that pods use.
    """

    @checked
    def __init__(self, scope: Construct, id: str, *, cluster: ClusterFile, network: Network, storage: Storage) -> None:
        super().__init__(scope, id)
        self._cluster, self._network, self._storage = cluster, network, storage
        self._existing = cluster.kubernetes.existing is not None
        #: Name of the cluster, as text.
        self.name = cluster.kubernetes.existing.name if cluster.kubernetes.existing else cluster.name
        #: Role of the nodes of managed node groups.
        self.node_role = EksNodeRole(self, "Nodes")
        #: EKS cluster.
        self.control_plane: IEksCluster = self._imported() if self._existing else self._created()
        self._plane = self.control_plane.cluster
        # EKS adds the second one only to templates that name no group.
        self._security_groups = [network.nodes, self._plane.cluster_security_group]
        #: Role of self-managed nodes and of those of Karpenter. None: there are no such nodes.
        self.self_managed_role: EksNodeRole | None = None
        own_karpenter = cluster.traits.kubernetes_nodes.own_karpenter
        if any((group.elastic and not own_karpenter) or is_self_managed(group) for group in cluster.node_groups):
            # EKS creates the access entry of the role of managed nodes, and CloudFormation cannot create a second one.
            self.self_managed_role = EksNodeRole(self, "OwnNodes")
            self.self_managed_role.add_access_entry(self._plane)
        for role in filter(None, (self.node_role, self.self_managed_role)):
            allow_bundle(role, cluster.lustre_client.bundle)
        #: Node groups by name; `system` is the group of the nodes that run what Kubernetes itself needs.
        self.node_groups: dict[str, INodeGroup] = {}
        #: Add-ons that need nodes to run on.
        self.add_ons: list[EksAddOn] = []
        #: Permissions of Karpenter. None: no group is elastic.
        self.karpenter: EksKarpenter | None = None
        #: Admin host that exists before the nodes, which need what it installs. None: the platform has one.
        self.admin_host: EksAdminHost | None = None

    @property
    def outputs(self) -> list[Output]:
        """Outputs of the control plane."""
        outputs = [Output("ClusterName", "EKS cluster", self._plane.cluster_name)]
        if self.self_managed_role is not None:
            # Node classes of Karpenter name both.
            role, group = self.self_managed_role, self._plane.cluster_security_group_id
            outputs += [
                Output("OwnNodesRoleName", "Role of nodes that EKS does not launch", role.role_name),
                Output("ClusterSecurityGroupId", "Group of control plane and nodes", group),
            ]
        return outputs

    @property
    def node_outputs(self) -> list[Output]:
        """Outputs of the nodes."""
        region, name = self._cluster.region, self.name
        command = kubeconfig_command(region, name, self._cluster.kubernetes.admins)
        outputs = [Output("KubeconfigCommand", "How to reach the cluster, from where its endpoint is reached", command)]
        commands = [
            f"aws eks update-nodegroup-config --region {region} --cluster-name {name} --nodegroup-name "
            f"{group.name} --scaling-config minSize=0,maxSize={group.count},desiredSize={group.count}"
            for group in self._cluster.node_groups
            if waits_for_command(group.capacity) and not group.elastic
        ]
        if commands:
            value = "; ".join(commands)
            outputs.append(
                Output("ScaleUpCommands", "How to start the nodes of a Capacity Block once it is active", value)
            )
        if self.karpenter is not None:
            queue = self.karpenter.queue.queue_name
            outputs.append(Output("KarpenterQueue", "Queue of the interruptions of Karpenter's nodes", queue))
        return outputs

    def add_metrics_access(self, scope: Construct, observability: Observability) -> None:
        """Create the role of the collectors, whose objects are rendered, and allow it to write metrics."""
        # The role of the nodes would serve every pod that reaches the metadata service of its node.
        role = pod_role(scope, "CollectorsRole")
        eks.CfnPodIdentityAssociation(
            scope,
            "Collectors",
            cluster_name=self._plane.cluster_name,
            namespace=NAMESPACE,
            service_account=SERVICE_ACCOUNT,
            role_arn=role.role_arn,
        )
        observability.workspace.grants.write(role)
        allow_topology(role)

    def add_node_groups(
        self,
        scope: Construct,
        *,
        images: Mapping[Architecture, Image] | None = None,
        others: Mapping[str, Construct] | None = None,
    ) -> None:
        """Create system nodes, node groups, and the add-ons that need nodes to run on; EKS has the images."""
        cluster, groups, others = self._cluster, self.node_groups, others or {}
        add_warnings(scope, cluster)
        if not self._existing:
            groups[_SYSTEM] = self._system_nodes(Construct(scope, "System"))
        for group in cluster.node_groups:
            if not group.elastic:
                parent = child_scope(others.get(group.name, scope), group.name)
                groups[group.name] = self._node_group(parent, group)
                schedule_block(parent, group, self._plane, groups[group.name])
        plane, role, storage = self._plane, self.self_managed_role, self._storage
        for node_group in groups.values():
            node_group.node.add_dependency(*self._network.ready, *filter(None, (storage.lustre, storage.home)))
        self._add_add_ons(scope)
        if role is not None and any(group.elastic for group in cluster.node_groups):
            self.karpenter = EksKarpenter(scope, "Karpenter", cluster=plane, name=self.name, node_role=role)
        capacity_notices(scope, cluster)

    def _add_add_ons(self, scope: Construct) -> None:
        if (system := self.node_groups.get(_SYSTEM)) is not None:
            self.add_ons += further_add_ons(scope, self._cluster, self._plane, self._storage, after=system)

    def _imported(self) -> IEksCluster:
        existing = self._cluster.kubernetes.existing
        assert existing is not None
        return EksCluster.from_eks_cluster_attributes(
            self,
            "Kubernetes",
            cluster_name=existing.name,
            endpoint=existing.endpoint,
            certificate_authority=existing.certificate_authority,
            security_group_id=existing.security_group,
            vpc=self._network.vpc,
        )

    def _created(self) -> IEksCluster:
        cluster, network, section = self._cluster, self._network, self._cluster.kubernetes
        created = EksCluster(
            self,
            "Kubernetes",
            name=cluster.name,
            version=section.version,
            vpc=network.vpc,
            subnets=[network.services_subnet, self._second_subnet()],
            public_access_cidrs=public_access_ranges(section.public_access_cidrs),
            allow_public_access_from_anywhere=section.public_access_cidrs == ANYWHERE,
            admins=section.admins,
            key=kms.Key.from_key_arn(self, "SecretsKey", key) if (key := cluster.encryption_key) else None,
            scaling_tier=section.scaling_tier,
            support=section.support,
            bin_packing=section.bin_packing,
            service_cidr=str(section.service_cidr),
        )
        created.resource.deletion_protection = section.deletion_protection
        self._issuer_url = created.resource.attr_open_id_connect_issuer_url
        for principal, groups in team_members(cluster).items():
            member_entry(created, cluster=created.cluster, principal=principal, groups=groups)
        created.node.add_dependency(*network.ready)
        acknowledge_accepted(created, cluster)
        base_add_ons(self, cluster, created.cluster)
        return created

    def _second_subnet(self) -> ec2.ISubnet:
        """Return the other subnet that EKS requires, and no further one: its zones cannot change."""
        cluster, subnets = self._cluster, self._network.zone_subnets
        zone = cluster.kubernetes.second_zone or (
            cluster.second_zone if cluster.second_zone in subnets else min(subnets, default=cluster.second_zone)
        )
        if zone not in subnets:
            message = f"EKS requires subnets in two zones, and the network has one in {cluster.zone} only"
            raise Refusal(self, SECOND_ZONE(f"{message}: Network(zone_subnets={{'{zone}': subnet}})"))
        return subnets[zone]

    def _system_nodes(self, scope: Construct) -> EksNodeGroup:
        cluster = self._cluster
        template = NodeGroupTemplate(
            scope,
            "Template",
            instance_type=cluster.service_type,
            security_groups=self._security_groups,
            service="eks-managed",
            root_volume=RootVolume(gib=100, device=ROOT_DEVICES["al2023"]),
            tags=cluster.kubernetes.system.tags,
        )
        return EksNodeGroup(
            scope,
            "NodeGroup",
            cluster=self._plane,
            name=_SYSTEM,
            template=template,
            # A Local Zone has few types. Subnets of an existing VPC may have room for the control plane only.
            subnet=self._network.services_subnet
            if cluster.network.existing
            else [self._network.services_subnet, self._second_subnet()],
            node_role=self.node_role,
            count=cluster.kubernetes.system.count,
            version=self._version(cluster.kubernetes.release),
            release=cluster.kubernetes.release,
        )

    def _node_group(self, scope: Construct, group: NodeGroup) -> EksNodeGroup | EksSelfManagedNodeGroup:
        cluster, self_managed = self._cluster, is_self_managed(group)
        section = cluster.nodes[group.section]
        subnet = self._network.subnet_of(group, cluster)
        image = group.image or (newest_node_image(group, cluster) if self_managed else None)
        role = self.self_managed_role if self_managed else None
        template = NodeGroupTemplate(
            scope,
            "Template",
            instance_type=group.instance_type,
            layout=group.layout,
            service="self-managed" if self_managed else "eks-managed",
            capacity=group.capacity,
            placement_group=group.placement_group,
            security_groups=self._security_groups,
            subnet=subnet if self_managed else None,
            image=image,
            access=None if role is None else Access(instance_profile=role.instance_profile),
            user_data=kubernetes_boot(cluster, self._storage, group, self._plane if image else None),
            root_volume=RootVolume(gib=group.root_volume.gib, device=ROOT_DEVICES[group.os]),
            tags=section.tags,
        )
        if self_managed:
            return EksSelfManagedNodeGroup(
                scope, "NodeGroup", cluster_name=self.name, name=group.name, template=template, subnet=subnet,
                count=group.count,
            )  # fmt: skip
        release = None if image else cluster.kubernetes.release_of(section.release, group.os)
        return EksNodeGroup(
            scope,
            "NodeGroup",
            cluster=self._plane,
            name=group.name,
            template=template,
            subnet=subnet,
            node_role=self.node_role,
            count=group.count,
            os=group.os,
            labels=node_labels(group),
            taints=group.kubernetes_taints,
            version=self._version(release) if image is None else None,
            release=release,
            update=section.update,
        )

    def _version(self, release: str | None) -> str | None:
        """Return the version of managed nodes; those of an existing cluster have that of their control plane."""
        if release is not None and eks_facts.is_dated_release(release):
            return eks_facts.release_minor(release)
        return None if self._existing else self._cluster.kubernetes.version
