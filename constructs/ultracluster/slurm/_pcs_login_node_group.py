"""Login nodes."""

from collections.abc import Sequence
from typing import Literal

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster.boot import BootScript, NodeScript
from ultracluster.catalogue.ec2 import INSTANCES_PER_SPREAD_GROUP, InstanceType
from ultracluster.compute import Access, NodeGroupTemplate, RootVolume, read_instance_type
from ultracluster.orchestration import NodeResource
from ultracluster.planning import as_list, checked
from ultracluster.planning.capacity import Image
from ultracluster.slurm._grants import PcsNodeGroupGrants
from ultracluster.slurm._interfaces import IPcsCluster
from ultracluster.slurm._login_ssh import LoginSsh
from ultracluster.slurm._pcs_compute_node_group import SLURMD_PORT, PcsComputeNodeGroup


class PcsLoginNodeGroup(NodeResource):
    """Login nodes: a node group without a queue and without public addresses, for Session Manager.

    Args:
        cluster: Cluster of the nodes.
        instance_type: Instance type; a type without GPU is enough.
        subnet: Subnet of the nodes.
        security_groups: Security groups of the nodes; those of the cluster, so that `srun` reaches compute nodes.
        image: Image that is ready for PCS, of the type's architecture, or the id of one.
        count: Number of login nodes, which are always up. Two or more are on separate hardware, unless they have GPUs.
            Default: 1.
        ssh: SSH access. Default: none; Session Manager only.
        name: Name of the group. Default: `login`.
        instance_profile: Instance profile of the nodes; see `PcsComputeNodeGroup`. Default: that of the cluster.
        boot: Scripts that a node runs at boot; see `PcsComputeNodeGroup`.
        user_data: Plain text; see `compute.user_data`.
        root_volume: See `NodeGroupTemplate`.
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: IPcsCluster,
        instance_type: InstanceType | ec2.InstanceType | str,
        subnet: ec2.ISubnet,
        security_groups: ec2.ISecurityGroup | Sequence[ec2.ISecurityGroup],
        image: Image | ec2.IMachineImage | str,
        count: int = 1,
        ssh: LoginSsh | None = None,
        name: str = "login",
        instance_profile: iam.IInstanceProfile | None = None,
        boot: BootScript | NodeScript | Sequence[BootScript | NodeScript] = (),
        user_data: ec2.UserData | str | None = None,
        root_volume: RootVolume | None = None,
    ) -> None:
        super().__init__(scope, id)
        ssh_groups = [] if ssh is None else [ssh.security_group(self, "Ssh")]
        self.template = NodeGroupTemplate(
            self,
            "Template",
            instance_type=instance_type,
            security_groups=[*as_list(security_groups), *ssh_groups],
            # With one node as well: a second one must not replace the first.
            placement_group=_placement(instance_type, count),
            access=None if ssh is None else Access(key_pair=ssh.key_pair),
            service="pcs",
            subnet=subnet,
            image=image,
            user_data=user_data,
            root_volume=root_volume,
        )
        self.node_group = PcsComputeNodeGroup(
            self,
            "NodeGroup",
            cluster=cluster,
            name=name,
            template=self.template,
            count=count,
            instance_profile=instance_profile,
            boot=boot,
            minimum=count,
        )
        self._set_nodes(self.template.security_groups, SLURMD_PORT, self.node_group)

    @property
    def grants(self) -> PcsNodeGroupGrants:
        """Permissions on the group and its nodes; `start_session` allows a principal to log in."""
        return self.node_group.grants


def _placement(instance_type: InstanceType | ec2.InstanceType | str, count: int) -> Literal["spread"] | None:
    """Return the placement strategy; a type with GPUs cannot be spread."""
    try:
        spread = not read_instance_type(instance_type).gpus and count <= INSTANCES_PER_SPREAD_GROUP
    except ValueError:  # the launch template refuses it
        return None
    return "spread" if spread else None
