"""A group of equal Slurm nodes."""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property

import aws_cdk as cdk
import jsii
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_pcs as l1
from constructs import Construct, IDependable

from ultracluster.boot import BootScript, NodeScript, check_scripts
from ultracluster.catalogue.schedulers import pcs
from ultracluster.compute import NodeGroupTemplate, image_id
from ultracluster.orchestration import NodeResource, claim_name
from ultracluster.planning import as_list, checked, id_problem, known, token_errors
from ultracluster.planning.capacity import PLACEMENT, check_count, check_static_nodes, placement, static_nodes
from ultracluster.planning.slurm import check_gres
from ultracluster.rules import Refusal, shared
from ultracluster.slurm._grants import PcsNodeGroupGrants
from ultracluster.slurm._interfaces import IPcsCluster, IPcsComputeNodeGroup
from ultracluster.slurm._pcs_node_scripts import NodeScripts
from ultracluster.slurm._settings import NAME, custom_settings, setting_problems

_STATIC = shared("min-nodes")
_WHOLE = shared("ultraserver-whole")
_GRES = shared("slurm-gres")
#: Port of slurmd. https://slurm.schedmd.com/network.html (read 2026-11-22)
SLURMD_PORT = 6818


_FEATURE = re.compile(r"[A-Za-z0-9_.-]+", re.ASCII)


class _PcsNodeGroupBase(NodeResource):
    """Base of created and imported node groups; they connect to slurmd."""

    node_group_id: str
    name: str
    node_role: iam.IRole
    resource: l1.CfnComputeNodeGroup

    @cached_property
    def node_group_arn(self) -> str:
        """ARN of the group."""
        return self.resource.attr_arn

    @property
    def grants(self) -> PcsNodeGroupGrants:
        """Permissions on the group and its nodes."""
        return PcsNodeGroupGrants(self, node_group_id=self.node_group_id, node_group_arn=self.node_group_arn)


