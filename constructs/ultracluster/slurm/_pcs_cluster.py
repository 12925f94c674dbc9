"""A Slurm controller run by AWS PCS."""

import re
from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_pcs as l1
from constructs import Construct

from ultracluster.catalogue.schedulers import pcs
from ultracluster.network import check_same_vpc
from ultracluster.orchestration import NodeResource
from ultracluster.planning import as_list, checked, id_problem, stack_of, text_problem, token_errors
from ultracluster.rules import Refusal, shared
from ultracluster.slurm._grants import PcsClusterGrants
from ultracluster.slurm._interfaces import IPcsCluster
from ultracluster.slurm._options import SlurmOptions
from ultracluster.slurm._pcs_metrics import PcsClusterMetrics
from ultracluster.slurm._pcs_node_role import ROLE_PATH, PcsNodeRole
from ultracluster.slurm._settings import NAME, custom_settings

_LIMIT = shared("slurm-controller-limit")
_NEW_VERSION = shared("slurm-version")
_NEW_SIZE = shared("slurm-size")
_NEW_REGION = shared("pcs-region")
#: Port of slurmctld. https://slurm.schedmd.com/network.html (read 2026-11-22)
SLURMCTLD_PORT = 6817

_VERSION = re.compile(r"\d{2}\.\d{2}", re.ASCII)
# https://docs.aws.amazon.com/pcs/latest/APIReference/API_CreateComputeNodeGroup.html (read 2026-11-22)
_PROFILE = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:instance-profile/([!-~]{1,510}/)?[\w+=,.@-]{1,128}", re.ASCII)
_SIZE = re.compile(r"[A-Z][A-Z0-9_]+", re.ASCII)


class _PcsClusterBase(NodeResource):
    """Base of created and imported clusters; connections are those of the controller, by default with slurmctld."""

    cluster_id: str
    cluster_arn: str
    slurm_version: str
    node_role: iam.IRole
    instance_profile_arn: str

    @property
    def grants(self) -> PcsClusterGrants:
        """Permissions on the cluster."""
        return PcsClusterGrants(self.cluster_arn)

    @property
    def metrics(self) -> PcsClusterMetrics:
        """CloudWatch metrics: instances of all node groups."""
        return PcsClusterMetrics(self.cluster_id, self)


