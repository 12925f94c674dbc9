"""A group of equal Slurm nodes."""

from collections.abc import Mapping, Sequence

import aws_cdk as cdk
from aws_cdk import aws_pcs as l1
from constructs import Construct

from ultracluster.compute import NodeGroupTemplate, image_id
from ultracluster.hardware import pcs
from ultracluster.orchestration.node_scripts import NodeScripts
from ultracluster.orchestration.pcs_cluster import PcsCluster
from ultracluster.planning import BootScript, check_static_nodes, placement, static_nodes
from ultracluster.planning.slurm_settings import check_gres, check_settings


class PcsComputeNodeGroup(Construct):
    """A compute node group of AWS PCS.

    Args:
        cluster: The cluster to join.
        name: Name of the group, 3 to 25 characters; its Slurm nodes are called NAME-1, NAME-2, ...
        template: How a node looks, made with `service="pcs"`, a subnet and an image that is ready for PCS.
        count: Number of nodes when all are up.
        minimum: Number of nodes that are up always; the others are powered on as jobs come. Default: `count` where the
            nodes are reserved, and so paid for anyway; 0 on demand, with Spot and with an interruptible reservation.
        boot: What a node does at every boot before it takes jobs, from `planning.boot_script`; the image needs version
            1.5.0 of the agent of PCS, or a newer one. A change drains the nodes and replaces them. Default: nothing.
        features: Features that jobs can ask for (`--constraint`). Default: none.
        slurm_settings: Settings of slurm.conf for the nodes, by name, such as `Weight`. Default: none.
        gres: Records of gres.conf, each a mapping of attributes. Default: PCS writes one for the GPUs of the type.

    Raises:
        ValueError: When the name or the counts are not what PCS takes, the capacity can't hold the nodes, or the
            template is for another service, without subnet or without image. All reasons at once.

    See: https://docs.aws.amazon.com/pcs/latest/userguide/capacity-blocks-configure-cng.html and
    slurm-custom-settings-cng.html (read 2026-11-21)
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: PcsCluster,
        name: str,
        template: NodeGroupTemplate,
        count: int,
        minimum: int | None = None,
        boot: BootScript | None = None,
        features: Sequence[str] = (),
        slurm_settings: Mapping[str, str] | None = None,
        gres: Sequence[Mapping[str, str]] = (),
    ) -> None:
        super().__init__(scope, id)
        if minimum is None:
            minimum = static_nodes(template.capacity, count)
        settings = dict(slurm_settings or {})
        problems = [*pcs.check_node_group_name(name), *_check_counts(template, count, minimum)]
        wrong = check_settings("node-group", settings, version=cluster.slurm_version)
        problems += [f"{key}: {problem}" for key, problem in wrong.items()]
        problems += check_gres(settings, gres, version=cluster.slurm_version)
        if features and "Features" in settings:
            problems.append("features are given twice: features and slurm_settings")
        if template.service != "pcs":
            problems.append(f"the template is for {template.service}; make it with service='pcs'")
        for what, found in (("subnet", template.subnet), ("image", template.image)):
            if found is None:
                problems.append(f"the template has no {what}, and PCS wants one")
        if problems or template.subnet is None or template.image is None:
            raise ValueError("\n".join(f"{self.node.path}: {problem}" for problem in problems))
        setting = template.purchase.setting
        scripts = None if boot is None else NodeScripts.of(self, cluster)
        self.name = name
        self.count = count
        #: How a node looks.
        self.template = template
        self.resource = l1.CfnComputeNodeGroup(
            self,
            "Resource",
            cluster_id=cluster.cluster_id,
            name=name,
            ami_id=image_id(self, template.image),
            iam_instance_profile_arn=cluster.instance_profile_arn,
            subnet_ids=[template.subnet.subnet_id],
            purchase_option=str(setting[1]) if setting else None,
            instance_configs=[l1.CfnComputeNodeGroup.InstanceConfigProperty(instance_type=template.instance_type.name)],
            scaling_configuration=l1.CfnComputeNodeGroup.ScalingConfigurationProperty(
                min_instance_count=minimum, max_instance_count=count
            ),
            custom_launch_template=l1.CfnComputeNodeGroup.CustomLaunchTemplateProperty(
                template_id=template.launch_template_id, version=template.latest_version
            ),
            node_lifecycle_actions=scripts.add(boot) if scripts and boot else None,
            slurm_configuration=_settings({"Features": ",".join(features)} if features else {}, settings, gres),
        )
        # The nodes can't register before the cluster stands and their role has its policy.
        self.resource.node.add_dependency(cluster, *([scripts] if scripts else []))
        self.node_group_id = self.resource.attr_id
        #: ARN of the group.
        self.node_group_arn = self.resource.attr_arn

    @property
    def node_names(self) -> str:
        """The Slurm nodes, as `scontrol` takes them: `train-[1-64]`."""
        return f"{self.name}-[1-{self.count}]"


def _check_counts(template: NodeGroupTemplate, count: int, minimum: int) -> list[str]:
    if cdk.Token.is_unresolved(count) or not 0 <= minimum <= count or count < 1:
        return [f"minimum must be between 0 and count, and count at least 1, got {minimum} and {count}"]
    if problems := check_static_nodes(template.capacity, minimum=minimum, count=count):
        return [f"minimum {problem}" for problem in problems]
    sizes = sorted({server.instances for server in template.instance_type.ultraservers})
    held = template.capacity.max_instances
    try:
        placement(template.placed, record=template.instance_type, capacity=template.capacity, count=count)
    except ValueError as error:
        return [str(error)]
    if sizes and count not in ([held] if held else sizes):
        whole = " or ".join(map(str, [held] if held else sizes))
        return [f"count must be a whole UltraServer, {whole} instances of {template.instance_type.name}, got {count}"]
    if held is not None and count > held:
        return [f"count must be at most the {held} instances that {template.capacity.word} holds, got {count}"]
    return []


def _settings(
    features: Mapping[str, str], settings: Mapping[str, str], gres: Sequence[Mapping[str, str]]
) -> l1.CfnComputeNodeGroup.SlurmConfigurationProperty | None:
    values = {**features, **settings}
    if not values and not gres:
        return None
    return l1.CfnComputeNodeGroup.SlurmConfigurationProperty(
        slurm_custom_settings=[
            l1.CfnComputeNodeGroup.SlurmCustomSettingProperty(parameter_name=name, parameter_value=value)
            for name, value in values.items()
        ]
        or None,
        gres_custom_settings=[dict(record) for record in gres] or None,
    )
