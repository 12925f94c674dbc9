"""Slurm and its nodes, from a cluster file."""

from collections.abc import Callable, Mapping, Sequence

import aws_cdk as cdk
from constructs import Construct

from ultracluster.boot import (
    BootScript,
    NodeBoot,
    NodeFile,
    NodeScript,
    jobs_boot,
    node_scripts_archive,
    node_scripts_parameter,
)
from ultracluster.catalogue.ec2 import Architecture, InstanceType
from ultracluster.clusterfile import ClusterFile, ImageOption, NodeGroup
from ultracluster.compute import NodeGroupTemplate, RootVolume, newest_image
from ultracluster.network import Network
from ultracluster.observability import Observability
from ultracluster.orchestration import Output, add_warnings, child_scope
from ultracluster.planning import checked
from ultracluster.planning.capacity import BuiltImage, Image
from ultracluster.security import acknowledge_accepted
from ultracluster.slurm._accounts import SlurmAccounts
from ultracluster.slurm._boot import node_boot
from ultracluster.slurm._drain_blocks import drain_blocks
from ultracluster.slurm._from_cluster_file import log_settings, login_ssh, slurm_options, tagged
from ultracluster.slurm._job_files import job_files, jobs_directory
from ultracluster.slurm._metrics import LOGIN, slurm_collectors
from ultracluster.slurm._metrics_access import add_metrics_access
from ultracluster.slurm._node_access import allow_nodes, allow_storage
from ultracluster.slurm._node_archive import NodeArchive
from ultracluster.slurm._node_canary import NodeCanary
from ultracluster.slurm._node_outputs import controller_outputs, node_outputs
from ultracluster.slurm._pcs_cluster import PcsCluster
from ultracluster.slurm._pcs_cluster_logs import PcsClusterLogs
from ultracluster.slurm._pcs_compute_node_group import PcsComputeNodeGroup
from ultracluster.slurm._pcs_login_node_group import PcsLoginNodeGroup
from ultracluster.slurm._pcs_node_logs import PcsNodeLogs
from ultracluster.slurm._pcs_node_role import PcsNodeRole
from ultracluster.slurm._pcs_queue import PcsQueue
from ultracluster.slurm._people_policies import PeoplePolicies, people_policies
from ultracluster.slurm._software import node_software
from ultracluster.slurm._user_scripts import user_scripts
from ultracluster.storage import Storage
from ultracluster.workloads import job_helpers, slurm_jobs


