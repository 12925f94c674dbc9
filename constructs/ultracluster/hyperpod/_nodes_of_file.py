"""HyperPod with Kubernetes, and its nodes, from a cluster file."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct, IDependable

from ultracluster.boot import (
    LUSTRE_EFA_UNIT,
    EfaBundle,
    LocalScratch,
    LustreClient,
    NodeBoot,
    NodeSetup,
    hyperpod_kubernetes_setup,
)
from ultracluster.catalogue.ec2 import Architecture, image_software
from ultracluster.catalogue.schedulers import hyperpod_add_ons, hyperpod_kubernetes
from ultracluster.clusterfile import ClusterFile, NodeGroup
from ultracluster.compute import allow_bundle
from ultracluster.eks import EksAddOn, EksPlatform, KubernetesCluster, admin_host, node_labels, platform_content
from ultracluster.hyperpod._hyperpod_cluster import HyperPodCluster
from ultracluster.hyperpod._hyperpod_role import HyperPodRole
from ultracluster.hyperpod._inference_add_on import HyperPodInferenceAddOn
from ultracluster.hyperpod._instance_group import HyperPodInstanceGroup
from ultracluster.hyperpod._joined_cluster import HyperPodKubernetes
from ultracluster.hyperpod._lifecycle_scripts import HyperPodScripts, create_or_import_bucket, role_outputs
from ultracluster.hyperpod._metrics_add_on import HyperPodObservabilityAddOn
from ultracluster.hyperpod._task_governance import HyperPodTaskGovernance, TeamQuota
from ultracluster.kubernetes import platform_of, required_bundle, shares
from ultracluster.network import Network
from ultracluster.observability import IPrometheusWorkspace, PrometheusWorkspace
from ultracluster.orchestration import Output, add_warnings
from ultracluster.planning import checked
from ultracluster.planning.capacity import Image
from ultracluster.security import acknowledge_accepted
from ultracluster.storage import Storage

# Percentage of its nodes that a team borrows:
# https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ResourceSharingConfig.html (read 2026-11-27)
_BORROWED_BY_DEFAULT = 50
# The two priority classes of every platform, of the weights that the service takes.
_PRIORITIES = {"production": 100, "research": 10}


class HyperPodKubernetesCluster(KubernetesCluster):
    """HyperPod with Kubernetes of a cluster file: an EKS cluster, its system nodes, and nodes of HyperPod.

    HyperPod refuses an EKS cluster that does not have its charts. So `add_node_groups` creates, in this order: system
    nodes, an admin host, the charts by that host, and the HyperPod cluster, whose instance groups are the node groups.

    Args:
        cluster: Cluster file.
        network: Network of control plane and nodes.
        storage: File systems and bucket that pods use.
    """

    @checked
    def __init__(self, scope: Construct, id: str, *, cluster: ClusterFile, network: Network, storage: Storage) -> None:
        super().__init__(scope, id, cluster=cluster, network=network, storage=storage)
        section = cluster.hyperpod
        self._volume_key = kms.Key.from_key_arn(self, "VolumeKey", section.volume_key) if section.volume_key else None
        #: Execution role of the nodes of HyperPod.
        self.role = HyperPodRole(
            self, "HyperPodRole", eks_cluster_arn=self._plane.cluster_arn, volume_key=self._volume_key
        )
        allow_bundle(self.role, self._lustre_client.bundle)
        #: Bucket of the lifecycle scripts.
        self.bucket = create_or_import_bucket(self, cluster, self.role)
        #: HyperPod cluster. None before `add_node_groups`.
        self.hyperpod: HyperPodCluster | None = None

    @property
    def outputs(self) -> list[Output]:
        """Outputs of the control plane."""
        return [*super().outputs, *role_outputs(self.role, self.bucket)]

    @property
    def node_outputs(self) -> list[Output]:
        """Outputs of the nodes."""
        if self.hyperpod is None:
            return super().node_outputs
        return [*super().node_outputs, Output("ClusterArn", "HyperPod cluster", self.hyperpod.cluster_arn)]

    def add_node_groups(
        self,
        scope: Construct,
        *,
        images: Mapping[Architecture, Image] | None = None,
        others: Mapping[str, Construct] | None = None,
    ) -> None:
        """Create system nodes, the charts that HyperPod requires, and its cluster; HyperPod has the images."""
        cluster, section = self._cluster, self._cluster.hyperpod
        add_warnings(scope, cluster)
        if not self._existing:
            system = self.node_groups["system"] = self._system_nodes(Construct(scope, "System"))
            system.node.add_dependency(*self._network.ready)
        self._add_add_ons(scope)
        scripts = HyperPodScripts(
            scope,
            "Lifecycle",
            bucket=self.bucket,
            scripts={
                f"{group.name}.sh": hyperpod_kubernetes_setup(self._scratch(group), lustre=self._lustre(group))
                for group in cluster.node_groups
            },
        )
        kubernetes = HyperPodKubernetes(
            cluster_arn=self._plane.cluster_arn,
            autoscaling=any(group.elastic for group in cluster.node_groups),
            checkpoint_memory_percent=section.checkpoint_memory,
        )
        created = HyperPodCluster(
            scope,
            "Cluster",
            name=cluster.name,
            groups=[self._group(group) for group in cluster.node_groups],
            subnet=self._network.training_subnet,
            security_groups=self._security_groups,
            role=self.role,
            scripts=scripts,
            kubernetes=kubernetes,
            node_recovery=section.node_recovery,
            volume_key=self._volume_key,
        )
        created.node.add_dependency(
            *self._network.ready,
            *filter(None, (self._storage.lustre, self._storage.home)),
            *self._charts(scope),
            *self.add_ons,
        )
        acknowledge_accepted(created, cluster)
        self.hyperpod = created
        self.node_groups |= {group.name: created for group in cluster.node_groups}

    def create_before_platform(self, scope: Construct) -> list[IDependable]:
        """Create task governance: its add-on needs a node of HyperPod, and its quotas create the namespaces."""
        cluster = self._cluster
        if cluster.kubernetes.scheduler != "task-governance" or self.hyperpod is None:
            return []
        name = hyperpod_kubernetes.TASK_GOVERNANCE
        add_on = EksAddOn(scope, name, cluster=self._plane, name=name)
        add_on.node.add_dependency(self.hyperpod, *self.add_ons)
        governance = HyperPodTaskGovernance(
            scope,
            "TaskGovernance",
            cluster_arn=self.hyperpod.cluster_arn,
            name=cluster.name,
            teams=_quotas(cluster),
            priorities=_PRIORITIES,
        )
        governance.node.add_dependency(add_on)
        return [governance]

    def create_late_add_on(self, scope: Construct, name: str, outputs: Sequence[Output]) -> Construct:
        """Create an add-on of HyperPod; those for metrics and inference have settings of the deployment."""
        if name not in (hyperpod_add_ons.OBSERVABILITY, hyperpod_add_ons.INFERENCE) or self.hyperpod is None:
            return super().create_late_add_on(scope, name, outputs)
        option = self._cluster.kubernetes.add_on(name)
        role = None if option.role is None else iam.Role.from_role_arn(scope, f"{name}-OwnRole", option.role)
        version = None if option.version == "default" else option.version
        workspace = self._workspace(scope, name, outputs)
        if name == hyperpod_add_ons.OBSERVABILITY:
            assert workspace is not None  # a rule of the file
            return HyperPodObservabilityAddOn(
                scope, name, cluster=self._plane, workspace=workspace, role=role, version=version
            )
        return HyperPodInferenceAddOn(
            scope,
            name,
            cluster=self._plane,
            issuer_url=self._issuer_url,
            hyperpod_cluster_arn=self.hyperpod.cluster_arn,
            workspace=workspace,
            role=role,
            version=version,
        )

    def _workspace(self, scope: Construct, name: str, outputs: Sequence[Output]) -> IPrometheusWorkspace | None:
        """Return the workspace of the metrics of the cluster, or None without metrics."""
        values, arn = {output.id: output.value for output in outputs}, self._cluster.observability.workspace
        if (id := values.get("PrometheusWorkspaceId")) is None:
            return None
        if arn is None:
            arn = cdk.Stack.of(scope).format_arn(service="aps", resource="workspace", resource_name=id)
        return PrometheusWorkspace.from_workspace_arn(scope, f"{name}-Workspace", arn)

    def _charts(self, scope: Construct) -> list[IDependable]:
        """Install the charts that HyperPod requires; an existing cluster has them."""
        if self._existing:
            return []
        self.admin_host = admin_host(scope, "Host", cluster=self._plane, network=self._network, storage=self._storage)
        charts = EksPlatform(
            scope,
            "Charts",
            host=self.admin_host,
            files=platform_content(required_bundle(platform_of(self._cluster))),
            values={},
        )
        charts.node.add_dependency(*self.node_groups.values())
        return [charts]

    def _scratch(self, group: NodeGroup) -> NodeSetup | None:
        path = self._cluster.storage.scratch.path
        return LocalScratch(path=path).for_hyperpod(group.instance_type) if group.instance_type.nvme[0] else None

    @property
    def _lustre_client(self) -> LustreClient:
        """Client of Lustre, with AWS's tool, which no page documents for the image of HyperPod."""
        client, tool = self._cluster.lustre_client, image_software.LUSTRE_EFA_TOOL
        return client if client.bundle else replace(client, bundle=EfaBundle(url=tool.url, sha256=tool.sha256))

    def _lustre(self, group: NodeGroup) -> NodeBoot | None:
        """Return the set-up of EFA for Lustre, or None for nodes that mount it over TCP."""
        over_efa = any(LUSTRE_EFA_UNIT in mount.after for mount in self._storage.mounts)
        if not (over_efa and group.zone == self._cluster.lustre_zone):
            return None
        client = self._lustre_client
        return (
            client.boot(group.instance_type, before="kubelet.service")
            if client.connections(group.instance_type)
            else None
        )

    def _group(self, group: NodeGroup) -> HyperPodInstanceGroup:
        cluster = self._cluster
        return HyperPodInstanceGroup(
            name=group.name,
            instance_type=group.instance_type.name,
            # Karpenter scales a group that starts without nodes, and has no hour for deep health checks.
            count=0 if group.elastic else group.count,
            capacity=group.capacity,
            script=f"{group.name}.sh",
            on_create=True,
            deep_health_checks=cluster.hyperpod.deep_health_checks
            and group.instance_type.gpus > 0
            and not group.elastic,
            volume_gib=int(group.root_volume.gib),
            subnet=None if group.zone == cluster.zone else self._network.subnet_of(group, cluster),
            labels=node_labels(group),
            taints=group.kubernetes_taints,
        )