class PcsCluster(_PcsClusterBase):
    """A Slurm cluster: the managed controller, accounting, and the default role of the nodes.

    Node groups, queues and login nodes are separate constructs, and may be in other stacks: `PcsComputeNodeGroup`,
    `PcsQueue`, `PcsLoginNodeGroup`.

    Args:
        name: Name of the cluster, 3 to 40 characters. A change replaces the cluster.
        max_instances: Largest number of instances that the cluster manages, login nodes included.
        size: Size of the controller; see `pcs.SIZES`. A change would replace the cluster, which CloudFormation refuses
            under the same name. Default: the smallest size for `max_instances`.
        subnet: Subnet of the controller's network interface; not in a Local Zone.
        security_groups: One group of the controller, or several; each must allow all traffic from itself, as
            `EfaSecurityGroup` does.
        slurm_version: Version of Slurm that PCS supports. Default: 25.11.
        options: Accounting, REST API, metrics and settings. Default: accounting only.
        scale_down_idle_time: Time after which an idle node that was powered on for a job is terminated. Default: 10
            minutes.
        node_role: Role of nodes whose group has no instance profile of its own. Its path must contain `/aws-pcs/`, or
            its name must begin with `AWSPCS`, and it must allow
            `pcs:RegisterComputeNodeGroupInstance` on `*`. Default: a new `PcsNodeRole`.
        instance_profile: Instance profile of that role. Default: a new one on the path `/aws-pcs/`.

    Raises:
        ValueError: If PCS does not accept name, number of instances, version or settings. All reasons at once.
    """

    @staticmethod
    @checked
    def from_pcs_cluster_attributes(
        scope: Construct,
        id: str,
        *,
        cluster_id: str,
        slurm_version: str,
        node_role: iam.IRole,
        instance_profile_arn: str,
        security_groups: ec2.ISecurityGroup | Sequence[ec2.ISecurityGroup] = (),
    ) -> IPcsCluster:
        """Import an existing cluster.

        Args:
            scope: Scope of the construct.
            id: Id of the construct.
            cluster_id: Id of the cluster, such as `pcs_abc123`.
            slurm_version: Its version of Slurm, such as `25.11`.
            node_role: Role of its nodes.
            instance_profile_arn: ARN of the instance profile of its nodes.
            security_groups: Security groups of its controller. Default: not known; rules cannot be added.

        Raises:
            Refusal: If id, version or ARN are not those of PCS. All reasons at once.
        """
        imported = _PcsClusterBase(scope, id)
        problems = [
            *token_errors({"slurm_version": slurm_version}),
            *id_problem("cluster_id", cluster_id, "pcs_"),
            *text_problem("slurm_version", slurm_version, _VERSION, "a version such as 25.11"),
            *text_problem("instance_profile_arn", instance_profile_arn, _PROFILE, "the ARN of an instance profile"),
        ]
        if problems:
            raise Refusal(imported, problems)
        imported.cluster_id, imported.slurm_version = cluster_id, slurm_version
        imported.cluster_arn = stack_of(scope).format_arn(service="pcs", resource="cluster", resource_name=cluster_id)
        imported.node_role, imported.instance_profile_arn = node_role, instance_profile_arn
        imported._set_nodes(as_list(security_groups), SLURMCTLD_PORT, node_role)
        return imported

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        name: str,
        max_instances: int,
        subnet: ec2.ISubnet,
        security_groups: ec2.ISecurityGroup | Sequence[ec2.ISecurityGroup],
        size: str | None = None,
        slurm_version: str = pcs.DEFAULT_SLURM_VERSION,
        options: SlurmOptions | None = None,
        scale_down_idle_time: cdk.Duration | None = None,
        node_role: iam.IRole | None = None,
        instance_profile: iam.IInstanceProfile | None = None,
    ) -> None:
        super().__init__(scope, id)
        options = options or SlurmOptions()
        security_groups = as_list(security_groups)
        groups = {f"security_groups[{index}]": group for index, group in enumerate(security_groups)}
        if unknown := token_errors({"name": name, "slurm_version": slurm_version, "size": size}):
            raise Refusal(self, unknown)
        problems: list[str] = [
            *map(NAME, pcs.check_cluster_name(name)),
            *check_same_vpc({"subnet": subnet, **groups}),
            *(pcs.check_slurm_version(slurm_version) if not _VERSION.fullmatch(slurm_version) else ()),
            *(_LIMIT(f"max_instances: {text}") for text in pcs.check_nodes(max_instances, size)),
            *options.problems(slurm_version),
        ]
        if not security_groups:
            problems.append("security_groups must hold at least one group, got none")
        if size is not None and not _SIZE.fullmatch(size):
            problems.append(f"size must be one of {', '.join(pcs.SIZES)}, got {size!r}")
        if instance_profile is not None and node_role is None:
            problems.append("instance_profile needs node_role, the role that is in it")
        if problems:
            raise Refusal(self, problems)
        # PCS gets regions, versions and sizes before a release of this library has them.
        region = stack_of(self).region
        if not cdk.Token.is_unresolved(region) and region not in pcs.REGIONS:
            message = (
                f"AWS PCS is not available in {region}; the Regions that are known: {', '.join(sorted(pcs.REGIONS))}"
            )
            cdk.Validations.of(self).add_warning(_NEW_REGION.warning_id, message)
        for message in pcs.check_slurm_version(slurm_version):
            cdk.Validations.of(self).add_warning(_NEW_VERSION.warning_id, message)
        if size is not None and size not in pcs.SIZES:
            message = f"the size must be one of {', '.join(pcs.SIZES)}, got {size!r}"
            cdk.Validations.of(self).add_warning(_NEW_SIZE.warning_id, message)
        idle = scale_down_idle_time or cdk.Duration.minutes(10)
        if node_role is None:
            created = PcsNodeRole(self, "NodeRole")
            node_role, instance_profile = created, created.instance_profile
        self.node_role = node_role
        profile = instance_profile or iam.InstanceProfile(self, "InstanceProfile", path=ROLE_PATH, role=node_role)
        self.instance_profile_arn = profile.instance_profile_arn
        self.resource = l1.CfnCluster(
            self,
            "Resource",
            name=name,
            size=size or pcs.size_for(max_instances),
            scheduler=l1.CfnCluster.SchedulerProperty(type="SLURM", version=slurm_version),
            networking=l1.CfnCluster.NetworkingProperty(
                subnet_ids=[subnet.subnet_id],
                security_group_ids=[group.security_group_id for group in security_groups],
            ),
            slurm_configuration=l1.CfnCluster.SlurmConfigurationProperty(
                scale_down_idle_time_in_seconds=int(idle.to_seconds()),
                accounting=l1.CfnCluster.AccountingProperty(
                    mode="STANDARD", default_purge_time_in_days=options.accounting_purge_days
                )
                if options.accounting
                else None,
                slurm_rest=l1.CfnCluster.SlurmRestProperty(mode="STANDARD") if options.rest_api else None,
                slurm_custom_settings=custom_settings(
                    l1.CfnCluster.SlurmCustomSettingProperty, sorted(options.all_settings.items())
                ),
                slurmdbd_custom_settings=custom_settings(
                    l1.CfnCluster.SlurmdbdCustomSettingProperty, sorted(options.slurmdbd_settings.items())
                ),
                cgroup_custom_settings=custom_settings(
                    l1.CfnCluster.CgroupCustomSettingProperty, sorted(options.cgroup_settings.items())
                ),
            ),
        )
        self.slurm_version = slurm_version
        #: Accounting, REST API, metrics and settings.
        self.options = options
        self.cluster_id = self.resource.attr_id
        self.cluster_arn = self.resource.attr_arn
        self._set_nodes(security_groups, SLURMCTLD_PORT, node_role)
