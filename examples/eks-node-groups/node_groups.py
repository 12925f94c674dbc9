"""GPU node groups for an existing EKS cluster in an existing VPC."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from constructs import Construct

from ultracluster import compute, network
from ultracluster import eks as nodes

VPC, ZONES = "vpc-0123456789abcdef0", ["us-east-2a"]
BLOCK = compute.CapacityBlock(reservation_id="cr-0123456789abcdef0", instances=16)


class GpuNodes(cdk.Stack):
    """Sixteen nodes of a Capacity Block, and two on demand."""

    def __init__(self, scope: Construct, id: str) -> None:
        super().__init__(scope, id, env=cdk.Environment(region="us-east-2"))
        vpc = ec2.Vpc.from_vpc_attributes(self, "Vpc", vpc_id=VPC, availability_zones=ZONES)
        subnet = ec2.Subnet.from_subnet_id(self, "Subnet", "subnet-0123456789abcdef0")
        group = ec2.SecurityGroup.from_security_group_id(self, "ClusterGroup", "sg-0123456789abcdef0")
        cluster = eks.Cluster.from_cluster_attributes(self, "Cluster", cluster_name="platform", vpc=vpc)
        efa = network.EfaSecurityGroup(self, "Efa", vpc=vpc)
        role = nodes.EksNodeRole(self, "Role")
        for name, capacity, count in (("block", BLOCK, 16), ("spare", compute.OnDemand(), 2)):
            template = compute.NodeGroupTemplate(
                self, f"{name}-template", instance_type="p5en.48xlarge", service="eks-managed", capacity=capacity,
                security_groups=[efa, group], root_volume=compute.RootVolume(device="/dev/xvda"),
            )  # fmt: skip
            nodes.EksNodeGroup(
                self, name, cluster=cluster, name=name, template=template, subnet=subnet, node_role=role, count=count
            )


if __name__ == "__main__":
    app = cdk.App()
    GpuNodes(app, "GpuNodes")
    app.synth()
