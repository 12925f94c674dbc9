"""A queue of AWS PCS."""

from collections.abc import Mapping, Sequence
from functools import cached_property

import aws_cdk as cdk
from aws_cdk import aws_pcs as l1
from constructs import Construct

from ultracluster.catalogue.schedulers import pcs
from ultracluster.orchestration import claim_name
from ultracluster.planning import checked, token_errors
from ultracluster.planning.slurm import QueueMember, check_shared_queue
from ultracluster.rules import Refusal, shared
from ultracluster.slurm._interfaces import IPcsCluster, IPcsComputeNodeGroup
from ultracluster.slurm._pcs_compute_node_group import PcsComputeNodeGroup
from ultracluster.slurm._settings import NAME, custom_settings, setting_problems

_NODES = shared("slurm-queue-nodes")


class PcsQueue(cdk.Resource):
    """A queue of AWS PCS: a Slurm partition over one node group or several.

    Args:
        cluster: Cluster of the queue.
        name: Name of the partition, 3 to 25 characters.
        node_groups: Node groups of the partition. UltraServers share a queue with UltraServers only, which is not
            checked for imported groups.
        slurm_settings: Settings of slurm.conf for the partition, by name, such as `PriorityTier`. Default: none.

    Raises:
        ValueError: If PCS does not accept the name or a setting, another queue of the cluster has the name, there is no
            node group, or PCS does not accept the UltraServers of the queue. All reasons at once.

    See: https://docs.aws.amazon.com/pcs/latest/userguide/capacity-blocks-nvidia-imex.html (read 2026-11-21)
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: IPcsCluster,
        name: str,
        node_groups: Sequence[IPcsComputeNodeGroup],
        slurm_settings: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(scope, id)
        if unknown := token_errors({"name": name}):
            raise Refusal(self, unknown)
        settings = dict(sorted((slurm_settings or {}).items()))
        problems: list[str] = [*map(NAME, pcs.check_node_group_name(name))]
        problems += setting_problems("queue", settings, cluster.slurm_version)
        if not node_groups:
            problems.append("node_groups must hold at least one group, got none")
        problems += map(_NODES, _check_ultraservers(node_groups))
        if problems:
            raise Refusal(self, problems)
        claim_name(self, id, cluster=cluster, kind="queue", name=name)
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
                slurm_custom_settings=custom_settings(l1.CfnQueue.SlurmCustomSettingProperty, settings.items())
            )
            if settings
            else None,
        )
        #: Name of the partition.
        self.name = name

    @cached_property
    def queue_id(self) -> str:
        """Id of the queue."""
        return self.resource.attr_id

    @cached_property
    def queue_arn(self) -> str:
        """ARN of the queue."""
        return self.resource.attr_arn


def _check_ultraservers(groups: Sequence[IPcsComputeNodeGroup]) -> list[str]:
    return check_shared_queue(
        [
            QueueMember(
                name=group.name,
                count=group.count,
                ultraserver=bool(group.template.instance_type.ultraservers),
                block=getattr(group.template.capacity, "reservation_id", group.name),
            )
            for group in groups
            if isinstance(group, PcsComputeNodeGroup)
        ]
    )