class SlurmCluster(Construct):
    """Slurm of a cluster file: controller, login nodes, node groups and queues on AWS PCS.

    The construct holds the controller; `add_node_groups` creates the nodes in a scope of the caller.

    Args:
        cluster: Cluster file.
        network: Network of controller and nodes.
        storage: File systems that nodes mount, and the bucket that they may use.
    """

    @checked
    def __init__(self, scope: Construct, id: str, *, cluster: ClusterFile, network: Network, storage: Storage) -> None:
        super().__init__(scope, id)
        self._cluster, self._network, self._storage = cluster, network, storage
        #: Slurm controller.
        self.controller = PcsCluster(
            self,
            "Slurm",
            name=cluster.name,
            max_instances=cluster.instances,
            subnet=network.services_subnet,
            security_groups=[network.nodes],
            size=cluster.slurm.size,
            slurm_version=cluster.slurm.version,
            options=slurm_options(cluster),
            scale_down_idle_time=cdk.Duration.seconds(cluster.slurm.scale_down_idle_time.seconds),
        )
        self.controller.node.add_dependency(*network.ready)
        acknowledge_accepted(self.controller, cluster)
        #: Logs of the controller.
        self.logs = PcsClusterLogs(self, "Logs", cluster=self.controller, **log_settings(self, cluster))
        #: Logs of the nodes.
        self.node_logs = PcsNodeLogs(self, "NodeLogs", cluster=self.controller, **log_settings(self, cluster))
        #: Node groups by name; `login` is the group of the login nodes.
        self.node_groups: dict[str, PcsComputeNodeGroup] = {}
        self._queues: dict[str, PcsQueue] = {}
        self._has_jobs = False
        self._canaries: dict[str, NodeCanary] = {}
        self._in_place: dict[str, tuple[NodeFile, ...]] = {}
        #: Role of the login nodes; that of the other nodes is the controller's `node_role`.
        self.login_role = PcsNodeRole(self, "LoginRole")
        self.node_logs.grants.write(self.login_role)
        self._policies: PeoplePolicies | None = None
        self._grafana: str | None = None
        allow_nodes(self, cluster, compute=self.controller.node_role, login=self.login_role)

    @property
    def outputs(self) -> list[Output]:
        """Outputs of the controller."""
        return controller_outputs(self.controller, self._cluster.region)

    @property
    def node_outputs(self) -> list[Output]:
        """Outputs of the nodes."""
        outputs = node_outputs(self._cluster, self.node_groups, self._queues, has_jobs=self._has_jobs)
        return [*outputs, *self._policies.outputs(self._cluster)] if self._policies else outputs

    def add_metrics_access(self, scope: Construct, observability: Observability) -> None:
        """Allow nodes to write metrics, and publish the URL of a workspace that is known at deployment only.

        Call it before `add_node_groups`. Nodes read the URL when their agent starts: another one replaces no node.
        """
        add_metrics_access(scope, self._cluster, self.controller, self.login_role, observability)
        self._grafana = observability.grafana_group
        self.logs.alarms.add_all(observability.topic, scope=Construct(scope, "SlurmAlarms"))

    def add_node_groups(
        self,
        scope: Construct,
        extra: Callable[[InstanceType], Sequence[NodeBoot]] = lambda _: (),
        *,
        images: Mapping[Architecture, Image] | None = None,
        others: Mapping[str, Construct] | None = None,
    ) -> None:
        """Create the login nodes, the node groups and their queues.

        Args:
            scope: Scope of the nodes, in the stack of the controller or in another one.
            extra: More files and units for the nodes of a type. Default: none.
            images: Images that the deployment builds, by architecture, for `image: build`.
            others: Scopes of node groups in further stacks, by name of the group. Default: all are in `scope`.
        """
        cluster, groups, self._images = self._cluster, self.node_groups, dict(images or {})
        scopes = {group.name: scope for group in cluster.node_groups} | dict(others or {})
        add_warnings(scope, cluster)
        jobs = slurm_jobs(cluster)
        self._has_jobs = bool(jobs)
        groups[LOGIN] = tagged(self._login(scope), self._cluster.slurm.login.tags)
        if jobs:
            files = job_files(scope, cluster, (*jobs, *job_helpers()), login_role=self.login_role)
            groups[LOGIN].node.add_dependency(*files.ready)
        for group in cluster.node_groups:
            boot = node_boot(
                cluster,
                self._storage,
                group.instance_type,
                group=group.name,
                zone=group.zone,
                layout=group.layout,
                extra=[
                    *slurm_collectors(cluster, group.instance_type, group=group.name, layout=group.layout),
                    *extra(group.instance_type),
                ],
            )
            self._in_place[group.name] = boot.in_place
            boots = self._boots(boot.script, group.image_option, group.instance_type, zone=group.zone)
            groups[group.name] = self._node_group(child_scope(scopes[group.name], group.name), group, boots)
        self._add_queues(scope, scopes)
        self._policies = people_policies(
            scope,
            cluster,
            self.controller,
            self._storage,
            login_role=self.login_role,
            login=groups[LOGIN],
            grafana=self._grafana,
        )
        scripts = NodeArchive(
            scope,
            "NodeScripts",
            content=node_scripts_archive(self._in_place),
            parameter_name=node_scripts_parameter(cluster.name),
            description=f"Files of the nodes of {cluster.name} that change in place: archive and checksum",
            roles=[self.controller.node_role, self.login_role],
        )
        # A node needs its routes, and the rules that allow its mounts, before it boots.
        dependencies = (
            *self._network.ready,
            *filter(None, (self._storage.lustre, self._storage.home)),
            *scripts.ready,
            *allow_storage(scope, cluster, self._storage, compute=self.controller.node_role, login=self.login_role),
        )
        for node_group in groups.values():
            node_group.node.add_dependency(*dependencies)
        drain_blocks(scope, scopes, cluster, self.controller, groups)

    def _login(self, scope: Construct) -> PcsComputeNodeGroup:
        cluster, network, login = self._cluster, self._network, self._cluster.slurm.login
        jobs = jobs_boot(cluster=cluster.name, region=cluster.region, directory=jobs_directory(cluster))
        zone = cluster.network.control_plane_zone or cluster.zone
        boot = node_boot(
            cluster,
            self._storage,
            cluster.service_type,
            group=LOGIN,
            zone=zone,
            extra=[*slurm_collectors(cluster, cluster.service_type), *([jobs] if self._has_jobs else [])],
        )
        self._in_place[LOGIN] = boot.in_place
        return PcsLoginNodeGroup(
            scope,
            "Login",
            cluster=self.controller,
            instance_type=cluster.service_type,
            # A Local Zone has few types; nodes without EFA can be beside the controller.
            subnet=network.services_subnet,
            security_groups=[network.nodes],
            ssh=login_ssh(cluster, network),
            image=self._image(cluster.login_image, cluster.service_type),
            count=login.count,
            instance_profile=self.login_role.instance_profile,
            boot=[
                *self._boots(boot.script, cluster.login_image, cluster.service_type, zone=zone),
                *user_scripts(cluster),
            ],
        ).node_group

    def _image(self, option: ImageOption, instance_type: InstanceType) -> Image:
        if isinstance(option, Image):
            return option
        if isinstance(option, BuiltImage):
            return self._images[instance_type.architecture]
        return newest_image("pcs", instance_type.architecture)

    def _boots(
        self, boot: BootScript, option: ImageOption, instance_type: InstanceType, *, zone: str
    ) -> list[BootScript | NodeScript]:
        """Return the scripts of a node in their order. AWS's image lacks software."""
        software = [node_software(self._cluster, self._storage, instance_type, zone=zone)] if option == "aws" else []
        return [self.node_logs.script, *software, boot]

    def _node_group(
        self, scope: Construct, group: NodeGroup, boot: Sequence[BootScript | NodeScript]
    ) -> PcsComputeNodeGroup:
        template = NodeGroupTemplate(
            scope,
            "Template",
            instance_type=group.instance_type,
            layout=group.layout,
            service="pcs",
            capacity=group.capacity,
            placement_group=group.placement_group,
            security_groups=[self._network.nodes],
            subnet=self._network.subnet_of(group, self._cluster),
            image=self._image(group.image_option, group.instance_type),
            root_volume=RootVolume(gib=group.root_volume.gib),
            tags=self._cluster.nodes[group.section].tags,
        )
        scripts = [*boot, *user_scripts(self._cluster, group.section)]
        canary = self._canaries.get(group.section)
        after = canary.passed if canary else ()
        if group.canary:
            canary = self._canaries[group.section] = NodeCanary(
                scope,
                "Canary",
                cluster=self._cluster,
                group=group.name,
                template=template,
                boot=scripts,
                role=self.controller.node_role,
            )
            scripts.append(canary.script)
        node_group = PcsComputeNodeGroup(
            scope,
            "NodeGroup",
            cluster=self.controller,
            name=group.name,
            template=template,
            count=group.count,
            boot=scripts,
            minimum=group.minimum,
            features=group.features,
            slurm_settings=group.slurm.settings,
            gres=group.slurm.gres,
            after=after,
        )
        if canary and group.canary:
            node_group.node.add_dependency(*canary.ready)
            canary.watch(node_group)
        return node_group

    def _add_queues(self, scope: Construct, scopes: Mapping[str, Construct]) -> None:
        cluster, groups = self._cluster, self.node_groups
        script, late = cluster.accounting_script, [queue for queue in cluster.queues if queue.names_qos]
        accounts = (
            SlurmAccounts(scope, "Accounts", login=groups[LOGIN], script=script, wait=bool(late)) if script else None
        )
        for plan in cluster.queues:
            names = [group.name for group in cluster.node_groups if group.section in plan.sections]
            queue = self._queues[plan.name] = PcsQueue(
                child_scope(scopes[names[0]], plan.name),
                "Queue",
                cluster=self.controller,
                name=plan.name,
                node_groups=[groups[name] for name in names],
                slurm_settings=plan.settings,
            )
            if accounts is not None and plan in late:
                queue.node.add_dependency(accounts)
