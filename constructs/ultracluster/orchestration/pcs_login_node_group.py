"""Where people log in."""

from collections.abc import Mapping, Sequence

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster.compute import Access, NodeGroupTemplate, RootVolume
from ultracluster.hardware import InstanceType
from ultracluster.hardware.quotas import INSTANCES_PER_SPREAD_GROUP
from ultracluster.orchestration.login_ssh import LoginSsh
from ultracluster.orchestration.pcs_cluster import PcsCluster
from ultracluster.orchestration.pcs_compute_node_group import PcsComputeNodeGroup
from ultracluster.planning import BootScript, Image


class PcsLoginNodeGroup(Construct):
    """Login nodes: a node group without a queue, reached through Session Manager, with no public address.

    Args:
        cluster: The cluster.
        instance_type: A type without GPU is enough.
        subnet: Where the nodes are.
        security_groups: Groups of the nodes; those of the cluster, so that `srun` reaches compute nodes.
        image: An image that is ready for PCS, of the type's architecture, or the id of one.
        count: Number of login nodes. All are up always; two or more stand on hardware of their own each, so that one
            loss leaves a way in. Default: 1.
        ssh: Who may connect over SSH. Default: nobody, Session Manager is the way in.
        name: Name of the group. Default: `login`.
        boot: What a node does at every boot; see `PcsComputeNodeGroup`.
        user_data: Plain text; see `compute.user_data`.
        root_volume: See `NodeGroupTemplate`.
        tags: Tags of the instances, their volumes and interfaces.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: PcsCluster,
        instance_type: InstanceType | str,
        subnet: ec2.ISubnet,
        security_groups: Sequence[ec2.ISecurityGroup],
        image: Image | str,
        count: int = 1,
        ssh: LoginSsh | None = None,
        name: str = "login",
        boot: BootScript | None = None,
        user_data: str | None = None,
        root_volume: RootVolume | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(scope, id)
        opened = [] if ssh is None else [ssh.security_group(self, "Ssh")]
        self.template = NodeGroupTemplate(
            self,
            "Template",
            instance_type=instance_type,
            security_groups=[*security_groups, *opened],
            placement_group="spread" if 1 < count <= INSTANCES_PER_SPREAD_GROUP else None,
            access=None if ssh is None else Access(key_pair=ssh.key_pair),
            service="pcs",
            subnet=subnet,
            image=image,
            user_data=user_data,
            root_volume=root_volume,
            tags=tags,
        )
        self.node_group = PcsComputeNodeGroup(
            self,
            "NodeGroup",
            cluster=cluster,
            name=name,
            template=self.template,
            count=count,
            boot=boot,
            minimum=count,
        )
