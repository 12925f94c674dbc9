"""HyperPod with Slurm, and its nodes, from a cluster file."""

from collections.abc import Mapping
from functools import partial

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_ssm as ssm
from constructs import Construct, IDependable

from ultracluster.boot import (
    NodeFile,
    hyperpod_parameter,
    hyperpod_setup,
    node_scripts_archive,
    node_scripts_parameter,
)
from ultracluster.catalogue.ec2 import Architecture, image_software
from ultracluster.clusterfile import ClusterFile, node_script
from ultracluster.hyperpod._cluster_checks import AccountingDatabase
from ultracluster.hyperpod._hyperpod_cluster import HyperPodCluster
from ultracluster.hyperpod._hyperpod_role import HyperPodRole, controller_role
from ultracluster.hyperpod._instance_group import HyperPodInstanceGroup, HyperPodMount
from ultracluster.hyperpod._lifecycle_scripts import HyperPodScripts, create_or_import_bucket, role_outputs
from ultracluster.hyperpod._node_boot import CONTROLLER, LOGIN, node_scripts
from ultracluster.hyperpod._script_list import ScriptLists
from ultracluster.network import Network
from ultracluster.observability import Observability, PrometheusWorkspace
from ultracluster.orchestration import Output, add_warnings, child_scope
from ultracluster.planning import checked
from ultracluster.planning.capacity import Image
from ultracluster.security import acknowledge_accepted, acknowledge_wildcards
from ultracluster.slurm import (
    NodeUsers,
    health_mode,
    job_files,
    jobs_directory,
    log_settings,
    node_log_group,
    publish_archive,
    remote_write_parameter,
)
from ultracluster.storage import S3FilesHome, Storage
from ultracluster.workloads import job_helpers, slurm_jobs


