"""CloudFormation properties of a resource, read from the construct."""

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
from constructs import IConstruct


def properties_of(construct: IConstruct) -> dict[str, Any]:
    """Return the CloudFormation properties of the main resource of a construct; empty for an imported construct.

    They do not include what `add_property_override` sets.
    """
    resource = construct.node.default_child
    if not isinstance(resource, cdk.CfnResource):
        return {}
    # The inspector has the properties as they are: the getters of an L1 fail on lazy values of an L2
    # (aws-cdk-lib 2.275.0).
    inspector = cdk.TreeInspector()
    resource.inspect(inspector)  # type: ignore[attr-defined]  # every generated L1 has it
    attributes = cdk.Stack.of(construct).resolve(inspector)["attributes"]
    return _with_capitals(attributes.get("aws:cdk:cloudformation:props", {}))  # type: ignore[no-any-return]


def _with_capitals(node: Any) -> Any:
    """Properties as CloudFormation spells them, from the spelling that the CDK holds them in."""
    if isinstance(node, Mapping):
        return {key[:1].upper() + key[1:]: _with_capitals(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_with_capitals(value) for value in node]
    return node
