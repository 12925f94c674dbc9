"""Existing VPC, EKS cluster and HyperPod cluster, with GPU nodes of four purchase options."""

from datetime import UTC, datetime

import aws_cdk as cdk
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

from ultracluster import compute, network
from ultracluster.planning.capacity import purchase

TYPE = "p5en.48xlarge"
# What is reserved is in one zone, and so is the subnet of its nodes.
ZONE, SUBNET, VPC = "use2-az1", "subnet-0123456789abcdef0", "vpc-0123456789abcdef0"
END = datetime(2026, 12, 24, 11, 30, tzinfo=UTC)
FIRST_BLOCK = compute.CapacityBlock(reservation_id="cr-0123456789abcdef0", instances=16, ends=END)
SECOND_BLOCK = compute.CapacityBlock(reservation_id="cr-0123456789abcdef1", instances=8, ends=END)
PLAN = compute.TrainingPlan(arn="arn:aws:sagemaker:us-east-2:123456789012:training-plan/llama")


class PurchaseOptions(cdk.Stack):
    """Two Capacity Blocks, a reservation of one's own, and a training plan."""

    def __init__(self, scope: Construct, id: str) -> None:
        super().__init__(scope, id)
        vpc = ec2.Vpc.from_vpc_attributes(self, "Vpc", vpc_id=VPC, availability_zones=["us-east-2a"])
        self.subnet = ec2.Subnet.from_subnet_id(self, "Subnet", SUBNET)
        self.nodes = network.EfaSecurityGroup(self, "Nodes", vpc=vpc)
        # EKS adds the group of its cluster only where a launch template names none.
        self.kubernetes = ec2.SecurityGroup.from_security_group_id(self, "Kubernetes", "sg-0123456789abcdef0")
        self.node_role = _role(
            self,
            "NodeRole",
            "ec2.amazonaws.com",
            "AmazonEKSWorkerNodePolicy",
            "AmazonEKS_CNI_Policy",
            "AmazonEC2ContainerRegistryPullOnly",
        )

        # EKS scales a managed node group in by itself before its block ends.
        self._managed("InBlock", FIRST_BLOCK, nodes=16)

        reservation = compute.CapacityReservation(
            self, "Reservation", instance_type=TYPE, zone=ZONE, instances=4, placement_group="cluster"
        )
        self._managed("InReservation", reservation.capacity, nodes=4)

        self._self_managed("InSecondBlock", SECOND_BLOCK, nodes=8)
        self._hyperpod("OnPlan", PLAN, nodes=8)

    def _managed(self, id: str, capacity: compute.Capacity, *, nodes: int) -> None:
        template = compute.NodeGroupTemplate(
            self,
            f"{id}Template",
            instance_type=TYPE,
            service="eks-managed",
            capacity=capacity,
            security_groups=[self.nodes, self.kubernetes],
            root_volume=compute.RootVolume(device="/dev/xvda"),
        )
        eks.CfnNodegroup(
            self,
            id,
            cluster_name="research",
            node_role=self.node_role.role_arn,
            subnets=[self.subnet.subnet_id],
            ami_type="AL2023_x86_64_NVIDIA",
            capacity_type=str(template.purchase.fields["CapacityType"]),
            launch_template=eks.CfnNodegroup.LaunchTemplateSpecificationProperty(
                id=template.launch_template_id, version=template.version_number
            ),
            # None until the capacity is there; then raise desired_size, by an autoscaler or by hand.
            scaling_config=eks.CfnNodegroup.ScalingConfigProperty(min_size=0, desired_size=0, max_size=nodes),
            # A reservation has no room for new nodes beside the old.
            update_config=eks.CfnNodegroup.UpdateConfigProperty(update_strategy="MINIMAL", max_unavailable=1),
        )

    def _self_managed(self, id: str, capacity: compute.CapacityBlock, *, nodes: int) -> None:
        template = compute.NodeGroupTemplate(
            self,
            f"{id}Template",
            instance_type=TYPE,
            service="self-managed",
            capacity=capacity,
            security_groups=[self.nodes, self.kubernetes],
            image="ami-0123456789abcdef0",
        )
        group = autoscaling.CfnAutoScalingGroup(
            self,
            id,
            min_size="0",
            max_size=str(nodes),
            vpc_zone_identifier=[self.subnet.subnet_id],
            launch_template=autoscaling.CfnAutoScalingGroup.LaunchTemplateSpecificationProperty(
                launch_template_id=template.launch_template_id, version=template.version_number
            ),
        )
        compute.ScaleInBeforeEnd(self, f"{id}End", auto_scaling_group_name=group.ref, capacity=capacity)

    def _hyperpod(self, id: str, capacity: compute.TrainingPlan, *, nodes: int) -> None:
        role = _role(self, f"{id}Role", "sagemaker.amazonaws.com", "AmazonSageMakerClusterInstanceRolePolicy")
        hyperpod = sagemaker.CfnCluster
        hyperpod(
            self,
            id,
            node_recovery="Automatic",
            orchestrator=hyperpod.OrchestratorProperty(
                slurm=hyperpod.ClusterOrchestratorSlurmConfigProperty(slurm_config_strategy="Managed")
            ),
            vpc_config=hyperpod.VpcConfigProperty(
                security_group_ids=[self.nodes.security_group_id], subnets=[self.subnet.subnet_id]
            ),
            instance_groups=[
                hyperpod.ClusterInstanceGroupProperty(
                    instance_group_name="controller",
                    instance_type="ml.m5.2xlarge",
                    instance_count=1,
                    execution_role=role.role_arn,
                    slurm_config=hyperpod.ClusterSlurmConfigProperty(node_type="Controller"),
                ),
                hyperpod.ClusterInstanceGroupProperty(
                    instance_group_name="train",
                    instance_type=f"ml.{TYPE}",
                    instance_count=nodes,
                    execution_role=role.role_arn,
                    slurm_config=hyperpod.ClusterSlurmConfigProperty(node_type="Compute", partition_names=["train"]),
                    training_plan_arn=str(purchase(capacity, "hyperpod").fields["TrainingPlanArn"]),
                ),
            ],
        )


def _role(scope: Construct, id: str, service: str, *policies: str) -> iam.Role:
    return iam.Role(
        scope,
        id,
        assumed_by=iam.ServicePrincipal(service),
        managed_policies=[iam.ManagedPolicy.from_aws_managed_policy_name(policy) for policy in policies],
    )
