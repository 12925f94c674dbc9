"""What a resource will say in its template, read from the construct."""

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
from constructs import IConstruct


def properties_of(construct: IConstruct) -> dict[str, Any]:
    """CloudFormation properties of the resource that a construct makes; empty when it makes none, as an import does.

    What was set with `add_property_override` is not among them.

    Args:
        construct: An L2, or a construct of ours whose main resource has the id `Resource`.
    """
    resource = construct.node.default_child
    if not isinstance(resource, cdk.CfnResource):
        return {}
    # The inspector carries the properties as they are: the getters of an L1 fail on what an L2 makes lazily
    # (aws-cdk-lib 2.275.0).
    inspector = cdk.TreeInspector()
    resource.inspect(inspector)  # type: ignore[attr-defined]  # every generated L1 has it
    found = cdk.Stack.of(construct).resolve(inspector)["attributes"]
    return _with_capitals(found.get("aws:cdk:cloudformation:props", {}))  # type: ignore[no-any-return]


def _with_capitals(node: Any) -> Any:
    """Properties as CloudFormation spells them, from the spelling that the CDK holds them in."""
    if isinstance(node, Mapping):
        return {key[:1].upper() + key[1:]: _with_capitals(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_with_capitals(value) for value in node]
    return node