def _quotas(cluster: ClusterFile) -> dict[str, TeamQuota]:
    """Return the nodes of each team by type, as the platform shares them."""
    platform = platform_of(cluster)
    working: Counter[str] = Counter()
    for group in platform.nodes:
        working[group.instance_type.name] += group.working
    quotas = {}
    for team in platform.teams:
        nodes: Counter[str] = Counter()
        for group in platform.nodes:
            nodes[group.instance_type.name] += shares(platform.teams, group)[team.name]
        name = team.name.removeprefix(hyperpod_kubernetes.TEAM_NAMESPACE.format(""))
        quotas[name] = TeamQuota(
            nodes=dict(nodes),
            sharing="LendAndBorrow" if team.borrow else "Lend",
            borrow_limit=_borrow_limit(nodes, working) if team.borrow else None,
            weight=team.weight or int(platform.fair_sharing),
        )
    return quotas


def _borrow_limit(nodes: Mapping[str, int], working: Mapping[str, int]) -> int | None:
    """Return the percentage of its nodes that a team borrows to have all of their types, or None for the default."""
    percents = [-(-100 * (working[name] - count) // count) for name, count in nodes.items() if count]
    percent = max(percents, default=0)
    return min(percent, hyperpod_kubernetes.BORROW_LIMITS[-1]) if percent > _BORROWED_BY_DEFAULT else None
