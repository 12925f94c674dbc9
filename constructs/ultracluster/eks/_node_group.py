"""Managed node groups of EKS."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import get_args

import aws_cdk as cdk
import jsii
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster.boot import WAIT_MINUTES, Taint, breaker_limit, repair_overrides
from ultracluster.catalogue.schedulers import NodeOs, ami_type, eks_updates
from ultracluster.catalogue.schedulers import eks as facts
from ultracluster.compute import NodeGroupTemplate
from ultracluster.eks._grants import EksNodeGroupGrants
from ultracluster.eks._interfaces import IEksCluster, IEksNodeGroup
from ultracluster.kubernetes import GROUP_LABEL
from ultracluster.network import check_private, check_same_vpc
from ultracluster.orchestration import NodeResource, claim_name
from ultracluster.planning import arn_problem, as_list, checked, known, once, shown, token_errors
from ultracluster.planning.capacity import OnDemand, Spot, check_count, min_nodes, waits
from ultracluster.rules import Refusal

_L1 = eks.CfnNodegroup
_ARN = "arn:aws:eks:REGION:ACCOUNT:nodegroup/CLUSTER/NAME/ID"
_EFFECTS = {"NoSchedule": "NO_SCHEDULE", "PreferNoSchedule": "PREFER_NO_SCHEDULE", "NoExecute": "NO_EXECUTE"}

# Groups share them, and Node takes two calls for an attribute of an imported resource.
_cluster_name = once(lambda cluster: cluster.cluster_name)
_role_arn = once(lambda role: role.role_arn)
_subnet_id = once(lambda subnet: subnet.subnet_id)

#: Port of the kubelet. https://kubernetes.io/docs/reference/networking/ports-and-protocols/
KUBELET_PORT = 10250


class _EksNodeGroupBase(NodeResource):
    """Base of created and imported node groups; connections are to the kubelet by default."""

    name: str
    node_role: iam.IRole
    resource: eks.CfnNodegroup

    @cached_property
    def node_group_arn(self) -> str:
        """ARN of the group."""
        return self.resource.attr_arn

    @property
    def grants(self) -> EksNodeGroupGrants:
        """Permissions on the group."""
        return EksNodeGroupGrants(self.node_group_arn)


@jsii.implements(cdk.ITaggableV2)
class EksNodeGroup(_EksNodeGroupBase):
    """A managed node group with a `NodeGroupTemplate`: EKS joins, drains, repairs and updates its nodes.

    L1, because `aws_eks_v2.Nodegroup` refuses P5 and P6 (it takes them for types without GPUs), and has neither
    repair overrides nor update strategies (aws-cdk-lib 2.275.0).

    Nodes of a Capacity Block, or of a future-dated reservation, do not run before it starts: the group has no nodes
    until the capacity is `active`. EKS scales the group of a block to zero 40 minutes before the end, and drains it.

    Its tags reach its launch template too, and so instances, volumes and network interfaces; another value replaces the
    nodes.

    Args:
        cluster: Cluster of the nodes, created or imported.
        name: Name of the group; its nodes have it as the label `ultracluster.dev/group`, which pods select.
        template: Launch template for the service `eks-managed`, with the security group of the cluster.
        subnet: Private subnet of the nodes; for reserved capacity, the one of its zone. Several, in different
            zones, for nodes without EFA.
        node_role: Role of the nodes; see `EksNodeRole`.
        count: Number of nodes.
        os: Operating system of the nodes. It must be that of an image in the template. Default: Amazon Linux 2023.
        labels: Further labels of the nodes. Default: none.
        taints: Taints of the nodes. Default: none.
        version: Version of Kubernetes of the nodes, for an image that EKS chooses. Default: that of the control plane
            when the group is created; it does not change later.
        release: Release of AWS's image, such as `1.35.2-20261105`. Default: the newest of `version` when the group is
            created, or when `version` changes.
        update: Nodes that EKS updates at once: `one-by-one`, a number, a share such as `10%`, or `all`; 100 at most.
            With `all`, a job that takes the whole group restarts once. Default: one by one.

    Raises:
        Refusal: If the template is for another service, the number of nodes is below one or above what the capacity
            holds, the subnet is public or of another VPC, EKS does not take the name, or another group of the cluster
            has it.

    See: https://docs.aws.amazon.com/eks/latest/userguide/ml-node-groups.html and node-repair.html (read 2026-11-21)
    """

    @staticmethod
    @checked
    def from_eks_node_group_attributes(
        scope: Construct,
        id: str,
        *,
        name: str,
        node_group_arn: str,
        node_role: iam.IRole,
        security_groups: ec2.ISecurityGroup | Sequence[ec2.ISecurityGroup] = (),
    ) -> IEksNodeGroup:
        """Import an existing node group.

        Args:
            scope: Scope of the construct.
            id: Id of the construct.
            name: Name of the group.
            node_group_arn: ARN of the group.
            node_role: Role of its nodes.
            security_groups: Security groups of the nodes. Default: not known; rules cannot be added.

        Raises:
            Refusal: If name or ARN are not those of a managed node group.
        """
        imported = _EksNodeGroupBase(scope, id)
        problems = [] if not known(name) else facts.check_node_group_name(name)
        problems += arn_problem("node_group_arn", node_group_arn, _ARN)
        if problems:
            raise Refusal(imported, problems)
        imported.name, imported.node_group_arn, imported.node_role = name, node_group_arn, node_role
        imported._set_nodes(as_list(security_groups), KUBELET_PORT, node_role)
        return imported

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: eks.ICluster | IEksCluster,
        name: str,
        template: NodeGroupTemplate,
        subnet: ec2.ISubnet | Sequence[ec2.ISubnet],
        node_role: iam.IRole,
        count: int,
        os: NodeOs = "al2023",
        labels: Mapping[str, str] | None = None,
        taints: Sequence[Taint] = (),
        version: str | None = None,
        release: str | None = None,
        update: eks_updates.NodeUpdate = "one-by-one",
    ) -> None:
        super().__init__(scope, id)
        groups = {f"template.security_groups[{index}]": group for index, group in enumerate(template.security_groups)}
        several = as_list(subnet)
        subnets = {"subnet" if len(several) == 1 else f"subnet[{index}]": each for index, each in enumerate(several)}
        problems: list[str] = [
            *template.problems("eks-managed"),
            *check_count(template.capacity, count),
            *check_same_vpc({**subnets, **groups}),
            *check_private(subnets),
        ]
        if not several:
            problems.append("subnet must hold at least one subnet, got none")
        if known(name):
            problems += facts.check_node_group_name(name)
        problems += token_errors({"os": os, "update": update, "names of labels": " ".join(labels or {})})
        if known(os) and os not in get_args(NodeOs):
            problems.append(f"os must be one of {', '.join(get_args(NodeOs))}, got {shown(os)}")
        if not ((isinstance(update, str) and not known(update)) or eks_updates.is_node_update(update)):
            problems.append(f"update must be {eks_updates.UPDATE_WORDS}, got {shown(update)}")
        if template.image and (version or release):
            # EKS: "You cannot specify kubernetesVersion or releaseVersion for node groups with a custom AMI".
            problems.append("version and release must be left out: the template has an image")
        if problems:
            raise Refusal(self, problems)
        claim_name(self, id, cluster=cluster, kind="node group", name=name)
        #: Launch template.
        self.template = template
        self.name = name
        #: Number of nodes.
        self.count = count
        self.node_role = node_role
        self._set_nodes(template.security_groups, KUBELET_PORT, node_role)
        reserved = not isinstance(template.capacity, OnDemand | Spot)
        setting = template.purchase.setting
        assert setting is not None
        nodes, percent = eks_updates.unavailable(update)
        self.resource = _L1(
            self,
            "Resource",
            cluster_name=_cluster_name(cluster),
            nodegroup_name=name,
            node_role=_role_arn(node_role),
            subnets=[_subnet_id(each) for each in several],
            # EKS refuses a type of image beside an image in the template, and an instance type in both places.
            ami_type=None if template.image else ami_type(os, template.instance_type),
            version=version,
            release_version=release,
            capacity_type=str(setting[1]),
            launch_template=_L1.LaunchTemplateSpecificationProperty(
                id=template.launch_template_id, version=template.version_number
            ),
            scaling_config=_L1.ScalingConfigProperty(
                min_size=min_nodes(template.capacity, count),
                desired_size=0 if waits(template.capacity) else count,
                max_size=count,
            ),
            # A reservation has no room for a new node beside the old one, which is terminated first.
            # https://docs.aws.amazon.com/eks/latest/APIReference/API_NodegroupUpdateConfig.html (read 2026-11-23)
            update_config=_L1.UpdateConfigProperty(
                max_unavailable=nodes,
                max_unavailable_percentage=percent,
                update_strategy="MINIMAL" if reserved else "DEFAULT",
            ),
            node_repair_config=_repair(count, gpus=template.instance_type.gpus > 0),
            labels=dict(sorted({**(labels or {}), GROUP_LABEL: name}.items())),
            taints=[_L1.TaintProperty(key=taint.key, effect=_EFFECTS[taint.effect]) for taint in taints] or None,
        )

    @property
    def cdk_tag_manager(self) -> cdk.TagManager:
        """Tags of the launch template: those of instances, volumes and network interfaces."""
        return self.template.cdk_tag_manager


def _repair(count: int, *, gpus: bool) -> eks.CfnNodegroup.NodeRepairConfigProperty:
    return _L1.NodeRepairConfigProperty(
        enabled=True,
        # Spare nodes are few, and a job that lost a node waits.
        max_parallel_nodes_repaired_count=1,
        # More unhealthy nodes at once are a wrong check or a wrong image: repair stops, as the checks of Slurm do.
        # https://docs.aws.amazon.com/eks/latest/APIReference/API_NodeRepairConfig.html (read 2026-11-22)
        max_unhealthy_node_threshold_count=breaker_limit(count),
        node_repair_config_overrides=[
            _L1.NodeRepairConfigOverridesProperty(
                node_monitoring_condition="AcceleratedHardwareReady",
                node_unhealthy_reason=override.reason,
                min_repair_wait_time_mins=WAIT_MINUTES,
                repair_action=override.action,
            )
            for override in repair_overrides()
        ]
        if gpus
        else None,
    )
