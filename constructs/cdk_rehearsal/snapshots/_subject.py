"""Templates, and the construct paths of their resources."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    # Not at run time: this package holds a pytest plugin, and not every run of pytest needs Node.
    import aws_cdk as cdk
    from aws_cdk import assertions

    Subject = cdk.Stack | assertions.Template | Mapping[str, Any]


def template_of(subject: "Subject") -> dict[str, Any]:
    """Return the template of a stack, of `assertions.Template`, or the template itself."""
    if isinstance(subject, Mapping):
        return dict(subject)
    if hasattr(subject, "to_json"):
        return dict(cast(Any, subject).to_json())
    from aws_cdk import assertions

    return dict(assertions.Template.from_stack(subject).to_json())


def paths_of(subject: "Subject") -> dict[str, str]:
    """Return logical id -> construct path, as far as it is known."""
    if not isinstance(subject, Mapping) and not hasattr(subject, "to_json"):
        return _paths_in(subject)
    resources = template_of(subject).get("Resources") or {}
    return {
        logical_id: str(path)
        for logical_id, resource in resources.items()
        if isinstance(resource, Mapping) and (path := (resource.get("Metadata") or {}).get("aws:cdk:path"))
    }


def _paths_in(stack: "cdk.Stack") -> dict[str, str]:
    import aws_cdk as cdk

    resources = [
        cast(cdk.CfnElement, child)
        for child in stack.node.find_all()
        if cdk.CfnResource.is_cfn_resource(child) and cdk.Stack.of(child) is stack
    ]
    return {str(stack.resolve(resource.logical_id)): resource.node.path for resource in resources}
