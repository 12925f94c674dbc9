"""References between stacks that must hold."""

import aws_cdk as cdk
from constructs import IConstruct


def hold(scope: IConstruct) -> None:
    """Let other stacks refer to what is below `scope` by exports, which CloudFormation keeps while they are used."""
    for construct in scope.node.find_all():
        if cdk.CfnResource.is_cfn_resource(construct):
            cdk.CrossStackReferences.of(construct).produce(cdk.ReferenceStrength.STRONG)
