"""A Slurm partition."""

from collections.abc import Mapping, Sequence

from aws_cdk import aws_pcs as l1
from constructs import Construct

from ultracluster.hardware import pcs
from ultracluster.orchestration.pcs_cluster import PcsCluster
from ultracluster.orchestration.pcs_compute_node_group import PcsComputeNodeGroup
from ultracluster.planning.shared_queues import QueueMember, check_shared_queue
from ultracluster.planning.slurm_settings import check_settings


class PcsQueue(Construct):
    """A queue of AWS PCS: the partition that jobs name, over one node group or several.

    Args:
        cluster: The cluster.
        name: Name of the partition, 3 to 25 characters.
        node_groups: The groups whose nodes it hands out. UltraServers share a queue with UltraServers only.
        slurm_settings: Settings of slurm.conf for the partition, by name, such as `PriorityTier`. Default: none.

    Raises:
        ValueError: When the name is not what PCS takes, no node group is given, a setting is not what PCS takes, or
            UltraServers are in a queue that PCS refuses. All reasons at once.

    See: https://docs.aws.amazon.com/pcs/latest/userguide/capacity-blocks-nvidia-imex.html (read 2026-11-21)
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: PcsCluster,
        name: str,
        node_groups: Sequence[PcsComputeNodeGroup],
        slurm_settings: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(scope, id)
        settings = dict(slurm_settings or {})
        problems = pcs.check_node_group_name(name)
        found = check_settings("queue", settings, version=cluster.slurm_version)
        problems += [f"{key}: {problem}" for key, problem in found.items()]
        if not node_groups:
            problems.append("node_groups must hold at least one group, got none")
        problems += _check_ultraservers(node_groups)
        if problems:
            raise ValueError("\n".join(f"{self.node.path}: {problem}" for problem in problems))
        self.resource = l1.CfnQueue(
            self,
            "Resource",
            cluster_id=cluster.cluster_id,
            name=name,
            compute_node_group_configurations=[
                l1.CfnQueue.ComputeNodeGroupConfigurationProperty(compute_node_group_id=group.node_group_id)
                for group in node_groups
            ],
            slurm_configuration=l1.CfnQueue.SlurmConfigurationProperty(
                slurm_custom_settings=[
                    l1.CfnQueue.SlurmCustomSettingProperty(parameter_name=name, parameter_value=value)
                    for name, value in sorted(settings.items())
                ]
            )
            if settings
            else None,
        )
        self.name = name


def _check_ultraservers(groups: Sequence[PcsComputeNodeGroup]) -> list[str]:
    return check_shared_queue(
        [
            QueueMember(
                name=group.name,
                count=group.count,
                ultraserver=bool(group.template.instance_type.ultraservers),
                block=getattr(group.template.capacity, "reservation_id", group.name),
            )
            for group in groups
        ]
    )
