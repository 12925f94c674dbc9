"""Slurm and its nodes, from a cluster file."""

from collections.abc import Callable, Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster.clusterfile import ClusterFile, NodeGroup, warnings
from ultracluster.clusterfile.readers.slurm import source_range
from ultracluster.compute import (
    DECLARED_TYPE,
    UNPINNED_IMAGE,
    CapacityNotices,
    NodeGroupTemplate,
    RootVolume,
    newest_image,
)
from ultracluster.hardware import InstanceType
from ultracluster.orchestration import (
    LoginSsh,
    NodeUsers,
    PcsCluster,
    PcsComputeNodeGroup,
    PcsDrain,
    PcsLoginNodeGroup,
    PcsQueue,
    SlurmAccounts,
    SlurmOptions,
)
from ultracluster.patterns.boot_part import node_boot
from ultracluster.patterns.links_part import LINK_WARNINGS
from ultracluster.patterns.network_part import Network
from ultracluster.patterns.observability_part import collectors
from ultracluster.patterns.storage_part import Storage
from ultracluster.planning import BootScript, CapacityBlock, NodeBoot, UltraServerBlock, health_settings
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
        options=_options(cluster),
        scale_down_idle_time=cdk.Duration.seconds(slurm.scale_down_idle_time.seconds),
    )
    pcs.node.add_dependency(*network.ready)
    if cluster.users:
        NodeUsers(scope, "Users", cluster=cluster.name, users=cluster.users).grant_read(pcs.node_role)
    if storage.data_bucket is not None:
        storage.data_bucket.grants.read_write(pcs.node_role)
    bundle = cluster.lustre_client.bundle
    if bundle is not None and bundle.url.startswith("s3://"):
        name, _, key = bundle.url.removeprefix("s3://").partition("/")
        arn = cdk.Stack.of(scope).format_arn(service="s3", region="", account="", resource=name, resource_name=key)
        pcs.node_role.add_to_principal_policy(iam.PolicyStatement(actions=["s3:GetObject"], resources=[arn]))
    return pcs


def _options(cluster: ClusterFile) -> SlurmOptions:
    slurm, purge = cluster.slurm, cluster.slurm.accounting_purge_time
    return SlurmOptions(
        accounting=slurm.accounting,
        accounting_purge_days=None if purge is None else purge.timedelta.days,
        rest_api=slurm.rest_api,
        metrics=cluster.slurm_metrics,
        settings=health_settings(cluster.slurm_settings) if slurm.health else cluster.slurm_settings,
        slurmdbd_settings=slurm.slurmdbd_settings,
        cgroup_settings=slurm.cgroup_settings,
    )


def node_groups(
    scope: Construct,
    cluster: ClusterFile,
    network: Network,
    storage: Storage,
    pcs: PcsCluster,
    extra: Callable[[InstanceType], Sequence[NodeBoot]] = lambda _: (),
) -> dict[str, PcsComputeNodeGroup]:
    """The login nodes, and the node groups of the file with their queues, by name.

    Args:
        scope: Where they stand.
        cluster: The file.
        network: Where the nodes live.
        storage: What they mount.
        pcs: The cluster.
        extra: More files and units for the nodes of a type. Default: none.
    """
    warn(scope, cluster)
    login = cluster.slurm.login
    groups = {
        "login": PcsLoginNodeGroup(
            scope,
            "Login",
            cluster=pcs,
            instance_type=cluster.service_type,
            # A Local Zone has few types; what needs no EFA stands beside the controller.
            subnet=network.services_subnet,
            security_groups=[network.nodes],
            ssh=_ssh(cluster, network),
            image=login.image or newest_image("pcs", cluster.service_type.architecture),
            count=login.count,
            boot=node_boot(
                cluster,
                storage,
                cluster.service_type,
                zone=cluster.network.services_zone or cluster.zone,
                extra=collectors(cluster, cluster.service_type),
            ),
            tags=cluster.tags,
        ).node_group
    }
    for group in cluster.node_groups:
        boot = node_boot(
            cluster,
            storage,
            group.instance_type,
            zone=group.zone,
            layout=group.layout,
            extra=[
                *collectors(cluster, group.instance_type, group=group.name, layout=group.layout),
                *extra(group.instance_type),
            ],
        )
        groups[group.name] = _node_group(child_scope(scope, group.name), group, cluster, network, pcs, boot)
    script, late = cluster.accounting_script, [queue for queue in cluster.queues if "AllowQos" in queue.settings]
    accounts = (
        SlurmAccounts(scope, "Accounts", cluster=pcs, login=groups["login"], script=script, wait=bool(late))
        if script
        else None
    )
    for queue in cluster.queues:
        made = PcsQueue(
            child_scope(scope, queue.name),
            "Queue",
            cluster=pcs,
            name=queue.name,
            node_groups=[groups[group.name] for group in cluster.node_groups if group.section in queue.sections],
            slurm_settings=queue.settings,
        )
        if accounts is not None and queue in late:
            made.node.add_dependency(accounts)
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
        minimum=group.minimum,
        features=group.features,
        slurm_settings=group.slurm.settings,
        gres=group.slurm.gres,
    )


def _ssh(cluster: ClusterFile, network: Network) -> LoginSsh | None:
    wish = cluster.slurm.login.ssh
    if wish is None:
        return None
    return LoginSsh(vpc=network.vpc, key_pair=wish.key_pair, sources=[source_range(word) for word in wish.sources])


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
                child_scope(scope, name),
                "Drain",
                cluster=pcs,
                login=groups["login"],
                node_group=groups[name],
                notices=notices,
                drain=wish.drain.timedelta,
                notice=wish.notice.timedelta,
            )


def warn(scope: Construct, cluster: ClusterFile) -> None:
    """Say what the cluster file is warned of, but for what other constructs say."""
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


def child_scope(scope: Construct, name: str) -> Construct:
    """The construct that holds what belongs to one name, made once."""
    found = scope.node.try_find_child(name)
    return found if isinstance(found, Construct) else Construct(scope, name)