class HyperPodSlurmCluster(Construct):
    """HyperPod with Slurm of a cluster file: controller, login nodes and node groups, which are one resource.

    The construct holds the role of the nodes and the bucket of their scripts; `add_node_groups` creates the cluster in
    a scope of the caller, because its nodes are groups of the one resource.

    Args:
        cluster: Cluster file.
        network: Network of the nodes.
        storage: File systems that nodes mount, and the bucket that they may use.
    """

    @checked
    def __init__(self, scope: Construct, id: str, *, cluster: ClusterFile, network: Network, storage: Storage) -> None:
        super().__init__(scope, id)
        self._cluster, self._network, self._storage = cluster, network, storage
        section = cluster.hyperpod
        self._volume_key = kms.Key.from_key_arn(self, "VolumeKey", section.volume_key) if section.volume_key else None
        #: Execution role of all nodes but the controller.
        self.role = HyperPodRole(self, "NodeRole", volume_key=self._volume_key)
        #: Bucket of the lifecycle scripts.
        self.bucket = create_or_import_bucket(self, cluster, self.role)
        self._log_group = node_log_group(
            self, "NodeLogs", cluster=cluster.name, role=self.role, **log_settings(self, cluster)
        )
        #: Node groups by name, which are parts of the one cluster; empty before `add_node_groups`.
        self.node_groups: dict[str, HyperPodCluster] = {}
        self._allow_nodes()
        #: Execution role of the controller, which alone reads the secret of an accounting database.
        self.controller_role = controller_role(self, self.role)
        if section.accounting is not None:
            self._database.grant_read(self.controller_role)

    @property
    def _database(self) -> AccountingDatabase:
        section = self._cluster.hyperpod.accounting
        assert section is not None
        return AccountingDatabase(endpoint=section.endpoint, secret_arn=section.secret, key_arn=section.key)

    def _allow_nodes(self) -> None:
        """Allow the nodes what they do at their set-up, and what their jobs do with the role."""
        cluster, bucket, home = self._cluster, self._storage.data_bucket, self._storage.home
        NodeUsers(self, "Users", cluster=cluster.name, users=cluster.users).grants.read(self.role)
        health_mode(self, "Health", cluster=cluster.name, role=self.role)
        lists = cdk.Stack.of(self).format_arn(
            service="ssm", resource="parameter", resource_name=f"{hyperpod_parameter(cluster.name, '*')[1:]}"
        )
        iam.Grant.add_to_principal(grantee=self.role, actions=["ssm:GetParameter"], resource_arns=[lists])
        acknowledge_wildcards(self.role, [lists], "a parameter for each of up to 100 groups; all share the role")
        if bucket is not None:
            # Agents of the service serve the credentials of the role to all users of a node.
            bucket.grants.read_write(self.role)
            bucket.grants.read_write_objects(self.role, image_software.SOFTWARE_PREFIX)
        if isinstance(home, S3FilesHome):
            home.grants.read_write(self.role)

    @property
    def outputs(self) -> list[Output]:
        """Outputs of what exists before the nodes."""
        return role_outputs(self.role, self.bucket)

    @property
    def node_outputs(self) -> list[Output]:
        """Outputs of cluster and nodes."""
        if CONTROLLER not in self.node_groups:
            return []
        cluster, arn = self._cluster, self.node_groups[CONTROLLER].cluster_arn
        region, name = cluster.region, cluster.name
        outputs = [
            Output("ClusterArn", "HyperPod cluster", arn),
            Output(
                "LoginCommand",
                "How to log in; then: sudo -iu ubuntu",
                f"aws ssm start-session --region {region} --target "
                f"sagemaker-cluster:{cdk.Fn.select(1, cdk.Fn.split('/', arn))}_{LOGIN}-"
                f"$(aws sagemaker list-cluster-nodes --region {region} --cluster-name {name} "
                f"--instance-group-name-contains {LOGIN} --output text "
                f"--query \"ClusterNodeSummaries[?InstanceGroupName=='{LOGIN}'] | [0].InstanceId\")",
            ),
        ]
        if slurm_jobs(cluster):
            description = "Job files of this cluster, on its nodes; submit: sbatch QUEUE/JOB.sbatch"
            outputs.append(Output("JobFiles", description, f"{jobs_directory(cluster)}/current"))
        return outputs

    def add_metrics_access(self, scope: Construct, observability: Observability) -> None:
        """Allow nodes to write metrics, and publish the URL of a workspace that is known at deployment only."""
        # By name: the stack of the scope refers to that of the role, and not the reverse.
        role = iam.Role.from_role_name(
            scope, "MetricsNodeRole", self.role.role_name, default_policy_name="WriteMetrics"
        )
        workspace = observability.workspace
        workspace.grants.write(role)
        policy = role.node.find_child("WriteMetrics")
        assert isinstance(policy, iam.Policy)
        policy.attach_to_role(iam.Role.from_role_name(scope, "MetricsControllerRole", self.controller_role.role_name))
        if isinstance(workspace, PrometheusWorkspace):
            parameter = ssm.StringParameter(
                scope,
                "RemoteWriteUrlParameter",
                parameter_name=remote_write_parameter(self._cluster),
                string_value=workspace.remote_write_url,
                description=f"Where the nodes of {self._cluster.name} write their metrics",
            )
            iam.Grant.add_to_principal(
                grantee=role, actions=["ssm:GetParameter"], resource_arns=[parameter.parameter_arn]
            )

    def add_node_groups(
        self,
        scope: Construct,
        *,
        images: Mapping[Architecture, Image] | None = None,
        others: Mapping[str, Construct] | None = None,
    ) -> None:
        """Create the cluster with its controller, login nodes and node groups; HyperPod has the images."""
        cluster, section = self._cluster, self._cluster.hyperpod
        add_warnings(scope, cluster)
        jobs = slurm_jobs(cluster)
        ready: list[IDependable] = []
        if jobs:
            files = job_files(scope, cluster, (*jobs, *job_helpers()), login_role=self.role)
            ready += files.ready
        in_place: dict[str, tuple[NodeFile, ...]] = {}
        groups = self._groups(has_jobs=bool(jobs), in_place=in_place, scope=scope, ready=ready)
        scripts = HyperPodScripts(
            scope,
            "Lifecycle",
            bucket=self.bucket,
            scripts={
                f"{group.name}.sh": hyperpod_setup(cluster=cluster.name, region=cluster.region, group=group.name)
                for group in groups
            },
        )
        ready += publish_archive(
            scope,
            "NodeScripts",
            content=node_scripts_archive(in_place),
            parameter_name=node_scripts_parameter(cluster.name),
            description=f"Files of the nodes of {cluster.name} that change in place: archive and checksum",
            roles=[self.role, self.controller_role],
        )
        created = HyperPodCluster(
            scope,
            "Cluster",
            name=cluster.name,
            groups=groups,
            subnet=self._network.training_subnet,
            security_groups=[self._network.nodes],
            role=self.role,
            scripts=scripts,
            strategy=section.strategy,  # type: ignore[arg-type]  # a word of the file that is checked
            accounting=None if section.accounting is None else self._database,
            node_recovery=section.node_recovery,
            volume_key=self._volume_key,
        )
        created.node.add_dependency(
            *self._network.ready, *filter(None, (self._storage.lustre, self._storage.home)), *ready
        )
        acknowledge_accepted(created, cluster)
        self.node_groups = dict.fromkeys((group.name for group in groups), created)

    def _groups(
        self, *, has_jobs: bool, in_place: dict[str, tuple[NodeFile, ...]], scope: Construct, ready: list[IDependable]
    ) -> list[HyperPodInstanceGroup]:
        cluster, storage = self._cluster, self._storage
        scripts = partial(node_scripts, cluster, storage, log_group=self._log_group)
        controller = cluster.catalogue.look_up(cluster.hyperpod.controller)[0]
        services = (
            (CONTROLLER, controller, 1, "Controller"),
            (LOGIN, cluster.service_type, cluster.service_count, "Login"),
        )
        lustre = storage.lustre
        mounts = [
            HyperPodMount(dns_name=lustre.dns_name, path=path, mount_name=lustre.mount_name)
            for path, file_system in storage.file_systems.items()
            if lustre is not None and file_system is lustre
        ]
        # A Local Zone has few types; nodes without EFA can be in a zone of the region.
        away = self._network.services_subnet if cluster.network.control_plane_zone else None
        lists = ScriptLists(scope, "ScriptLists", cluster=cluster.name, roles=[self.role, self.controller_role])
        groups = []
        for name, record, count, kind in services:
            nodes = scripts(record, group=name, jobs=has_jobs and name == LOGIN)
            in_place[name] = nodes.in_place
            user = [*map(node_script, cluster.slurm.login.scripts)] if name == LOGIN else []
            role = self.controller_role if name == CONTROLLER else self.role
            ready.append(lists.add(scope, name, nodes, user))
            groups.append(
                HyperPodInstanceGroup(
                    name=name,
                    instance_type=record.name,
                    count=count,
                    node_type=kind,  # type: ignore[arg-type]  # one of both above
                    script=f"{name}.sh",
                    mounts=mounts,
                    subnet=away,
                    role=role,
                )
            )
        partitions = {section: queue.name for queue in cluster.queues for section in queue.sections}
        for group in cluster.node_groups:
            nodes = scripts(group.instance_type, group=group.name, layout=group.layout)
            in_place[group.name] = nodes.in_place
            user = [*map(node_script, cluster.nodes[group.section].scripts)]
            ready.append(lists.add(child_scope(scope, group.name), group.name, nodes, user))
            groups.append(
                HyperPodInstanceGroup(
                    name=group.name,
                    instance_type=group.instance_type.name,
                    count=group.count,
                    capacity=group.capacity,
                    node_type="Compute",
                    partition=partitions[group.section],
                    script=f"{group.name}.sh",
                    deep_health_checks=cluster.hyperpod.deep_health_checks and group.instance_type.gpus > 0,
                    volume_gib=int(group.root_volume.gib),
                    mounts=mounts,
                    subnet=None if group.zone == cluster.zone else self._network.subnet_of(group, cluster),
                )
            )
        return groups