@jsii.implements(cdk.ITaggableV2)
class PcsComputeNodeGroup(_PcsNodeGroupBase):
    """A compute node group of AWS PCS.

    Its tags reach its launch template too, and so instances, volumes and network interfaces; another value replaces the
    nodes.

    Args:
        cluster: Cluster of the nodes.
        name: Name of the group, 3 to 25 characters; its Slurm nodes are NAME-1, NAME-2, ...
        template: Launch template, created with `service="pcs"`, a subnet and an image that is ready for PCS.
        count: Largest number of nodes.
        minimum: Number of nodes that are always up; the others are powered on for jobs. Default: `count` for reserved
            capacity, which is paid for anyway; 0 on demand, with Spot and with an interruptible reservation.
        instance_profile: Instance profile of the nodes, with its role; see `PcsNodeRole`. Default: that of the cluster.
        boot: Scripts that a node runs at boot, in their order: that of `boot.boot_script`, and others as `NodeScript`.
            The image needs version 1.5.0 of the PCS agent or a newer one. A change drains and replaces the nodes.
            Default: none.
        features: Features that jobs select with `--constraint`. Default: none.
        slurm_settings: Settings of slurm.conf for the nodes, by name, such as `Weight`. Default: none.
        gres: Records of gres.conf, each a mapping of attributes. Default: PCS writes one for the GPUs of the type.
        after: Constructs that each change of the group waits for, such as a wait condition. Until then, its nodes can
            read the earlier scripts. Default: none.

    Raises:
        ValueError: If PCS does not accept name or counts, another group of the cluster has the name, the capacity
            cannot hold the nodes, or the template is for another service, or without subnet or image. All reasons at
            once.

    See: https://docs.aws.amazon.com/pcs/latest/userguide/capacity-blocks-configure-cng.html and
    slurm-custom-settings-cng.html (read 2026-11-21)
    """

    @staticmethod
    @checked
    def from_pcs_compute_node_group_attributes(
        scope: Construct,
        id: str,
        *,
        cluster: IPcsCluster,
        node_group_id: str,
        name: str,
        security_groups: ec2.ISecurityGroup | Sequence[ec2.ISecurityGroup] = (),
        node_role: iam.IRole | None = None,
    ) -> IPcsComputeNodeGroup:
        """Import an existing node group.

        Args:
            scope: Scope of the construct.
            id: Id of the construct.
            cluster: Cluster of the nodes.
            node_group_id: Id of the group, such as `pcs_abc123`.
            name: Name of the group.
            security_groups: Security groups of the nodes. Default: not known; rules cannot be added.
            node_role: Role of the nodes. Default: that of the cluster.

        Raises:
            Refusal: If id or name are not those of a node group.
        """
        imported = _PcsNodeGroupBase(scope, id)
        problems: list[str] = list(id_problem("node_group_id", node_group_id, "pcs_"))
        problems += map(NAME, pcs.check_node_group_name(name)) if known(name) else []
        if problems:
            raise Refusal(imported, problems)
        imported.node_group_id, imported.name = node_group_id, name
        imported.node_group_arn = f"{cluster.cluster_arn}/computenodegroup/{node_group_id}"
        imported.node_role = node_role or cluster.node_role
        imported._set_nodes(as_list(security_groups), SLURMD_PORT, imported.node_role)
        return imported

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: IPcsCluster,
        name: str,
        template: NodeGroupTemplate,
        count: int,
        minimum: int | None = None,
        instance_profile: iam.IInstanceProfile | None = None,
        boot: BootScript | NodeScript | Sequence[BootScript | NodeScript] = (),
        features: str | Sequence[str] = (),
        slurm_settings: Mapping[str, str] | None = None,
        gres: Sequence[Mapping[str, str]] = (),
        after: Sequence[IDependable] = (),
    ) -> None:
        super().__init__(scope, id)
        features = as_list(features)
        boots: list[BootScript | NodeScript] = as_list(boot)
        actions = [script.script if isinstance(script, BootScript) else script for script in boots]
        if minimum is None:
            minimum = static_nodes(template.capacity, count)
        settings = dict(slurm_settings or {})
        if unknown := token_errors({"name": name}):
            raise Refusal(self, unknown)
        problems: list[str] = [*map(NAME, pcs.check_node_group_name(name)), *_check_counts(template, count, minimum)]
        problems += setting_problems("node-group", settings, cluster.slurm_version)
        problems += map(_GRES, check_gres(settings, gres, version=cluster.slurm_version))
        problems += [
            f"features must be names of letters, digits, dots, hyphens and underscores, got {feature!r}"
            for feature in features
            if known(feature) and not _FEATURE.fullmatch(feature)
        ]
        if features and "Features" in settings:
            problems.append("features are given twice: features and slurm_settings")
        problems += check_scripts([(script.stage, script.name) for script in actions])
        problems += template.problems("pcs", "subnet", "image")
        role = cluster.node_role if instance_profile is None else instance_profile.role
        if role is None:
            problems.append(
                "instance_profile must have a role that is known at synthesis, got one by its ARN; import it by "
                "from_instance_profile_attributes(instance_profile_arn=..., role=...)"
            )
        if problems or template.subnet_id is None or template.image is None or role is None:
            raise Refusal(self, problems)
        claim_name(self, id, cluster=cluster, kind="node group", name=name)
        setting = template.purchase.setting
        scripts = NodeScripts.of(self, cluster, role, waits=bool(after)) if actions else None
        self.name = name
        self.count = count
        #: Launch template.
        self.template = template
        self.node_role = role
        self._set_nodes(template.security_groups, SLURMD_PORT, role)
        self.resource = l1.CfnComputeNodeGroup(
            self,
            "Resource",
            cluster_id=cluster.cluster_id,
            name=name,
            ami_id=image_id(scope, template.image),
            iam_instance_profile_arn=(instance_profile or cluster).instance_profile_arn,
            subnet_ids=[template.subnet_id],
            purchase_option=str(setting[1]) if setting else None,
            instance_configs=[l1.CfnComputeNodeGroup.InstanceConfigProperty(instance_type=template.instance_type.name)],
            scaling_configuration=l1.CfnComputeNodeGroup.ScalingConfigurationProperty(
                min_instance_count=minimum, max_instance_count=count
            ),
            custom_launch_template=l1.CfnComputeNodeGroup.CustomLaunchTemplateProperty(
                template_id=template.launch_template_id, version=template.version_number
            ),
            node_lifecycle_actions=scripts.add(actions) if scripts else None,
            slurm_configuration=_settings({"Features": ",".join(features)} if features else {}, settings, gres),
        )
        # Nodes cannot register before the cluster exists and their role has its policy.
        self.resource.node.add_dependency(cluster, *([scripts] if scripts else []))
        if after:
            self.node.add_dependency(*after)
        self.node_group_id = self.resource.attr_id

    @property
    def cdk_tag_manager(self) -> cdk.TagManager:
        """Tags of the launch template: those of instances, volumes and network interfaces."""
        return self.template.cdk_tag_manager

    @property
    def node_names(self) -> str:
        """Slurm nodes of the group in the syntax of `scontrol`: `train-[1-64]`."""
        return f"{self.name}-[1-{self.count}]"


def _check_counts(template: NodeGroupTemplate, count: int, minimum: int) -> list[str]:
    # The CDK writes a token as a number far below 0.
    if not 0 <= minimum <= count or count < 1:
        return [_STATIC(f"minimum must be between 0 and count, and count at least 1, got {minimum} and {count}")]
    if problems := check_static_nodes(template.capacity, minimum=minimum, count=count):
        return [_STATIC(f"minimum {problem}") for problem in problems]
    sizes = sorted({server.instances for server in template.instance_type.ultraservers})
    capacity, held = template.capacity, template.capacity.max_instances
    try:
        placement(template.placed, record=template.instance_type, capacity=capacity, count=count)
    except ValueError as problem:
        return [PLACEMENT(str(problem))]
    if sizes and count not in ([held] if held else sizes):
        whole = " or ".join(map(str, [held] if held else sizes))
        message = f"count must be a whole UltraServer, {whole} instances of {template.instance_type.name}, got {count}"
        return [_WHOLE(message)]
    return check_count(capacity, count)


def _settings(
    features: Mapping[str, str], settings: Mapping[str, str], gres: Sequence[Mapping[str, str]]
) -> l1.CfnComputeNodeGroup.SlurmConfigurationProperty | None:
    values = {**features, **settings}
    if not values and not gres:
        return None
    return l1.CfnComputeNodeGroup.SlurmConfigurationProperty(
        slurm_custom_settings=custom_settings(l1.CfnComputeNodeGroup.SlurmCustomSettingProperty, values.items()),
        gres_custom_settings=[dict(record) for record in gres] or None,
    )
