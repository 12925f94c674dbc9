"""A Slurm controller run by AWS PCS."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_pcs as l1
from constructs import Construct

from ultracluster.hardware import pcs
from ultracluster.orchestration.slurm_options import SlurmOptions
from ultracluster.security import NodeRole

# How PCS knows that an instance may join: the role's path, or a role name that begins with AWSPCS. See
# https://docs.aws.amazon.com/pcs/latest/userguide/security-instance-profiles.html (read 2026-11-20).
_ROLE_PATH = "/aws-pcs/"
_JOIN = {
    "pcs:RegisterComputeNodeGroupInstance": "pcs:RegisterComputeNodeGroupInstance is granted on * by AWS's own guide "
    "to PCS instance profiles: an instance registers before it knows its node group"
}

_T = TypeVar("_T")

#: What a role of yours must allow its nodes, on every resource.
JOIN_ACTIONS = tuple(_JOIN)


class PcsCluster(Construct):
    """A Slurm cluster: the managed controller, accounting, and the role that its nodes take.

    Node groups, queues and login nodes are constructs of their own, so that they may live in another stack:
    `PcsComputeNodeGroup`, `PcsQueue`, `PcsLoginNodeGroup`.

    Args:
        name: Name of the cluster, 3 to 40 characters. Changing it makes a new cluster.
        nodes: Number of instances that the cluster is to manage, login nodes included.
        size: Size of the controller; see `hardware.pcs.SIZES`. It can't change: that is a new cluster, which
            CloudFormation refuses under the same name. Default: the smallest that manages the nodes.
        subnet: Where the controller puts its interface; not in a Local Zone.
        security_groups: Groups of the controller; each must allow all traffic from itself, as `EfaSecurityGroup` does.
        slurm_version: One that PCS supports. Default: 25.11.
        options: What else Slurm is told: accounting, REST API, metrics, settings. Default: accounting, no more.
        scale_down_idle_time: How long an idle node that was powered on for a job stays. Default: 10 minutes.
        node_role: Role of the nodes. Its path must hold `/aws-pcs/`, or its name begin with `AWSPCS`, and it must allow
            `JOIN_ACTIONS` on `*`. Default: one is made, with its instance profile.
        instance_profile: Instance profile of that role. Default: one is made, on the path `/aws-pcs/`.

    Raises:
        ValueError: When name, number of nodes, version or settings are not what PCS takes. All reasons at once.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        name: str,
        nodes: int,
        subnet: ec2.ISubnet,
        security_groups: Sequence[ec2.ISecurityGroup],
        size: str | None = None,
        slurm_version: str = pcs.DEFAULT_SLURM_VERSION,
        options: SlurmOptions | None = None,
        scale_down_idle_time: cdk.Duration | None = None,
        node_role: iam.IRole | None = None,
        instance_profile: iam.IInstanceProfile | None = None,
    ) -> None:
        super().__init__(scope, id)
        options = options or SlurmOptions()
        problems = [
            *pcs.check_cluster_name(name),
            *pcs.check_slurm_version(slurm_version),
            *pcs.check_nodes(nodes, size),
            *options.problems(slurm_version),
        ]
        if problems:
            raise ValueError("\n".join(f"{self.node.path}: {problem}" for problem in problems))
        idle = scale_down_idle_time or cdk.Duration.minutes(10)
        if instance_profile is not None and node_role is None:
            raise ValueError(f"{self.node.path}: instance_profile needs node_role, the role that is in it")
        if node_role is None:
            made = NodeRole(self, "NodeRole", path=_ROLE_PATH, account_wide_actions=_JOIN)
            node_role, instance_profile = made.role, made.instance_profile
        #: The role of every node; grant it what jobs need.
        self.node_role: iam.IRole = node_role
        profile = instance_profile or iam.InstanceProfile(self, "InstanceProfile", path=_ROLE_PATH, role=node_role)
        #: What node groups hand to their instances.
        self.instance_profile_arn: str = profile.instance_profile_arn
        self.resource = l1.CfnCluster(
            self,
            "Resource",
            name=name,
            size=size or pcs.size_for(nodes),
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
                slurm_custom_settings=_settings(l1.CfnCluster.SlurmCustomSettingProperty, options.all_settings),
                slurmdbd_custom_settings=_settings(
                    l1.CfnCluster.SlurmdbdCustomSettingProperty, options.slurmdbd_settings
                ),
                cgroup_custom_settings=_settings(l1.CfnCluster.CgroupCustomSettingProperty, options.cgroup_settings),
            ),
        )
        #: Version of Slurm.
        self.slurm_version = slurm_version
        #: What else Slurm is told.
        self.options = options
        #: Id of the cluster, such as `pcs_abc123`.
        self.cluster_id = self.resource.attr_id
        self.cluster_arn = self.resource.attr_arn


def _settings(kind: Callable[..., _T], values: Mapping[str, str]) -> list[_T] | None:
    # PCS refuses an empty list.
    return [kind(parameter_name=name, parameter_value=value) for name, value in sorted(values.items())] or None
