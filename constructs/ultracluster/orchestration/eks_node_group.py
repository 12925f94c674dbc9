"""A node group that EKS manages."""

from collections.abc import Mapping, Sequence

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster.compute import Capacity, CapacityBlock, NodeGroupTemplate, OnDemand, Spot, UltraServerBlock
from ultracluster.hardware.eks import NodeOs, ami_type
from ultracluster.planning import Taint, repair_overrides
from ultracluster.planning.node_repair import WAIT_MINUTES

_L1 = eks.CfnNodegroup
_EFFECTS = {"NoSchedule": "NO_SCHEDULE", "PreferNoSchedule": "PREFER_NO_SCHEDULE", "NoExecute": "NO_EXECUTE"}


class EksNodeGroup(Construct):
    """A managed node group over a launch template of ours: EKS joins, drains, repairs and updates its nodes.

    L1, because `aws_eks_v2.Nodegroup` refuses P5 and P6 (it takes them for types without GPUs), and knows neither
    repair overrides nor update strategies (aws-cdk-lib 2.275.0).

    Nodes of a Capacity Block do not run before it starts: the group stands at zero until the capacity says that it is
    `active`. EKS brings it back to zero 40 minutes before the end, draining its nodes.

    Args:
        cluster: The cluster, made here or yours.
        name: Name of the group; its nodes have it as the label `eks.amazonaws.com/nodegroup`.
        template: Its launch template, for the service `eks-managed`, with the cluster's own security group on it.
        subnet: The private subnet of its nodes; the one of its zone for capacity that is reserved.
        node_role: Role of the nodes; see `EksNodeRole`.
        count: How many nodes.
        os: Their operating system. An image in the template is taken for what it is. Default: Amazon Linux 2023.
        labels: Labels of the nodes. Default: none.
        taints: Taints of the nodes. Default: none.

    Raises:
        ValueError: When the template is another service's, or there are fewer nodes than one, or more than the
            capacity holds.

    See: https://docs.aws.amazon.com/eks/latest/userguide/ml-node-groups.html and node-repair.html (read 2026-11-21)
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: eks.ICluster,
        name: str,
        template: NodeGroupTemplate,
        subnet: ec2.ISubnet,
        node_role: iam.IRole,
        count: int,
        os: NodeOs = "al2023",
        labels: Mapping[str, str] | None = None,
        taints: Sequence[Taint] = (),
    ) -> None:
        super().__init__(scope, id)
        problems = check_nodes(template, count, "eks-managed")
        if problems:
            raise ValueError("\n".join(f"{self.node.path}: {problem}" for problem in problems))
        self.template = template
        self.name = name
        self.count = count
        reserved = not isinstance(template.capacity, OnDemand | Spot)
        block = isinstance(template.capacity, CapacityBlock | UltraServerBlock)
        setting = template.purchase.setting
        assert setting is not None
        self.resource = _L1(
            self,
            "Resource",
            cluster_name=cluster.cluster_name,
            nodegroup_name=name,
            node_role=node_role.role_arn,
            subnets=[subnet.subnet_id],
            # An image in the template says it itself, and EKS then refuses it here. The instance type stands in the
            # template alone: EKS refuses it in both places.
            ami_type=None if template.image else ami_type(os, template.instance_type),
            capacity_type=str(setting[1]),
            launch_template=_L1.LaunchTemplateSpecificationProperty(
                id=template.launch_template_id, version=template.latest_version
            ),
            scaling_config=_L1.ScalingConfigProperty(
                # A least size would keep EKS from emptying the group before its block ends.
                min_size=0 if block else count,
                desired_size=0 if waits(template.capacity) else count,
                max_size=count,
            ),
            # A reservation has no room for a new node beside the old one: the old one goes first.
            update_config=_L1.UpdateConfigProperty(
                max_unavailable=1, update_strategy="MINIMAL" if reserved else "DEFAULT"
            ),
            node_repair_config=_repair(gpus=template.instance_type.gpus > 0),
            labels=dict(sorted((labels or {}).items())) or None,
            taints=[_L1.TaintProperty(key=one.key, effect=_EFFECTS[one.effect]) for one in taints] or None,
        )


def waits(capacity: Capacity) -> bool:
    """Whether nodes can't start yet: their Capacity Block has not begun."""
    return isinstance(capacity, CapacityBlock | UltraServerBlock) and not capacity.active


def check_nodes(template: NodeGroupTemplate, count: int, service: str) -> list[str]:
    """What is wrong with a group of nodes; nothing when it is right."""
    problems = []
    if template.service != service:
        problems.append(f"the template must be for {service}, got {template.service}")
    if count < 1:
        problems.append(f"count must be at least 1, got {count}")
    held = template.capacity.max_instances
    if held is not None and count > held:
        problems.append(f"count must be at most the {held} instances that {template.capacity.word} holds, got {count}")
    return problems


def _repair(*, gpus: bool) -> eks.CfnNodegroup.NodeRepairConfigProperty:
    return _L1.NodeRepairConfigProperty(
        enabled=True,
        # Spare nodes are few, and a job that lost one node is waiting anyway.
        max_parallel_nodes_repaired_count=1,
        node_repair_config_overrides=[
            _L1.NodeRepairConfigOverridesProperty(
                node_monitoring_condition="AcceleratedHardwareReady",
                node_unhealthy_reason=one.reason,
                min_repair_wait_time_mins=WAIT_MINUTES,
                repair_action=one.action,
            )
            for one in repair_overrides()
        ]
        if gpus
        else None,
    )
