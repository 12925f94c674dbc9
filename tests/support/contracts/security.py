"""Rows of `ultracluster.security`."""

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam

from support.contracts._row import Imported, No, Row
from ultracluster import security

ROWS: dict[str, Row] = {
    "NodeRole": Row(
        make=lambda scope, id, world: security.NodeRole(scope, id),
        connects=No("it has no network interface"),
        grants=No("a role has the CDK's own grant, grant_pass_role and grant_assume_role"),
        principal=True,
        tags=["AWS::IAM::Role"],
        default_child="AWS::IAM::Role",
        tokens=lambda scope, id, world: security.NodeRole(scope, id, path=world.token("Path")),
        imported=Imported(
            make=lambda scope, id: security.NodeRole.from_role_arn(scope, id, "arn:aws:iam::123456789012:role/Nodes"),
            interface=iam.IRole,
        ),
        uses={
            "role of an instance": lambda subject, stack, world: ec2.Instance(
                stack,
                "Instance",
                vpc=world.vpc,
                instance_type=ec2.InstanceType("c7i.large"),
                machine_image=ec2.MachineImage.latest_amazon_linux2023(),
                role=subject,
            )
        },
    ),
}
