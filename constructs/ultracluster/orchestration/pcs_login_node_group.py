"""Where people log in."""

from collections.abc import Mapping, Sequence

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from constructs import Construct

from ultracluster.compute import NodeGroupTemplate
from ultracluster.hardware import InstanceType
from ultracluster.orchestration.pcs_cluster import PcsCluster
from ultracluster.orchestration.pcs_compute_node_group import PcsComputeNodeGroup


class PcsLoginNodeGroup(Construct):
    """Login nodes: a node group without a queue, reached through Session Manager, with no public address.

    Args:
        cluster: The cluster.
        instance_type: A type without GPU is enough.
        subnet: Where the nodes are.
        security_groups: Groups of the nodes; those of the cluster, so that `srun` reaches compute nodes.
        image_id: An `ami-...` that is ready for PCS, of the type's architecture, or a token.
        count: Number of login nodes. Default: 1.
        name: Name of the group. Default: `login`.
        user_data: Plain text; see `compute.user_data`.
        key: Key of the root volume; see `NodeGroupTemplate`. Default: the account's key for EBS.
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
        image_id: str,
        count: int = 1,
        name: str = "login",
        user_data: str | None = None,
        key: kms.IKey | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(scope, id)
        self.template = NodeGroupTemplate(
            self,
            "Template",
            instance_type=instance_type,
            security_groups=security_groups,
            subnet=subnet,
            user_data=user_data,
            key=key,
            tags=tags,
        )
        self.node_group = PcsComputeNodeGroup(
            self,
            "NodeGroup",
            cluster=cluster,
            name=name,
            template=self.template,
            subnet=subnet,
            image_id=image_id,
            count=count,
        )
