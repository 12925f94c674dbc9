"""Somebody else's app: their own VPC and stack, with a node group template and a file system of ours in it."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster import compute, network, storage
from ultracluster.planning import LustreGoal, plan_lustre


class Training(cdk.Stack):
    """Two p5en nodes in an Auto Scaling group of their own, and a file system beside them."""

    def __init__(self, scope: Construct, id: str) -> None:
        super().__init__(scope, id)
        vpc = ec2.Vpc(self, "Vpc", max_azs=1)
        subnet = vpc.private_subnets[0]
        nodes = network.EfaSecurityGroup(self, "Nodes", vpc=vpc)
        plan = plan_lustre(LustreGoal(throughput_mb_per_s=2000))
        lustre = storage.LustreFileSystem(self, "Lustre", vpc=vpc, subnet=subnet, spec=plan.spec)
        lustre.allow_clients(nodes.security_group)
        template = compute.NodeGroupTemplate(
            self,
            "Train",
            instance_type="p5en.48xlarge",
            capacity=compute.TargetedReservation(reservation_id="cr-0123456789abcdef0"),
            security_groups=[nodes.security_group],
            subnet=subnet,
        )
        cdk.CfnOutput(self, "LaunchTemplate", value=template.launch_template_id)
        cdk.CfnOutput(self, "Mount", value=lustre.device)


if __name__ == "__main__":
    app = cdk.App()
    Training(app, "Training")
    app.synth()
