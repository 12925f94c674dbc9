"""Slurm and its nodes, from a cluster file."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster.clusterfile import ClusterFile, NodeGroup, warnings
from ultracluster.compute import (
    DECLARED_TYPE,
    UNPINNED_IMAGE,
    CapacityNotices,
    NodeGroupTemplate,
    RootVolume,
    newest_image,
)
from ultracluster.orchestration import PcsCluster, PcsComputeNodeGroup, PcsDrain, PcsLoginNodeGroup, PcsQueue
from ultracluster.patterns.boot_part import node_boot
from ultracluster.patterns.links_part import LINK_WARNINGS
from ultracluster.patterns.network_part import Network
from ultracluster.patterns.storage_part import Storage
from ultracluster.planning import BootScript, CapacityBlock, UltraServerBlock, health_settings
from ultracluster.storage import EXISTING_BUCKET, EXISTING_LUSTRE

# The constructs that cause these say them themselves.
_SAID_ELSEWHERE = (DECLARED_TYPE, UNPINNED_IMAGE, EXISTING_BUCKET, EXISTING_LUSTRE, *LINK_WARNINGS)


def control_plane(scope: Construct, cluster: ClusterFile, network: Network, storage: Storage) -> PcsCluster:
    """The Slurm controller, and what its nodes may do."""
    slurm = cluster.slurm
    pcs = PcsCluster(
        scope,
        "Slurm",
        name=cluster.name,
        nodes=cluster.instances,
        subnet=network.services_subnet,
        security_groups=[network.nodes],
        size=slurm.size,
        slurm_version=slurm.version,
        accounting=slurm.accounting,
        slurm_settings=health_settings(slurm.settings) if slurm.health else slurm.settings,
        scale_down_idle_time=cdk.Duration.seconds(slurm.scale_down_idle_time.seconds),
    )
    pcs.node.add_dependency(*network.ready)
    if storage.data_bucket is not None:
        storage.data_bucket.grants.read_write(pcs.node_role)
    bundle = cluster.lustre_client.bundle
    if bundle is not None and bundle.url.startswith("s3://"):
        name, _, key = bundle.url.removeprefix("s3://").partition("/")
        arn = cdk.Stack.of(scope).format_arn(service="s3", region="", account="", resource=name, resource_name=key)
        pcs.node_role.add_to_principal_policy(iam.PolicyStatement(actions=["s3:GetObject"], resources=[arn]))
    return pcs


def node_groups(
    scope: Construct, cluster: ClusterFile, network: Network, storage: Storage, pcs: PcsCluster
) -> dict[str, PcsComputeNodeGroup]:
    """The login nodes, and the node groups of the file with their queues, by name."""
    _warn(scope, cluster)
    login = cluster.slurm.login
    groups = {
        "login": PcsLoginNodeGroup(
            scope,
            "Login",
            cluster=pcs,
            instance_type=cluster.login_type,
            # A Local Zone has few types; what needs no EFA stands beside the controller.
            subnet=network.services_subnet,
            security_groups=[network.nodes],
            image=login.image or newest_image("pcs", cluster.login_type.architecture),
            count=login.count,
            boot=node_boot(cluster, storage, cluster.login_type, zone=cluster.network.services_zone or cluster.zone),
            tags=cluster.tags,
        ).node_group
    }
    for section in cluster.nodes:
        made = {
            group.name: _node_group(
                _scope(scope, group.name),
                group,
                cluster,
                network,
                pcs,
                node_boot(cluster, storage, group.instance_type, zone=group.zone, layout=group.layout),
            )
            for group in cluster.node_groups
            if group.section == section
        }
        PcsQueue(_scope(scope, section), "Queue", cluster=pcs, name=section, node_groups=list(made.values()))
        groups |= made
    # A node needs its routes, and the rules that let it mount, before it boots.
    before = (*network.ready, *(made for made in (storage.lustre, storage.home) if made))
    for node_group in groups.values():
        node_group.node.add_dependency(*before)
    _capacity_that_ends(scope, cluster, pcs, groups)
    return groups


def _node_group(
    scope: Construct, group: NodeGroup, cluster: ClusterFile, network: Network, pcs: PcsCluster, boot: BootScript
) -> PcsComputeNodeGroup:
    template = NodeGroupTemplate(
        scope,
        "Template",
        instance_type=group.instance_type,
        layout=group.layout,
        service="pcs",
        capacity=group.capacity,
        placement_group=group.placement_group,
        security_groups=[network.nodes],
        subnet=network.subnet_of(group, cluster),
        image=group.image or newest_image("pcs", group.instance_type.architecture),
        root_volume=RootVolume(gib=group.root_volume.gib),
        tags=cluster.tags,
    )
    return PcsComputeNodeGroup(
        scope,
        "NodeGroup",
        cluster=pcs,
        name=group.name,
        template=template,
        count=group.count,
        boot=boot,
        features=group.features,
    )


def _capacity_that_ends(
    scope: Construct, cluster: ClusterFile, pcs: PcsCluster, groups: dict[str, PcsComputeNodeGroup]
) -> None:
    blocks = {
        group.name: group.capacity
        for group in cluster.node_groups
        if isinstance(group.capacity, CapacityBlock | UltraServerBlock)
    }
    if not blocks:
        return
    wish = cluster.notifications
    notices = CapacityNotices(
        scope,
        "CapacityNotices",
        reservation_ids=[block.reservation_id for block in blocks.values()],
        topic=None if wish.topic is None else sns.Topic.from_topic_arn(scope, "NoticesTopic", wish.topic),
        email=wish.email,
    )
    for name, block in blocks.items():
        if block.ends is not None:
            PcsDrain(
                _scope(scope, name),
                "Drain",
                cluster=pcs,
                login=groups["login"],
                node_group=groups[name],
                notices=notices,
                drain=wish.drain.timedelta,
                notice=wish.notice.timedelta,
            )


def _warn(scope: Construct, cluster: ClusterFile) -> None:
    validations = cdk.Validations.of(scope)
    found = warnings(cluster)
    for warning in found:
        if warning.id not in _SAID_ELSEWHERE and warning.acknowledged is None:
            validations.add_warning(warning.id, warning.message)
    for warning in found:
        if warning.id in _SAID_ELSEWHERE and warning.acknowledged is not None:
            cdk.Validations.of(cdk.Stack.of(scope)).acknowledge(
                cdk.Acknowledgment(id=warning.id, reason=warning.acknowledged)
            )


def _scope(scope: Construct, name: str) -> Construct:
    """The construct that holds what belongs to one name, made once."""
    found = scope.node.try_find_child(name)
    return found if isinstance(found, Construct) else Construct(scope, name)
