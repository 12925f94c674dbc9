"""Arguments of constructs in the contract: CDK resources, each created on first use."""

from functools import cached_property
from pathlib import Path
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns

from support.templates import Assembly
from ultracluster.network import EfaSecurityGroup, Network

ACCOUNT = "123456789012"
REGION = "us-east-2"


class World:
    """Resources of the CDK in one stack.

    Args:
        stack: Where they are created.
    """

    def __init__(self, stack: cdk.Stack) -> None:
        self.stack = stack

    @cached_property
    def vpc(self) -> ec2.IVpc:
        return ec2.Vpc(self.stack, "Vpc", max_azs=1)

    @cached_property
    def subnet(self) -> ec2.ISubnet:
        return self.vpc.private_subnets[0]

    @cached_property
    def security_group(self) -> ec2.ISecurityGroup:
        return EfaSecurityGroup(self.stack, "SecurityGroup", vpc=self.vpc)

    @cached_property
    def client(self) -> ec2.ISecurityGroup:
        """A group that allows nothing out unless a rule says so."""
        return ec2.SecurityGroup(self.stack, "Client", vpc=self.vpc, allow_all_outbound=False)

    @cached_property
    def network(self) -> Network:
        group = self.security_group
        return Network(vpc=self.vpc, training_subnet=self.subnet, services_subnet=self.subnet, nodes=group)

    @cached_property
    def key(self) -> kms.Key:
        return kms.Key(self.stack, "Key")

    @cached_property
    def bucket(self) -> s3.IBucket:
        return s3.Bucket(self.stack, "Bucket")

    @cached_property
    def role(self) -> iam.IRole:
        return iam.Role(self.stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))

    @cached_property
    def function(self) -> lambda_.Function:
        return lambda_.Function(
            self.stack,
            "Function",
            runtime=lambda_.Runtime.PYTHON_3_13,
            handler="index.handler",
            code=lambda_.Code.from_inline("def handler(event, context): pass"),
        )

    @cached_property
    def topic(self) -> sns.ITopic:
        return sns.Topic(self.stack, "Topic")

    def token(self, name: str, value: str = "") -> str:
        """A text that is known at deployment only: a parameter of the stack."""
        return cdk.CfnParameter(self.stack, f"Token{name}", default=value or None).value_as_string


def assembly(app: cdk.App) -> dict[str, dict[str, Any]]:
    """Templates by stack name."""
    return {stack.stack_name: stack.template for stack in Assembly(Path(app.synth().directory)).stacks}
