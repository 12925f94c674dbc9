"""References between stacks that must hold."""

import aws_cdk as cdk
from constructs import IConstruct


def hold(scope: IConstruct) -> None:
    """Make references of other stacks to a scope exports, which CloudFormation keeps while they are used."""
    for construct in scope.node.find_all():
        if cdk.CfnResource.is_cfn_resource(construct):
            cdk.CrossStackReferences.of(construct).produce(cdk.ReferenceStrength.STRONG)
